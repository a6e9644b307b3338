/* SPDX-License-Identifier: MIT */
/* A build without libpfm4: only the kernel's names and those in files. */
#include "pmu/libpfm.h"

int libpfm_encode(const char *table, const char *name, struct libpfm_event *out,
		  struct tare_error *err)
{
	(void)table, (void)name, (void)out, (void)err;
	return -ENOENT;
}

int libpfm_each(const char *table, int (*visit)(void *arg, const char *name, const char *about),
		void *arg)
{
	(void)table, (void)visit, (void)arg;
	return 0;
}

unsigned libpfm_who_knows(const char *name, char table[32], char about[80])
{
	(void)name, (void)table, (void)about;
	return 0;
}

bool libpfm_own_table(char table[32])
{
	(void)table;
	return false;
}
