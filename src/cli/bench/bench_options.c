/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "output/input.h"
#include "cli/bench/bench_options.h"
#include "event/event.h"

#define OPTION(name, statement)                                                                                        \
	static int set_##name(void *to, const char *arg, struct tare_error *err)                                       \
	{                                                                                                              \
		struct bench_options *o = to;                                                                          \
                                                                                                                       \
		(void)arg, (void)err;                                                                                  \
		statement;                                                                                             \
		return 0;                                                                                              \
	}

OPTION(init, o->init = arg)
OPTION(function, o->function = arg)
OPTION(via, o->msr.via = arg)
OPTION(device_root, o->msr.root = arg)
OPTION(cpu_model, o->msr.cpu = arg)
OPTION(cc, o->cc = arg)
OPTION(cflags, o->cflags = arg)
OPTION(aslr, o->aslr = true)
OPTION(all, o->all = true)
OPTION(cross_check, o->cross_check = true)
OPTION(output, o->output = arg)
OPTION(html, o->html = arg)
OPTION(json, o->format = BENCH_JSON)
OPTION(check, o->check = arg ? arg : "")

static int set_deterministic(void *to, const char *arg, struct tare_error *err)
{
	struct bench_options *o = to;

	o->deterministic = true;
	return fixed_parse(arg, &o->fixed, err);
}

static int set_word(const char *const *words, size_t n, const char *arg, const char *what, struct tare_error *err)
{
	struct text all = { 0 };

	for (size_t i = 0; i < n; i++)
		if (!strcmp(arg, words[i]))
			return (int)i;
	for (size_t i = 0; i < n; i++)
		text_add(&all, "%s%s", i ? i + 1 == n ? " or " : ", " : "", words[i]);
	tare_fail(err, EINVAL, "there is no %s '%.32s': %s", what, arg, all.s ? all.s : "");
	text_free(&all);
	return -EINVAL;
}

#define WORD(name, what, field, type, ...)                                                                             \
	static int set_##name(void *to, const char *arg, struct tare_error *err)                                       \
	{                                                                                                              \
		static const char *const words[] = { __VA_ARGS__ };                                                    \
		int i = set_word(words, ARRAY_SIZE(words), arg, what, err);                                            \
                                                                                                                       \
		if (i >= 0)                                                                                            \
			((struct bench_options *)to)->field = (type)i;                                                 \
		return i < 0 ? i : 0;                                                                                  \
	}

WORD(form, "form", form, enum bench_form, "both", "written", "in-turn")
WORD(syntax, "syntax", att, int, "intel", "att")
WORD(cold, "way to make caches cold", cold, enum bench_cold, "none", "flush", "evict")
WORD(order, "order", shuffle, bool, "abba", "shuffled")
WORD(format, "format", format, enum bench_format, "text", "json", "csv", "parquet", "kdb")
WORD(colour, "colour", colour, enum when, "auto", "always", "never")

static int set_engine(void *to, const char *arg, struct tare_error *err)
{
	static const char *const words[] = { "auto", "perf", "exact", "clock", "msr" };
	int i = set_word(words, ARRAY_SIZE(words), arg, "engine", err);
	if (i >= 0)
		((struct bench_options *)to)->engine = (enum bench_engine)i;
	return i < 0 ? i : 0;
}

static int set_bounded(const char *arg, uint64_t least, uint64_t most, uint64_t *to, struct tare_error *err)
{
	int ret = num_parse(arg, to, err);

	if (ret == 0 && (*to < least || *to > most))
		return tare_fail(err, ERANGE, "%.32s is not between %llu and %llu", arg, (unsigned long long)least, (unsigned long long)most);
	return ret;
}

#define NUMBER(name, least, most)                                                                                      \
	static int set_##name(void *to, const char *arg, struct tare_error *err)                                       \
	{                                                                                                              \
		return set_bounded(arg, least, most, &((struct bench_options *)to)->name, err);                        \
	}

NUMBER(runs, 1, BENCH_RUNS_MAX)
NUMBER(warmup, 0, BENCH_RUNS_MAX)
NUMBER(baselines, 2, BENCH_RUNS_MAX)
NUMBER(unroll, 1, 1000000)
NUMBER(ops, 1, 1ull << 53)
NUMBER(bytes, 1, 1ull << 53)

static int set_loop(void *to, const char *arg, struct tare_error *err)
{
	struct bench_options *o = to;

	o->loop_given = true;
	return set_bounded(arg, 0, INT32_MAX, &o->loop, err);
}

static int set_seed(void *to, const char *arg, struct tare_error *err)
{
	struct bench_options *o = to;

	o->shuffle = true;
	return set_bounded(arg, 1, 1ull << 53, &o->seed, err);
}

