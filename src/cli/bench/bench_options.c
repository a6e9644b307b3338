/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "base/num.h"
#include "cli/bench/bench_options.h"

#define OPTIONS struct bench_options

static int set_cpu(void *to, const char *arg, struct tare_error *err)
{
	struct bench_options *o = to;
	uint64_t n;
	int ret;

	if (!strcmp(arg, "any")) {
		o->cpu = -2;
		return 0;
	}
	ret = num_parse(arg, &n, err);
	if (ret == 0 && n > 65535)
		return tare_fail(err, ERANGE, "%.32s is not between 0 and 65535", arg);
	if (ret == 0)
		o->cpu = (int)n;
	return ret;
}

/* Whitespace, and comments to the end of the line. */
static bool is_empty(const char *code, bool is_c)
{
	for (code += strspn(code, " \t\n;"); *code == '#' && !is_c; code += strspn(code, " \t\n;"))
		code += strcspn(code, "\n");
	return !*code;
}

static int add_code(struct bench_options *o, const char *arg, bool is_c, struct tare_error *err)
{
	if (is_empty(arg, is_c))
		return tare_fail(err, EINVAL, "there is no %s in it",
				 is_c ? "statement" : "instruction");
	if (o->n_code == BENCH_VARIANTS)
		return tare_fail(err, E2BIG, "more than %d pieces of code", BENCH_VARIANTS);
	o->is_c[o->n_code] = is_c;
	o->code[o->n_code++] = arg;
	return 0;
}

static int set_asm(void *to, const char *arg, struct tare_error *err)
{
	return add_code(to, arg, false, err);
}

static int set_c(void *to, const char *arg, struct tare_error *err)
{
	return add_code(to, arg, true, err);
}

const struct option_row bench_option_rows[] = {
	{ 0, "asm", "CODE",
	  "instructions separated by ';': Intel syntax, or AT&T if registers have a '%'",
	  SPECIAL_ALL(set_asm) },
	{ 0, "c", "CODE", "a C statement, or an expression (its value is kept)",
	  SPECIAL_ALL(set_c) },
	{ 0, "init", "CODE", "before it, not measured", TEXT(init, NULL) },
	{ 0, "include", "HEADER", "for --c: string.h, or \"own.h\"",
	  TEXTS(include, n_include, BENCH_INCLUDES_MAX, "headers") },
	{ 0, "unroll", "N", "copies of the code; default: 100 of --asm, 1 of --c",
	  NUMBER(unroll, 1, 1000000) },
	{ 0, "loop", "N",
	  "iterations over the copies; default: as many as --asm needs for the clock",
	  NUMBER(loop, 0, INT32_MAX), GIVEN(loop_given) },
	{ 0, "form", "FORM",
	  "both (default), written, or in-turn: each copy writes another register",
	  WORD(form, "form", "both", "written", "in-turn") },
	{ 0, "function", "NAME", "call this function of TEST, instead of execute_test()",
	  TEXT(function, NULL) },
	EVENT_ROW(
		events,
		"what to count; default: instructions by class, cycles where there is a PMU, the clock"),
	{ 0, "engine", "NAME", "auto, perf, exact, clock or msr (the registers of one CPU)",
	  WORD(engine, "engine", "auto", "perf", "exact", "clock", "msr") },
	{ 0, "cross-check", NULL,
	  "with --engine msr: compare with perf, which counts the same in separate runs",
	  FLAG(cross_check) },
	{ 'r', "runs", "N", "default: 100; of each test", NUMBER(runs, 1, BENCH_RUNS_MAX) },
	{ 0, "warmup", "N", "warm-up runs; default: 10", NUMBER(warmup, 0, BENCH_RUNS_MAX) },
	{ 0, "baselines", "N",
	  "measurements of start and stop alone; default: as many as runs, at least 100",
	  NUMBER(baselines, 2, BENCH_RUNS_MAX) },
	{ 0, "cold", "HOW", "before each run: flush (the test's buffers), or evict (everything)",
	  WORD(cold, "way to make caches cold", "none", "flush", "evict") },
	{ 0, "cpu", "N", "run there; 'any': unpinned; default: where tare runs",
	  SPECIAL_ALL(set_cpu) },
	{ 0, "order", "ORDER", "of several tests' runs: abba (default), or shuffled",
	  WORD(shuffle, "order", "abba", "shuffled") },
	{ 0, "seed", "N", "shuffled, by this seed; default: 1", NUMBER(seed, 1, 1ull << 53),
	  GIVEN(shuffle) },
	{ 0, "check", "[EVENT]",
	  "exit with 2 if a test costs more than the first, beyond the noise", TEXT(check, NULL),
	  .absent = "" },
	{ 0, "timeout", "TIME", "for one run; default: 60s", DURATION(timeout_ns, 1000000000, 1),
	  .refusal = "the time limit must be above 0",
	  .hint = "a time limit is required, but may be long: --timeout 1000h" },
	{ 0, "cflags", "FLAGS", "for the compiler, after -O2 -g", TEXT(cflags, NULL) },
	{ 0, "all", NULL, "in text also rows that are 0", FLAG(all) },
	OUTPUT_FORMAT_ROWS(out, "text, json, csv, parquet, or kdb (-o FOLDER)", "text", "json",
			   "csv", "parquet", "kdb"),
	{ 'o', "output", "FILE", "write to FILE; - is standard output", OUTPUT_FILE(out.path) },
	OUTPUT_HTML_ROW(out, "also write an HTML page to FILE: distributions, runs in their order"),
	{ 0, "syntax", "NAME", NULL, WORD(att, "syntax", "intel", "att") },
	{ 0, "ops", "N", NULL, NUMBER(ops, 1, 1ull << 53) },
	{ 0, "bytes", "N", NULL, NUMBER(bytes, 1, 1ull << 53) },
	{ 0, "cc", "COMPILER", NULL, TEXT(cc, NULL) },
	{ 0, "via", "WAY", NULL, TEXT(msr.via, NULL) },
	{ 0, "device-root", "FOLDER", NULL, TEXT(msr.root, NULL) },
	{ 0, "cpu-model", "CPU", NULL, TEXT(msr.cpu, NULL) },
	{ 0, "deterministic", "[ITEMS]",
	  "fix items that vary between processes; tare run --list shows them", DETERMINISTIC(fixed),
	  GIVEN(deterministic) },
	{ 0, "aslr", NULL, NULL, FLAG(aslr) },
	EVENT_FILE_ROW(events, NULL),
	BLOCK_ROW(out, output_colour_rows),
	{ 0, "tare-bench", "FD", NULL, NUMBER(inside, 3, 1 << 20) },
	{ 0 },
};

