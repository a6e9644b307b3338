/* SPDX-License-Identifier: MIT */
/*
 * Functions for a counted program, which read counts from the engine it runs under. See
 * tare/exact.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/error.h"
#include "exact/exact.h"
#include "tare/exact.h"

_Static_assert((int)TARE_EXACT_CLASSES == (int)EXACT_CLASSES, "one class each, in the same order");
_Static_assert((int)TARE_EXACT_LOADS == (int)EXACT_LOADS &&
		       (int)TARE_EXACT_ACCESSES == (int)EXACT_ACCESSES,
	       "");

/* No other architecture has this call, or the engine. */
static long ask(int64_t *out, size_t n)
{
#ifdef SYS_arch_prctl
	return syscall(SYS_arch_prctl, EXACT_READ, out, n);
#else
	(void)out, (void)n;
	errno = EINVAL;
	return -1;
#endif
}

int tare_exact_read(int64_t *out, size_t n, struct tare_error *err)
{
	if (n == 0 || n > EXACT_CLASSES)
		return tare_fail(err, EINVAL, "exact: %zu classes asked for, there are %d", n,
				 EXACT_CLASSES);
	if (ask(out, n) == 0)
		return tare_end(0, err);
	if (errno == ENODATA)
		return tare_fail(err, ENODATA, "exact: this run counts instructions alone");
	if (errno != EINVAL)
		return tare_fail(err, errno, "exact: cannot read the thread's counts: %s",
				 strerror(errno));
	tare_fail(err, ENOTSUP, "exact: the program does not run under the exact engine");
	tare_hint(err, "tare stat --engine exact -- COMMAND");
	return -ENOTSUP;
}

const char *tare_exact_class_name(enum tare_exact_class c)
{
	return (unsigned)c < EXACT_CLASSES ? exact_class_names[c] : NULL;
}