static int set_timeout(void *to, const char *arg, struct tare_error *err)
{
	uint64_t *ns = &((struct bench_options *)to)->timeout_ns;
	int ret = num_parse_ns(arg, 1000000000, ns, err);

	if (ret == 0 && *ns == 0) {
		tare_fail(err, EINVAL, "a run takes more than no time");
		tare_hint(err, "there is always an end; as late as you like: --timeout 1000h");
		return -EINVAL;
	}
	return ret;
}

static int set_cpu(void *to, const char *arg, struct tare_error *err)
{
	struct bench_options *o = to;
	uint64_t n;
	int ret;

	if (!strcmp(arg, "any")) {
		o->cpu = -2;
		return 0;
	}
	ret = set_bounded(arg, 0, 65535, &n, err);
	if (ret == 0)
		o->cpu = (int)n;
	return ret;
}

static int set_inside(void *to, const char *arg, struct tare_error *err)
{
	uint64_t n;
	int ret = set_bounded(arg, 3, 1 << 20, &n, err);

	if (ret == 0)
		((struct bench_options *)to)->inside = (int)n;
	return ret;
}

/* Blanks, and comments to the end of the line. */
static bool is_empty(const char *code, bool is_c)
{
	for (code += strspn(code, " \t\n;"); *code == '#' && !is_c; code += strspn(code, " \t\n;"))
		code += strcspn(code, "\n");
	return !*code;
}

