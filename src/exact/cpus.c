/* SPDX-License-Identifier: MIT */
/*
 * Source: linux/arch/x86/kernel/cpu/proc.c, show_cpuinfo(); linux/fs/proc/stat.c, show_stat();
 * Documentation/ABI/testing/sysfs-devices-system-cpu.
 */
#include <errno.h>
#include <string.h>
#include "base/error.h"
#include "base/text.h"
#include "exact/cpus.h"
#include "exact/isa.h"

enum { BASIC = 0, FAMILY = 1, EXTENDED = (int)0x80000000, MHZ = 2000 };

static const uint32_t *out_of(const struct isa_model *m, uint32_t leaf)
{
	static const uint32_t zeros[4];
	const struct isa_leaf *l = isa_leaf(m, leaf, 0);

	return l ? l->out : zeros;
}

/* ---- /proc/cpuinfo ---- */

/* Feature bits that add no instructions, or that every x86-64 processor has. */
static const struct {
	const char *name;
	uint32_t leaf;
	uint8_t out, bit;
} plain_flags[] = {
	{ "fpu", FAMILY, ISA_EDX, 0 },
	{ "vme", FAMILY, ISA_EDX, 1 },
	{ "de", FAMILY, ISA_EDX, 2 },
	{ "pse", FAMILY, ISA_EDX, 3 },
	{ "tsc", FAMILY, ISA_EDX, 4 },
	{ "msr", FAMILY, ISA_EDX, 5 },
	{ "pae", FAMILY, ISA_EDX, 6 },
	{ "mce", FAMILY, ISA_EDX, 7 },
	{ "cx8", FAMILY, ISA_EDX, 8 },
	{ "apic", FAMILY, ISA_EDX, 9 },
	{ "sep", FAMILY, ISA_EDX, 11 },
	{ "mtrr", FAMILY, ISA_EDX, 12 },
	{ "pge", FAMILY, ISA_EDX, 13 },
	{ "mca", FAMILY, ISA_EDX, 14 },
	{ "cmov", FAMILY, ISA_EDX, 15 },
	{ "pat", FAMILY, ISA_EDX, 16 },
	{ "pse36", FAMILY, ISA_EDX, 17 },
	{ "clflush", FAMILY, ISA_EDX, 19 },
	{ "mmx", FAMILY, ISA_EDX, 23 },
	{ "fxsr", FAMILY, ISA_EDX, 24 },
	{ "sse", FAMILY, ISA_EDX, 25 },
	{ "sse2", FAMILY, ISA_EDX, 26 },
	{ "ht", FAMILY, ISA_EDX, 28 },
	{ "syscall", (uint32_t)EXTENDED + 1, ISA_EDX, 11 },
	{ "nx", (uint32_t)EXTENDED + 1, ISA_EDX, 20 },
	{ "rdtscp", (uint32_t)EXTENDED + 1, ISA_EDX, 27 },
	{ "lm", (uint32_t)EXTENDED + 1, ISA_EDX, 29 },
	{ "constant_tsc", (uint32_t)EXTENDED + 7, ISA_EDX, 8 },
	{ "nonstop_tsc", (uint32_t)EXTENDED + 7, ISA_EDX, 8 },
};

static void put_flags(struct text *out, const struct isa_model *m)
{
	text_add(out, "flags\t\t:");
	for (size_t i = 0; i < ARRAY_SIZE(plain_flags); i++)
		if (out_of(m, plain_flags[i].leaf)[plain_flags[i].out] >> plain_flags[i].bit & 1)
			text_add(out, " %s", plain_flags[i].name);
	text_add(out, " cpuid");
	for (int f = ISA_ALWAYS + 1; f < ISA_FEATURES_N; f++)
		if (m->has[f])
			text_add(out, " %s",
				 f == ISA_SSE3 ? "pni" : isa_feature_name((enum isa_feature)f));
	text_add(out, "\n");
}

/* Source: linux/arch/x86/lib/cpu.c, x86_family(), x86_model(). */
static void put_name(struct text *out, const struct isa_model *m)
{
	uint32_t signature = out_of(m, FAMILY)[ISA_EAX], family = signature >> 8 & 0xf,
		 model = signature >> 4 & 0xf,
		 vendor[3] = { out_of(m, BASIC)[ISA_EBX], out_of(m, BASIC)[ISA_EDX],
			       out_of(m, BASIC)[ISA_ECX] };
	char brand[49] = "";

	if (family >= 6)
		model |= (signature >> 16 & 0xf) << 4;
	if (family == 0xf)
		family += signature >> 20 & 0xff;
	for (uint32_t i = 0; i < 3; i++)
		memcpy(brand + 16 * i, out_of(m, (uint32_t)EXTENDED + 2 + i), 16);
	text_add(out,
		 "vendor_id\t: %.12s\ncpu family\t: %u\nmodel\t\t: %u\nmodel name\t: %s\n"
		 "stepping\t: %u\n",
		 (const char *)vendor, family, model, brand + strspn(brand, " "), signature & 0xf);
}

