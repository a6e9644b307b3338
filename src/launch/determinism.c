/* SPDX-License-Identifier: MIT */
/* The items by name. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "launch/determinism.h"

const struct determinism_row determinism_rows[FIXED_ITEMS] = {
	[FIXED_ASLR] = { "aslr", "no randomisation of addresses", true, NULL },
	[FIXED_ENVIRONMENT] = { "environment",
				"arguments and environment filled up to a round size", true, NULL },
	[FIXED_ORDER] = { "order", "the environment's variables sorted", true, NULL },
	[FIXED_RANDOM] = { "random",
			   "constant bytes from getrandom and AT_RANDOM; under the exact engine also from /dev/urandom",
			   true,
			   "/dev/urandom and /dev/random remain random: only the exact engine replaces them" },
	[FIXED_SEEDS] = { "seeds", "hash seeds of Python and Perl, by their variables", true,
			  NULL },
	[FIXED_MALLOC] = { "malloc", "no purging by time in jemalloc and mimalloc", true, NULL },
	[FIXED_VDSO] = { "vdso", "clocks read by system call, without retries in user mode", true,
			 NULL },
	[FIXED_PID] = { "pid", "process ids from 1000 on, in a pid namespace", true, NULL },
	[FIXED_CPU] = { "cpu", "one CPU: threads run one at a time", false, NULL },
	[FIXED_LOCALE] = { "locale", "LC_ALL=C.UTF-8 and TZ=UTC0", false, NULL },
	[FIXED_CWD] = { "cwd", "a name of 256 characters for the working directory", false, NULL },
	[FIXED_BINDING] = { "binding", "symbols bound at startup, not at the first call", false,
			    NULL },
	[FIXED_READDIR] = { "readdir", "directories read in the order of names; exact engine only",
			    false, NULL, true },
	[FIXED_ISA] = { "isa",
			"the CPU that the command sees: x86-64-v3, or isa=MODEL; exact engine only",
			true, NULL, true },
	[FIXED_CPUS] = { "cpus",
			 "the number of CPUs that the command sees: 1, or cpus=N; exact engine only",
			 true, NULL, true },
	[FIXED_TERMINAL] = { "terminal",
			     "LINES=24 and COLUMNS=80; under the exact engine, terminals report this size, too",
			     false,
			     "a program that asks the terminal gets its real size: only the exact engine answers" },
	[FIXED_CLOCK] = { "clock",
			  "a virtual clock, 1 ns per instruction, from 2030 on, or clock=START; exact engine only",
			  false, NULL, true },
	[FIXED_TURNS] = { "turns",
			  "one thread at a time, in the same order, on one CPU; exact engine only",
			  false, NULL, true },
	[FIXED_ENV] = { "env", "only the variables PATH and HOME; env=NAME:NAME keeps more", false,
			NULL },
};

static unsigned usual(void)
{
	unsigned set = 0;

	for (unsigned i = 0; i < FIXED_ITEMS; i++)
		set |= determinism_rows[i].usual ? 1u << i : 0;
	return set;
}

/* The items for one word; 0: unknown name. */
static unsigned items_of(const char *word, size_t len)
{
	if (len == 3 && !strncmp(word, "all", 3))
		return (1u << FIXED_ITEMS) - 1;
	for (unsigned i = 0; i < FIXED_ITEMS; i++)
		if (strlen(determinism_rows[i].name) == len &&
		    !strncmp(determinism_rows[i].name, word, len))
			return 1u << i;
	return 0;
}

static int no_item(const char *word, size_t len, struct tare_error *err)
{
	char typed[48];
	const char *names[FIXED_ITEMS];
	struct text near = { 0 };

	for (unsigned i = 0; i < FIXED_ITEMS; i++)
		names[i] = determinism_rows[i].name;
	snprintf(typed, sizeof(typed), "%.*s", (int)len, word);
	text_nearest(&near, typed, names, FIXED_ITEMS, 1);
	tare_fail(err, EINVAL, "there is no item '%s' to be fixed", typed);
	if (near.len)
		tare_hint(err, "did you mean %s? 'tare run --list' shows them", near.s);
	else
		tare_hint(err, "'tare run --list' shows them; all and none are names, too");
	text_free(&near);
	return -EINVAL;
}

