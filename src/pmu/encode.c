/* SPDX-License-Identifier: MIT */
/*
 * Converts the events of a list to encodings. A bare name is searched in this order: the kernel's
 * generic names, the names in the user's vendor files, the core PMUs' own events, vendor tables,
 * the other PMUs' events. An event without a PMU is counted on every core PMU, never silently on
 * just one of several.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "pmu/encode.h"
#include "pmu/libpfm.h"

static const char no_core_why[] = "this machine shows no core PMU (a virtual machine without a "
				  "virtual PMU, or a kernel without its driver)";
static const char no_core_remedy[] =
	"'tare doctor' says why; task-clock, page-faults and other software events count here";

/* ---- one encoding ---- */

struct encoding *encoder_add(struct encoder *e, const struct pmu *pmu, uint32_t type,
			     uint64_t config)
{
	if (!array_reserve(&e->out->enc, &e->room, e->out->n + 1, sizeof(*e->out->enc))) {
		tare_fail_nomem(e->err);
		return NULL;
	}

	struct encoding *enc = &e->out->enc[e->out->n];
	const struct event *ev = e->ev;

	*enc = (struct encoding){
		.source = &source_perf,
		.attr = { .type = type, .size = sizeof(enc->attr), .config = config },
		.place = pmu ? pmu->place : PLACE_TASK,
		.event = e->index,
		.group = ev->group,
		.weak = ev->mods.weak,
		.host_only = ev->mods.host && !ev->mods.guest,
		.sample_read = ev->mods.sample_read,
		.scale = 1,
	};
	snprintf(enc->name, sizeof(enc->name), "%s", ev->label ? ev->label : ev->text);
	if (pmu) {
		snprintf(enc->pmu, sizeof(enc->pmu), "%s", pmu->name);
		if (pmu->place != PLACE_TASK && cpus_copy(&enc->cpus, &pmu->cpus, e->err) < 0)
			return NULL;
	}
	e->out->n++;
	encoder_mods(&ev->mods, pmu && pmu->core, &enc->attr);
	return enc;
}

/*
 * Naming a level excludes the others. On a core PMU, guests are excluded unless G requests them, as
 * in perf. Source: perf-list(1), "EVENT MODIFIERS"; perf_event_open(2), "exclude_user" and
 * following.
 */
void encoder_mods(const struct event_mods *mods, bool core, struct perf_event_attr *attr)
{
	if (mods->given) {
		attr->exclude_user = !mods->user;
		attr->exclude_kernel = !mods->kernel;
		attr->exclude_hv = !mods->hypervisor;
	}
	if (mods->guest || mods->host) {
		attr->exclude_guest = !mods->guest;
		attr->exclude_host = !mods->host;
	} else if (core) {
		attr->exclude_guest = 1;
	}
	attr->exclude_idle = mods->no_idle;
	attr->precise_ip = mods->precise;
	attr->pinned = mods->pinned;
	attr->exclusive = mods->exclusive;
}

int encoder_unavailable(struct encoder *e, struct encoding *enc, int code, const char *why,
			const char *remedy)
{
	if (!e->opt->keep_unavailable) {
		tare_fail_at(e->err, e->ev->at, code, "%.100s is unavailable: %.250s", e->ev->text,
			     why);
		tare_hint(e->err, "%s", remedy);
		return -code;
	}
	enc->unavailable = code;
	snprintf(enc->why, sizeof(enc->why), "%s", why);
	snprintf(enc->remedy, sizeof(enc->remedy), "%s", remedy);
	return 0;
}

/* One of several PMUs: "cpu_core/instructions/u", "uncore_imc_0/cas_count_read/". */
void name_with_pmu(const struct event *ev, const struct pmu *pmu, struct encoding *enc)
{
	const char *what = ev->label, *mods = "", *rest = strchr(ev->text, '/');

	if (!what && ev->kind == EVENT_PMU && rest) {
		snprintf(enc->name, sizeof(enc->name), "%s%s", pmu->name, rest);
		return;
	}
	if (!what) {
		size_t n = strcspn(ev->text, ev->kind == EVENT_RAW ? ":/" : ":");

		what = ev->text;
		if (ev->kind == EVENT_NAME && !strncmp(ev->text, ev->name, strlen(ev->name)))
			n = strlen(ev->name);
		mods = ev->text + n + (ev->text[n] == ':');
		snprintf(enc->name, sizeof(enc->name), "%s/%.*s/%s", pmu->name, (int)n, what, mods);
		return;
	}
	snprintf(enc->name, sizeof(enc->name), "%s/%s/", pmu->name, what);
}

