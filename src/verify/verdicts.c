/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "verify/verdicts.h"
#include "arch/cpu.h"
#include "arch/kernels.h"
#include "base/file.h"
#include "base/rows.h"

static const char head[] = "tare verdicts 1\n";

enum { MOST = 4096 };

/* ---- event and machine ---- */

static const char *type_name(const struct encoding *e)
{
	static const char *const names[] = {
		[PERF_TYPE_HARDWARE] = "hardware",
		[PERF_TYPE_SOFTWARE] = "software",
		[PERF_TYPE_HW_CACHE] = "cache",
		[PERF_TYPE_RAW] = "raw",
	};

	if (e->place == PLACE_CORE) /* one core type of several */
		return e->pmu;
	if (e->attr.type < ARRAY_SIZE(names) && names[e->attr.type])
		return names[e->attr.type];
	return e->pmu[0] ? e->pmu : "other";
}

bool verdict_event(char *out, size_t room, const struct encoding *e)
{
	const struct perf_event_attr *a = &e->attr;
	/*
	 * On hybrid machines the upper half of a generic event's config is its PMU type, which is
	 * given by pmu.
	 */
	uint64_t config = a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE
		? (uint32_t)a->config
		: a->config;
	int n = snprintf(out, room, "%s %s %#llx %#llx %#llx %s%s", encoding_source(e)->name,
			 type_name(e), (unsigned long long)config, (unsigned long long)a->config1,
			 (unsigned long long)a->config2, a->exclude_user ? "" : "u",
			 a->exclude_kernel ? "" : "k");

	return n > 0 && (size_t)n < room && !e->unencoded;
}

/* No tabs or control characters, since it is a field of a line. */
static void clean(char *s)
{
	for (; *s; s++)
		if (!isprint((unsigned char)*s))
			*s = '?';
}

static void microcode_of(char *out, size_t room, const char *root)
{
	char *info;
	const char *at;

	snprintf(out, room, "unknown");
	if (file_line(root, "/sys/devices/system/cpu/cpu0/microcode/version", out, room, NULL) == 0)
		return;
	snprintf(out, room, "unknown");
	if (file_read(root, "/proc/cpuinfo", 4 << 20, &info, NULL, NULL) < 0)
		return;
	at = strstr(info, "\nmicrocode");
	at = at ? strchr(at, ':') : NULL;
	if (at)
		sscanf(at + 1, " %20s", out);
	free(info);
}

void verdict_machine(char *out, size_t room, const char *root, const char *cpu)
{
	struct cpu_description told = { 0 };
	char microcode[24], release[96], version[128];

	microcode_of(microcode, sizeof(microcode), root);
	if (file_line(root, "/proc/sys/kernel/osrelease", release, sizeof(release), NULL) < 0)
		snprintf(release, sizeof(release), "unknown");
	if (file_line(root, "/proc/sys/kernel/version", version, sizeof(version), NULL) < 0)
		snprintf(version, sizeof(version), "unknown");
	if (!root || !root[0])
		cpu_describe(&told);
	snprintf(out, room, "%s microcode %s Linux %s %.90s %s", cpu[0] ? cpu : "unknown",
		 microcode, release, version,
		 told.signature[0]         ? told.signature
			 : told.hypervisor ? "hypervisor"
					   : "-");
	clean(out);
}

void verdict_boot(char *out, size_t room, const char *root)
{
	if (file_line(root, "/proc/sys/kernel/random/boot_id", out, room, NULL) < 0)
		out[0] = '\0';
	clean(out);
}

/* ---- lines ---- */

