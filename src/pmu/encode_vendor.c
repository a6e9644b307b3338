/* SPDX-License-Identifier: MIT */
/*
 * Vendor names: the user's files, the tables of data/, libpfm4. Their definitions are in perf's
 * terms, which the PMU's formats convert to bits; for a CPU other than this one, the formats below
 * are used.
 */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "pmu/encode.h"
#include "pmu/fit.h"
#include "pmu/libpfm.h"
#include "pmu/table.h"
#include "pmu/vendor.h"

/* ---- the files ---- */

int encoder_open_files(struct encoder *e)
{
	return vendor_files_read(e->opt->event_files, &e->file, &e->n_files, e->err);
}

void encoder_close(struct encoder *e)
{
	vendor_files_free(e->file, e->n_files);
	vendor_file_free(&e->arm);
}

/* ---- another CPU ---- */

/*
 * Formats of core PMUs for CPUs other than this one. Source: Linux,
 * arch/x86/events/{intel,amd}/core.c and drivers/perf/arm_pmuv3.c, their format attributes.
 */
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
		: !strncmp(cpu, "0x", 2)         ? COUNTERS_ARM
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

/*
 * The terms need the formats of a PMU that is absent: they are kept by name, and not encoded. The
 * code is never ENOENT, which means that no file has the event.
 */
static int vendor_no_pmu(struct encoder *e, const struct vendor_event *ev)
{
	struct encoding *enc = encoder_add(e, NULL, PERF_TYPE_RAW, 0);
	char why[200];

	if (!enc)
		return -ENOMEM;
	enc->unencoded = true;
	if (ev->pmu[0] && strncmp(ev->pmu, "cpu_", 4))
		enc->place = PLACE_UNCORE;
	snprintf(enc->pmu, sizeof(enc->pmu), "%s", ev->pmu);
	snprintf(enc->asked, sizeof(enc->asked), "%s", ev->terms);
	if (!ev->pmu[0])
		return encoder_no_core(e, enc) < 0 ? -ENODEV : 0;
	if (e->opt->cpu) {
		snprintf(why, sizeof(why),
			 "it is an event of the PMU %.60s, and of %.60s only the formats of the "
			 "core PMU are known",
			 ev->pmu, e->opt->cpu);
		return encoder_unavailable(e, enc, ENODEV, why,
					   "where that PMU is, ask without --cpu");
	}
	snprintf(why, sizeof(why),
		 "it is an event of the PMU %.60s, which this machine does not have", ev->pmu);
	return encoder_unavailable(e, enc, ENODEV, why,
				   "'tare events' lists the PMUs of this machine");
}

/*
 * As in perf: the name, or the name and a number; if the name has a comma, each part and its
 * number, in order (hisi_sccl3_l3c2). Source: Linux, tools/perf/util/pmu.c,
 * pmu_uncore_alias_match().
 */
static bool vendor_pmu_matches(const char *wanted, const char *name)
{
	if (pmu_matches(wanted, name))
		return true;
	for (const char *part = wanted; *part;) {
		size_t n = strcspn(part, ",");

		if (strncmp(name, part, n))
			return false;
		name += n;
		name += strspn(name, "0123456789");
		part += n + (part[n] == ',');
		name += *part && *name == '_';
	}
	return !*name;
}

/* Events of some PMUs differ between hardware versions, which sysfs identifies. */
static bool compatible(struct encoder *e, const struct pmu *pmu, const char *compat)
{
	char path[192], id[128], whole[256];
	regex_t re;
	bool ok;

	if (!*compat)
		return true;
	snprintf(path, sizeof(path), PMU_DEVICES "/%s/identifier", pmu->name);
	if (file_line(machine_root(e->m), path, id, sizeof(id), NULL) < 0 ||
	    snprintf(whole, sizeof(whole), "^(%s)$", compat) >= (int)sizeof(whole) ||
	    regcomp(&re, whole, REG_EXTENDED | REG_NOSUB))
		return false;
	ok = regexec(&re, id, 0, NULL, 0) == 0;
	regfree(&re);
	return ok;
}

static int vendor_other_version(struct encoder *e, const struct vendor_event *ev,
				const struct pmu *pmu)
{
	struct encoding *enc = encoder_add(e, pmu, pmu->type, 0);
	char why[256];

	if (!enc)
		return -ENOMEM;
	snprintf(why, sizeof(why),
		 "the file has it for PMUs with the identifier %.60s, and that of %.60s is another",
		 ev->compat, pmu->name);
	return encoder_unavailable(e, enc, ENODEV, why,
				   "the files of this hardware have its own events");
}

/* On all core PMUs, or on all with the name of the event's PMU. `others`: rows of that name for
 * other PMUs; then a missing PMU is no error. */
