/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pmu/catalogue.h"
#include "pmu/encode.h"
#include "pmu/exact_events.h"
#include "pmu/interrupts.h"
#include "pmu/libpfm.h"
#include "pmu/table.h"

struct walk {
	struct machine *m;
	const struct catalogue_options *opt;
	int (*visit)(void *arg, const struct known_event *ev);
	void *arg;
	struct tare_error *err;
	const char *group; /* of libpfm4's table */
	bool available;
};

static int show(struct walk *w, const char *group, const char *name, const char *about,
		const char *terms, bool here)
{
	return w->visit(w->arg, &(struct known_event){ group, name, about, terms, NULL, here });
}

static int walk_generic(struct walk *w)
{
	static const struct {
		enum name_type type;
		const char *group;
	} groups[] = {
		{ NAME_SOFTWARE, "software" },
		{ NAME_CLOCK, "clock" },
		{ NAME_HARDWARE, "hardware" },
		{ NAME_CACHE, "hardware cache" },
	};
	const struct pmu *const *cores;
	struct generic_name g;
	char room[GENERIC_ROOM];
	size_t n;
	int ret = machine_cores(w->m, &cores, &n, w->err);

	for (size_t t = 0; ret == 0 && t < ARRAY_SIZE(groups); t++)
		for (size_t i = 0; ret == 0 && generic_nth(i, &g, room); i++)
			if (g.type == groups[t].type)
				ret = show(w, groups[t].group, g.name, g.about, "",
					   g.type == NAME_SOFTWARE || g.type == NAME_CLOCK ||
						   n > 0);
	return ret;
}

/* "uncore_imc_3" -> "uncore_imc". Source: Linux,
 * Documentation/ABI/testing/sysfs-bus-event_source-devices. */
static size_t stem(const char *name)
{
	size_t n = strlen(name), end = n;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	return end < n && end > 1 && name[end - 1] == '_' ? end - 1 : n;
}

/* Events and terms of one PMU; `group` is its name, without the number if there are several. */
static int walk_pmu(struct walk *w, const struct pmu *pmu, const char *group)
{
	char **names, terms[1024], whole[200];
	struct text formats = { 0 };
	size_t n;
	int ret = 0;

	if (machine_names(w->m, pmu, "events", &names, &n, NULL) < 0)
		return 0;
	for (size_t i = 0; ret == 0 && i < n; i++) {
		if (machine_event(w->m, pmu, names[i], terms, sizeof(terms), NULL) < 0)
			continue;
		snprintf(whole, sizeof(whole), "%s/%s/", group, names[i]);
		ret = show(w, group, whole, "", terms, true);
	}
	names_free(names, n);
	if (ret || machine_names(w->m, pmu, "format", &names, &n, NULL) < 0)
		return ret;
	for (size_t i = 0; i < n; i++)
		text_add(&formats, "%s%s=N", i ? "," : "", names[i]);
	if (n && formats.len < 180) {
		snprintf(whole, sizeof(whole), "%s/%s/", group, formats.s);
		ret = show(w, group, whole, "any event of this PMU, by its terms", "", true);
	}
	text_free(&formats);
	names_free(names, n);
	return ret;
}

static int walk_pmus(struct walk *w)
{
	const char *const *names;
	char group[64], last[64] = "";
	size_t n;
	int ret = machine_devices(w->m, &names, &n, w->err);

	for (size_t i = 0; ret == 0 && i < n; i++) {
		const struct pmu *pmu;
		size_t len = stem(names[i]);
		bool several = (i + 1 < n && stem(names[i + 1]) == len &&
				!strncmp(names[i + 1], names[i], len + 1));

		if (machine_pmu(w->m, names[i], &pmu, NULL) < 0)
			continue;
		if (last[0] && !strncmp(names[i], last, strlen(last)) && strlen(last) == len)
			continue;
		snprintf(group, sizeof(group), "%.*s", several ? (int)len : 63, names[i]);
		snprintf(last, sizeof(last), "%s", several ? group : "");
		ret = walk_pmu(w, pmu, group);
	}
	return ret;
}

