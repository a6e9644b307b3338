/* SPDX-License-Identifier: MIT */
/*
 * Source: Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E; x86-64 psABI,
 * "Micro-Architecture Levels".
 */
#include <cpuid.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include "base/file.h"
#include "base/path.h"
#include "exact/isa.h"

enum {
	BASIC = 0,
	FAMILY = 1,
	CACHES = 4,
	FEATURES = 7,
	TOPOLOGY = 0xb,
	STATE = 0xd,
	HYPERVISOR = 0x40000000,
	EXTENDED = (int)0x80000000,
	FILE_MOST = 1 << 20,
};

enum { XCR0_X87 = 1, XCR0_SSE = 2, XCR0_AVX = 4, XCR0_AVX512 = 0xe0 };

static const struct feature {
	const char *name;
	uint32_t leaf, subleaf;
	uint8_t out, bit, level;
} features[ISA_FEATURES_N] = {
#define FEATURE(id, name, leaf, subleaf, out, bit, level)                                          \
	[ISA_##id] = { name, leaf, subleaf, ISA_##out, bit, level },
	ISA_FEATURES(FEATURE)
};

const char *isa_feature_name(enum isa_feature f)
{
	return f > ISA_ALWAYS && f < ISA_FEATURES_N ? features[f].name : "?";
}

/* ---- leaves ---- */

static bool leaf_add(struct isa_model *m, uint32_t leaf, uint32_t subleaf, uint32_t a, uint32_t b,
		     uint32_t c, uint32_t d)
{
	if (m->n == ISA_LEAVES_MAX)
		return false;
	m->leaf[m->n++] = (struct isa_leaf){ leaf, subleaf, { a, b, c, d } };
	return true;
}

static uint32_t leaf_out(const struct isa_model *m, uint32_t leaf, uint32_t subleaf,
			 enum isa_register out)
{
	const struct isa_leaf *l = isa_leaf(m, leaf, subleaf);

	return l ? l->out[out] : 0;
}

/* What follows from the leaves. */
static void derive(struct isa_model *m)
{
	m->has[ISA_ALWAYS] = 1;
	for (int f = 1; f < ISA_FEATURES_N; f++)
		m->has[f] = leaf_out(m, features[f].leaf, features[f].subleaf, features[f].out) >>
				features[f].bit &
			1;
	m->hwcap = leaf_out(m, FAMILY, 0, ISA_EDX);
	m->xcr0 = leaf_out(m, STATE, 0, ISA_EAX) | (uint64_t)leaf_out(m, STATE, 0, ISA_EDX) << 32;
}

/* ---- this machine ---- */

static bool host_leaf(struct isa_model *m, uint32_t leaf, uint32_t subleaf, bool any)
{
	uint32_t a, b, c, d;

	__cpuid_count(leaf, subleaf, a, b, c, d);
	return leaf_add(m, leaf, any ? ISA_ANY : subleaf, a, b, c, d);
}

/* Leaves whose answer depends on ECX, and the highest value of it worth asking for. */
static unsigned subleaves(uint32_t leaf)
{
	switch (leaf) {
	case CACHES:
	case 0x8000001d:
		return 4;
	case FEATURES:
	case 0x14:
	case 0x17:
	case 0x18:
	case 0x1d:
	case 0x1f:
	case TOPOLOGY:
		return 2;
	case STATE:
		return 19;
	case 0xf:
	case 0x10:
	case 0x12:
		return 3;
	default:
		return 0;
	}
}

void isa_abilities(struct isa_model *out)
{
	static const uint32_t wanted[][2] = {
		{ FAMILY, ISA_ANY },
		{ FEATURES, 0 },
		{ FEATURES, 1 },
		{ STATE, 0 },
		{ STATE, 1 },
		{ (uint32_t)EXTENDED + 1, ISA_ANY },
		{ (uint32_t)EXTENDED + 8, ISA_ANY },
	};
	uint32_t basic, extended, b, c, d;

	memset(out, 0, sizeof(*out));
	__cpuid(BASIC, basic, b, c, d);
	__cpuid(EXTENDED, extended, b, c, d);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (wanted[i][0] <= (wanted[i][0] >> 31 ? extended : basic))
			host_leaf(out, wanted[i][0], wanted[i][1] == ISA_ANY ? 0 : wanted[i][1],
				  wanted[i][1] == ISA_ANY);
	derive(out);
	for (uint32_t i = 2; i < 32; i++)
		if (out->xcr0 >> i & 1)
			host_leaf(out, STATE, i, false);
}

void isa_host(struct isa_model *out)
{
	static const uint32_t ranges[] = { BASIC, (uint32_t)HYPERVISOR, (uint32_t)EXTENDED };
	uint32_t a, b, c, d;

	memset(out, 0, sizeof(*out));
	strcpy(out->name, "host");
	__cpuid(FAMILY, a, b, c, d);
	for (size_t r = 0; r < ARRAY_SIZE(ranges); r++) {
		uint32_t last;

		if (ranges[r] == HYPERVISOR && !(c >> 31))
			continue;
		__cpuid(ranges[r], last, b, a, d);
		for (uint32_t leaf = ranges[r]; leaf <= last && leaf < ranges[r] + 0x40; leaf++)
			for (unsigned s = 0; s <= subleaves(leaf); s++)
				host_leaf(out, leaf, s, !subleaves(leaf));
	}
	derive(out);
	out->hwcap2 = (uint32_t)getauxval(AT_HWCAP2);
}

/* ---- models by name ---- */

struct named {
	const char *name;
	unsigned level;
	uint32_t signature; /* family, model, stepping: of a CPU of that level */
	uint32_t l2_bytes, l2_ways;
};

static const struct named named[] = {
	{ "x86-64-v2", 2, 0x000206c2, 256 << 10, 8 },
	{ "x86-64-v3", 3, 0x000306c3, 256 << 10, 8 },
	{ "x86-64-v4", 4, 0x00050654, 1 << 20, 16 },
};

/* The features of a level in one register. */
static uint32_t level_bits(unsigned level, uint32_t leaf, uint32_t subleaf, enum isa_register out)
{
	uint32_t bits = 0;

	for (int f = 1; f < ISA_FEATURES_N; f++)
		if (features[f].level <= level && features[f].leaf == leaf &&
		    features[f].subleaf == subleaf && features[f].out == out)
			bits |= 1u << features[f].bit;
	return bits;
}

/* Four cores of one thread each. */
static void add_caches(struct isa_model *m, const struct named *of)
{
	enum { THREADS = 4, LINE = 64, L1 = 32 << 10, L3 = 8 << 20, L3_WAYS = 16 };
	const struct {
		uint32_t type, level, bytes, ways, shared_by;
	} rows[] = {
		{ 1, 1, L1, 8, 1 },                     /* data */
		{ 2, 1, L1, 8, 1 },                     /* instructions */
		{ 3, 2, of->l2_bytes, of->l2_ways, 1 }, /* unified */
		{ 3, 3, L3, L3_WAYS, THREADS },
	};

	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++)
		leaf_add(m, CACHES, i,
			 rows[i].type | rows[i].level << 5 | 1 << 8 |
				 (rows[i].shared_by - 1) << 14 | (THREADS - 1) << 26,
			 (LINE - 1) | (rows[i].ways - 1) << 22,
			 rows[i].bytes / rows[i].ways / LINE - 1, 0);
	leaf_add(m, TOPOLOGY, 0, 0, 1, 1 << 8, 0);
	leaf_add(m, TOPOLOGY, 1, 2, THREADS, 1 | 2 << 8, 0);
	leaf_add(m, TOPOLOGY, 2, 0, 0, 2, 0);
}

