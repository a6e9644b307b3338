/* SPDX-License-Identifier: MIT */
/* CPUID: vendor, hypervisor, number of counters. */
#include <cpuid.h>
#include <string.h>
#include "arch/cpu.h"

struct leaf {
	unsigned a, b, c, d;
};

static struct leaf leaf(unsigned number)
{
	struct leaf l;

	__cpuid_count(number, 0, l.a, l.b, l.c, l.d);
	return l;
}

/* A name in three registers of four characters each, in the given order. */
static void name_of(char *out, unsigned first, unsigned second, unsigned third)
{
	memcpy(out, &first, 4);
	memcpy(out + 4, &second, 4);
	memcpy(out + 8, &third, 4);
	out[12] = '\0';
}

static void brand(char out[static 49], unsigned highest_extended)
{
	char *to = out;

	out[0] = '\0';
	if (highest_extended < 0x80000004)
		return;
	for (unsigned n = 0x80000002; n <= 0x80000004; n++) {
		struct leaf l = leaf(n);

		memcpy(to, &l, 16);
		to += 16;
	}
	*to = '\0';
	for (size_t n = strlen(out); n && out[n - 1] == ' '; n--)
		out[n - 1] = '\0';
	memmove(out, out + strspn(out, " "), strlen(out + strspn(out, " ")) + 1);
}

/*
 * Leaf 0AH: version in EAX 7:0, programmable counters in 15:8, their width in 23:16; fixed counters
 * in EDX 4:0. Source: Intel SDM vol. 3B, "Architectural Performance Monitoring".
 */
static void intel_counters(struct cpu_description *out, unsigned highest)
{
	struct leaf l = { 0 };

	if (highest >= 0xa)
		l = leaf(0xa);
	out->counters_known = true;
	if ((l.a & 0xff) == 0)
		return;
	out->programmable = l.a >> 8 & 0xff;
	out->width_bits = l.a >> 16 & 0xff;
	out->fixed = (l.a & 0xff) >= 2 ? l.d & 0x1f : 0;
	out->fixed_width_bits = out->fixed ? l.d >> 5 & 0xff : 0;
	out->version = l.a & 0xff;
}

/*
 * Leaf 80000022H: EAX bit 0 is PerfMonV2, EBX 3:0 the number of core counters. Before it, ECX bit
 * 23 of leaf 80000001H (PerfCtrExtCore) means six counters, else there are four. All are 48 bits
 * wide. Without PerfMonV2 a hypervisor cannot report "none", so the number is unknown then. Source:
 * AMD64 APM vol. 3, appendix E.4, "Extended Feature Function Numbers"; vol. 2, 13.2, "Performance
 * Monitoring Counters".
 */
static void amd_counters(struct cpu_description *out, unsigned highest_extended)
{
	struct leaf l = { 0 };

	if (highest_extended >= 0x80000022)
		l = leaf(0x80000022);
	if (l.a & 1) {
		out->counters_known = true;
		out->programmable = l.b & 0xf;
		out->version = 2;
	} else if (!out->hypervisor) {
		out->counters_known = true;
		out->version = leaf(0x80000001).c >> 23 & 1;
		out->programmable = out->version ? 6 : 4;
	}
	if (out->programmable)
		out->width_bits = 48;
}

void cpu_describe(struct cpu_description *out)
{
	struct leaf zero = leaf(0);
	unsigned extended = leaf(0x80000000).a;

	memset(out, 0, sizeof(*out));
	name_of(out->vendor, zero.b, zero.d, zero.c);
	brand(out->model, extended);
	/* Leaf 1, ECX bit 31 is set by hypervisors; then 40000000H has a signature. */
	if (leaf(1).c >> 31 & 1) {
		struct leaf l = leaf(0x40000000);

		out->hypervisor = true;
		name_of(out->signature, l.b, l.c, l.d);
	}
	if (!strcmp(out->vendor, "GenuineIntel"))
		intel_counters(out, zero.a);
	else if (!strcmp(out->vendor, "AuthenticAMD") || !strcmp(out->vendor, "HygonGenuine"))
		amd_counters(out, extended);
}

void cpu_loop(uint64_t turns)
{
	__asm__ volatile("1: sub $1, %0\n\tjnz 1b" : "+r"(turns) : : "cc");
}