/*
 * P: the most precise level that the PMU supports. Source: sysfs-bus-event_source-devices-caps,
 * max_precise.
 */
static int set_precise_max(struct encoder *e, const struct pmu *pmu, struct encoding *enc)
{
	char path[192];
	uint64_t most = 0;
	int ret;

	if (!e->ev->mods.precise_max || !pmu)
		return 0;
	snprintf(path, sizeof(path), PMU_DEVICES "/%s/caps/max_precise", pmu->name);
	ret = machine_number(e->m, path, 0, &most, e->err);
	if (ret == 0 && most > 3)
		return tare_fail(e->err, EINVAL, "%s%s: %llu is no precise level (0 to 3)",
				 machine_root(e->m), path, (unsigned long long)most);
	if (most > enc->attr.precise_ip)
		enc->attr.precise_ip = most & 3;
	return ret;
}

/*
 * A clock accepts only modifiers that match its own time: perf accepts u and k with duration_time
 * and still counts wall time, but user time is not kernel time.
 */
static bool clock_takes(const struct encoding *enc, const struct event_mods *m)
{
	if (m->precise || m->precise_max)
		return false;
	switch (enc->attr.config) {
	case CLOCK_USER:
		return !m->given || m->user;
	case CLOCK_SYSTEM:
		return !m->given || m->kernel;
	}
	return true;
}

/* Counters that are neither per task nor per privilege level do not support u, k, h, p. */
static int check_mods(struct encoder *e, const struct encoding *enc)
{
	const struct event_mods *m = &e->ev->mods;
	bool clock = enc->source->clock;

	if (!clock && enc->place != PLACE_UNCORE)
		return 0;
	if (clock && clock_takes(enc, m))
		return 0;
	if (!m->given && !m->guest && !m->host && !m->precise && !m->precise_max && !m->no_idle)
		return 0;
	tare_fail_at(e->err, e->ev->at, EINVAL,
		     "%.100s: %s cannot tell user from kernel, nor be precise", e->ev->text,
		     clock ? "a clock" : "an uncore counter");
	tare_hint(e->err, "leave the modifiers out");
	return -EINVAL;
}

int encoder_finish(struct encoder *e, const struct pmu *pmu, struct encoding *enc)
{
	int ret = set_precise_max(e, pmu, enc);

	return ret < 0 ? ret : check_mods(e, enc);
}

int encoder_no_core(struct encoder *e, struct encoding *enc)
{
	return encoder_unavailable(e, enc, ENOENT, no_core_why, no_core_remedy);
}

/* ---- the kinds of events ---- */

/*
 * The events of the kernel's generic ids on Arm. On a machine with several PMUs they are requested
 * by number, as kernels before 6.6 do not accept a PMU together with a generic id. Source: Linux,
 * drivers/perf/arm_pmuv3.c, armv8_pmuv3_perf_map.
 */
static const struct {
	uint64_t id;
	const char *event;
} arm_events[] = {
	{ PERF_COUNT_HW_CPU_CYCLES, "cpu_cycles" },
	{ PERF_COUNT_HW_INSTRUCTIONS, "inst_retired" },
	{ PERF_COUNT_HW_CACHE_REFERENCES, "l1d_cache" },
	{ PERF_COUNT_HW_CACHE_MISSES, "l1d_cache_refill" },
	{ PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "br_retired" },
	{ PERF_COUNT_HW_BRANCH_MISSES, "br_mis_pred" },
	{ PERF_COUNT_HW_BUS_CYCLES, "bus_cycles" },
	{ PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "stall_frontend" },
	{ PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "stall_backend" },
};

static bool is_arm(const struct pmu *pmu)
{
	return !strncmp(pmu->name, "arm", 3) || !strncmp(pmu->name, "apple_", 6);
}

/* A generic hardware or cache event on one of several core PMUs. */
static int generic_on(struct encoder *e, const struct pmu *pmu, const struct generic_name *g,
		      struct encoding *enc)
{
	const char *event = NULL;
	char why[200];
	int ret = -ENOENT;

	if (!is_arm(pmu)) {
		enc->attr.config |= (uint64_t)pmu->type << PERF_PMU_TYPE_SHIFT;
		return 0;
	}
	for (size_t i = 0; g->type == NAME_HARDWARE && i < ARRAY_SIZE(arm_events); i++)
		if (arm_events[i].id == g->config)
			event = arm_events[i].event;
	enc->attr.type = pmu->type;
	enc->attr.config = 0;
	if (event)
		ret = encoder_pmu_event(e, pmu, event, enc);
	if (ret != -ENOENT)
		return ret;
	snprintf(why, sizeof(why), "the PMU %s has no event for it", pmu->name);
	return encoder_unavailable(e, enc, ENOENT, why, "'tare events' lists what it has");
}