static int add_code(struct bench_options *o, const char *arg, bool is_c, struct tare_error *err)
{
	if (is_empty(arg, is_c))
		return tare_fail(err, EINVAL, "there is no %s in it", is_c ? "statement" : "instruction");
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

static int set_include(void *to, const char *arg, struct tare_error *err)
{
	struct bench_options *o = to;

	if (o->n_include == BENCH_INCLUDES_MAX)
		return tare_fail(err, E2BIG, "more than %d headers", BENCH_INCLUDES_MAX);
	o->include[o->n_include++] = arg;
	return 0;
}

static int set_event(void *to, const char *arg, struct tare_error *err)
{
	struct bench_options *o = to;
	struct event_list parsed = { 0 };
	int ret = event_list_parse(arg, &parsed, err);

	o->event_text = o->events.len ? NULL : arg;
	for (size_t i = 0; ret == 0 && i < parsed.n; i++)
		text_add(&o->events, "%s%s", o->events.len ? "," : "", parsed.event[i].text);
	event_list_free(&parsed);
	if (ret == 0 && strpbrk(arg, "{}"))
		return tare_fail(err, EINVAL, "events that fit together are counted together anyway: name them without braces");
	return ret == 0 && o->events.failed ? tare_fail_nomem(err) : ret;
}

static int set_event_file(void *to, const char *arg, struct tare_error *err)
{
	struct bench_options *o = to;

	if (o->n_event_files == BENCH_FILES_MAX)
		return tare_fail(err, E2BIG, "more than %d event files", BENCH_FILES_MAX);
	o->event_files[o->n_event_files++] = arg;
	input_note(arg);
	return 0;
}

const struct option_row bench_option_rows[] = {
	{ 0, "asm", "CODE", "a few instructions, by ';': Intel syntax, AT&T where registers have a '%'", set_asm },
	{ 0, "c", "CODE", "a statement of C, or an expression whose value is kept", set_c },
	{ 0, "init", "CODE", "before it, not measured", set_init },
	{ 0, "include", "HEADER", "for --c: string.h, or \"own.h\"", set_include },
	{ 0, "unroll", "N", "so many copies of the code; default: 100 of --asm, 1 of --c", set_unroll },
	{ 0, "loop", "N", "rounds over the copies; default: by the clock, as many as --asm needs", set_loop },
	{ 0, "form", "FORM", "both (default), written, or in-turn: each copy writes another register", set_form },
	{ 0, "function", "NAME", "call this function of TEST, instead of execute_test()", set_function },
	{ 'e', "event", "EVENTS", "what to count; default: instructions by class, cycles where there is a PMU, the clock", set_event },
	{ 0, "engine", "NAME", "auto, perf, exact, clock or msr (the registers of one CPU)", set_engine },
	{ 0, "cross-check", NULL, "with --engine msr: perf counts the same in runs of its own; do they agree?", set_cross_check },
	{ 'r', "runs", "N", "default: 100; of each test", set_runs },
	{ 0, "warmup", "N", "runs before them that do not count; default: 10", set_warmup },
	{ 0, "baselines", "N", "how often start and stop are measured by themselves; default: as many as runs, 100 at least", set_baselines },
	{ 0, "cold", "HOW", "before each run: flush (the test's buffers), or evict (everything)", set_cold },
	{ 0, "cpu", "N", "run there; 'any': unpinned; default: where tare runs", set_cpu },
	{ 0, "order", "ORDER", "of several tests' runs: abba (default), or shuffled", set_order },
	{ 0, "seed", "N", "shuffled, by this seed; default: 1", set_seed },
	{ 0, "check", "[EVENT]", "exit with 2 if a test costs more than the first, beyond the noise", set_check },
	{ 0, "timeout", "TIME", "for one run; default: 60s", set_timeout },
	{ 0, "cflags", "FLAGS", "for the compiler, behind -O2 -g", set_cflags },
	{ 0, "all", NULL, "in text also what is 0", set_all },
	{ 0, "format", "NAME", "text, json, csv, parquet, or kdb (-o FOLDER)", set_format },
	{ 'j', "json", NULL, "the same as --format json", set_json },
	{ 'o', "output", "FILE", "write there; - is standard output", set_output },
	{ 0, "html", "FILE", "write a page there, too: distributions, runs in their order", set_html },
	{ 0, "syntax", "NAME", NULL, set_syntax },
	{ 0, "ops", "N", NULL, set_ops },
	{ 0, "bytes", "N", NULL, set_bytes },
	{ 0, "cc", "COMPILER", NULL, set_cc },
	{ 0, "via", "WAY", NULL, set_via },
	{ 0, "device-root", "FOLDER", NULL, set_device_root },
	{ 0, "cpu-model", "CPU", NULL, set_cpu_model },
	{ 0, "deterministic", "[ITEMS]", "what differs from process to process is fixed; tare run --list shows what", set_deterministic },
	{ 0, "aslr", NULL, NULL, set_aslr },
	{ 0, "event-file", "FILE", NULL, set_event_file },
	{ 0, "color", "WHEN", NULL, set_colour },
	{ 0, "tare-bench", "FD", NULL, set_inside },
	{ 0 },
};

int bench_options_check(const struct bench_options *o, size_t n_files, struct tare_error *err)
{
	if (!n_files && !o->n_code) {
		tare_fail(err, EINVAL, "what is to be measured?");
		tare_hint(err, "tare bench --asm 'imul rax, rbx', or a TEST.c with execute_test(start, stop)");
		return -EINVAL;
	}
	if (o->aslr && o->deterministic)
		return tare_fail(err, EINVAL, "--aslr and --deterministic: choose one; --deterministic=-aslr leaves the layout random");
	if (n_files && o->n_code)
		return tare_fail(err, EINVAL, "files and --asm or --c do not go together");
	if (n_files > BENCH_VARIANTS)
		return tare_fail(err, E2BIG, "more than %d tests", BENCH_VARIANTS);
	if (n_files && (o->init || o->n_include || o->unroll || o->loop))
		return tare_fail(err, EINVAL, "--init, --include, --unroll and --loop are of --asm and --c: a file says these itself");
	if (!n_files && o->function)
		return tare_fail(err, EINVAL, "--function names a function in a file");
	if (o->check && o->runs < BENCH_COMPARED_LEAST)
		return tare_fail(err, EINVAL, "--check takes %d runs at least: of fewer no test is compared with another", BENCH_COMPARED_LEAST);
	if ((o->msr.via || o->msr.root || o->msr.cpu) && o->engine != BENCH_ENGINE_MSR)
		return tare_fail(err, EINVAL, "--via, --device-root and --cpu-model are about registers: with --engine msr");
	if (o->cross_check && o->engine != BENCH_ENGINE_MSR)
		return tare_fail(err, EINVAL, "--cross-check compares registers with perf: with --engine msr");
	if (o->cross_check && o->format != BENCH_TEXT && o->format != BENCH_JSON)
		return tare_fail(err, EINVAL, "--cross-check is shown as text or json");
	if (o->engine == BENCH_ENGINE_CLOCK && o->events.len)
		return tare_fail(err, EINVAL, "--engine clock counts no events");
	if (o->format == BENCH_KDB && (!o->output || !strcmp(o->output, "-"))) {
		tare_fail(err, EINVAL, "a table of kdb+ is a folder of files");
		tare_hint(err, "-o FOLDER says which");
		return -EINVAL;
	}
	if ((uint64_t)o->runs * (n_files + o->n_code) * 64 > 1ull << 29)
		return tare_fail(err, E2BIG, "%llu runs of %zu tests are more than tare keeps", (unsigned long long)o->runs, n_files + o->n_code);
	return 0;
}

void bench_options_free(struct bench_options *o)
{
	text_free(&o->events);
}
