/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/verdicts.h"
#include "arch/cpu.h"
#include "arch/kernels.h"
#include "base/file.h"

static const char head[] = "tare verdicts 1\n";

enum { FIELDS = 18, MOST = 4096 };

/* ---- who is meant ---- */

static const char *type_name(const struct encoding *e)
{
	static const char *const names[] = {
		[PERF_TYPE_HARDWARE] = "hardware", [PERF_TYPE_SOFTWARE] = "software", [PERF_TYPE_HW_CACHE] = "cache", [PERF_TYPE_RAW] = "raw",
	};

	if (e->place == PLACE_CORE) /* one kind of core of several */
		return e->pmu;
	if (e->attr.type < ARRAY_SIZE(names) && names[e->attr.type])
		return names[e->attr.type];
	return e->pmu[0] ? e->pmu : "other";
}

bool verdict_event(char *out, size_t room, const struct encoding *e)
{
	const struct perf_event_attr *a = &e->attr;
	/* On hybrid machines the upper half of a generic event's number is its PMU, which pmu names. */
	uint64_t config = a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE ? (uint32_t)a->config : a->config;
	int n = snprintf(out, room, "%s %s %#llx %#llx %#llx %s%s", e->source ? e->source : "perf", type_name(e), (unsigned long long)config,
			 (unsigned long long)a->config1, (unsigned long long)a->config2, a->exclude_user ? "" : "u", a->exclude_kernel ? "" : "k");

	return n > 0 && (size_t)n < room && !e->unencoded;
}

/* No tabs, no control characters: it is a field of a line. */
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
	snprintf(out, room, "%s microcode %s Linux %s %.90s %s", cpu[0] ? cpu : "unknown", microcode, release, version,
		 told.signature[0] ? told.signature : told.hypervisor ? "hypervisor" : "-");
	clean(out);
}

void verdict_boot(char *out, size_t room, const char *root)
{
	if (file_line(root, "/proc/sys/kernel/random/boot_id", out, room, NULL) < 0)
		out[0] = '\0';
	clean(out);
}

/* ---- lines ---- */

/* Up to the next tab, or the line's end; NULL: there is none. */
static char *next_field(char **at)
{
	char *field = *at, *tab;

	if (!field)
		return NULL;
	tab = strchr(field, '\t');
	if (tab)
		*tab = '\0';
	*at = tab ? tab + 1 : NULL;
	return field;
}

static bool take_text(char *to, size_t room, const char *field)
{
	if (strlen(field) >= room)
		return false;
	for (const char *p = field; *p; p++)
		if (!isprint((unsigned char)*p))
			return false;
	strcpy(to, field);
	return true;
}

static bool take_int(int64_t *to, const char *field)
{
	char *end;

	errno = 0;
	*to = strtoll(field, &end, 10);
	return *field && !*end && !errno && (*field == '-' || isdigit((unsigned char)*field));
}

static bool take_count(uint64_t *to, const char *field)
{
	int64_t v;

	if (!take_int(&v, field) || v < 0)
		return false;
	*to = (uint64_t)v;
	return true;
}

static bool take_real(double *to, const char *field)
{
	char *end;

	*to = strtod(field, &end);
	return (isdigit((unsigned char)*field) || *field == '-') && !*end && fabs(*to) < 1e18;
}

static bool take_verdict(enum verify_verdict *to, const char *field)
{
	for (unsigned i = 0; i < VERIFY_VERDICTS; i++)
		if (!strcmp(field, verify_names[i])) {
			*to = (enum verify_verdict)i;
			return true;
		}
	return false;
}

static bool take_class(int *to, const char *field)
{
	*to = WORK_UNKNOWN;
	if (!strcmp(field, "-"))
		return true;
	for (int i = 0; i < WORK_CLASSES; i++)
		if (!strcmp(field, work_class_names[i])) {
			*to = i;
			return true;
		}
	return false;
}

