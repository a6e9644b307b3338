/* SPDX-License-Identifier: MIT */
/* Sets of items by name, and their environment variables. */
#include <string.h>
#include <time.h>
#include "launch/environment.h"
#include "launch/determinism.h"
#include "tap.h"

#define ALL ((1u << FIXED_ITEMS) - 1)
#define USUAL                                                                                      \
	(ALL &                                                                                     \
	 ~(FIXED(CPU) | FIXED(LOCALE) | FIXED(CWD) | FIXED(BINDING) | FIXED(READDIR) |             \
	   FIXED(ENV) | FIXED(TERMINAL) | FIXED(CLOCK) | FIXED(TURNS)))

static const struct {
	int line;
	const char *text;
	unsigned set;
	int ret;
	bool open; /* neither env nor -env is named */
	const char *kept;
} rows[] = {
	{ __LINE__, NULL, USUAL, 0, true, "" },
	{ __LINE__, "all", ALL, 0 },
	{ __LINE__, "none", 0, 0 },
	{ __LINE__, "aslr", FIXED(ASLR), 0 },
	{ __LINE__, "aslr,pid", FIXED(ASLR) | FIXED(PID), 0 },
	{ __LINE__, "+cpu", USUAL | FIXED(CPU), 0, true, "" },
	{ __LINE__, "-vdso,+locale", (USUAL & ~FIXED(VDSO)) | FIXED(LOCALE), 0, true, "" },
	{ __LINE__, "+env", USUAL | FIXED(ENV), 0, false, "" },
	{ __LINE__, "-env", USUAL, 0, false, "" },
	{ __LINE__, "+env=CI", USUAL | FIXED(ENV), 0, false, "CI" },
	{ __LINE__, "env=CI:LANG,aslr,env=X", FIXED(ASLR) | FIXED(ENV), 0, false, "CI:LANG:X" },
	{ __LINE__, "all,env=A", ALL, 0, false, "A" },
	{ __LINE__, "+env=A,-env", USUAL, 0, false, "" },
	{ __LINE__, "-env=A", 0, -EINVAL },
	{ __LINE__, "isa", FIXED(ISA), 0 },
	{ __LINE__, "isa=v2,aslr", FIXED(ASLR) | FIXED(ISA), 0 },
	{ __LINE__, "-isa", USUAL & ~FIXED(ISA), 0, true, "" },
	{ __LINE__, "terminal", FIXED(TERMINAL), 0 },
	{ __LINE__, "cpus", FIXED(CPUS), 0 },
	{ __LINE__, "aslr,cpus=64", FIXED(ASLR) | FIXED(CPUS), 0 },
	{ __LINE__, "-cpus", USUAL & ~FIXED(CPUS), 0, true, "" },
	{ __LINE__, "cpus=", 0, -EINVAL },
	{ __LINE__, "cpus=0", 0, -EINVAL },
	{ __LINE__, "cpus=65", 0, -EINVAL },
	{ __LINE__, "cpus=4294967297", 0, -EINVAL },
	{ __LINE__, "cpus=4x", 0, -EINVAL },
	{ __LINE__, "-cpus=4", 0, -EINVAL },
	{ __LINE__, "cpu=4", 0, -EINVAL },
	{ __LINE__, "isa=", 0, -EINVAL },
	{ __LINE__, "-isa=v2", 0, -EINVAL },
	{ __LINE__, "clock=2026-01-01,aslr", FIXED(ASLR) | FIXED(CLOCK), 0 },
	{ __LINE__, "+clock", USUAL | FIXED(CLOCK), 0, true, "" },
	{ __LINE__, "+clock=real", USUAL, 0, true, "" },
	{ __LINE__, "all,clock=real", ALL & ~FIXED(CLOCK), 0, false, "" },
	{ __LINE__, "clock=", 0, -EINVAL },
	{ __LINE__, "clock=now", 0, -EINVAL },
	{ __LINE__, "clock=2026-13-01", 0, -EINVAL },
	{ __LINE__, "clock=1979-12-31", 0, -EINVAL },
	{ __LINE__, "turns", FIXED(TURNS) | FIXED(CPU), 0 },
	{ __LINE__, "+turns,-cpu", USUAL | FIXED(TURNS) | FIXED(CPU), 0, true, "" },
	{ __LINE__, "+turns,-turns", USUAL, 0, true, "" },
	{ __LINE__, "env=", 0, -EINVAL },
	{ __LINE__, "env=A::B", 0, -EINVAL },
	{ __LINE__, "env=:A", 0, -EINVAL },
	{ __LINE__, "env=A:", 0, -EINVAL },
	{ __LINE__, "env=A=1", 0, -EINVAL },
	{ __LINE__, "aslr=A", 0, -EINVAL },
	{ __LINE__, "all,-aslr", ALL & ~FIXED(ASLR), 0 },
	{ __LINE__, "-all,+seeds", FIXED(SEEDS), 0 },
	{ __LINE__, "none,order", FIXED(ORDER), 0 },
	{ __LINE__, "", 0, -EINVAL },
	{ __LINE__, "aslr,", 0, -EINVAL },
	{ __LINE__, "aslt", 0, -EINVAL },
	{ __LINE__, "-none", 0, -EINVAL },
	{ __LINE__, "as", 0, -EINVAL },
};

