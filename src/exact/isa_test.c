/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "exact/isa.h"
#include "tap.h"

static uint32_t out_of(const struct isa_model *m, uint32_t leaf, uint32_t sub, enum isa_register r)
{
	const struct isa_leaf *l = isa_leaf(m, leaf, sub);

	return l ? l->out[r] : 0;
}

/* A host that has everything: the results must not depend on the machine of the test. */
static void make_host(struct isa_model *host)
{
	memset(host, 0, sizeof(*host));
	memset(host->has, 1, sizeof(host->has));
	host->xcr0 = 0xe7;
	host->leaf[host->n++] = (struct isa_leaf){ 0xd, 0, { 0xe7, 2696, 2696, 0 } };
}

TEST(models_by_name)
{
	static const struct {
		int line;
		const char *name, *full;
		uint32_t ecx_1, ebx_7, ecx_ext;
		uint64_t xcr0;
	} rows[] = {
		/* sse3 ssse3 cx16 sse4.1 sse4.2 popcnt; lahf */
		{ __LINE__, "x86-64-v2", "x86-64-v2", 0x00982201, 0, 0x1, 0 },
		/* fma movbe xsave osxsave avx f16c; bmi1 avx2 bmi2; abm */
		{ __LINE__, "v3", "x86-64-v3", 0x3cd83201, 0x128, 0x21, 7 },
		{ __LINE__, "x86-64-v4", "x86-64-v4", 0x3cd83201, 0xd0030128, 0x21, 0xe7 },
	};
	struct tare_error err = TARE_ERROR_INIT;
	struct isa_model m, host;

	make_host(&host);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK(isa_choose(&m, rows[i].name, &host, &err) == 0, "line %d: %s", rows[i].line,
		      err.what);
		CHECK(!strcmp(m.name, rows[i].full), "line %d: %s", rows[i].line, m.name);
		CHECK(out_of(&m, 1, 5, ISA_ECX) == rows[i].ecx_1, "line %d: %x", rows[i].line,
		      out_of(&m, 1, 5, ISA_ECX));
		CHECK(out_of(&m, 7, 0, ISA_EBX) == rows[i].ebx_7, "line %d: %x", rows[i].line,
		      out_of(&m, 7, 0, ISA_EBX));
		CHECK(out_of(&m, 0x80000001, 0, ISA_ECX) == rows[i].ecx_ext, "line %d",
		      rows[i].line);
		CHECK(m.xcr0 == rows[i].xcr0, "line %d: %llx", rows[i].line,
		      (unsigned long long)m.xcr0);
		CHECK(m.hwcap == 0x178bfbff && m.has[ISA_ALWAYS], "line %d", rows[i].line);
		CHECK(out_of(&m, 0xd, 0, ISA_EBX) == (m.xcr0 ? 2696 : 0), "line %d", rows[i].line);
	}
}

TEST(a_model_that_the_host_lacks)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct isa_model m, host;

	make_host(&host);
	host.has[ISA_BMI2] = 0;
	CHECK(isa_choose(&m, "v3", &host, &err) == -ENOTSUP && strstr(err.what, "bmi2"), "%s",
	      err.what);
	CHECK(isa_choose_usual(&m, &host, &err) == 0 && !strcmp(m.name, "x86-64-v2"), "%s", m.name);
	make_host(&host);
	CHECK(isa_choose_usual(&m, &host, &err) == 0 && !strcmp(m.name, "x86-64-v3"), "%s", m.name);
	host.xcr0 = 7;
	CHECK(isa_choose(&m, "v4", &host, &err) == -ENOTSUP && strstr(err.what, "kernel"), "%s",
	      err.what);
	host.has[ISA_POPCNT] = 0;
	CHECK(isa_choose_usual(&m, &host, &err) == -ENOTSUP && strstr(err.what, "popcnt"), "%s",
	      err.what);
	CHECK(isa_choose(&m, "v5", &host, &err) == -EINVAL, "%s", err.what);
}

TEST(files_of_leaves)
{
	static const struct {
		int line;
		const char *text, *says;
	} bad[] = {
		{ __LINE__, "", "f: leaves 0 and 1 are missing" },
		{ __LINE__, "0x00000000 0x00: eax=0x1 ebx=0x0 ecx=0x0 edx=0x0\n",
		  "f: leaf 1 is missing" },
		{ __LINE__, "hello\n", "line 1: not a leaf" },
		{ __LINE__, "# x\n0x0 0x0: eax=0x1 ebx=0x0 ecx=0x0 edx=0x0 more\n",
		  "line 2: not a leaf" },
		{ __LINE__,
		  "0x1 0x0: eax=0x1 ebx=0x0 ecx=0x0 edx=0x0\n0x1 0x0: eax=0x1 ebx=0x0 ecx=0x0 edx=0x0\n",
		  "line 2: the leaf is there already" },
	};
	struct tare_error err = TARE_ERROR_INIT;
	struct isa_model m, host, again;
	struct text t = { 0 };

	make_host(&host);
	CHECK(isa_choose(&m, "v3", &host, &err) == 0, "%s", err.what);
	isa_dump(&t, &m);
	CHECK(isa_parse(&again, t.s, "x86-64-v3", &err) == 0, "%s", err.what);
	CHECK(again.n == m.n && again.xcr0 == m.xcr0 && again.hwcap == m.hwcap, "%u", again.n);
	CHECK(!memcmp(again.has, m.has, sizeof(m.has)), "features");
	for (uint32_t i = 0; i < m.n; i++) {
		const struct isa_leaf *l = isa_leaf(
			&again, m.leaf[i].leaf,
			m.leaf[i].subleaf == ISA_ANY ? 9 : m.leaf[i].subleaf);

		CHECK(l && !memcmp(l->out, m.leaf[i].out, sizeof(l->out)), "leaf %x.%x",
		      m.leaf[i].leaf, m.leaf[i].subleaf);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(isa_parse(&again, bad[i].text, "f", &err) == -EINVAL &&
			      strstr(err.what, bad[i].says),
		      "line %d: %s", bad[i].line, err.what);
	text_free(&t);
}

TEST(this_machine)
{
	static struct isa_model host, some;

	isa_abilities(&some);
	isa_host(&host);
	CHECK(some.n < host.n && some.xcr0 == host.xcr0, "%u", some.n);
	CHECK(!memcmp(some.has, host.has, sizeof(host.has)), "abilities");
	CHECK(host.n > 4 && host.n < ISA_LEAVES_MAX, "%u leaves", host.n);
	CHECK(!isa_missing(&host, &host), "%s", isa_missing(&host, &host));
	CHECK(host.hwcap >> 26 & 1, "sse2");
}
TEST_MAIN()
