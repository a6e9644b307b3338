/* SPDX-License-Identifier: MIT */
/*
 * The table of known faults, and literal machines on which each of them is present, absent, or
 * cannot be tested.
 */
#include <string.h>
#include "host/faults.h"
#include "pmu/table.h"
#include "tap.h"

static struct host machine(const char *cpu)
{
	struct host h = { .live = true,
			  .kernel = "6.12.3",
			  .smt_active = 0,
			  .pmus = 1,
			  .freeze_on_smi = 1,
			  .smi_known = true,
			  .store_bypass = "Mitigation: Speculative Store Bypass disabled via prctl",
			  .pmu = { { .name = "cpu", .programmable = 6, .fixed = 3 } } };

	snprintf(h.cpu_id, sizeof(h.cpu_id), "%s", cpu);
	return h;
}

static void virtual(struct host *h, const char *signature)
{
	h->cpu.hypervisor = true;
	snprintf(h->cpu.signature, sizeof(h->cpu.signature), "%s", signature);
}

static struct fault_finding found[FAULTS_MOST];

static const struct fault_finding *fault(const struct host *h, const char *id)
{
	size_t n = faults_judge(h, found, FAULTS_MOST);
	const struct fault_finding *one = NULL;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(found[i].fault.id, id)) {
			CHECK(!one, "%s twice", id);
			one = &found[i];
		}
	return one;
}

static int state(const struct host *h, const char *id)
{
	const struct fault_finding *f = fault(h, id);

	return f ? (int)f->state : -1;
}

TEST(the_table_is_sound)
{
	CHECK_EQ(faults_check_table(embedded_text("faults.txt")), 0);
	CHECK_EQ(faults_check_table("a * any hybrid seen what :: why :: type :: source\n"), 0);
	CHECK_EQ(faults_check_table("a * any hybrid seen what :: why :: type\n"), 1);
	CHECK_EQ(faults_check_table(
			 "# x\na * any hybrid seen what :: why :: type :: source :: more\n"),
		 2);
	CHECK_EQ(faults_check_table("a * any nosuch seen what :: why :: type :: source\n"), 1);
	CHECK_EQ(faults_check_table("a * any hybrid heard what :: why :: type :: source\n"), 1);
	CHECK_EQ(faults_check_table("a * moon hybrid seen what :: why :: type :: source\n"), 1);
	CHECK_EQ(faults_check_table("a * any hybrid\n"), 1);
}

TEST(speclockmap)
{
	struct host h = machine("AuthenticAMD-23-1-1");

	CHECK_EQ(state(&h, "speclockmap"), FAULT_UNTRIED);
	h.fault_tries.speclockmap.outcome = FAULT_TRY_GOOD;
	CHECK_EQ(state(&h, "speclockmap"), FAULT_ABSENT);
	h.fault_tries.speclockmap.outcome = FAULT_TRY_BAD;
	CHECK_EQ(state(&h, "speclockmap"), FAULT_PRESENT);
	CHECK(strstr(fault(&h, "speclockmap")->detail, "undoes the remedy"), "Zen 1: %s",
	      fault(&h, "speclockmap")->detail);
	CHECK(strstr(fault(&h, "speclockmap")->fault.type, "0xc0011020") &&
	      strstr(fault(&h, "speclockmap")->fault.type, "1<<54"));
	strcpy(h.store_bypass, "Vulnerable");
	CHECK(!strstr(fault(&h, "speclockmap")->detail, "undo"), "%s",
	      fault(&h, "speclockmap")->detail);
	h.store_bypass[0] = '\0';
	CHECK(strstr(fault(&h, "speclockmap")->detail, "may undo"), "%s",
	      fault(&h, "speclockmap")->detail);
	strcpy(h.cpu_id, "AuthenticAMD-23-31-0"); /* Zen 2 has a separate register for it */
	CHECK(!strstr(fault(&h, "speclockmap")->detail, "undo"), "%s",
	      fault(&h, "speclockmap")->detail);
	CHECK_STR(fault(&h, "speclockmap")->fault.known, "seen");
	strcpy(h.cpu_id, "AuthenticAMD-26-2-1");
	CHECK_STR(fault(&h, "speclockmap")->fault.known, "guessed");
	strcpy(h.cpu_id, "GenuineIntel-6-55-4");
	CHECK_EQ(state(&h, "speclockmap"), -1);
}

TEST(system_management_interrupts)
{
	struct host h = machine("GenuineIntel-6-A5-2");

	CHECK_EQ(state(&h, "counts-in-smm"), FAULT_ABSENT);
	CHECK_EQ(state(&h, "smi-meanwhile"), FAULT_ABSENT);
	h.freeze_on_smi = 0;
	h.smi_meanwhile = 3;
	CHECK_EQ(state(&h, "counts-in-smm"), FAULT_PRESENT);
	CHECK_EQ(state(&h, "smi-meanwhile"), FAULT_PRESENT);
	CHECK(strstr(fault(&h, "smi-meanwhile")->detail, "3 came"));
	h.freeze_on_smi = HOST_UNKNOWN;
	h.smi_known = false;
	CHECK_EQ(state(&h, "counts-in-smm"), FAULT_UNTRIED);
	CHECK_EQ(state(&h, "smi-meanwhile"), FAULT_UNTRIED);
	virtual(&h, "KVMKVMKVM");
	CHECK_EQ(state(&h, "counts-in-smm"), -1);
}