/*
 * Programs reserve room for xsave by leaf 0xd, and xsave stores all that the host has enabled:
 * sizes and offsets are the host's. The layout of xsavec depends on what is enabled, so no model
 * has it that enables less than the host.
 */
static void add_state(struct isa_model *m, const struct isa_model *host)
{
	uint32_t variants = m->xcr0 == host->xcr0 ? leaf_out(m, STATE, 1, ISA_EAX) : 0;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->n; i++)
		if (m->leaf[i].leaf != STATE)
			m->leaf[kept++] = m->leaf[i];
	m->n = kept;
	if (!m->xcr0)
		return;
	leaf_add(m, STATE, 0, (uint32_t)m->xcr0, leaf_out(host, STATE, 0, ISA_EBX),
		 leaf_out(host, STATE, 0, ISA_ECX), (uint32_t)(m->xcr0 >> 32));
	leaf_add(m, STATE, 1, variants & leaf_out(host, STATE, 1, ISA_EAX),
		 leaf_out(host, STATE, 1, ISA_EBX), 0, 0);
	for (uint32_t i = 2; i < 32; i++)
		if (m->xcr0 >> i & 1 && isa_leaf(host, STATE, i))
			leaf_add(m, STATE, i, leaf_out(host, STATE, i, ISA_EAX),
				 leaf_out(host, STATE, i, ISA_EBX),
				 leaf_out(host, STATE, i, ISA_ECX), 0);
	derive(m);
}