/* How many CPUs one package has; more than that are in further packages. */
static unsigned per_package(const struct isa_model *m)
{
	unsigned threads = out_of(m, FAMILY)[ISA_EBX] >> 16 & 0xff;

	return threads ? threads : 1;
}

static void put_cpu(struct text *out, const struct isa_model *m, unsigned cpu, unsigned cpus)
{
	unsigned most = per_package(m), package = cpu / most, here = cpus - package * most;
	uint32_t sizes = out_of(m, (uint32_t)EXTENDED + 8)[ISA_EAX];

	here = here < most ? here : most;
	text_add(out, "processor\t: %u\n", cpu);
	put_name(out, m);
	text_add(out,
		 "cpu MHz\t\t: %u.000\ncache size\t: %u KB\nphysical id\t: %u\nsiblings\t: %u\n"
		 "core id\t\t: %u\ncpu cores\t: %u\napicid\t\t: %u\ninitial apicid\t: %u\n"
		 "fpu\t\t: yes\nfpu_exception\t: yes\ncpuid level\t: %u\nwp\t\t: yes\n",
		 MHZ, out_of(m, (uint32_t)EXTENDED + 6)[ISA_ECX] >> 16, package, here, cpu % most,
		 here, cpu, cpu, out_of(m, BASIC)[ISA_EAX]);
	put_flags(out, m);
	text_add(out,
		 "bugs\t\t:\nbogomips\t: %u.00\nclflush size\t: %u\ncache_alignment\t: 64\n"
		 "address sizes\t: %u bits physical, %u bits virtual\npower management:\n\n",
		 2 * MHZ, (out_of(m, FAMILY)[ISA_EBX] >> 8 & 0xff) * 8, sizes & 0xff,
		 sizes >> 8 & 0xff);
}

static void put_cpuinfo(struct text *out, const struct isa_model *m, unsigned cpus)
{
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		put_cpu(out, m, cpu, cpus);
}

/* ---- the others ---- */

/* A machine that has just been started: no time has passed. */
static void put_stat(struct text *out, const struct isa_model *m, unsigned cpus)
{
	(void)m;
	text_add(out, "cpu  0 0 0 0 0 0 0 0 0 0\n");
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		text_add(out, "cpu%u 0 0 0 0 0 0 0 0 0 0\n", cpu);
	text_add(out,
		 "intr 0\nctxt 0\nbtime 0\nprocesses 0\nprocs_running 1\nprocs_blocked 0\n"
		 "softirq 0 0 0 0 0 0 0 0 0 0 0\n");
}

static void put_list(struct text *out, const struct isa_model *m, unsigned cpus)
{
	(void)m;
	text_add(out, cpus == 1 ? "0\n" : "0-%u\n", cpus - 1);
}

static void put_nothing(struct text *out, const struct isa_model *m, unsigned cpus)
{
	(void)m;
	(void)cpus;
	text_add(out, "\n");
}

static const struct {
	const char *path;
	void (*put)(struct text *out, const struct isa_model *m, unsigned cpus);
} rows[] = {
	{ "/proc/cpuinfo", put_cpuinfo },
	{ "/proc/stat", put_stat },
	{ "/sys/devices/system/cpu/online", put_list },
	{ "/sys/devices/system/cpu/possible", put_list },
	{ "/sys/devices/system/cpu/present", put_list },
	{ "/sys/devices/system/cpu/offline", put_nothing },
};

_Static_assert(ARRAY_SIZE(rows) <= CPU_FILES_MAX, "room for each of them");

int cpus_files(struct cpu_files *out, const struct isa_model *m, unsigned cpus)
{
	struct text t = { 0 };

	out->cpus = cpus;
	out->n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cpu_file *f = &out->file[i];
		size_t at = t.len;

		rows[i].put(&t, m, cpus);
		strcpy(f->path, rows[i].path);
		f->at = (uint32_t)at;
		f->bytes = (uint32_t)(t.len - at);
	}
	if (t.failed || t.len > sizeof(out->text)) {
		text_free(&t);
		return -ENOMEM;
	}
	memcpy(out->text, t.s, t.len);
	out->n = ARRAY_SIZE(rows);
	text_free(&t);
	return 0;
}