/* Events of the exact engine, also in builds without it. */
static int walk_exact(struct walk *w)
{
	char whole[64];
	int ret = 0;

	for (int i = 0; ret == 0 && i < EXACT_EVENTS; i++) {
		snprintf(whole, sizeof(whole), "exact/%s/", exact_events[i].name);
		ret = show(w, "exact engine", whole, exact_events[i].about, "", HAVE_EXACT);
	}
	return ret;
}

/* Events that are corrected after counting. */
static int walk_corrected(struct walk *w)
{
	struct interrupts_event irqs;
	const struct pmu *const *cores;
	char terms[80] = "";
	size_t n;
	int ret = w->opt->cpu ? 0 : machine_cores(w->m, &cores, &n, w->err);
	bool here = !w->opt->cpu && ret == 0 &&
		interrupts_of_cpu(&irqs, machine_cpu(w->m), NULL) == 0;

	if (here)
		snprintf(terms, sizeof(terms), "less %.60s", irqs.event);
	return ret < 0
		? ret
		: show(w, "corrected", INSTRUCTIONS_MINUS_IRQS,
		       "instructions:u less one for each interrupt, by tare stat and tare regions",
		       terms, here && n > 0 && strcmp(irqs.known, "guessed") != 0);
}

static int walk_file(struct walk *w, const struct vendor_file *f, bool core_here)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < f->n; i++)
		ret = w->visit(w->arg,
			       &(struct known_event){ f->path, f->event[i].name, f->event[i].about,
						      f->event[i].terms, f->event[i].pmu,
						      core_here || f->event[i].pmu[0] });
	for (size_t i = 0; ret == 0 && i < f->n_refused; i++)
		if (w->opt->refused)
			w->opt->refused(w->arg, f->refused[i].why);
	return ret;
}

static int show_libpfm(void *arg, const char *name, const char *about)
{
	struct walk *w = arg;

	return show(w, w->group, name, about, "", w->available);
}

/* The user's files, then the tables of this CPU or of the requested one. */
static int walk_vendor(struct walk *w)
{
	const struct pmu *const *cores;
	struct vendor_file f = { 0 }, *files = NULL;
	struct cpu_row row = { 0 };
	size_t n_files = 0;
	char group[80], table[32] = "";
	const char *cpu;
	size_t n;
	bool known;
	int ret = machine_cores(w->m, &cores, &n, w->err);

	if (ret == 0)
		ret = vendor_files_read(w->opt->event_files, &files, &n_files, w->err);
	for (size_t i = 0; ret == 0 && i < n_files; i++)
		ret = walk_file(w, &files[i], n > 0);
	vendor_files_free(files, n_files);
	if (ret)
		return ret;
	known = w->opt->cpu ? cpu_row_by_model(w->opt->cpu, &row)
			    : cpu_row_find(machine_cpu(w->m), NULL, &row);
	cpu = w->opt->cpu ? row.cpu : machine_cpu(w->m);
	if (!strncmp(cpu, "0x", 2)) {
		ret = vendor_text_parse(embedded_text("armv8-pmuv3.txt"), "Arm architecture", &f,
					w->err);
		if (ret == 0)
			ret = walk_file(w, &f, n > 0 && !w->opt->cpu);
		vendor_file_free(&f);
	}
	if (known && strcmp(row.libpfm, "-"))
		snprintf(table, sizeof(table), "%s", row.libpfm);
	else if (!w->opt->cpu && !machine_root(w->m)[0])
		libpfm_own_table(table);
	if (ret || !table[0])
		return ret;
	snprintf(group, sizeof(group), "libpfm4 %s", table);
	w->group = group;
	w->available = n > 0 && !w->opt->cpu;
	return libpfm_each(table, show_libpfm, w);
}

static int walk_tracepoints(struct walk *w)
{
	char **systems, **names, whole[160];
	size_t n, n_names;
	int ret = 0;

	if (machine_tracepoints(w->m, NULL, &systems, &n, NULL) < 0)
		return 0;
	for (size_t s = 0; ret == 0 && s < n; s++) {
		if (machine_tracepoints(w->m, systems[s], &names, &n_names, NULL) < 0)
			continue;
		for (size_t i = 0; ret == 0 && i < n_names; i++) {
			snprintf(whole, sizeof(whole), "%.70s:%.80s", systems[s], names[i]);
			ret = show(w, systems[s], whole, "tracepoint", "", true);
		}
		names_free(names, n_names);
	}
	names_free(systems, n);
	return ret;
}

