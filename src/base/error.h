/* SPDX-License-Identifier: MIT */
/* Fills struct tare_error. Each function returns -code, so that one line suffices to fail. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <errno.h>
#include "tare/error.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Set the message. Clears the hint of an earlier error: set the hint afterwards. `err` may be NULL.
 */
int tare_fail(struct tare_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, with the offset `at` in the parsed text. */
int tare_fail_at(struct tare_error *err, int at, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Set the hint: what the user can do. Returns nothing, as the error is already set. */
void tare_hint(struct tare_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Add the context of an outer function before the message: "stat: cannot ..." */
void tare_prefix(struct tare_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* At the end of a successful public function: clear errors of attempts and earlier calls. */
static inline void tare_no_error(struct tare_error *err)
{
	if (!err)
		return;
	err->code = 0;
	err->at = -1;
	err->what[0] = err->hint[0] = '\0';
}

/* The same, if ret is not negative. Returns ret. */
static inline int tare_end(int ret, struct tare_error *err)
{
	if (ret >= 0)
		tare_no_error(err);
	return ret;
}

int tare_fail_nomem(struct tare_error *err);

#endif
