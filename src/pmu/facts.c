/* SPDX-License-Identifier: MIT */
/* Number of counters of a core: from CPUID if available, else from data/cpus.txt. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arch/cpu.h"
#include "pmu/encode.h"
#include "pmu/fit.h"
#include "pmu/machine.h"
#include "pmu/table.h"

/* "8", or "4/8": with and without SMT. */
static void read_programmable(const char *s, struct cpu_row *row)
{
	char *end;

	row->programmable = row->programmable_alone = (unsigned)strtoul(s, &end, 10);
	if (*end == '/')
		row->programmable_alone = (unsigned)strtoul(end + 1, NULL, 10);
}

static bool next(const char **p, unsigned *line, struct cpu_row *row)
{
	struct column c[7];
	char number[16];

	if (table_next(p, line, c, 7) < 7)
		return false;
	column_copy(&c[0], row->cpu, sizeof(row->cpu));
	column_copy(&c[1], row->pmu, sizeof(row->pmu));
	column_copy(&c[2], number, sizeof(number));
	read_programmable(number, row);
	column_copy(&c[3], number, sizeof(number));
	row->fixed = (unsigned)strtoul(number, NULL, 10);
	column_copy(&c[4], row->libpfm, sizeof(row->libpfm));
	column_copy(&c[5], row->bound, sizeof(row->bound));
	column_copy(&c[6], row->name, sizeof(row->name));
	return true;
}

bool cpu_row_nth(size_t i, struct cpu_row *out)
{
	const char *p = embedded_text("cpus.txt");
	unsigned line = 0;

	while (next(&p, &line, out))
		if (i-- == 0)
			return true;
	return false;
}

bool cpu_row_find(const char *cpu, const char *pmu, struct cpu_row *out)
{
	const char *p = embedded_text("cpus.txt");
	unsigned line = 0;

	while (next(&p, &line, out))
		if (!fnmatch(out->cpu, cpu, 0) && (!pmu || !fnmatch(out->pmu, pmu, 0)))
			return true;
	return false;
}

/* Ignores case and blanks: "zen3" is in "AMD Zen 3". */
static bool contains(const char *text, const char *part)
{
	for (; *part && *text; text++) {
		const char *t = text, *p = part;

		while (*p &&
		       (*p == ' ' || *t == ' ' ||
			tolower((unsigned char)*p) == tolower((unsigned char)*t))) {
			bool blank = *p == ' ' || *t == ' ';

			p += *p == ' ' || !blank;
			t += *t == ' ' || !blank;
		}
		if (!*p && !isalnum((unsigned char)*t))
			return true;
	}
	return false;
}

bool cpu_row_by_model(const char *model, struct cpu_row *out)
{
	for (int pass = 0; pass < 4; pass++) {
		const char *p = embedded_text("cpus.txt");
		unsigned line = 0;

		while (next(&p, &line, out)) {
			bool found = pass == 0
				? !strcasecmp(out->libpfm, model) && strcmp(model, "-")
				: pass == 1 ? !strcasecmp(out->name, model)
				: pass == 2 ? contains(out->name, model)
					    : !fnmatch(out->cpu, model, 0);

			if (found)
				return true;
		}
	}
	return false;
}

/* The MIDR of the cores that the PMU counts, as the CPUs of an Arm machine may differ. */
static void cpu_of_pmu(struct machine *m, const char *pmu, char *out, size_t room)
{
	const struct pmu *p;
	char path[128];
	uint64_t midr;

	snprintf(out, room, "%s", machine_cpu(m));
	if (strncmp(out, "0x", 2) || !pmu[0] || machine_pmu(m, pmu, &p, NULL) < 0 || !p->cpus.n)
		return;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1",
		 p->cpus.cpu[0]);
	if (machine_number(m, path, 0, &midr, NULL) == 0 && midr)
		snprintf(out, room, "0x%016llx", (unsigned long long)(midr & ~0xf0000fULL));
}

static void bound_of(const struct cpu_row *row, struct counter_facts *out)
{
	if (strcmp(row->bound, "-"))
		snprintf(out->bound, sizeof(out->bound), "%s", row->bound);
}

int counter_facts_of(struct machine *m, const char *pmu, struct counter_facts *out,
		     struct tare_error *err)
{
	const struct pmu *const *cores;
	struct cpu_row row;
	char cpu[64];
	uint64_t watchdog, smt;
	size_t n;
	bool known;
	int ret = machine_cores(m, &cores, &n, err);

	*out = (struct counter_facts){ .from = "data/cpus.txt" };
	if (ret < 0)
		return ret;
	if (n == 0)
		return tare_fail(
			err, ENODATA,
			"this machine shows no core PMU, so there is no counter to fit on");
	cpu_of_pmu(m, pmu, cpu, sizeof(cpu));
	out->kind = cpu_kind(cpu);
	known = cpu_row_find(cpu, pmu[0] ? pmu : cores[0]->name, &row);
	snprintf(out->cpu, sizeof(out->cpu), "%s", known ? row.name : cpu);
	if (known)
		bound_of(&row, out);
	ret = machine_number(m, "/proc/sys/kernel/nmi_watchdog", 0, &watchdog, err);
	if (ret == 0)
		ret = machine_number(m, "/sys/devices/system/cpu/smt/active", 0, &smt, err);
	if (ret < 0)
		return ret;
	out->watchdog = watchdog != 0;
	/*
	 * CPUID describes the CPU it runs on, so it cannot distinguish the cores of a hybrid
	 * machine.
	 */
	if (!machine_root(m)[0] && n == 1) {
		struct cpu_description self;

		cpu_describe(&self);
		if (self.counters_known && self.programmable) {
			out->programmable = self.programmable;
			out->fixed = self.fixed;
			out->from = "CPUID";
			return 0;
		}
	}
	if (!known)
		return tare_fail(err, ENODATA, "how many counters %.60s has is not known here",
				 cpu[0] ? cpu : "this CPU");
	out->programmable = smt ? row.programmable : row.programmable_alone;
	out->fixed = row.fixed;
	return 0;
}

int counter_facts_of_model(const char *model, struct counter_facts *out, struct tare_error *err)
{
	struct cpu_row row;

	*out = (struct counter_facts){ .from = "data/cpus.txt" };
	if (!cpu_row_by_model(model, &row))
		return tare_fail(err, ENODATA, "no CPU model '%.60s' is known", model);
	out->kind = cpu_kind(row.cpu);
	out->programmable = row.programmable;
	out->fixed = row.fixed;
	bound_of(&row, out);
	snprintf(out->cpu, sizeof(out->cpu), "%s", row.name);
	return 0;
}

int fit_on(struct machine *m, const struct encoding *const *enc, size_t n, size_t *blocker,
	   struct tare_error *err)
{
	const struct pmu *const *cores;
	size_t n_cores, first = n;
	int ret = machine_cores(m, &cores, &n_cores, err);

	for (size_t c = 0; ret == 0 && c < n_cores; c++) {
		const char *pmu = n_cores > 1 ? cores[c]->name : "";
		struct counter_facts facts;

		ret = counter_facts_of(m, pmu, &facts, err);
		if (ret == 0) {
			size_t at = fit_check(&facts, pmu, enc, n);

			first = at < first ? at : first;
		}
	}
	if (ret < 0)
		return ret;
	*blocker = first;
	return first == n;
}
