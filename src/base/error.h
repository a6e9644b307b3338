/* SPDX-License-Identifier: MIT */
/* Filling struct tare_error. Each returns -code, so that one line fails. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <errno.h>
#include "tare/error.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Say what went wrong. Keeps no hint of an earlier error: give the hint after. `err` may be NULL. */
int tare_fail(struct tare_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, pointing at byte `at` of the text that was parsed. */
int tare_fail_at(struct tare_error *err, int at, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Say what the user can do about it. Returns nothing: the failure is already stated. */
void tare_hint(struct tare_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Put an outer stage's words in front of what an inner one said: "stat: cannot ..." */
void tare_prefix(struct tare_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* For the end of a public function: nothing went wrong, whatever was tried on the way and whatever the caller left in it. */
static inline void tare_no_error(struct tare_error *err)
{
	if (!err)
		return;
	err->code = 0;
	err->at = -1;
	err->what[0] = err->hint[0] = '\0';
}

/* The same, if ret says so. Returns ret. */
static inline int tare_end(int ret, struct tare_error *err)
{
	if (ret >= 0)
		tare_no_error(err);
	return ret;
}

int tare_fail_nomem(struct tare_error *err);

#endif