TEST(sets_by_name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct determinism f = { 0 };

		CHECK_EQ(determinism_parse(rows[i].text, &f, NULL), rows[i].ret, "row at line %d",
			 rows[i].line);
		CHECK_EQ(f.set, rows[i].set, "row at line %d", rows[i].line);
		CHECK_EQ(f.env_open, rows[i].open, "row at line %d", rows[i].line);
		CHECK_STR(f.kept, rows[i].kept ? rows[i].kept : "", "row at line %d", rows[i].line);
	}
}

TEST(the_nearest_name_is_named)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct determinism f = { 0 };
	char many[600] = "env=";

	CHECK_EQ(determinism_parse("+asrl", &f, &err), -EINVAL, "refused");
	CHECK(strstr(err.what, "'asrl'"), "%s", err.what);
	CHECK(strstr(err.hint, "aslr"), "%s", err.hint);
	memset(many + 4, 'N', sizeof(many) - 5);
	CHECK_EQ(determinism_parse(many, &f, &err), -EINVAL, "more names than there is room for");
	CHECK(strstr(err.what, "254 characters"), "%s", err.what);
}

TEST(names_of_a_set)
{
	struct text t = { 0 };

	determinism_names(&t, FIXED(ORDER) | FIXED(PID) | FIXED(LOCALE));
	CHECK(!strcmp(t.s, "order, pid, locale"), "%s", t.s);
	text_free(&t);
	determinism_names(&t, 0);
	CHECK(!strcmp(t.s, "nothing"), "%s", t.s);
	text_free(&t);
}

