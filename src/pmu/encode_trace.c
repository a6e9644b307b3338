/* SPDX-License-Identifier: MIT */
/* Tracepoints and breakpoints: events that need no PMU. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include "event/mods.h"
#include "pmu/encode.h"
#include "pmu/libpfm.h"

static int add_tracepoint(struct encoder *e, const char *system, const char *name, bool globbed)
{
	struct encoding *enc;
	uint64_t id;
	int ret = machine_tracepoint(e->m, system, name, &id, e->err);

	if (ret < 0)
		return ret;
	enc = encoder_add(e, NULL, PERF_TYPE_TRACEPOINT, id);
	if (!enc)
		return -ENOMEM;
	/*
	 * Source: linux kernel/trace/trace_syscalls.c, perf_syscall_enter(); trace_uprobe.c,
	 * __uprobe_perf_func().
	 */
	enc->in_user = !strcmp(system, "syscalls") || machine_is_uprobe(e->m, system, name);
	if (globbed && !e->ev->label)
		snprintf(enc->name, sizeof(enc->name), "%s:%s", system, name);
	return encoder_terms(e, NULL, enc);
}

/* Is tracefs readable? On most systems only for root. */
static int tracefs_closed(struct encoder *e)
{
	char **names;
	size_t n;
	int ret = machine_tracepoints(e->m, NULL, &names, &n, NULL);

	if (ret == 0)
		names_free(names, n);
	return ret == 0 && n ? 0 : ret < 0 ? ret : -ENOENT;
}

/* `shut`: it may exist, but its number is not readable. */
static int no_tracepoint(struct encoder *e, bool shut)
{
	const struct event *ev = e->ev;
	struct generic_name g;
	char room[GENERIC_ROOM], why[200], whole[160], table[32], about[80];
	int closed;

	if (generic_find(ev->system, &g, room)) { /* cycles:x */
		tare_fail_at(e->err, ev->at + (int)strlen(ev->system) + 1, EINVAL,
			     "'%.40s' is no modifier of %.60s", ev->name, ev->system);
		tare_hint(e->err, MODS_HELP);
		return -EINVAL;
	}
	snprintf(whole, sizeof(whole), "%s:%s", ev->system, ev->name);
	if (libpfm_who_knows(whole, table, about))
		return encoder_unknown(e, whole);
	closed = shut ? -EACCES : tracefs_closed(e);
	if (closed < 0) {
		struct encoding *enc = encoder_add(e, NULL, PERF_TYPE_TRACEPOINT, 0);

		if (!enc)
			return -ENOMEM;
		snprintf(
			why, sizeof(why), "%s",
			closed == -EACCES || closed == -EPERM
				? "this user may not read /sys/kernel/tracing, where the number of a "
				  "tracepoint is"
				: "tracefs is not mounted on /sys/kernel/tracing, where the number of "
				  "a tracepoint is");
		return encoder_unavailable(
			e, enc, -closed, why,
			closed == -EACCES || closed == -EPERM
				? "run as root; or as root: mount -o remount,mode=750,gid=NUMBER /sys/kernel/tracing, a group of yours (id -G)"
				: "as root: mount -t tracefs tracefs /sys/kernel/tracing");
	}
	tare_fail_at(e->err, ev->at, ENOENT, "there is no tracepoint %.60s:%.60s", ev->system,
		     ev->name);

	char **names = NULL;
	size_t n = 0;
	struct text near = { 0 };

	if (machine_tracepoints(e->m, ev->system, &names, &n, NULL) == 0)
		text_nearest(&near, ev->name, (const char *const *)names, n, 3);
	if (near.len)
		tare_hint(e->err, "did you mean %.100s? 'tare events %.60s' lists them", near.s,
			  ev->system);
	else
		tare_hint(e->err, "'tare events %.60s' lists the names with that word", ev->system);
	text_free(&near);
	names_free(names, n);
	return -ENOENT;
}

int encode_tracepoint(struct encoder *e)
{
	const struct event *ev = e->ev;
	char **names = NULL;
	size_t n = 0, found = 0;
	bool shut;
	int ret;

	if (!strpbrk(ev->name, "*?[")) {
		char whole[160];

		ret = add_tracepoint(e, ev->system, ev->name, false);
		if (ret != -ENOENT && ret != -EACCES)
			return ret;
		shut = ret == -EACCES;
		snprintf(whole, sizeof(whole), "%s:%s", ev->system, ev->name);
		ret = encode_from_files(e, whole); /* INST_RETIRED:ANY_P */
		if (ret == -ENOENT)
			ret = encode_from_tables(e, whole);
		return ret == -ENOENT ? no_tracepoint(e, shut) : ret;
	}
	ret = machine_tracepoints(e->m, ev->system, &names, &n, e->err);
	for (size_t i = 0; ret == 0 && i < n; i++)
		if (!fnmatch(ev->name, names[i], 0)) {
			ret = add_tracepoint(e, ev->system, names[i], true);
			found++;
		}
	names_free(names, n);
	if (ret == -ENOENT || ret == -EACCES || (ret == 0 && !found))
		return no_tracepoint(e, ret == -EACCES);
	return ret;
}

int encode_breakpoint(struct encoder *e)
{
	struct encoding *enc = encoder_add(e, NULL, PERF_TYPE_BREAKPOINT, 0);

	if (!enc)
		return -ENOMEM;
	enc->attr.bp_type = (e->ev->bp.r ? 1 : 0) | (e->ev->bp.w ? 2 : 0) | (e->ev->bp.x ? 4 : 0);
	enc->attr.bp_addr = e->ev->bp.addr; /* config1 and config2: linux/perf_event.h */
	enc->attr.bp_len = e->ev->bp.len;
	return 0;
}