static void add_brand(struct isa_model *m)
{
	char brand[48] = "";
	uint32_t words[12];

	snprintf(brand, sizeof(brand), "tare %.40s", m->name);
	memcpy(words, brand, sizeof(words));
	for (uint32_t i = 0; i < 3; i++)
		leaf_add(m, (uint32_t)EXTENDED + 2 + i, ISA_ANY, words[4 * i], words[4 * i + 1],
			 words[4 * i + 2], words[4 * i + 3]);
}

static void make_named(struct isa_model *m, const struct named *of, const struct isa_model *host)
{
	/* What every x86-64 processor has: fpu to sse2, htt. */
	enum { EDX_ALWAYS = 0x178bfbff, OSXSAVE = 1 << 27, CLFLUSH_64 = 8 << 8, THREADS = 4 << 16 };
	/* syscall, nx, rdtscp, long mode; a time stamp counter that never stops */
	enum { EXTENDED_EDX = 0x28100800, INVARIANT_TSC = 1 << 8, ADDRESS_BITS = 0x302e };

	memset(m, 0, sizeof(*m));
	snprintf(m->name, sizeof(m->name), "%s", of->name);
	leaf_add(m, BASIC, ISA_ANY, STATE, signature_INTEL_ebx, signature_INTEL_ecx,
		 signature_INTEL_edx);
	leaf_add(m, FAMILY, ISA_ANY, of->signature, CLFLUSH_64 | THREADS,
		 level_bits(of->level, FAMILY, 0, ISA_ECX) | (of->level >= 3 ? OSXSAVE : 0),
		 EDX_ALWAYS);
	leaf_add(m, 2, ISA_ANY, 0x00ff0001, 0, 0, 0); /* caches: see leaf 4 */
	add_caches(m, of);
	leaf_add(m, FEATURES, 0, 0, level_bits(of->level, FEATURES, 0, ISA_EBX), 0, 0);
	if (of->level >= 3)
		m->xcr0 = XCR0_X87 | XCR0_SSE | XCR0_AVX | (of->level >= 4 ? XCR0_AVX512 : 0);
	add_state(m, host);
	leaf_add(m, (uint32_t)EXTENDED, ISA_ANY, (uint32_t)EXTENDED + 8, 0, 0, 0);
	leaf_add(m, (uint32_t)EXTENDED + 1, ISA_ANY, 0, 0,
		 level_bits(of->level, (uint32_t)EXTENDED + 1, 0, ISA_ECX), EXTENDED_EDX);
	add_brand(m);
	leaf_add(m, (uint32_t)EXTENDED + 6, ISA_ANY, 0, 0, 64 | 6 << 12 | of->l2_bytes >> 10 << 16,
		 0);
	leaf_add(m, (uint32_t)EXTENDED + 7, ISA_ANY, 0, 0, 0, INVARIANT_TSC);
	leaf_add(m, (uint32_t)EXTENDED + 8, ISA_ANY, ADDRESS_BITS, 0, 0, 0);
	derive(m);
}

/* ---- choosing ---- */

const char *isa_missing(const struct isa_model *m, const struct isa_model *host)
{
	for (int f = 1; f < ISA_FEATURES_N; f++)
		if (m->has[f] && !host->has[f] && f != ISA_RDPID) /* the engine executes it */
			return features[f].name;
	if (m->xcr0 & ~host->xcr0 & XCR0_AVX512)
		return "avx512f (the kernel does not save it)";
	if (m->xcr0 & ~host->xcr0 & XCR0_AVX)
		return "avx (the kernel does not save it)";
	return m->xcr0 & ~host->xcr0 ? "state that the model's XCR0 enables" : NULL;
}

static int check_host(const struct isa_model *m, const struct isa_model *host,
		      struct tare_error *err)
{
	const char *missing = isa_missing(m, host);

	if (!missing)
		return 0;
	tare_fail(err, ENOTSUP, "this CPU cannot execute all of %.100s: it has no %s", m->name,
		  missing);
	tare_hint(err, "choose a lower model, or this machine's CPU with --deterministic=-isa");
	return -ENOTSUP;
}

static int from_file(struct isa_model *out, const char *path, struct tare_error *err)
{
	char *text = NULL;
	size_t n;
	int ret = file_read(NULL, path, FILE_MOST, &text, &n, err);

	if (ret == 0)
		ret = isa_parse(out, text, path, err);
	free(text);
	return ret;
}