int bench_options_check(const struct bench_options *o, size_t n_files, struct tare_error *err)
{
	if (!n_files && !o->n_code) {
		tare_fail(err, EINVAL, "nothing to measure");
		tare_hint(
			err,
			"tare bench --asm 'imul rax, rbx', or a TEST.c with execute_test(start, stop)");
		return -EINVAL;
	}
	if (o->events.grouped)
		return tare_fail(
			err, EINVAL,
			"--event: events that fit together are counted together anyway: name them without braces");
	if (o->aslr && o->deterministic)
		return tare_fail(
			err, EINVAL,
			"--aslr and --deterministic: choose one; --deterministic=-aslr leaves the layout random");
	if (n_files && o->n_code)
		return tare_fail(err, EINVAL, "files cannot be combined with --asm or --c");
	if (n_files > BENCH_VARIANTS)
		return tare_fail(err, E2BIG, "more than %d tests", BENCH_VARIANTS);
	if (n_files && (o->init || o->n_include || o->unroll || o->loop))
		return tare_fail(
			err, EINVAL,
			"--init, --include, --unroll and --loop are for --asm and --c: a file sets these itself");
	if (!n_files && o->function)
		return tare_fail(err, EINVAL, "--function names a function in a file");
	if (o->check && o->runs < BENCH_COMPARED_LEAST)
		return tare_fail(
			err, EINVAL,
			"--check needs at least %d runs: with fewer, tests are not compared",
			BENCH_COMPARED_LEAST);
	if ((o->msr.via || o->msr.root || o->msr.cpu) && o->engine != BENCH_ENGINE_MSR)
		return tare_fail(
			err, EINVAL,
			"--via, --device-root and --cpu-model are about registers: with --engine msr");
	if (o->cross_check && o->engine != BENCH_ENGINE_MSR)
		return tare_fail(err, EINVAL,
				 "--cross-check compares registers with perf: with --engine msr");
	if (o->cross_check && o->out.format != FORMAT_TEXT && o->out.format != FORMAT_JSON)
		return tare_fail(err, EINVAL, "--cross-check is shown as text or json");
	if (o->engine == BENCH_ENGINE_CLOCK && o->events.given)
		return tare_fail(err, EINVAL, "--engine clock counts no events");
	if (o->out.format == BENCH_KDB && (!o->out.path || !strcmp(o->out.path, "-"))) {
		tare_fail(err, EINVAL, "a kdb+ table is a directory of files");
		tare_hint(err, "name it with -o FOLDER");
		return -EINVAL;
	}
	if ((uint64_t)o->runs * (n_files + o->n_code) * 64 > 1ull << 29)
		return tare_fail(err, E2BIG, "%llu runs of %zu tests are more than tare can keep",
				 (unsigned long long)o->runs, n_files + o->n_code);
	return 0;
}

void bench_options_free(struct bench_options *o)
{
	event_options_free(&o->events);
}