/* Variables that locate programs, and variables that tare sets or reads in the command. */
static const char *const always_kept[] = { "PATH",
					   "HOME",
					   "TARE_REGIONS",
					   "TARE_REGIONS_EVENTS",
					   "TARE_REGIONS_ENGINE",
					   "TARE_FUNCTIONS",
					   "TARE_LIBRARY" };

bool determinism_keeps(const char *kept, const char *variable)
{
	size_t n = strcspn(variable, "=");

	for (size_t i = 0; i < ARRAY_SIZE(always_kept); i++)
		if (strlen(always_kept[i]) == n && !strncmp(always_kept[i], variable, n))
			return true;
	for (const char *p = kept; *p; p += strcspn(p, ":"), p += *p == ':')
		if (strcspn(p, ":") == n && !strncmp(p, variable, n))
			return true;
	return false;
}

/* Append the names of "env=" to those already kept. */
static int keep(struct determinism *f, const char *names, size_t n, struct tare_error *err)
{
	char *kept = f->kept;
	size_t had = strlen(kept);

	if (!n || names[0] == ':' || names[n - 1] == ':' || memmem(names, n, "::", 2) ||
	    memchr(names, '=', n)) {
		tare_fail(err, EINVAL,
			  "env=%.*s: names of variables are wanted, with ':' between them",
			  n > 64 ? 64 : (int)n, names);
		tare_hint(err, "such as env=LANG:CI; env alone keeps PATH and HOME");
		return -EINVAL;
	}
	if (had + n + 2 > FIXED_KEPT_BYTES) {
		tare_fail(err, EINVAL, "env=: the names are longer than %d characters together",
			  FIXED_KEPT_BYTES - 2);
		tare_hint(err, "keep fewer variables");
		return -EINVAL;
	}
	snprintf(kept + had, FIXED_KEPT_BYTES - had, "%s%.*s", had ? ":" : "", (int)n, names);
	return 0;
}

static int set_isa(struct determinism *f, const char *name, size_t n, struct tare_error *err)
{
	if (n && n < FIXED_ISA_BYTES) {
		snprintf(f->isa, FIXED_ISA_BYTES, "%.*s", (int)n, name);
		return 0;
	}
	tare_fail(err, EINVAL,
		  n ? "isa=: the name is longer than %d characters" : "isa=: a CPU model is wanted",
		  FIXED_ISA_BYTES - 1);
	tare_hint(err, "such as isa=x86-64-v2, or isa=./FILE from tare run --isa-dump");
	return -EINVAL;
}

/* The usual start is later than the times of all files: none must appear to be in the future. */
enum { CLOCK_FIRST_YEAR = 2030, CLOCK_YEARS = 10, CLOCK_REAL = -1 /* as -clock */ };