int isa_choose(struct isa_model *out, const char *name, const struct isa_model *host,
	       struct tare_error *err)
{
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(named); i++)
		if (!strcmp(name, named[i].name) ||
		    !strcmp(name, named[i].name + strlen("x86-64-"))) {
			make_named(out, &named[i], host);
			return check_host(out, host, err);
		}
	if (!strcmp(name, "host")) {
		isa_host(out);
		return 0;
	}
	if (!strchr(name, '/')) {
		tare_fail(err, EINVAL, "there is no CPU model '%.60s'", name);
		tare_hint(
			err,
			"x86-64-v2, x86-64-v3, x86-64-v4, host, or a file of leaves (with a '/' in its name) from tare run --isa-dump");
		return -EINVAL;
	}
	ret = from_file(out, name, err);
	if (ret == 0)
		ret = check_host(out, host, err);
	if (ret == 0)
		add_state(out, host);
	return ret;
}

int isa_choose_usual(struct isa_model *out, const struct isa_model *host, struct tare_error *err)
{
	for (int i = 1; i >= 0; i--) {
		make_named(out, &named[i], host);
		if (!isa_missing(out, host))
			return 0;
	}
	return check_host(out, host, err);
}

/* ---- files ---- */

void isa_dump(struct text *out, const struct isa_model *m)
{
	text_add(out, "# %s: leaves of CPUID, as cpuid -r prints them\n", m->name);
	for (uint32_t i = 0; i < m->n; i++) {
		const struct isa_leaf *l = &m->leaf[i];

		text_add(out, "0x%08x 0x%02x: eax=0x%08x ebx=0x%08x ecx=0x%08x edx=0x%08x\n",
			 l->leaf, l->subleaf == ISA_ANY ? 0 : l->subleaf, l->out[0], l->out[1],
			 l->out[2], l->out[3]);
	}
}

/* A line: 1 if it is a leaf, 0 if it says nothing, -1 if it is something else. */
static int parse_line(const char *p, size_t n, struct isa_leaf *l)
{
	char line[160];
	int end = 0;

	while (n && isspace((unsigned char)p[n - 1]))
		n--;
	while (n && isspace((unsigned char)*p))
		p++, n--;
	if (!n || *p == '#' || (n >= 3 && !strncmp(p, "CPU", 3)))
		return 0;
	snprintf(line, sizeof(line), "%.*s", n > 158 ? 158 : (int)n, p);
	if (sscanf(line, "0x%8x 0x%8x: eax=0x%8x ebx=0x%8x ecx=0x%8x edx=0x%8x%n", &l->leaf,
		   &l->subleaf, &l->out[0], &l->out[1], &l->out[2], &l->out[3], &end) != 6 ||
	    (size_t)end != n)
		return -1;
	return 1;
}

/* line 0: not of one line */
static int fail_line(const char *path, size_t line, const char *what, struct tare_error *err)
{
	if (line)
		tare_fail(err, EINVAL, "%.200s: line %zu: %s", path, line, what);
	else
		tare_fail(err, EINVAL, "%.200s: %s", path, what);
	tare_hint(err, "tare run --isa-dump writes such files, and so does cpuid -1 -r");
	return -EINVAL;
}

/* "FILE:1a2b3c4d": without its folder, with a checksum of the leaves (FNV-1a). */
static void name_file(struct isa_model *m, const char *path)
{
	const unsigned char *p = (const unsigned char *)m->leaf;
	uint32_t sum = 2166136261u;

	for (size_t i = 0; i < m->n * sizeof(m->leaf[0]); i++)
		sum = (sum ^ p[i]) * 16777619u;
	snprintf(m->name, sizeof(m->name), "%.50s:%08x", path_base(path), sum);
}

int isa_parse(struct isa_model *out, const char *text, const char *path, struct tare_error *err)
{
	size_t number = 0;

	memset(out, 0, sizeof(*out));
	for (const char *p = text; *p; number++) {
		struct isa_leaf l = { 0 };
		size_t n = strcspn(p, "\n");
		int is = parse_line(p, n, &l);

		if (is < 0)
			return fail_line(path, number + 1, "not a leaf of CPUID", err);
		if (is && isa_leaf(out, l.leaf, l.subleaf))
			return fail_line(path, number + 1, "the leaf is there already", err);
		if (is && !subleaves(l.leaf))
			l.subleaf = l.subleaf ? l.subleaf : ISA_ANY;
		if (is && !leaf_add(out, l.leaf, l.subleaf, l.out[0], l.out[1], l.out[2], l.out[3]))
			return fail_line(path, number + 1, "more leaves than tare keeps", err);
		p += n + !!p[n];
	}
	if (!isa_leaf(out, BASIC, 0) || !isa_leaf(out, FAMILY, 0))
		return fail_line(path, 0,
				 isa_leaf(out, BASIC, 0)            ? "leaf 1 is missing"
					 : isa_leaf(out, FAMILY, 0) ? "leaf 0 is missing"
								    : "leaves 0 and 1 are missing",
				 err);
	derive(out);
	name_file(out, path);
	return 0;
}
