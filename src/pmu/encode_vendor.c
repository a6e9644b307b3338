/* SPDX-License-Identifier: MIT */
/*
 * Vendor names: the user's files, the tables of data/, libpfm4. What they say is in perf's terms,
 * which the PMU's formats turn into bits; a CPU that is not this one has the formats below.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pmu/encode.h"
#include "pmu/fit.h"
#include "pmu/libpfm.h"
#include "pmu/table.h"
#include "pmu/vendor.h"

/* ---- the files ---- */

int encoder_open_files(struct encoder *e)
{
	size_t wanted = 0;
	int ret = 0;

	while (e->opt->event_files && e->opt->event_files[wanted])
		wanted++;
	if (!wanted)
		return 0;
	e->file = calloc(wanted, sizeof(*e->file));
	if (!e->file)
		return tare_fail_nomem(e->err);
	for (; ret == 0 && e->n_files < wanted; e->n_files += ret == 0)
		ret = vendor_file_read(e->opt->event_files[e->n_files], &e->file[e->n_files], e->err);
	return ret;
}

void encoder_close(struct encoder *e)
{
	for (size_t i = 0; i < e->n_files; i++)
		vendor_file_free(&e->file[i]);
	free(e->file);
	vendor_file_free(&e->arm);
}

/* ---- another CPU ---- */

/* Formats of core PMUs, for a CPU that is not here. Source: Linux,
 * arch/x86/events/{intel,amd}/core.c and drivers/perf/arm_pmuv3.c, their format attributes. */
static const struct {
	enum counter_kind kind;
	const char *name, *format;
} builtin[] = {
	{ COUNTERS_INTEL, "event", "config:0-7" },
	{ COUNTERS_INTEL, "umask", "config:8-15" },
	{ COUNTERS_INTEL, "edge", "config:18" },
	{ COUNTERS_INTEL, "any", "config:21" },
	{ COUNTERS_INTEL, "inv", "config:23" },
	{ COUNTERS_INTEL, "cmask", "config:24-31" },
	{ COUNTERS_INTEL, "in_tx", "config:32" },
	{ COUNTERS_INTEL, "in_tx_cp", "config:33" },
	{ COUNTERS_INTEL, "offcore_rsp", "config1:0-63" },
	{ COUNTERS_INTEL, "ldlat", "config1:0-15" },
	{ COUNTERS_INTEL, "frontend", "config1:0-23" },
	{ COUNTERS_AMD, "event", "config:0-7,32-35" },
	{ COUNTERS_AMD, "umask", "config:8-15" },
	{ COUNTERS_AMD, "edge", "config:18" },
	{ COUNTERS_AMD, "inv", "config:23" },
	{ COUNTERS_AMD, "cmask", "config:24-31" },
	{ COUNTERS_ARM, "event", "config:0-15" },
	{ COUNTERS_ARM, "long", "config1:0" },
};

int builtin_format(enum counter_kind kind, const char *name, struct format *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtin); i++)
		if (builtin[i].kind == kind && !strcmp(builtin[i].name, name))
			return format_parse(builtin[i].format, out, NULL);
	return -ENOENT;
}

const char *builtin_format_nth(enum counter_kind kind, size_t i)
{
	for (size_t k = 0; k < ARRAY_SIZE(builtin); k++)
		if (builtin[k].kind == kind && i-- == 0)
			return builtin[k].name;
	return NULL;
}

enum counter_kind cpu_kind(const char *cpu)
{
	return !strncmp(cpu, "GenuineIntel", 12) ? COUNTERS_INTEL
	       : !strncmp(cpu, "0x", 2)          ? COUNTERS_ARM
						 : COUNTERS_AMD;
}

/* ---- from a name to encodings ---- */

static int vendor_on(struct encoder *e, const struct pmu *pmu, const struct vendor_event *ev,
		     const char *from, bool several)
{
	struct encoding *enc = encoder_add(e, pmu, pmu->type, 0);
	int ret;

	if (!enc)
		return -ENOMEM;
	if (several)
		name_with_pmu(e->ev, pmu, enc);
	enc->counters = ev->counters;
	ret = encoder_text(e, pmu, ev->terms, from, enc);
	return ret < 0 ? ret : encoder_finish(e, pmu, enc);
}

static int vendor_no_pmu(struct encoder *e, const char *pmu)
{
	struct encoding *enc = encoder_add(e, NULL, PERF_TYPE_RAW, 0);
	char why[120];

	if (!enc)
		return -ENOMEM;
	snprintf(enc->pmu, sizeof(enc->pmu), "%s", pmu);
	if (!pmu[0])
		return encoder_no_core(e, enc);
	snprintf(why, sizeof(why), "it is an event of the PMU %.60s, which this machine has not",
		 pmu);
	return encoder_unavailable(e, enc, ENOENT, why,
				   "'tare events' lists the PMUs of this machine");
}