/* On every core PMU: a generic event, or a raw config if g is NULL. */
static int on_cores(struct encoder *e, const struct generic_name *g, uint32_t type, uint64_t config)
{
	static const struct pmu other = { .name = "cpu", .type = PERF_TYPE_RAW, .core = true };
	const struct pmu *const *cores;
	size_t n;
	int ret;

	if (e->opt->cpu) { /* the request for that CPU; independent of this machine */
		struct encoding *enc = encoder_add(e, &other, type, config);

		return enc ? encoder_terms(e, NULL, enc) : -ENOMEM;
	}
	ret = machine_cores(e->m, &cores, &n, e->err);
	if (ret < 0)
		return ret;
	if (n == 0) {
		struct encoding *enc = encoder_add(e, NULL, type, config);

		ret = enc ? encoder_no_core(e, enc) : -ENOMEM;
		/* the exact engine may count it: with its period */
		return ret < 0 ? ret : encoder_terms(e, NULL, enc);
	}
	for (size_t i = 0; i < n; i++) {
		struct encoding *enc = encoder_add(e, cores[i], type, config);

		if (!enc)
			return -ENOMEM;
		if (n == 1) {
			enc->pmu[0] = '\0';
		} else {
			name_with_pmu(e->ev, cores[i], enc);
			if (g)
				ret = generic_on(e, cores[i], g, enc);
			else
				enc->attr.type = cores[i]->type;
		}
		if (ret == 0)
			ret = set_precise_max(e, cores[i], enc);
		if (ret == 0)
			ret = encoder_terms(e, NULL, enc);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int encode_generic(struct encoder *e, const struct generic_name *g)
{
	struct encoding *enc;

	if (g->type == NAME_HARDWARE)
		return on_cores(e, g, PERF_TYPE_HARDWARE, g->config);
	if (g->type == NAME_CACHE)
		return on_cores(e, g, PERF_TYPE_HW_CACHE, g->config);
	enc = encoder_add(e, NULL, PERF_TYPE_SOFTWARE, g->config);
	if (!enc)
		return -ENOMEM;
	if (g->type == NAME_CLOCK)
		enc->source = &source_clock;
	snprintf(enc->unit, sizeof(enc->unit), "%s", g->unit);

	int ret = check_mods(e, enc);

	return ret < 0 ? ret : encoder_terms(e, NULL, enc);
}

/*
 * An event in the events folder of a PMU: on every core PMU that has it, otherwise on every other
 * PMU that has it.
 */
static int encode_from_sysfs(struct encoder *e, const char *name, bool cores_only)
{
	const struct pmu *const *cores, *pmu;
	const char *const *names;
	size_t n, found = 0, first = e->out->n;
	char terms[1024];
	int ret = machine_cores(e->m, &cores, &n, e->err);

	if (ret == 0 && !cores_only)
		ret = machine_devices(e->m, &names, &n, e->err);
	for (size_t i = 0; ret == 0 && i < n; i++) {
		if (cores_only) {
			pmu = cores[i];
		} else {
			ret = machine_pmu(e->m, names[i], &pmu, e->err);
			if (ret < 0)
				return ret;
		}
		ret = machine_event(e->m, pmu, name, terms, sizeof(terms), NULL);
		if (ret < 0) {
			ret = 0;
			continue;
		}

		struct encoding *enc = encoder_add(e, pmu, pmu->type, 0);

		if (!enc)
			return -ENOMEM;
		found++;
		ret = encoder_pmu_event(e, pmu, name, enc);
		if (ret == 0)
			ret = set_precise_max(e, pmu, enc);
		if (ret == 0)
			ret = check_mods(e, enc);
		if (found == 1 && pmu->place == PLACE_TASK)
			break;
	}
	for (size_t i = first; ret == 0 && found > 1 && i < e->out->n; i++)
		if (machine_pmu(e->m, e->out->enc[i].pmu, &pmu, NULL) == 0)
			name_with_pmu(e->ev, pmu, &e->out->enc[i]);
	if (ret < 0)
		return ret;
	return found ? 0 : -ENOENT;
}

int encoder_unknown(struct encoder *e, const char *name)
{
	char table[32], about[80];
	unsigned others = libpfm_who_knows(name, table, about);

	if ((others || e->opt->cpu) && !encoder_has_table(e)) {
		char known[140] = "";

		if (others)
			snprintf(known, sizeof(known), "; %s%s has an event of that name", about,
				 others > 1 ? ", as others," : "");
		tare_fail_at(e->err, e->ev->at, ENOENT,
			     "'%.100s': tare has no table of the vendor's events of %s%.60s%s",
			     name, e->opt->cpu ? "" : "this CPU, ",
			     e->opt->cpu ? e->opt->cpu : machine_cpu(e->m), known);
		tare_hint(
			e->err,
			"--event-file FILE or FOLDER reads the vendor's own, such as tools/perf/pmu-events of Linux");
		return -ENOENT;
	}
	if (others) {
		tare_fail_at(e->err, e->ev->at, ENOENT,
			     "'%.100s' is an event of %s%s, not of %s%.60s", name, about,
			     others > 1 ? " and others" : "", e->opt->cpu ? "" : "this CPU, ",
			     e->opt->cpu ? e->opt->cpu : machine_cpu(e->m));
		tare_hint(e->err, "'tare events explain --cpu %s %.100s' says what it is there",
			  table, name);
		return -ENOENT;
	}
	tare_fail_at(e->err, e->ev->at, ENOENT, "there is no event '%.100s'%s%.60s%s", name,
		     e->opt->cpu ? " in libpfm4's table of " : "", e->opt->cpu ? e->opt->cpu : "",
		     e->opt->cpu ? "; --event-file reads the vendor's own names" : "");
	encoder_nearest(e, name);
	return -ENOENT;
}

static int encode_name(struct encoder *e, const char *name)
{
	struct generic_name g;
	char room[GENERIC_ROOM];
	int ret;

	if (generic_find(name, &g, room))
		return encode_generic(e, &g);
	ret = encode_from_files(e, name);
	if (ret == -ENOENT && !e->opt->cpu)
		ret = encode_from_sysfs(e, name, true);
	if (ret == -ENOENT)
		ret = encode_from_tables(e, name);
	if (ret == -ENOENT && !e->opt->cpu)
		ret = encode_from_sysfs(e, name, false);
	return ret == -ENOENT ? encoder_unknown(e, name) : ret;
}

/* ---- pmu/terms/ ---- */

/* As in perf: exact match; glob; without the uncore_ prefix; and without the instance number. */
bool pmu_matches(const char *pattern, const char *name)
{
	const char *bare = strncmp(name, "uncore_", 7) ? name : name + 7;
	size_t n = strlen(pattern);

	if (strpbrk(pattern, "*?["))
		return !fnmatch(pattern, name, 0) || !fnmatch(pattern, bare, 0);
	for (int pass = 0; pass < 2; pass++, name = bare) {
		if (strncmp(pattern, name, n))
			continue;
		if (!name[n])
			return true;
		if (name[n] == '_' && name[n + 1] &&
		    strspn(name + n + 1, "0123456789abcdef") == strlen(name + n + 1))
			return true;
	}
	return false;
}

/* Names of a core PMU on some machines: unavailable here rather than unknown. */
static bool names_core_pmu(const char *name)
{
	return !strcmp(name, "cpu") || !strcmp(name, "cpu_core") || !strcmp(name, "cpu_atom") ||
		!strncmp(name, "armv8_", 6) || !strncmp(name, "armv9_", 6);
}

static int no_pmu(struct encoder *e, const char *name)
{
	const struct pmu *const *cores;
	const char *const *names;
	struct text near = { 0 };
	size_t n, n_cores;
	int ret = machine_cores(e->m, &cores, &n_cores, e->err);

	if (ret < 0)
		return ret;
	if (n_cores == 0 && names_core_pmu(name)) {
		struct encoding *enc = encoder_add(e, NULL, PERF_TYPE_RAW, 0);

		if (!enc)
			return -ENOMEM;
		snprintf(enc->pmu, sizeof(enc->pmu), "%s", name);
		enc->unencoded = true;
		return encoder_no_core(e, enc);
	}
	ret = machine_devices(e->m, &names, &n, e->err);
	if (ret < 0)
		return ret;
	tare_fail_at(e->err, e->ev->at, ENOENT, "there is no PMU '%.64s' on this machine", name);
	if (names_core_pmu(name)) {
		for (size_t i = 0; i < n_cores; i++)
			text_add(&near, "%s%s", i ? ", " : "", cores[i]->name);
		tare_hint(e->err,
			  "its core PMUs: %.160s; an event without a PMU is counted on all of them",
			  near.s);
		text_free(&near);
		return -ENOENT;
	}
	text_nearest(&near, name, names, n, 3);
	if (near.len)
		tare_hint(e->err, "did you mean %s? 'tare events' lists all", near.s);
	else
		tare_hint(e->err, "'tare events' lists the PMUs of this machine");
	text_free(&near);
	return -ENOENT;
}

static int encode_on_pmu(struct encoder *e, const struct pmu *pmu, bool several)
{
	struct encoding *enc = encoder_add(e, pmu, pmu->type, 0);
	int ret;

	if (!enc)
		return -ENOMEM;
	if (several)
		name_with_pmu(e->ev, pmu, enc);
	ret = encoder_terms(e, pmu, enc);
	if (ret == 0)
		ret = set_precise_max(e, pmu, enc);
	return ret < 0 ? ret : check_mods(e, enc);
}

static int encode_pmu(struct encoder *e)
{
	const char *wanted = e->ev->pmu, *const * names;
	const struct pmu *pmu;
	struct generic_name g;
	char room[GENERIC_ROOM];
	size_t n, found = 0;
	int ret = -ENOENT;

	if (!strcmp(wanted, "exact"))
		return encode_exact(e);
	if (e->opt->cpu && names_core_pmu(wanted))
		return encode_on_pmu(
			e, &(struct pmu){ .name = "cpu", .type = PERF_TYPE_RAW, .core = true },
			false);
	if (!strpbrk(wanted, "*?["))
		ret = machine_pmu(e->m, wanted, &pmu, e->err);
	if (ret == 0)
		return encode_on_pmu(e, pmu, false);
	if (ret != -ENOENT)
		return ret;
	if (generic_find(wanted, &g, room)) /* cycles/period=1000/ */
		return encode_generic(e, &g);
	ret = machine_devices(e->m, &names, &n, e->err);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < n; i++)
		found += pmu_matches(wanted, names[i]);
	for (size_t i = 0; i < n; i++) {
		if (!pmu_matches(wanted, names[i]))
			continue;
		ret = machine_pmu(e->m, names[i], &pmu, e->err);
		if (ret == 0)
			ret = encode_on_pmu(e, pmu, found > 1);
		if (ret < 0)
			return ret;
	}
	return found ? 0 : no_pmu(e, wanted);
}

/* ---- lists ---- */

static int encode_event(struct encoder *e)
{
	switch (e->ev->kind) {
	case EVENT_NAME:
		return encode_name(e, e->ev->name);
	case EVENT_PMU:
		return encode_pmu(e);
	case EVENT_RAW:
		return on_cores(e, NULL, PERF_TYPE_RAW, e->ev->raw);
	case EVENT_BREAKPOINT:
		return encode_breakpoint(e);
	case EVENT_TRACEPOINT:
		return encode_tracepoint(e);
	case EVENT_NUMBERS: {
		struct encoding *enc = encoder_add(e, NULL, e->ev->type, e->ev->raw);

		return enc ? encoder_terms(e, NULL, enc) : -ENOMEM;
	}
	}
	return tare_fail_at(e->err, e->ev->at, EINVAL, "%.100s is of no known kind", e->ev->text);
}

int pmu_encode(struct machine *m, const struct event_list *events, const struct encode_options *opt,
	       struct encoding_list *out, struct tare_error *err)
{
	static const struct encode_options none;
	struct encoder e = { .m = m, .opt = opt ? opt : &none, .out = out, .err = err };
	struct cpu_row row;
	int ret;

	*out = (struct encoding_list){ 0 };
	if (e.opt->cpu && !cpu_row_by_model(e.opt->cpu, &row)) {
		tare_fail(err, ENOENT, "no CPU model '%.60s' is known", e.opt->cpu);
		tare_hint(err, "'tare events --cpu list' lists them");
		return -ENOENT;
	}
	if (e.opt->cpu)
		e.kind = cpu_kind(row.cpu);
	ret = encoder_open_files(&e);
	for (size_t i = 0; ret == 0 && i < events->n; i++) {
		e.ev = &events->event[i];
		e.index = i;
		ret = encode_event(&e);
		if (ret < 0 && err && err->at < 0)
			err->at = e.ev->at;
	}
	encoder_close(&e);
	if (ret == 0)
		ret = encoder_regroup(events, out, err);
	if (ret < 0)
		encoding_list_free(out);
	return ret;
}

void encoding_list_free(struct encoding_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		cpus_free(&list->enc[i].cpus);
	free(list->enc);
	*list = (struct encoding_list){ 0 };
}