TEST(hypervisors)
{
	struct host h = machine("GenuineIntel-6-55-4");

	h.fault_tries.pmi_leak.outcome = FAULT_TRY_BAD;
	h.fault_tries.txcp.outcome = FAULT_TRY_BAD;
	CHECK_EQ(state(&h, "pmi-leak"), -1);
	CHECK_EQ(state(&h, "in-txcp"), -1);
	CHECK_EQ(state(&h, "one-counter"), -1);
	virtual(&h, "XenVMMXenVMM");
	CHECK_EQ(state(&h, "pmi-leak"), FAULT_PRESENT);
	h.fault_tries.pmi_leak.outcome = FAULT_TRY_GOOD;
	CHECK_EQ(state(&h, "pmi-leak"), FAULT_ABSENT);
	h.fault_tries.pmi_leak.outcome = FAULT_TRY_NOT;
	CHECK_EQ(state(&h, "pmi-leak"), FAULT_UNTRIED);
	virtual(&h, "KVMKVMKVM");
	CHECK_EQ(state(&h, "pmi-leak"), -1);
	CHECK_EQ(state(&h, "in-txcp"), FAULT_ABSENT);
	h.tsx = true;
	CHECK_EQ(state(&h, "in-txcp"), FAULT_PRESENT);
	CHECK_EQ(state(&h, "tsx"), FAULT_PRESENT);
	CHECK_EQ(state(&h, "one-counter"), FAULT_ABSENT);
	h.pmu[0].programmable = 1;
	CHECK_EQ(state(&h, "one-counter"), FAULT_PRESENT);
	h.live = false;
	CHECK_EQ(state(&h, "one-counter"), FAULT_UNTRIED);
	h.pmus = 0;
	CHECK_EQ(state(&h, "one-counter"), FAULT_ABSENT);
}

TEST(threads_of_a_core_and_kinds_of_cores)
{
	static const char *const old[] = { "GenuineIntel-6-2A-7", "GenuineIntel-6-3A-9",
					   "GenuineIntel-6-3C-3", "GenuineIntel-6-45-1" };
	struct host h;

	for (size_t i = 0; i < sizeof(old) / sizeof(*old); i++) {
		h = machine(old[i]);
		CHECK_EQ(state(&h, "ht-corruption"), FAULT_ABSENT, "%s", old[i]);
		h.smt_active = 1;
		CHECK_EQ(state(&h, "ht-corruption"), FAULT_PRESENT, "%s", old[i]);
		h.smt_active = HOST_UNKNOWN;
		CHECK_EQ(state(&h, "ht-corruption"), FAULT_UNTRIED, "%s", old[i]);
	}
	h = machine("GenuineIntel-6-3A-9");
	h.smt_active = 1;
	CHECK_STR(fault(&h, "ht-interrupts")->fault.known, "guessed");
	h = machine("GenuineIntel-6-55-4");
	h.smt_active = 1;
	CHECK_EQ(state(&h, "ht-corruption"), -1);
	CHECK_EQ(state(&h, "hybrid"), FAULT_ABSENT);
	h.pmus = 2;
	CHECK_EQ(state(&h, "hybrid"), FAULT_PRESENT);
}

TEST(kernels_by_version)
{
	struct host h = machine("GenuineIntel-6-3C-3");

	CHECK_EQ(state(&h, "short-period"), FAULT_ABSENT);
	strcpy(h.kernel, "6.11.0");
	CHECK_EQ(state(&h, "short-period"), FAULT_ABSENT);
	strcpy(h.kernel, "6.10.14-300.fc40");
	CHECK_EQ(state(&h, "short-period"), FAULT_PRESENT);
	strcpy(h.kernel, "5.15.0");
	CHECK_EQ(state(&h, "short-period"), FAULT_PRESENT);
	CHECK_EQ(state(&h, "period-ioctl"), FAULT_ABSENT);
	strcpy(h.kernel, "3.10.0-1160.el7");
	CHECK_EQ(state(&h, "period-ioctl"), FAULT_PRESENT);
	strcpy(h.kernel, "4.1.2");
	CHECK_EQ(state(&h, "period-ioctl"), FAULT_ABSENT);
	h.kernel[0] = '\0';
	CHECK_EQ(state(&h, "period-ioctl"), FAULT_UNTRIED);
	h = machine("GenuineIntel-6-97-2");
	strcpy(h.kernel, "5.10.0-28");
	CHECK_EQ(state(&h, "no-hybrid"), FAULT_PRESENT);
}

TEST_MAIN()