TEST(the_start_of_the_clock)
{
	static const struct {
		const char *typed, *shown;
		int64_t start;
	} starts[] = {
		{ "clock=2026-01-01", "2026-01-01T00:00:00Z", 1767225600 },
		{ "clock=2026-01-01Z", "2026-01-01T00:00:00Z", 1767225600 },
		{ "clock=2031-07-04T12:30:59Z", "2031-07-04T12:30:59Z", 1940934659 },
		{ "clock=1700000000", "2023-11-14T22:13:20Z", 1700000000 },
		{ "clock=1,clock=1980-01-01", NULL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		struct determinism f = { 0 };
		struct text t = { 0 };
		int ret = determinism_parse(starts[i].typed, &f, NULL);

		CHECK_EQ(ret, starts[i].shown ? 0 : -EINVAL, "%s", starts[i].typed);
		if (ret < 0)
			continue;
		determinism_clock(&f);
		CHECK_STR(f.clock, starts[i].shown, "%s", starts[i].typed);
		CHECK_EQ(f.clock_start, starts[i].start, "%s", starts[i].typed);
		determinism_names_had(&t, &f);
		CHECK(!strncmp(t.s, "clock=", 6) && !strcmp(t.s + 6, starts[i].shown), "%s", t.s);
		text_free(&t);
	}
}

TEST(the_usual_start_is_later_than_any_file)
{
	struct determinism f = { 0 };

	determinism_clock(&f);
	CHECK(f.clock_start > time(NULL), "%s", f.clock);
	CHECK(!strcmp(f.clock + 3, "0-01-01T00:00:00Z"), "%s", f.clock);
}

TEST(values_of_items)
{
	struct determinism f = { 0 };
	struct text t = { 0 };

	CHECK_EQ(determinism_parse(NULL, &f, NULL), 0, "the usual items");
	CHECK_EQ(f.cpus, 1u, "one CPU unless another number is given");
	CHECK_EQ(f.named, 0u, "nothing by its name");
	CHECK_EQ(determinism_parse("isa=v2,cpus=12", &f, NULL), 0, "both with values");
	CHECK_EQ(f.cpus, 12u, "cpus");
	CHECK_STR(f.isa, "v2", "isa");
	CHECK_EQ(f.named, FIXED(ISA) | FIXED(CPUS), "by name");
	strcpy(f.isa_model, "x86-64-v2");
	determinism_names_had(&t, &f);
	CHECK_STR(t.s, "isa=x86-64-v2, cpus=12", "names with values");
	text_free(&t);
	CHECK_EQ(determinism_parse("+cpus=4,-cpus", &f, NULL), 0, "taken back");
	CHECK_EQ(f.named, 0u, "not by name");
	f.set = FIXED(ASLR) | FIXED(CPUS);
	determinism_names_had(&t, &f);
	CHECK_STR(t.s, "aslr, cpus=4", "after an item without a value");
	text_free(&t);
}

TEST(items_of_the_engine_without_it)
{
	struct determinism f = { 0 };

	determinism_parse("+isa,+readdir", &f, NULL);
	determinism_without_engine(&f);
	CHECK_EQ(f.set & FIXED(CPUS), 0u, "only usual: not requested any more");
	CHECK_EQ(f.missed, FIXED(ISA) | FIXED(READDIR), "by name: missed");
	CHECK_STR(f.why[FIXED_ISA], "only the exact engine can, and this runs without it", "why");
	determinism_without_engine(NULL);
}

TEST(what_was_missed_is_not_had)
{
	struct determinism f = { .set = FIXED(ASLR) | FIXED(PID) };

	determinism_miss(&f, FIXED_PID, "first");
	determinism_miss(&f, FIXED_PID, "second");
	determinism_miss(&f, FIXED_CPU, "not requested");
	CHECK_EQ(determinism_had(&f), FIXED(ASLR), "had");
	CHECK_EQ(f.missed, FIXED(PID), "missed");
	CHECK(!strcmp(f.why[FIXED_PID], "first"), "%s", f.why[FIXED_PID]);
	CHECK_EQ(determinism_had(NULL), 0u, "nothing");
}

TEST(what_was_lost_is_tried_again)
{
	struct determinism f = { .set = FIXED(ASLR) | FIXED(PID) | FIXED(RANDOM),
				 .partly = FIXED(RANDOM) | FIXED(CPU) };

	CHECK_EQ(determinism_partly(&f), FIXED(RANDOM), "in part");
	determinism_miss(&f, FIXED_PID, "never had");
	determinism_lose(&f, FIXED_PID, "nor lost");
	determinism_lose(&f, FIXED_RANDOM, "lost");
	determinism_miss(&f, FIXED_RANDOM, "too late");
	CHECK_EQ(determinism_had(&f), FIXED(ASLR), "had");
	CHECK_EQ(determinism_tried(&f), FIXED(ASLR) | FIXED(RANDOM), "tried");
	CHECK_EQ(f.missed, FIXED(PID) | FIXED(RANDOM), "missed");
	CHECK_STR(f.why[FIXED_RANDOM], "lost", "the first reason");
	CHECK_EQ(determinism_partly(&f), 0u, "a failed item is not fixed in part");
	CHECK_EQ(determinism_tried(NULL), 0u, "nothing");
}

TEST(who_ran_without_rights_is_told_once)
{
	struct determinism f = { .set = FIXED(ASLR) | FIXED(VDSO) | FIXED(PID) | FIXED(CPU),
				 .partly = FIXED(VDSO) },
			   plain = { .set = FIXED(ASLR) };
	const unsigned takers = FIXED(VDSO) | FIXED(PID);
	struct text t = { 0 };

	determinism_strip(&f, "/bin/mount", "setuid", FIXED(CWD));
	determinism_miss(&f, FIXED_PID, "no namespace");
	determinism_strip(&f, "/bin/su", "setuid", takers);
	determinism_strip(&f, "/bin/ping", "file capabilities", takers);
	CHECK(determinism_remark(&t, &f, FIXED_ITEMS), "said");
	CHECK_STR(t.s,
		  "Ran without its rights: /bin/su (setuid); --deterministic with -vdso keeps them",
		  "the first one, caused by an item in effect");
	text_free(&t);
	CHECK(determinism_remark(&t, &f, FIXED_PID), "said");
	CHECK_STR(t.s, "Not fixed: pid: no namespace", "missed");
	text_free(&t);
	CHECK(determinism_remark(&t, &f, FIXED_VDSO) && strstr(t.s, "Fixed in part: vdso: "), "%s",
	      t.s);
	text_free(&t);
	CHECK(!determinism_remark(&t, &f, FIXED_ASLR) && !determinism_remark(&t, NULL, 0),
	      "nothing to say");
	determinism_strip(&plain, "/bin/su", "setuid", takers);
	CHECK(!determinism_remark(&t, &plain, FIXED_ITEMS), "aslr takes no rights");
	text_free(&t);
}

static const char *value(char *const *envp, const char *name)
{
	size_t n = strlen(name);

	for (; *envp; envp++)
		if (!strncmp(*envp, name, n) && (*envp)[n] == '=')
			return *envp + n + 1;
	return NULL;
}

TEST(variables_of_items)
{
	char *argv[] = { "/bin/true", NULL };
	char *envp[] = { "Z=1", "PYTHONHASHSEED=17", "PERL_HASH_SEED=random",
			 "A=2", "LC_ALL=de_DE",      "A1=3",
			 NULL };
	char *usual[] = {
		"PATH=/bin",         "A=2",          "A1=3",   "PATHS=x", "TARE_REGIONS=/x",
		"TARE_REGIONS_X=/x", "LC_ALL=de_DE", "HOME=/", NULL
	};
	struct environment e;

	CHECK_EQ(environment_fix(&e, FIXED(SEEDS) | FIXED(LOCALE), NULL, argv, envp, NULL), 0,
		 "fixed");
	CHECK(!strcmp(value(e.envp, "PYTHONHASHSEED"), "17"), "the caller's own seed stays");
	CHECK(!strcmp(value(e.envp, "PERL_HASH_SEED"), "0"), "random is none");
	CHECK(!strcmp(value(e.envp, "LC_ALL"), "C.UTF-8"), "locale");
	CHECK(!value(e.envp, "MALLOC_CONF") && !value(e.envp, ENVIRONMENT_PADDING), "nothing else");
	CHECK(!strcmp(e.envp[0], "Z=1"), "order as it was");
	environment_free(&e);

	CHECK_EQ(environment_fix(&e, FIXED(ORDER) | FIXED(ENVIRONMENT), NULL, argv, envp, NULL), 0,
		 "sorted");
	for (size_t i = 0; e.envp[i + 2]; i++) /* the padding stays last */
		CHECK(strcmp(e.envp[i], e.envp[i + 1]) < 0, "%s before %s", e.envp[i],
		      e.envp[i + 1]);
	CHECK_EQ(e.bytes, (size_t)ENVIRONMENT_STEP, "filled up");
	environment_free(&e);

	CHECK_EQ(environment_fix(&e, FIXED(ENV) | FIXED(SEEDS), NULL, argv, envp, NULL), 0,
		 "cleared");
	CHECK(!value(e.envp, "Z") && !value(e.envp, "A") && !value(e.envp, "A1") &&
		      !value(e.envp, "LC_ALL"),
	      "variables go");
	CHECK_STR(value(e.envp, "PYTHONHASHSEED"), "0", "the caller's seed goes, too");
	environment_free(&e);

	CHECK_EQ(environment_fix(&e, FIXED(ENV) | FIXED(LOCALE), "A1:PYTHONHASHSEED", argv, usual,
				 NULL),
		 0, "some kept");
	CHECK_STR(e.envp[0], "PATH=/bin", "always kept, in their order");
	CHECK_STR(e.envp[1], "A1=3", "by name");
	CHECK_STR(e.envp[2], "TARE_REGIONS=/x", "tare's own");
	CHECK_STR(e.envp[3], "HOME=/", "always kept");
	CHECK_STR(value(e.envp, "LC_ALL"), "C.UTF-8", "set after the rest is cleared");
	CHECK(!value(e.envp, "A") && !value(e.envp, "PATHS") && !value(e.envp, "TARE_REGIONS_X"),
	      "no prefix of a name");
	environment_free(&e);

	CHECK_EQ(environment_fix(&e, 0, NULL, argv, envp, NULL), 0, "nothing to do");
	for (size_t i = 0; i < ARRAY_SIZE(envp); i++)
		CHECK(e.envp[i] == envp[i], "variable %zu is the caller's", i);
	environment_free(&e);
}

TEST_MAIN()
