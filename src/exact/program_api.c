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

#define EVERY_MAX (1ull << 60)

_Static_assert((int)TARE_EXACT_CLASSES == (int)EXACT_CLASSES, "one class each, in the same order");
_Static_assert((int)TARE_EXACT_LOADS == (int)EXACT_LOADS &&
		       (int)TARE_EXACT_ACCESSES == (int)EXACT_ACCESSES,
	       "");

/* No other architecture has this call, or the engine. */
#ifdef SYS_arch_prctl
enum { ASK = SYS_arch_prctl };
#else
enum { ASK = -1 };
#endif

static int no_engine(struct tare_error *err)
{
	tare_fail(err, ENOTSUP, "exact: the program does not run under the exact engine");
	tare_hint(err, "tare stat --engine exact -- COMMAND");
	return -ENOTSUP;
}

int tare_exact_read(int64_t *out, size_t n, struct tare_error *err)
{
	if (n == 0 || n > EXACT_CLASSES)
		return tare_fail(err, EINVAL, "exact: %zu classes asked for, there are %d", n,
				 EXACT_CLASSES);
	if (syscall(ASK, EXACT_READ, out, n) == 0)
		return tare_end(0, err);
	if (errno == ENODATA)
		return tare_fail(err, ENODATA, "exact: this run counts instructions alone");
	if (errno != EINVAL && errno != ENOSYS)
		return tare_fail(err, errno, "exact: cannot read the thread's counts: %s",
				 strerror(errno));
	return no_engine(err);
}

/* The engine enters here, with an arbitrary errno of the program. Never returns. */
static void enter(uint64_t instructions, void *context, void *with, tare_exact_call *call)
{
	int kept = errno;

	call(instructions, context, with);
	errno = kept;
	syscall(ASK, EXACT_RETURN, context);
}

int tare_exact_every(uint64_t n, tare_exact_call *call, void *with, struct tare_error *err)
{
	if (n > EVERY_MAX)
		return tare_fail(err, EINVAL, "exact: a call every %llu instructions, at most 2^60",
				 (unsigned long long)n);
	if (n && !call)
		return tare_fail(err, EINVAL, "exact: no function to call");
	if (syscall(ASK, EXACT_EVERY, n, enter, call, with) == 0)
		return tare_end(0, err);
	return no_engine(err);
}

const char *tare_exact_class_name(enum tare_exact_class c)
{
	return (unsigned)c < EXACT_CLASSES ? exact_class_names[c] : NULL;
}
