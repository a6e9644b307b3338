/* SPDX-License-Identifier: MIT */
/* The files that list a machine's CPUs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "exact/cpus.h"
#include "exact/isa.h"
#include "tap.h"

static struct cpu_files files;

static void make(const char *model, unsigned cpus)
{
	struct isa_model m, host = { 0 };

	memset(host.has, 1, sizeof(host.has));
	host.xcr0 = 0xe7;
	CHECK_EQ(isa_choose(&m, model, &host, NULL), 0, "%s", model);
	CHECK_EQ(cpus_files(&files, &m, cpus), 0, "%s, %u CPUs", model, cpus);
}

/* To be freed. */
static char *text_of(const char *path)
{
	for (uint32_t i = 0; i < files.n; i++)
		if (!strcmp(files.file[i].path, path))
			return strndup(files.text + files.file[i].at, files.file[i].bytes);
	return strdup("(no such file)");
}

static unsigned times(const char *in, const char *word)
{
	unsigned n = 0;

	for (const char *p = in; (p = strstr(p, word)); p += strlen(word))
		n++;
	return n;
}

TEST(lists_of_cpus)
{
	static const struct {
		int line;
		unsigned cpus;
		const char *path, *text;
	} rows[] = {
		{ __LINE__, 1, "/sys/devices/system/cpu/online", "0\n" },
		{ __LINE__, 4, "/sys/devices/system/cpu/online", "0-3\n" },
		{ __LINE__, 2, "/sys/devices/system/cpu/possible", "0-1\n" },
		{ __LINE__, 64, "/sys/devices/system/cpu/present", "0-63\n" },
		{ __LINE__, 4, "/sys/devices/system/cpu/offline", "\n" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text;

		make("v3", rows[i].cpus);
		text = text_of(rows[i].path);
		CHECK_STR(text, rows[i].text, "line %d", rows[i].line);
		CHECK_EQ(files.cpus, rows[i].cpus, "line %d", rows[i].line);
		free(text);
	}
}

TEST(cpuinfo_is_of_the_model)
{
	char *text;

	make("v3", 1);
	text = text_of("/proc/cpuinfo");
	CHECK(strstr(text,
		     "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 60\n"
		     "model name\t: tare x86-64-v3\nstepping\t: 3\n"),
	      "%s", text);
	CHECK(strstr(text, "\ncache size\t: 256 KB\n"), "%s", text);
	CHECK(strstr(text, " sse2 ") && strstr(text, " pni ") && strstr(text, " avx2 ") &&
		      strstr(text, " rdtscp ") && strstr(text, " constant_tsc "),
	      "%s", text);
	CHECK(!strstr(text, "avx512") && !strstr(text, " aes") && !strstr(text, " rdrand"), "%s",
	      text);
	CHECK_EQ(times(text, "processor\t: "), 1u, "%s", text);
	free(text);
	make("v2", 1);
	text = text_of("/proc/cpuinfo");
	CHECK(!strstr(text, " avx") && strstr(text, " sse4_2 "), "%s", text);
	free(text);
}

TEST(more_cpus_than_a_package_has)
{
	char *text, *last;

	make("v3", 6);
	text = text_of("/proc/cpuinfo");
	last = strstr(text, "processor\t: 5\n");
	CHECK_EQ(times(text, "processor\t: "), 6u, "%s", text);
	CHECK_EQ(times(text, "siblings\t: 4\n"), 4u, "%s", text);
	CHECK_EQ(times(text, "siblings\t: 2\n"), 2u, "%s", text);
	CHECK(last && strstr(last, "physical id\t: 1\n") && strstr(last, "core id\t\t: 1\n") &&
		      strstr(last, "apicid\t\t: 5\n"),
	      "%s", text);
	free(text);
	text = text_of("/proc/stat");
	CHECK(!strncmp(text, "cpu  0 ", 7) && strstr(text, "\ncpu5 0 ") && !strstr(text, "\ncpu6"),
	      "%s", text);
	free(text);
}

TEST(the_most_cpus_fit)
{
	make("v4", CPUS_MAX);
	for (uint32_t i = 0; i < files.n; i++)
		CHECK(files.file[i].at + files.file[i].bytes <= sizeof(files.text), "%s",
		      files.file[i].path);
	CHECK(files.n >= 6, "%u files", files.n);
}
TEST_MAIN()
