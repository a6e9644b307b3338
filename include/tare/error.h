/* SPDX-License-Identifier: MIT */
/* Errors with a text: every tare function that can fail fills one of these. */
#ifndef TARE_ERROR_H
#define TARE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TARE_API __attribute__((visibility("default")))
#else
#define TARE_API
#endif

/**
 * An error. The caller owns it; filling it allocates nothing.
 *
 * Functions return 0 (or a size) or a negative errno, those that return a pointer return NULL;
 * both fill the caller's `struct tare_error` unless it is NULL.
 */
struct tare_error {
	int code;       /* errno value; 0 when nothing went wrong */
	int at;         /* byte offset in the parsed text; -1 if no text was parsed */
	char what[384]; /* which thing, which CPU or offset, and why */
	char hint[320]; /* what the user can do about it, or "" */
};

#define TARE_ERROR_INIT                                                                            \
	{                                                                                          \
		0, -1, "", ""                                                                      \
	}

#ifdef __cplusplus
}
#endif
#endif