static int encode_vendor(struct encoder *e, const struct vendor_event *ev, const char *from,
			 bool others, size_t *opened)
{
	const struct pmu *const *cores, *pmu;
	const char *const *names;
	struct cpu_row row;
	size_t n, found = 0;
	int ret;

	if (e->opt->cpu &&
	    (!ev->pmu[0] ||
	     (!strncmp(ev->pmu, "cpu_", 4) && cpu_row_by_model(e->opt->cpu, &row) &&
	      !strcmp(row.pmu, ev->pmu)))) {
		struct pmu other = { .name = "cpu", .type = PERF_TYPE_RAW, .core = true };

		++*opened;
		return vendor_on(e, &other, ev, from, false);
	}
	ret = machine_cores(e->m, &cores, &n, e->err);
	if (ret < 0)
		return ret;
	if (!ev->pmu[0]) {
		for (size_t i = 0; ret == 0 && i < n; i++)
			ret = vendor_on(e, cores[i], ev, from, n > 1 || others);
		*opened += n;
		return n || others ? ret : vendor_no_pmu(e, ev);
	}
	ret = machine_devices(e->m, &names, &n, e->err);
	for (size_t i = 0; ret == 0 && i < n; i++)
		found += vendor_pmu_matches(ev->pmu, names[i]);
	for (size_t i = 0; ret == 0 && i < n; i++) {
		if (!vendor_pmu_matches(ev->pmu, names[i]))
			continue;
		ret = machine_pmu(e->m, names[i], &pmu, e->err);
		if (ret == 0 && !compatible(e, pmu, ev->compat))
			ret = others ? 0 : vendor_other_version(e, ev, pmu);
		else if (ret == 0)
			ret = vendor_on(e, pmu, ev, from, found > 1 || others);
	}
	*opened += found;
	return ret < 0 || found || others ? ret : vendor_no_pmu(e, ev);
}

/* ---- rows of one name ---- */

enum { ROWS_MAX = 16 };

struct rows {
	const struct vendor_file *file[ROWS_MAX];
	const struct vendor_event *ev[ROWS_MAX];
	size_t n;
};

static void where(const struct vendor_file *f, const struct vendor_event *ev, char *out,
		  size_t room)
{
	if (ev->line)
		snprintf(out, room, "%s:%u", f->path, ev->line);
	else
		snprintf(out, room, "%s", f->path);
}

/*
 * Is it the same event of the same PMU as an earlier row? Across --event-file options the first one
 * wins; in one file or folder they must be equal.
 */
static int is_again(struct encoder *e, const struct rows *rows, const struct vendor_file *f,
		    const struct vendor_event *ev)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct vendor_event *had = rows->ev[i];
		char a[400], b[400];

		if (strcmp(had->pmu, ev->pmu) || strcmp(had->compat, ev->compat))
			continue;
		if (!strcmp(had->terms, ev->terms) || rows->file[i]->argument != f->argument)
			return 1;
		where(rows->file[i], had, a, sizeof(a));
		where(f, ev, b, sizeof(b));
		tare_fail_at(e->err, e->ev->at, EINVAL,
			     "%.40s is %.60s at %.60s and %.60s at %.60s", had->name, had->terms, a,
			     ev->terms, b);
		tare_hint(e->err, "give the files of one CPU and one kind of core");
		return -EINVAL;
	}
	return 0;
}

/*
 * All rows with that name; `pmu`: only rows for this PMU, or NULL. The exact spelling comes before
 * a name with other separators.
 */
static int find_rows(struct encoder *e, const char *name, const struct pmu *pmu, struct rows *out)
{
	const char *as = NULL;

	*out = (struct rows){ 0 };
	for (size_t i = 0; i < e->n_files && !as; i++) {
		const struct vendor_event *ev = vendor_find(&e->file[i], name);

		as = ev ? ev->name : NULL;
	}
	for (size_t i = 0; as && i < e->n_files; i++)
		for (size_t k = 0; k < e->file[i].n; k++) {
			const struct vendor_event *ev = &e->file[i].event[k];
			int ret;

			if (strcasecmp(ev->name, as) ||
			    (pmu &&
			     (ev->pmu[0] ? !vendor_pmu_matches(ev->pmu, pmu->name) : !pmu->core)))
				continue;
			ret = is_again(e, out, &e->file[i], ev);
			if (ret < 0)
				return ret;
			if (ret || out->n == ROWS_MAX)
				continue;
			out->file[out->n] = &e->file[i];
			out->ev[out->n++] = ev;
		}
	for (size_t i = 0; !out->n && !pmu && i < e->n_files; i++)
		for (size_t k = 0; k < e->file[i].n_refused; k++)
			if (vendor_same_name(e->file[i].refused[k].name, name)) {
				tare_fail_at(e->err, e->ev->at, EINVAL, "%s",
					     e->file[i].refused[k].why);
				tare_hint(e->err, "PMU/TERMS/ says by numbers what to count");
				return -EINVAL;
			}
	return out->n ? 0 : -ENOENT;
}