void determinism_clock(struct determinism *f)
{
	struct tm tm = { .tm_year = CLOCK_FIRST_YEAR - 1900, .tm_mday = 1 };
	time_t start = f->clock_start ? (time_t)f->clock_start : timegm(&tm), now = time(NULL);

	while (!f->clock_start && start <= now) {
		tm.tm_year += CLOCK_YEARS;
		start = timegm(&tm);
	}
	f->clock_start = start;
	gmtime_r(&start, &tm);
	strftime(f->clock, sizeof(f->clock), "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* "2026-01-01", "2026-01-01T12:00:00", both maybe with Z, or seconds since 1970: from 1980 to 2261. */
static bool parse_start(const char *s, int64_t *out)
{
	enum { S_1980 = 315532800 };
	static const int64_t S_2261 = 9183110400;
	static const char *const forms[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%s" };
	bool digits = strspn(s, "0123456789") == strlen(s);

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(s, forms[i], &tm);

		if (!end || strcmp(end, *end == 'Z' && i < 2 ? "Z" : ""))
			continue;
		*out = digits ? strtoll(s, NULL, 10) : (int64_t)timegm(&tm);
		return *out >= S_1980 && *out < S_2261;
	}
	return false;
}

static int set_clock(struct determinism *f, const char *word, size_t n, struct tare_error *err)
{
	char typed[32];

	snprintf(typed, sizeof(typed), "%.*s", n > 30 ? 30 : (int)n, word);
	if (!strcmp(typed, "real")) {
		f->clock_start = CLOCK_REAL;
		return 0;
	}
	if (parse_start(typed, &f->clock_start))
		return 0;
	tare_fail(err, EINVAL, "clock=%s: not a time between 1980 and 2260", typed);
	tare_hint(
		err,
		"such as clock=2026-01-01, clock=2026-01-01T12:00:00Z, seconds since 1970, or clock=real");
	return -EINVAL;
}

static int set_cpus(struct determinism *f, const char *digits, size_t n, struct tare_error *err)
{
	unsigned cpus = 0;

	for (size_t i = 0; i < n && cpus <= FIXED_CPUS_MAX; i++)
		cpus = digits[i] >= '0' && digits[i] <= '9'
			? cpus * 10 + (unsigned)(digits[i] - '0')
			: FIXED_CPUS_MAX + 1;
	if (cpus && cpus <= FIXED_CPUS_MAX) {
		f->cpus = cpus;
		return 0;
	}
	tare_fail(err, EINVAL, "cpus=%.*s: a number from 1 to %d is wanted", n > 32 ? 32 : (int)n,
		  digits, FIXED_CPUS_MAX);
	tare_hint(err, "such as cpus=4; cpus alone is cpus=1");
	return -EINVAL;
}

/* Items with a value: "name=value". */
static const struct {
	enum determinism_item item;
	int (*set)(struct determinism *f, const char *value, size_t n, struct tare_error *err);
} valued[] = {
	{ FIXED_ENV, keep },
	{ FIXED_ISA, set_isa },
	{ FIXED_CPUS, set_cpus },
	{ FIXED_CLOCK, set_clock },
};

/* The item that begins "name="; FIXED_ITEMS: none. */
static enum determinism_item valued_item(const char *word, size_t n)
{
	const char *equals = memchr(word, '=', n);

	for (size_t i = 0; equals && i < ARRAY_SIZE(valued); i++)
		if (items_of(word, (size_t)(equals - word)) == 1u << valued[i].item)
			return valued[i].item;
	return FIXED_ITEMS;
}

static int set_value(struct determinism *f, enum determinism_item item, const char *word, size_t n,
		     struct tare_error *err)
{
	size_t name = strlen(determinism_rows[item].name) + 1;

	for (size_t i = 0; i < ARRAY_SIZE(valued); i++)
		if (valued[i].item == item)
			return valued[i].set(f, word + name, n - name, err);
	return 0;
}

int determinism_parse(const char *text, struct determinism *f, struct tare_error *err)
{
	struct determinism values = { .cpus = 1 };
	bool just_some = false, env_named = false;
	unsigned now = usual(), named = 0;

	for (const char *p = text; p;) {
		size_t len = strcspn(p, ",");
		char sign = *p == '+' || *p == '-' ? *p : 0;
		const char *word = p + !!sign;
		size_t n = len - !!sign;
		bool none = !sign && n == 4 && !strncmp(word, "none", 4);
		enum determinism_item with = sign == '-' ? FIXED_ITEMS : valued_item(word, n);
		unsigned items = none ? 0 : with < FIXED_ITEMS ? 1u << with : items_of(word, n);

		if (!items && !none)
			return no_item(word, n, err);
		if (with < FIXED_ITEMS && set_value(&values, with, word, n, err) < 0)
			return -EINVAL;
		if (with == FIXED_CLOCK && values.clock_start == CLOCK_REAL) {
			values.clock_start = 0;
			sign = '-';
		}
		if (p == text && !sign) {
			now = 0; /* a list of only these items */
			just_some = true;
		}
		env_named |= (items & FIXED(ENV)) != 0;
		named = sign == '-' ? named & ~items : named | items;
		now = sign == '-' ? now & ~items : now | items;
		p = p[len] ? p + len + 1 : NULL;
	}
	if (now & FIXED(TURNS)) /* threads on other CPUs would run at the same time */
		now |= FIXED(CPU);
	f->set = now;
	f->env_open = !just_some && !env_named;
	f->named = named & now;
	f->cpus = values.cpus;
	memcpy(f->isa, values.isa, sizeof(f->isa));
	if (!(now & FIXED(ENV)))
		values.kept[0] = '\0';
	memcpy(f->kept, values.kept, sizeof(f->kept));
	f->clock_start = values.clock_start;
	return 0;
}

void determinism_names(struct text *out, unsigned set)
{
	const char *sep = "";

	if (!set)
		text_add(out, "nothing");
	for (unsigned i = 0; i < FIXED_ITEMS; i++)
		if (set & 1u << i) {
			text_add(out, "%s%s", sep, determinism_rows[i].name);
			sep = ", ";
		}
}

void determinism_names_had(struct text *out, const struct determinism *f)
{
	unsigned had = determinism_had(f), valued = had & FIXED(CPUS);
	const char *sep = "";

	if (f && f->isa_model[0])
		valued |= had & FIXED(ISA);
	if (f && f->clock[0])
		valued |= had & FIXED(CLOCK);
	if (had & ~valued || !had) {
		determinism_names(out, had & ~valued);
		sep = ", ";
	}
	if (valued & FIXED(ISA)) {
		text_add(out, "%sisa=%s", sep, f->isa_model);
		sep = ", ";
	}
	if (valued & FIXED(CPUS)) {
		text_add(out, "%scpus=%u", sep, f->cpus);
		sep = ", ";
	}
	if (valued & FIXED(CLOCK))
		text_add(out, "%sclock=%s", sep, f->clock);
}

__attribute__((format(printf, 3, 0))) static bool note(struct determinism *f,
						       enum determinism_item item, const char *fmt,
						       va_list args)
{
	if (!f || !(f->set & 1u << item) || (f->missed & 1u << item))
		return false; /* keep the first reason */
	f->missed |= 1u << item;
	vsnprintf(f->why[item], sizeof(f->why[item]), fmt, args);
	return true;
}

void determinism_miss(struct determinism *f, enum determinism_item item, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	note(f, item, fmt, args);
	va_end(args);
}

void determinism_lose(struct determinism *f, enum determinism_item item, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (note(f, item, fmt, args))
		f->lost |= 1u << item;
	va_end(args);
}

void determinism_strip(struct determinism *f, const char *program, const char *rights,
		       unsigned takers)
{
	unsigned by = determinism_tried(f) & takers;
	char without[64] = "";
	size_t n = 0;

	if (!by || f->stripped[0])
		return;
	for (unsigned i = 0; i < FIXED_ITEMS; i++)
		if (by & 1u << i)
			n += (size_t)snprintf(without + n, sizeof(without) - n, "%s-%s",
					      n ? "," : "", determinism_rows[i].name);
	snprintf(f->stripped, sizeof(f->stripped), "%.90s (%s); --deterministic with %s keeps them",
		 program, rights, without);
}

const char *determinism_open(const struct determinism *f, unsigned item)
{
	if (f && item < FIXED_ITEMS && f->missed & 1u << item)
		return f->why[item];
	if (f && item == FIXED_ENV && f->env_open)
		return "the command has all variables of this environment; --deterministic=+env keeps only PATH and HOME";
	return NULL;
}

const char *determinism_leaves(const struct determinism *f, unsigned item)
{
	return item == FIXED_CLOCK    ? f->clock_leaves
		: item == FIXED_TURNS ? f->turns_leaves
				      : determinism_rows[item].leaves;
}

bool determinism_remark(struct text *out, const struct determinism *f, unsigned i)
{
	if (!f)
		return false;
	if (i == FIXED_ITEMS && f->stripped[0])
		text_add(out, "Ran without its rights: %s", f->stripped);
	else if (determinism_open(f, i))
		text_add(out, "Not fixed: %s: %s", determinism_rows[i].name,
			 determinism_open(f, i));
	else if (i < FIXED_ITEMS && determinism_partly(f) & 1u << i)
		text_add(out, "Fixed in part: %s: %s", determinism_rows[i].name,
			 determinism_leaves(f, i));
	else
		return false;
	return true;
}

void determinism_without_engine(struct determinism *f)
{
	for (unsigned i = 0; f && i < FIXED_ITEMS; i++) {
		if (!determinism_rows[i].engine)
			continue;
		f->set &= ~(1u << i) | f->named;
		determinism_miss(f, (enum determinism_item)i,
				 "only the exact engine can, and this runs without it");
	}
}

unsigned determinism_tried(const struct determinism *f)
{
	return f ? f->set & ~(f->missed & ~f->lost) : 0;
}

unsigned determinism_had(const struct determinism *f)
{
	return f ? f->set & ~f->missed : 0;
}

unsigned determinism_partly(const struct determinism *f)
{
	return f ? determinism_had(f) & f->partly : 0;
}