static bool take_line(struct verdict *v, char *line)
{
	char *field[FIELDS];
	struct verify_result *r = &v->result;
	uint64_t per_interrupt, samples, kinds;
	bool good;

	*v = (struct verdict){ 0 };
	for (size_t i = 0; i < FIELDS; i++)
		if (!(field[i] = next_field(&line)))
			return false;
	good = !line && take_text(v->event, sizeof(v->event), field[0]) && take_text(v->machine, sizeof(v->machine), field[1]) &&
	       take_verdict(&r->verdict, field[2]) && take_int(&r->fixed, field[3]) && take_int(&r->per_fault, field[4]) &&
	       take_int(&r->per_syscall, field[5]) && take_count(&per_interrupt, field[6]) && take_count(&r->interrupts, field[7]) &&
	       take_count(&r->over, field[8]) && take_count(&r->spread, field[9]) && take_count(&kinds, field[10]) &&
	       take_real(&r->per_turn, field[11]) && take_real(&r->factor, field[12]) && take_real(&r->share, field[13]) &&
	       take_count(&samples, field[14]) && take_class(&r->as, field[15]) && take_int(&v->time, field[16]) &&
	       take_text(v->boot, sizeof(v->boot), field[17]);
	if (!good || per_interrupt > UINT32_MAX || kinds > UINT32_MAX)
		return false;
	r->kinds = (uint32_t)kinds;
	r->per_interrupt = (unsigned)per_interrupt;
	r->samples = (size_t)samples;
	return true;
}

static const struct verdict *same(const struct verdicts *v, const char *event, const char *machine)
{
	for (size_t i = v->n; i > 0; i--)
		if (!strcmp(v->entry[i - 1].event, event) && !strcmp(v->entry[i - 1].machine, machine))
			return &v->entry[i - 1];
	return NULL;
}

const struct verdict *verdicts_find(const struct verdicts *v, const char *event, const char *machine)
{
	return same(v, event, machine);
}

int verdicts_put(struct verdicts *v, const struct verdict *one, struct tare_error *err)
{
	const struct verdict *old = same(v, one->event, one->machine);
	struct verdict *more;

	if (old) {
		size_t at = (size_t)(old - v->entry);

		memmove(&v->entry[at], &v->entry[at + 1], (--v->n - at) * sizeof(*v->entry));
	} else if (v->n == MOST) { /* the oldest goes */
		memmove(v->entry, v->entry + 1, --v->n * sizeof(*v->entry));
	}
	more = realloc(v->entry, (v->n + 1) * sizeof(*more));
	if (!more)
		return tare_fail_nomem(err);
	v->entry = more;
	more[v->n++] = *one;
	return 0;
}

int verdicts_parse(struct verdicts *out, const char *text, size_t len, struct tare_error *err)
{
	size_t number = 1, at = sizeof(head) - 1;
	char line[1024];

	*out = (struct verdicts){ 0 };
	if (len < at || memcmp(text, head, at))
		return tare_fail(err, EBADMSG, "line 1 is not '%.*s'", (int)at - 1, head);
	while (at < len) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		struct verdict one;
		int ret;

		number++;
		if (!end || n >= sizeof(line) || memchr(text + at, '\0', n))
			return tare_fail(err, EBADMSG, "line %zu is no verdict", number);
		memcpy(line, text + at, n);
		line[n] = '\0';
		if (!take_line(&one, line))
			return tare_fail(err, EBADMSG, "line %zu is no verdict", number);
		ret = verdicts_put(out, &one, err);
		if (ret < 0)
			return ret;
		at += n + 1;
	}
	return 0;
}

void verdicts_write(struct text *out, const struct verdicts *v)
{
	text_add(out, "%s", head);
	for (size_t i = 0; i < v->n; i++) {
		const struct verdict *e = &v->entry[i];
		const struct verify_result *r = &e->result;

		text_add(out, "%s\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu32, e->event, e->machine,
			 verify_names[r->verdict], r->fixed, r->per_fault, r->per_syscall, r->per_interrupt, r->interrupts, r->over, r->spread, r->kinds);
		text_add(out, "\t%.9g\t%.9g\t%.9g\t%zu\t%s\t%" PRId64 "\t%s\n", r->per_turn, r->factor, r->share, r->samples,
			 r->as >= 0 && r->as < WORK_CLASSES ? work_class_names[r->as] : "-",
			 e->time, e->boot);
	}
}

void verdicts_free(struct verdicts *v)
{
	free(v->entry);
	*v = (struct verdicts){ 0 };
}
