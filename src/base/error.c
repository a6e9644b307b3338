/* SPDX-License-Identifier: MIT */
/* Error messages: `what` went wrong and a `hint` for the user. No allocation, no output. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"

static int fail(struct tare_error *err, int at, int code, const char *fmt, va_list ap)
{
	if (err) {
		err->code = code;
		err->at = at;
		err->hint[0] = '\0';
		vsnprintf(err->what, sizeof(err->what), fmt, ap);
	}
	return -code;
}

int tare_fail(struct tare_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int ret = fail(err, -1, code, fmt, ap);
	va_end(ap);
	return ret;
}

int tare_fail_at(struct tare_error *err, int at, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int ret = fail(err, at, code, fmt, ap);
	va_end(ap);
	return ret;
}

void tare_hint(struct tare_error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
}

void tare_prefix(struct tare_error *err, const char *fmt, ...)
{
	char inner[sizeof(err->what)];
	va_list ap;
	int n;

	if (!err)
		return;
	memcpy(inner, err->what, sizeof(inner));
	va_start(ap, fmt);
	n = vsnprintf(err->what, sizeof(err->what), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(err->what))
		snprintf(err->what + n, sizeof(err->what) - (size_t)n, "%s", inner);
}

int tare_fail_nomem(struct tare_error *err)
{
	return tare_fail(err, ENOMEM, "out of memory");
}
