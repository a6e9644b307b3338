/* SPDX-License-Identifier: MIT */
/*
 * The shared library is opened at the first lookup: its tables cost a millisecond and two megabytes
 * of relocations, which would disturb a count of page faults. Source: libpfm(3),
 * pfm_get_os_event_encoding(3), pfm_get_event_info(3).
 */
#include <linux/perf_event.h>
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/library.h"
#include "pmu/libpfm.h"

static bool usable;

#define FUNCTIONS(F)                                                                               \
	F(pfm_initialize)                                                                          \
	F(pfm_get_pmu_info)                                                                        \
	F(pfm_get_event_info)                                                                      \
	F(pfm_get_event_attr_info)                                                                 \
	F(pfm_get_event_next) F(pfm_get_os_event_encoding) F(pfm_strerror)
LIBRARY(pfm, "libpfm.so.4", FUNCTIONS)

#define PFM(name) pfm.pfm_##name

static void start(void)
{
	usable = pfm_load() && PFM(initialize)() == PFM_SUCCESS;
}

static bool ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
	return usable;
}

/* Core tables with events; tare handles the kernel's generic names and raw events itself. */
static bool table_at(int i, pfm_pmu_info_t *info)
{
	*info = (pfm_pmu_info_t){ .size = sizeof(*info) };
	return PFM(get_pmu_info)(i, info) == PFM_SUCCESS && info->type == PFM_PMU_TYPE_CORE &&
		info->nevents > 0 && strncmp(info->name, "perf", 4) &&
		strcmp(info->name, "ix86arch");
}

bool libpfm_own_table(char table[32])
{
	pfm_pmu_info_t info;

	for (int i = 0; ready() && i < PFM_PMU_MAX; i++)
		if (table_at(i, &info) && info.is_present) {
			snprintf(table, 32, "%s", info.name);
			return true;
		}
	return false;
}

int libpfm_encode(const char *table, const char *name, struct libpfm_event *out,
		  struct tare_error *err)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	char whole[160], own[32], *full = NULL;
	pfm_perf_encode_arg_t arg = { .attr = &attr, .fstr = &full, .size = sizeof(arg) };
	const char *bare = strstr(name, "::");
	int ret;

	if (!ready())
		return -ENOENT;
	if (!table && bare)
		table = ""; /* the name includes it */
	if (!table) {
		if (!libpfm_own_table(own))
			return -ENOENT;
		table = own;
	}
	ret = snprintf(whole, sizeof(whole), "%s%s%s", table, *table ? "::" : "",
		       *table && bare ? bare + 2 : name);
	if (ret < 0 || ret >= (int)sizeof(whole))
		return -ENOENT;
	ret = PFM(get_os_event_encoding)(whole, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg);
	if (ret == PFM_ERR_NOTFOUND || ret == PFM_ERR_NOTSUPP ||
	    (ret == PFM_SUCCESS && attr.type != PERF_TYPE_RAW)) {
		free(full);
		return -ENOENT;
	}
	if (ret != PFM_SUCCESS)
		return tare_fail(err, EINVAL, "%.120s: libpfm4 says: %s", whole,
				 PFM(strerror)(ret));
	*out = (struct libpfm_event){ .config = attr.config,
				      .config1 = attr.config1,
				      .config2 = attr.config2 };
	snprintf(out->name, sizeof(out->name), "%s", full ? full : whole);
	for (char *s = out->name; *s;
	     s++) /* the modifiers after it (:e=0:i=0 ...) are given in perf's syntax */
		if (*s == ':' && s[1] >= 'a' && s[1] <= 'z' && strchr(s, '=')) {
			*s = '\0';
			break;
		}
	free(full);
	return 0;
}

static int each_event(int event, int (*visit)(void *arg, const char *name, const char *about),
		      void *arg)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	bool umasks = false;
	char name[160];
	int ret = 0;

	if (PFM(get_event_info)(event, PFM_OS_NONE, &info) != PFM_SUCCESS)
		return 0;
	for (int a = 0; ret == 0 && a < info.nattrs; a++) {
		pfm_event_attr_info_t attr = { .size = sizeof(attr) };

		if (PFM(get_event_attr_info)(event, a, PFM_OS_NONE, &attr) != PFM_SUCCESS ||
		    attr.type != PFM_ATTR_UMASK)
			continue;
		umasks = true;
		snprintf(name, sizeof(name), "%s:%s", info.name, attr.name);
		ret = visit(arg, name, attr.desc ? attr.desc : "");
	}
	return ret || umasks ? ret : visit(arg, info.name, info.desc ? info.desc : "");
}

static int each_of(const pfm_pmu_info_t *table,
		   int (*visit)(void *arg, const char *name, const char *about), void *arg)
{
	int ret = 0;

	for (int e = table->first_event; e != -1 && ret == 0; e = PFM(get_event_next)(e))
		ret = each_event(e, visit, arg);
	return ret;
}

int libpfm_each(const char *table, int (*visit)(void *arg, const char *name, const char *about),
		void *arg)
{
	pfm_pmu_info_t info;
	int ret = 0;

	for (int i = 0; ready() && i < PFM_PMU_MAX && ret == 0; i++)
		if (table_at(i, &info) && (table ? !strcmp(info.name, table) : info.is_present))
			ret = each_of(&info, visit, arg);
	return ret;
}

static bool same_part(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		bool colon = strchr(".:", *a) && strchr(".:", *b);

		if (!colon && strncasecmp(a, b, 1))
			return false;
	}
	return !*a && (!*b || strchr(".:", *b));
}

/* The user's name may omit the umask. */
static int is_it(void *arg, const char *name, const char *about)
{
	(void)about;
	return same_part(arg, name);
}

unsigned libpfm_who_knows(const char *name, char table[32], char about[80])
{
	const char *bare = strstr(name, "::");
	pfm_pmu_info_t info;
	unsigned n = 0;
	char wanted[160];

	if (snprintf(wanted, sizeof(wanted), "%s", bare ? bare + 2 : name) >= (int)sizeof(wanted) ||
	    !ready())
		return 0;
	for (int i = 0; i < PFM_PMU_MAX; i++) {
		if (!table_at(i, &info) || !each_of(&info, is_it, wanted))
			continue;
		/* The newest table is the most likely one, and libpfm4 lists old CPUs first. */
		snprintf(table, 32, "%s", info.name);
		snprintf(about, 80, "%s", info.desc);
		n++;
	}
	return n;
}
