/* SPDX-License-Identifier: MIT */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host/faults.h"
#include "pmu/table.h"

const char *const fault_states[] = {
	[FAULT_ABSENT] = "absent", [FAULT_PRESENT] = "present", [FAULT_UNTRIED] = "untried"
};

enum { COLUMNS = 6, PARTS = 4, LINE = 1400 };

/*
 * From this model of family 23 on (Zen 2), speculative stores are controlled by a register of their
 * own. Source: linux, arch/x86/kernel/cpu/amd.c, early_init_amd() and AMD_ZEN1's models.
 */
enum { ZEN_FAMILY = 23, ZEN_2_MODEL = 0x30 };

/* ---- rows ---- */

static bool take_parts(struct fault *f, const struct column *rest)
{
	struct {
		char *to;
		size_t room;
	} parts[PARTS] = { { f->what, sizeof(f->what) },
			   { f->why, sizeof(f->why) },
			   { f->type, sizeof(f->type) },
			   { f->source, sizeof(f->source) } };
	char text[LINE], *at = text;

	if (rest->n >= sizeof(text))
		return false;
	column_copy(rest, text, sizeof(text));
	for (size_t i = 0; i < PARTS; i++) {
		char *end = strstr(at, " :: ");

		if ((i + 1 < PARTS) != (end != NULL))
			return false;
		if (end)
			*end = '\0';
		if (!*at || strlen(at) >= parts[i].room)
			return false;
		strcpy(parts[i].to, at);
		at = end ? end + strlen(" :: ") : at;
	}
	return true;
}

struct row {
	char cpu[48], where[12];
	struct fault fault;
};

static bool take_row(struct row *r, const struct column c[COLUMNS])
{
	column_copy(&c[0], r->fault.id, sizeof(r->fault.id));
	column_copy(&c[1], r->cpu, sizeof(r->cpu));
	column_copy(&c[2], r->where, sizeof(r->where));
	column_copy(&c[3], r->fault.check, sizeof(r->fault.check));
	column_copy(&c[4], r->fault.known, sizeof(r->fault.known));
	return take_parts(&r->fault, &c[5]);
}

/* ---- checks ---- */

typedef enum fault_state check_fn(const struct host *h, const struct fault *f, char *detail,
				  size_t room);

static enum fault_state of_try(const struct fault_try *t, const char *why_not, char *detail,
			       size_t room)
{
	if (t->outcome == FAULT_TRY_GOOD || t->outcome == FAULT_TRY_BAD)
		snprintf(detail, room, "%.200s", t->words);
	else
		snprintf(detail, room, "%s%s%.200s", why_not, t->words[0] ? ": " : "", t->words);
	return t->outcome == FAULT_TRY_BAD     ? FAULT_PRESENT
		: t->outcome == FAULT_TRY_GOOD ? FAULT_ABSENT
					       : FAULT_UNTRIED;
}

/*
 * On Zen 1 and Zen+ the kernel's own switch for stores is in the same register, and the kernel
 * writes the whole register.
 */
static void say_undone(const struct host *h, char *detail, size_t room)
{
	unsigned family = 0, model = 0;
	size_t at = strlen(detail);

	if (sscanf(h->cpu_id, "AuthenticAMD-%u-%X", &family, &model) != 2 || family != ZEN_FAMILY ||
	    model >= ZEN_2_MODEL)
		return;
	if (!h->store_bypass[0])
		snprintf(
			detail + at, room - at,
			"; the kernel may undo the remedy: it switches stores by the same register (spec_store_bypass_disable=off at boot)");
	else if (strstr(h->store_bypass, "prctl") || strstr(h->store_bypass, "seccomp"))
		snprintf(
			detail + at, room - at,
			"; the kernel undoes the remedy as it switches stores by the same register: boot with spec_store_bypass_disable=off");
}

static enum fault_state check_speclockmap(const struct host *h, const struct fault *f, char *detail,
					  size_t room)
{
	enum fault_state state = of_try(&h->fault_tries.speclockmap,
					"the event for retired locks was not tried", detail, room);

	(void)f;
	if (state == FAULT_PRESENT)
		say_undone(h, detail, room);
	return state;
}

static enum fault_state check_pmi_leak(const struct host *h, const struct fault *f, char *detail,
				       size_t room)
{
	(void)f;
	return of_try(&h->fault_tries.pmi_leak, "branches were not sampled", detail, room);
}

static enum fault_state check_txcp(const struct host *h, const struct fault *f, char *detail,
				   size_t room)
{
	(void)f;
	if (!h->tsx)
		return FAULT_ABSENT;
	return of_try(&h->fault_tries.txcp, "branches with IN_TXCP were not counted", detail, room);
}

static enum fault_state check_freeze(const struct host *h, const struct fault *f, char *detail,
				     size_t room)
{
	(void)f;
	if (h->freeze_on_smi == HOST_UNKNOWN) {
		snprintf(detail, room, "there is no /sys/devices/cpu/freeze_on_smi");
		return FAULT_UNTRIED;
	}
	return h->freeze_on_smi == 0 ? FAULT_PRESENT : FAULT_ABSENT;
}

