/* SPDX-License-Identifier: MIT */
/*
 * What libraries ask of a process at its start or at a fault: the stack's bounds (glibc reads
 * /proc/self/maps), the loaded objects, the callers, the auxiliary vector.
 * exact: build=dynamic
 */
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include "say.h"
#include "thread_end.h"

static int object(struct dl_phdr_info *info, size_t size, void *n)
{
	(void)size;
	++*(int *)n;
	SAY_LINE("object", (long)info->dlpi_addr, info->dlpi_phnum);
	return 0;
}

static void *bounds(void *what)
{
	pthread_attr_t a;
	size_t size, guard;
	void *start;

	pthread_getattr_np(pthread_self(), &a);
	pthread_attr_getstack(&a, &start, &size);
	pthread_attr_getguardsize(&a, &guard);
	pthread_attr_destroy(&a);
	SAY_LINE(what, (long)start, (long)size, (long)guard);
	return NULL;
}

static void *in_thread(void *what)
{
	bounds(what);
	tell_end();
	return NULL;
}

__attribute__((noinline)) static int callers(int depth)
{
	void *pcs[16];
	int n;

	if (depth)
		return callers(depth - 1) + 1;
	n = backtrace(pcs, 16);
	for (int i = 0; i < n; i++)
		SAY_LINE("caller", (long)pcs[i]);
	return n;
}

int main(void)
{
	static const unsigned long types[] = { AT_PHDR,         AT_PHNUM,  AT_ENTRY, AT_BASE,
					       AT_SYSINFO_EHDR, AT_PAGESZ, AT_HWCAP };
	pthread_t t;
	int n = 0;

	bounds("main");
	pthread_create(&t, NULL, in_thread, "thread");
	wait_for_end();
	dl_iterate_phdr(object, &n);
	SAY_LINE("objects", n, callers(3));
	for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
		SAY_LINE("auxiliary", (long)types[i], (long)getauxval(types[i]));
	return 0;
}