/* On all core PMUs, or on all whose name is that of the event's PMU. */
static int encode_vendor(struct encoder *e, const struct vendor_event *ev, const char *from)
{
	const struct pmu *const *cores, *pmu;
	const char *const *names;
	size_t n, found = 0;
	int ret;

	if (e->opt->cpu && !ev->pmu[0]) {
		struct pmu other = { .name = "cpu", .type = PERF_TYPE_RAW, .core = true };

		return vendor_on(e, &other, ev, from, false);
	}
	ret = machine_cores(e->m, &cores, &n, e->err);
	if (ret < 0)
		return ret;
	if (!ev->pmu[0]) {
		for (size_t i = 0; ret == 0 && i < n; i++)
			ret = vendor_on(e, cores[i], ev, from, n > 1);
		return n ? ret : vendor_no_pmu(e, "");
	}
	ret = machine_devices(e->m, &names, &n, e->err);
	for (size_t i = 0; ret == 0 && i < n; i++)
		found += pmu_matches(ev->pmu, names[i]);
	for (size_t i = 0; ret == 0 && i < n; i++) {
		if (!pmu_matches(ev->pmu, names[i]))
			continue;
		ret = machine_pmu(e->m, names[i], &pmu, e->err);
		if (ret == 0)
			ret = vendor_on(e, pmu, ev, from, found > 1);
	}
	return ret < 0 || found ? ret : vendor_no_pmu(e, ev->pmu);
}

int encode_from_files(struct encoder *e, const char *name)
{
	for (size_t i = 0; i < e->n_files; i++) {
		const struct vendor_event *ev = vendor_find(&e->file[i], name);

		if (ev) {
			char from[4200];

			snprintf(from, sizeof(from), "%s:%u", e->file[i].path, ev->line);
			return encode_vendor(e, ev, ev->line ? from : e->file[i].path);
		}
	}
	return -ENOENT;
}

/* Which CPU's names hold here: the one asked for, or the machine's. */
static bool cpu_here(struct encoder *e, struct cpu_row *row)
{
	if (e->opt->cpu)
		return cpu_row_by_model(e->opt->cpu, row);
	return cpu_row_find(machine_cpu(e->m), NULL, row);
}

/* The architecture's names on Arm, which every PMUv3 core may count. */
static int encode_arm(struct encoder *e, const char *name, const struct cpu_row *row, bool known)
{
	const char *cpu = known && e->opt->cpu ? row->cpu : machine_cpu(e->m);
	const struct vendor_event *ev;
	int ret = 0;

	if (strncmp(cpu, "0x", 2))
		return -ENOENT;
	if (!e->arm.n)
		ret = vendor_text_parse(embedded_text("armv8-pmuv3.txt"), "data/armv8-pmuv3.txt",
					&e->arm, e->err);
	if (ret < 0)
		return ret;
	ev = vendor_find(&e->arm, name);
	return ev ? encode_vendor(e, ev, e->arm.path) : -ENOENT;
}

int encode_from_tables(struct encoder *e, const char *name)
{
	struct cpu_row row = { 0 };
	struct libpfm_event pfm;
	struct vendor_event ev = { .name = name, .pmu = "", .about = "" };
	char terms[128];
	bool known = cpu_here(e, &row), here = !e->opt->cpu && !machine_root(e->m)[0];
	int ret = encode_arm(e, name, &row, known);

	if (ret != -ENOENT)
		return ret;
	if (!here && (!known || !strcmp(row.libpfm, "-")))
		return -ENOENT;
	ret = libpfm_encode(here ? NULL : row.libpfm, name, &pfm, e->err);
	if (ret < 0)
		return ret;
	/* libpfm4 writes cycles by the number of their fixed counter; Linux takes that code for an
	 * event of a programmable counter, which counts nothing by it. Source: Linux, jevents.py,
	 * fixed_events. */
	if (pfm.config == 0x200 && cpu_kind(here ? machine_cpu(e->m) : row.cpu) == COUNTERS_INTEL)
		pfm.config = 0x3c;
	snprintf(terms, sizeof(terms), "config=%#llx,config1=%#llx,config2=%#llx",
		 (unsigned long long)pfm.config, (unsigned long long)pfm.config1,
		 (unsigned long long)pfm.config2);
	ev.terms = terms;
	return encode_vendor(e, &ev, "libpfm4");
}