int catalogue_walk(struct machine *m, const struct catalogue_options *opt,
		   int (*visit)(void *arg, const struct known_event *ev), void *arg,
		   struct tare_error *err)
{
	struct walk w = { .m = m, .opt = opt, .visit = visit, .arg = arg, .err = err };
	int ret = opt->cpu ? 0 : walk_generic(&w);

	if (!ret && !opt->cpu)
		ret = walk_exact(&w);
	if (ret == 0)
		ret = walk_corrected(&w);
	if (!ret && !opt->cpu)
		ret = walk_pmus(&w);
	if (!ret)
		ret = walk_vendor(&w);
	if (!ret && !opt->cpu)
		ret = show(&w, "by number", "rNNN", "raw event of the core PMU, in hex", "", true);
	if (!ret && !opt->cpu)
		ret = show(&w, "by number", "mem:ADDR[/LEN][:rwx]",
			   "accesses to an address (hardware breakpoint)", "", true);
	if (!ret && opt->tracepoints && !opt->cpu)
		ret = walk_tracepoints(&w);
	return ret;
}

/* ---- spelling ---- */

struct spelling {
	struct machine *m;
	const struct encoding *enc;
	struct text *out;
	uint64_t told; /* bits of config covered by terms */
	bool any;
};

static void spell_term(struct spelling *s, const char *name, const struct format *f)
{
	uint64_t value = format_get(f, &s->enc->attr);

	if (f->config || (!value && strcmp(name, "event")) || (f->mask & s->told))
		return;
	text_add(s->out, "%s%s=%#llx", s->any ? "," : "", name, (unsigned long long)value);
	s->told |= f->mask;
	s->any = true;
}

static bool format_here(struct spelling *s, const char *cpu, const char *name, struct format *f)
{
	const struct pmu *pmu;
	struct cpu_row row;

	if (cpu)
		return cpu_row_by_model(cpu, &row) &&
			builtin_format(cpu_kind(row.cpu), name, f) == 0;
	return machine_pmu(s->m, s->enc->pmu, &pmu, NULL) == 0 &&
		machine_format(s->m, pmu, name, f, NULL) == 0;
}

void encoding_spell(struct machine *m, const struct encoding *enc, const char *cpu,
		    struct text *out)
{
	static const char *const first[] = { "event", "umask" };
	struct spelling s = { .m = m, .enc = enc, .out = out };
	const struct pmu *pmu;
	struct cpu_row row;
	struct format f;
	char **names = NULL;
	const char *name;
	size_t n = 0, start = out->len;

	if (!enc->pmu[0] || enc->source->needs_engine || enc->attr.type == PERF_TYPE_HARDWARE ||
	    enc->attr.type == PERF_TYPE_HW_CACHE)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		if (format_here(&s, cpu, first[i], &f))
			spell_term(&s, first[i], &f);
	if (cpu && cpu_row_by_model(cpu, &row))
		for (size_t i = 0; (name = builtin_format_nth(cpu_kind(row.cpu), i)); i++)
			if (format_here(&s, cpu, name, &f))
				spell_term(&s, name, &f);
	if (!cpu && machine_pmu(m, enc->pmu, &pmu, NULL) == 0 &&
	    machine_names(m, pmu, "format", &names, &n, NULL) == 0)
		for (size_t i = 0; i < n; i++)
			if (format_here(&s, NULL, names[i], &f))
				spell_term(&s, names[i], &f);
	names_free(names, n);
	if (enc->attr.config & ~s.told) { /* No format covers these bits: show the whole number. */
		out->len = start;
		text_add(out, "config=%#llx", (unsigned long long)enc->attr.config);
	} else if (!s.any) {
		text_add(out, "config=0");
	}
	if (enc->attr.config1)
		text_add(out, ",config1=%#llx", (unsigned long long)enc->attr.config1);
	if (enc->attr.config2)
		text_add(out, ",config2=%#llx", (unsigned long long)enc->attr.config2);
}