static bool take_row(struct verdict *v, struct rows *rows)
{
	struct verify_result *r = &v->result;
	uint64_t per_interrupt, samples, kinds;
	int verdict;

	*v = (struct verdict){ 0 };
	if (!row_text(rows, v->event, sizeof(v->event)) ||
	    !row_text(rows, v->machine, sizeof(v->machine)) ||
	    !row_name(rows, &verdict, verify_names, VERIFY_VERDICTS, NULL) ||
	    !row_int(rows, &r->fixed) || !row_int(rows, &r->per_fault) ||
	    !row_int(rows, &r->per_syscall) || !row_count(rows, &per_interrupt, UINT32_MAX) ||
	    !row_count(rows, &r->interrupts, INT64_MAX) || !row_count(rows, &r->over, INT64_MAX) ||
	    !row_count(rows, &r->spread, INT64_MAX) || !row_count(rows, &kinds, UINT32_MAX) ||
	    !row_real(rows, &r->per_turn, -1e18, 1e18) ||
	    !row_real(rows, &r->factor, -1e18, 1e18) || !row_real(rows, &r->share, -1e18, 1e18) ||
	    !row_count(rows, &samples, INT64_MAX) ||
	    !row_name(rows, &r->as, work_class_names, WORK_CLASSES, "-") ||
	    !row_int(rows, &v->time) || !row_text(rows, v->boot, sizeof(v->boot)) ||
	    !row_ends(rows))
		return false;
	r->verdict = (enum verify_verdict)verdict;
	r->kinds = (uint32_t)kinds;
	r->per_interrupt = (unsigned)per_interrupt;
	r->samples = (size_t)samples;
	return true;
}

static const struct verdict *same(const struct verdicts *v, const char *event, const char *machine)
{
	for (size_t i = v->n; i > 0; i--)
		if (!strcmp(v->entry[i - 1].event, event) &&
		    !strcmp(v->entry[i - 1].machine, machine))
			return &v->entry[i - 1];
	return NULL;
}

const struct verdict *verdicts_find(const struct verdicts *v, const char *event,
				    const char *machine)
{
	return same(v, event, machine);
}

int verdicts_put(struct verdicts *v, const struct verdict *one, struct tare_error *err)
{
	const struct verdict *old = same(v, one->event, one->machine);

	if (old) {
		size_t at = (size_t)(old - v->entry);

		memmove(&v->entry[at], &v->entry[at + 1], (--v->n - at) * sizeof(*v->entry));
	} else if (v->n == MOST) { /* the oldest is dropped */
		memmove(v->entry, v->entry + 1, --v->n * sizeof(*v->entry));
	}
	if (!array_one_more(&v->entry, v->n, sizeof(*v->entry)))
		return tare_fail_nomem(err);
	v->entry[v->n++] = *one;
	return 0;
}

int verdicts_parse(struct verdicts *out, const char *text, size_t len, struct tare_error *err)
{
	struct rows rows;
	int ret = rows_begin(&rows, head, text, len, "is not a verdict", err);

	*out = (struct verdicts){ 0 };
	while (ret == 0 && (ret = rows_next(&rows, err)) > 0) {
		struct verdict one;

		ret = take_row(&one, &rows) ? verdicts_put(out, &one, err)
					    : rows_refuse(&rows, err);
	}
	return ret;
}

void verdicts_write(struct text *out, const struct verdicts *v)
{
	text_add(out, "%s", head);
	for (size_t i = 0; i < v->n; i++) {
		const struct verdict *e = &v->entry[i];
		const struct verify_result *r = &e->result;

		text_add(out,
			 "%s\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%u\t%" PRIu64
			 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu32,
			 e->event, e->machine, verify_names[r->verdict], r->fixed, r->per_fault,
			 r->per_syscall, r->per_interrupt, r->interrupts, r->over, r->spread,
			 r->kinds);
		text_add(out, "\t%.9g\t%.9g\t%.9g\t%zu\t%s\t%" PRId64 "\t%s\n", r->per_turn,
			 r->factor, r->share, r->samples,
			 r->as >= 0 && r->as < WORK_CLASSES ? work_class_names[r->as] : "-",
			 e->time, e->boot);
	}
}

void verdicts_free(struct verdicts *v)
{
	free(v->entry);
	*v = (struct verdicts){ 0 };
}