static enum fault_state check_smi(const struct host *h, const struct fault *f, char *detail,
				  size_t room)
{
	(void)f;
	if (!h->smi_known) {
		snprintf(detail, room, "MSR_SMI_COUNT cannot be read (root, and the msr module)");
		return FAULT_UNTRIED;
	}
	if (h->smi_meanwhile)
		snprintf(detail, room, "%lu came", h->smi_meanwhile);
	return h->smi_meanwhile ? FAULT_PRESENT : FAULT_ABSENT;
}

static enum fault_state check_tsx(const struct host *h, const struct fault *f, char *detail,
				  size_t room)
{
	(void)f, (void)detail, (void)room;
	return h->tsx ? FAULT_PRESENT : FAULT_ABSENT;
}

static enum fault_state check_one_counter(const struct host *h, const struct fault *f, char *detail,
					  size_t room)
{
	(void)f;
	if (h->pmus == 0)
		return FAULT_ABSENT;
	if (!h->live || h->pmu[0].programmable + h->pmu[0].fixed == 0) {
		snprintf(detail, room, "how many fit was not tried");
		return FAULT_UNTRIED;
	}
	return h->pmu[0].programmable == 1 ? FAULT_PRESENT : FAULT_ABSENT;
}

static enum fault_state check_hybrid(const struct host *h, const struct fault *f, char *detail,
				     size_t room)
{
	(void)f, (void)detail, (void)room;
	return h->pmus > 1 ? FAULT_PRESENT : FAULT_ABSENT;
}

static enum fault_state check_smt(const struct host *h, const struct fault *f, char *detail,
				  size_t room)
{
	(void)f;
	if (h->smt_active == HOST_UNKNOWN) {
		snprintf(detail, room, "it is unknown whether SMT is on");
		return FAULT_UNTRIED;
	}
	return h->smt_active ? FAULT_PRESENT : FAULT_ABSENT;
}

static enum fault_state check_kernel(const struct host *h, const struct fault *f, char *detail,
				     size_t room)
{
	unsigned major, minor, is_major, is_minor;

	if (sscanf(f->check, "kernel<%u.%u", &major, &minor) != 2 ||
	    sscanf(h->kernel, "%u.%u", &is_major, &is_minor) != 2) {
		snprintf(detail, room, "the kernel does not report its version");
		return FAULT_UNTRIED;
	}
	if (is_major > major || (is_major == major && is_minor >= minor))
		return FAULT_ABSENT;
	snprintf(detail, room,
		 "Linux %.90s; a distribution may have put the fix into an older version",
		 h->kernel);
	return FAULT_PRESENT;
}

static const struct {
	const char *name;
	check_fn *check;
} checks[] = {
	{ "speclockmap", check_speclockmap },
	{ "freeze-on-smi", check_freeze },
	{ "smi-seen", check_smi },
	{ "pmi-leak", check_pmi_leak },
	{ "txcp", check_txcp },
	{ "tsx", check_tsx },
	{ "one-counter", check_one_counter },
	{ "hybrid", check_hybrid },
	{ "smt", check_smt },
	{ "kernel<", check_kernel },
};

static check_fn *check_of(const struct fault *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		if (!strncmp(f->check, checks[i].name, strlen(checks[i].name)))
			return checks[i].check;
	return NULL;
}

/* ---- this machine ---- */

static bool is_there(const struct host *h, const char *where)
{
	if (!strcmp(where, "any"))
		return true;
	if (!strcmp(where, "metal"))
		return !h->cpu.hypervisor;
	if (!strcmp(where, "vm"))
		return h->cpu.hypervisor;
	if (!strcmp(where, "xen"))
		return !strcmp(h->cpu.signature, "XenVMMXenVMM");
	return !strcmp(where, "kvm") && !strcmp(h->cpu.signature, "KVMKVMKVM");
}

static bool is_listed(const struct fault_finding *out, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(out[i].fault.id, id))
			return true;
	return false;
}

size_t faults_judge(const struct host *h, struct fault_finding *out, size_t room)
{
	const char *p = embedded_text("faults.txt");
	struct column c[COLUMNS];
	unsigned line = 0;
	struct row row;
	size_t n = 0;

	while (n < room && table_next(&p, &line, c, COLUMNS) == COLUMNS) {
		check_fn *check;

		if (!take_row(&row, c) || fnmatch(row.cpu, h->cpu_id, 0) ||
		    !is_there(h, row.where) || is_listed(out, n, row.fault.id))
			continue;
		check = check_of(&row.fault);
		if (!check)
			continue;
		out[n] = (struct fault_finding){ .fault = row.fault };
		out[n].state = check(h, &out[n].fault, out[n].detail, sizeof(out[n].detail));
		n++;
	}
	return n;
}

unsigned faults_check_table(const char *text)
{
	static const char *const known[] = { "documented", "seen", "guessed" },
				 *const where[] = { "any", "metal", "vm", "xen", "kvm" };
	struct column c[COLUMNS];
	unsigned line = 0;
	size_t columns;
	struct row r;

	while ((columns = table_next(&text, &line, c, COLUMNS)) > 0) {
		bool good = columns == COLUMNS && take_row(&r, c) && check_of(&r.fault),
		     named = false, placed = false;

		for (size_t i = 0; good && i < ARRAY_SIZE(known); i++)
			named |= !strcmp(r.fault.known, known[i]);
		for (size_t i = 0; good && i < ARRAY_SIZE(where); i++)
			placed |= !strcmp(r.where, where[i]);
		if (!good || !named || !placed)
			return line;
	}
	return 0;
}