int encode_from_files(struct encoder *e, const char *name)
{
	struct rows rows;
	size_t opened = 0;
	int ret = find_rows(e, name, NULL, &rows);

	for (size_t i = 0; ret == 0 && i < rows.n; i++) {
		char from[4200];

		where(rows.file[i], rows.ev[i], from, sizeof(from));
		ret = encode_vendor(e, rows.ev[i], from, rows.n > 1, &opened);
	}
	return ret < 0 || opened || rows.n == 1 ? ret : vendor_no_pmu(e, rows.ev[0]);
}

bool encoder_file_has(struct encoder *e, const struct pmu *pmu, const char *name)
{
	struct tare_error *err = e->err;
	struct rows rows;
	int ret;

	e->err = NULL;
	ret = find_rows(e, name, pmu, &rows);
	e->err = err;
	return ret != -ENOENT;
}

int encoder_file_event(struct encoder *e, const struct pmu *pmu, const char *name,
		       struct encoding *enc)
{
	struct rows rows;
	char from[4200];
	int ret = find_rows(e, name, pmu, &rows);

	if (ret < 0)
		return ret;
	if (!compatible(e, pmu, rows.ev[0]->compat))
		return tare_fail_at(e->err, e->ev->at, EINVAL,
				    "%s: the file has it for PMUs with the identifier %.60s", name,
				    rows.ev[0]->compat);
	where(rows.file[0], rows.ev[0], from, sizeof(from));
	enc->counters = rows.ev[0]->counters;
	return encoder_text(e, pmu, rows.ev[0]->terms, from, enc);
}

/* The CPU for vendor names: the requested one, or the machine's. */
static bool cpu_here(struct encoder *e, struct cpu_row *row)
{
	if (e->opt->cpu)
		return cpu_row_by_model(e->opt->cpu, row);
	return cpu_row_find(machine_cpu(e->m), NULL, row);
}

bool encoder_has_table(struct encoder *e)
{
	struct cpu_row row;
	char own[32];

	if (!e->opt->cpu && !machine_root(e->m)[0])
		return libpfm_own_table(own);
	return cpu_here(e, &row) && strcmp(row.libpfm, "-");
}

/* The architecture's names on Arm, which every PMUv3 core may support. */
static int encode_arm(struct encoder *e, const char *name, const struct cpu_row *row, bool known)
{
	const char *cpu = known && e->opt->cpu ? row->cpu : machine_cpu(e->m);
	const struct vendor_event *ev;
	size_t opened = 0;
	int ret = 0;

	if (strncmp(cpu, "0x", 2))
		return -ENOENT;
	if (!e->arm.n)
		ret = vendor_text_parse(embedded_text("armv8-pmuv3.txt"), "data/armv8-pmuv3.txt",
					&e->arm, e->err);
	if (ret < 0)
		return ret;
	ev = vendor_find(&e->arm, name);
	return ev ? encode_vendor(e, ev, e->arm.path, false, &opened) : -ENOENT;
}

static void libpfm_terms(const struct libpfm_event *pfm, char *out, size_t room)
{
	int n = snprintf(out, room, "config=%#llx", (unsigned long long)pfm->config);

	if (pfm->config1)
		n += snprintf(out + n, room - (size_t)n, ",config1=%#llx",
			      (unsigned long long)pfm->config1);
	if (pfm->config2)
		snprintf(out + n, room - (size_t)n, ",config2=%#llx",
			 (unsigned long long)pfm->config2);
}

int encode_from_tables(struct encoder *e, const char *name)
{
	struct cpu_row row = { 0 };
	struct libpfm_event pfm;
	struct vendor_event ev = { .name = name, .pmu = "", .about = "", .compat = "" };
	size_t opened = 0;
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
	/*
	 * libpfm4 encodes cycles by the number of their fixed counter; Linux takes that code for an
	 * event of a programmable counter, which counts nothing. Source: Linux, jevents.py,
	 * fixed_events.
	 */
	if (pfm.config == 0x200 && cpu_kind(here ? machine_cpu(e->m) : row.cpu) == COUNTERS_INTEL)
		pfm.config = 0x3c;
	libpfm_terms(&pfm, terms, sizeof(terms));
	ev.terms = terms;
	return encode_vendor(e, &ev, "libpfm4", false, &opened);
}
