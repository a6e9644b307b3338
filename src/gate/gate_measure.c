/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"
#include "base/path.h"
#include "base/signal_name.h"
#include "base/temp_folder.h"
#include "compare/compare_cause.h"
#include "compare/compare_view.h"
#include "gate/gate_measure.h"
#include "gate/gate_view.h"
#include "launch/environment.h"
#include "launch/pidspace.h"
#include "output/escape.h"
#include "stat/repeat_run.h"

/* The results of the measuring process, in memory that it shares. */
struct answer {
	bool done;
	struct gate_outcome outcome;
	struct gate_functions functions;
	bool failed; /* the command, with an exit status */
};

/* ---- in the measuring process ---- */

void gate_put_environment(struct text *items, const struct gate_benchmark *b)
{
	text_add(items, "env");
	for (char **v = b->environment; v && *v; v++)
		text_add(items, "%s%.*s", v == b->environment ? "=" : ":", (int)strcspn(*v, "="),
			 *v);
}

/*
 * The usual items, plus cwd and env: on a CI server, the base was measured in another folder and
 * with other variables.
 */
static void put_items(struct text *items, const struct gate_benchmark *b)
{
	text_add(items, "+cwd,+");
	gate_put_environment(items, b);
	if (b->isa)
		text_add(items, ",+isa=%s", b->isa);
}

static int conditions(struct determinism *fixed, const struct gate_benchmark *b,
		      struct tare_error *err)
{
	struct text items = { 0 };
	int ret;

	put_items(&items, b);
	ret = items.failed ? tare_fail_nomem(err) : determinism_parse(items.s, fixed, err);
	text_free(&items);
	return ret;
}

/* NULL: none */
static const char *counted_events(const struct gate_benchmark *b)
{
	return b->only_times ? NULL : b->events ? b->events : "instructions";
}

static int check_end(const struct repeat_run_result *r, const char *command, struct tare_error *err)
{
	char by[SIGNAL_NAME_ROOM];

	if (r->by_signal)
		return tare_fail(err, EINTR, "stopped by %s", signal_name(r->by_signal, by));
	if (r->exec_code) {
		tare_fail(err, r->exec_code, "%.120s cannot be executed: %s", command,
			  strerror(r->exec_code));
		if (r->exec_code == ENOENT)
			tare_hint(err, "tare gate does not build: build the program first");
		return -r->exec_code;
	}
	if (r->timed_out)
		return tare_fail(err, ETIMEDOUT, "%.120s did not end within its timeout", command);
	if (WIFSIGNALED(r->wait_status))
		return tare_fail(err, EINVAL, "%.120s was ended by %s", command,
				 signal_name(WTERMSIG(r->wait_status), by));
	if (r->wait_status)
		return tare_fail(err, EINVAL, "%.120s failed with exit status %d", command,
				 WEXITSTATUS(r->wait_status));
	return 0;
}

static int run_once(const struct repeat_run *how, const struct gate_benchmark *b,
		    struct determinism *fixed, struct repeat_run_result *r, struct tare_error *err)
{
	struct environment environment = { 0 };
	int ret = environment_fix(&environment, fixed->set, fixed->kept, b->argv, environ, err);

	*r = (struct repeat_run_result){ 0 };
	if (ret == 0)
		ret = repeat_run_once(how, fixed, environment.envp, r, err);
	environment_free(&environment);
	if (ret == 0 || r->by_signal || r->exec_code || r->timed_out) {
		int end = check_end(r, b->argv[0], err);

		ret = end < 0 ? end : ret;
	}
	return ret;
}

/* The index of an event that differs; -1: all are equal. */
static int differs(const struct repeat_run *how, const struct repeat_run_result *a,
		   const struct repeat_run_result *b)
{
	for (size_t i = 0; i < how->list.n; i++)
		if (a->count[i] != b->count[i])
			return (int)i;
	return -1;
}

static const char why_two_differ[] = "tare diverge -- COMMAND shows where two runs differ";

static void not_repeated(struct tare_error *err, const char *event, uint64_t first, uint64_t second)
{
	char a[GATE_COUNT_BYTES], b[GATE_COUNT_BYTES];

	tare_fail(err, EINVAL, "%.100s does not repeat: %s and %s in two runs", event,
		  gate_count_text(a, first), gate_count_text(b, second));
	tare_hint(err, "%s", why_two_differ);
}

/* Two runs must be equal. The first one may differ: it may create files that others find. */
static int run_all(struct answer *a, const struct repeat_run *how, const struct gate_benchmark *b,
		   struct determinism *fixed, struct tare_error *err)
{
	struct repeat_run_result first, r;
	int ret = run_once(how, b, fixed, &first, err), at;

	a->failed = ret < 0 && WIFEXITED(first.wait_status) && WEXITSTATUS(first.wait_status);
	for (unsigned i = 1, left_out = 0; ret == 0 && i < b->runs + left_out; i++) {
		ret = run_once(how, b, fixed, &r, err);
		at = ret == 0 ? differs(how, &first, &r) : -1;
		if (at < 0)
			continue;
		if (i == 1) {
			left_out = 1;
			first = r;
			continue;
		}
		not_repeated(err, how->list.enc[at].name, first.count[at], r.count[at]);
		gate_fail(&a->outcome, GATE_VARIES, err);
		return 0;
	}
	for (size_t i = 0; ret == 0 && i < how->list.n; i++) {
		struct gate_value *v = &a->outcome.head.value[a->outcome.head.n++];

		snprintf(v->event, sizeof(v->event), "%.100s", how->list.enc[i].name);
		v->count = first.count[i];
	}
	return ret;
}

/* ---- the functions ---- */

static int by_count(const void *a, const void *b)
{
	const struct compare_row *x = a, *y = b;

	return (x->amount[0] < y->amount[0]) - (x->amount[0] > y->amount[0]);
}

static void take_functions(struct gate_functions *out, struct compare_cause *c)
{
	out->total = c->total[0];
	qsort(c->row, c->n, sizeof(*c->row), by_count);
	for (size_t i = 0; i < c->n && out->n < GATE_FUNCTIONS_MAX && c->row[i].amount[0]; i++) {
		struct gate_function *f = &out->function[out->n++];

		snprintf(f->name, sizeof(f->name), "%.255s", c->row[i].function);
		snprintf(f->module, sizeof(f->module), "%.100s", path_base(c->row[i].module));
		f->count = c->row[i].amount[0];
	}
}

/* By one more run, under the same conditions. Without them, a remark says why. */
static void count_functions(struct answer *a, const struct gate_benchmark *b,
			    struct determinism *fixed)
{
	struct compare_plan plan = { .engine = ENGINE_EXACT,
				     .fixed = fixed,
				     .argv = { b->argv, b->argv },
				     .timeout_ns = b->timeout_ns };
	const char *const program[] = { path_base(b->argv[0]), path_base(b->argv[0]) };
	struct tare_error why = TARE_ERROR_INIT;
	struct compare_cause cause = { 0 };
	struct temp_folder folder;
	char path[FILE_FOLDER_ROOM + 8];
	const char *const paths[] = { path, path };
	int by_signal = 0, ret = temp_folder_open(&folder, "gate", &why);

	if (ret == 0) {
		snprintf(path, sizeof(path), "%s/data", folder.path);
		ret = compare_record(&plan, COMPARE_BEFORE, path, false, 0, &by_signal, &why);
		if (ret == 0)
			ret = compare_cause_read(&cause, paths, program, &why);
		if (ret == 0)
			take_functions(&a->functions, &cause);
		compare_cause_free(&cause);
		temp_folder_close(&folder);
	}
	if (ret < 0)
		gate_remark(&a->outcome, "Functions not known: %.200s", why.what);
}

static void take_remarks(struct gate_outcome *o, const struct determinism *fixed)
{
	for (unsigned i = 0; i < FIXED_REMARKS; i++) {
		struct text words = { 0 };

		if (determinism_remark(&words, fixed, i) && words.s)
			gate_remark(o, "%s", words.s);
		text_free(&words);
	}
}

static int measure(struct answer *a, const struct gate_benchmark *b, struct tare_error *err)
{
	struct gate_record *head = &a->outcome.head;
	struct determinism fixed = { 0 };
	struct repeat_run how = { 0 };
	struct text items = { 0 };
	int ret = conditions(&fixed, b, err), status;

	if (ret < 0)
		return ret;
	fixed.env_open = false;
	status = pidspace_enter(&fixed, b->argv[0]);
	if (status >= 0)
		_exit(status); /* it was done in the namespace */
	ret = repeat_run_open(&how, b->argv, counted_events(b), ENGINE_EXACT, err);
	how.timeout_ns = b->timeout_ns;
	for (size_t i = 0; ret == 0 && i < how.list.n; i++)
		if (!engine_counts(&how.list.enc[i])) {
			ret = tare_fail(err, EINVAL, "the exact engine does not count %.100s",
					how.list.enc[i].name);
			tare_hint(err, "tare events exact lists what it counts");
		}
	if (ret == 0)
		ret = run_all(a, &how, b, &fixed, err);
	if (ret == 0 && b->functions && !gate_verdict_is_error(a->outcome.verdict))
		count_functions(a, b, &fixed);
	/*
	 * Names of items only: an item that failed is absent, so that a result without it is not
	 * compared with one that has it.
	 */
	determinism_names_had(&items, &fixed);
	snprintf(head->fixed, sizeof(head->fixed), "%.500s", items.s ? items.s : "");
	snprintf(head->isa, sizeof(head->isa), "%.60s", fixed.isa_model);
	take_remarks(&a->outcome, &fixed);
	text_free(&items);
	repeat_run_close(&how);
	return ret;
}

static void prepare_process(const struct gate_benchmark *b, const struct revision_signals *s)
{
	int none = open("/dev/null", O_RDONLY);

	revision_signals_child(s);
	dup2(none, STDIN_FILENO);
	close(none);
	for (char **v = b->environment; v && *v; v++)
		putenv(*v);
}

static void measuring_process(struct answer *a, const struct gate_benchmark *b, const char *dir,
			      const struct revision_signals *s)
{
	struct tare_error err = TARE_ERROR_INIT;
	int ret;

	prepare_process(b, s);
	if (chdir(dir) < 0 || setenv("PWD", dir, 1) < 0)
		ret = tare_fail(&err, errno, "cannot change to %.200s: %s", dir, strerror(errno));
	else
		ret = measure(a, b, &err);
	if (ret < 0)
		gate_fail(&a->outcome, GATE_FAILED, &err);
	a->done = true;
	_exit(0);
}

/* The function with the largest change, by one more run of each side. */
static int find_cause(struct answer *a, const struct gate_benchmark *b,
		      const char *const dirs[COMPARE_SIDES], const char *folder,
		      struct tare_error *err)
{
	static const struct style plain = { 0 };
	struct determinism fixed = { 0 };
	struct compare_plan plan = { .engine = ENGINE_EXACT,
				     .fixed = &fixed,
				     .argv = { b->argv, b->argv },
				     .dir = { dirs[0], dirs[1] },
				     .timeout_ns = b->timeout_ns };
	struct compare_cause cause = { 0 };
	char path[COMPARE_SIDES][PATH_MAX];
	const char *const paths[] = { path[0], path[1] },
			  *const programs[] = { path_base(b->argv[0]), path_base(b->argv[0]) };
	struct text words = { 0 };
	int ret = conditions(&fixed, b, err), status, by_signal = 0;

	fixed.env_open = false;
	fixed.set &= ~(unsigned)FIXED(CWD); /* the two sides have different ones */
	status = ret == 0 ? pidspace_enter(&fixed, b->argv[0]) : -1;
	if (status >= 0)
		_exit(status);
	for (int side = 0; ret == 0 && side < COMPARE_SIDES; side++) {
		snprintf(path[side], sizeof(path[side]), "%.3900s/%d.data", folder, side);
		ret = compare_record(&plan, side, path[side], false, 0, &by_signal, err);
	}
	if (ret == 0)
		ret = compare_cause_read(&cause, paths, programs, err);
	if (ret == 0 && cause.n && cause.row[0].change > 0) {
		text_add(&words, "most of the change is in %.200s: ", cause.row[0].function);
		compare_put_change(&words, &plain, cause.row[0].change);
		text_add(&words, " instructions");
		snprintf(a->outcome.why, sizeof(a->outcome.why), "%s", words.s ? words.s : "");
		snprintf(a->outcome.function, sizeof(a->outcome.function), "%s",
			 cause.row[0].function);
		a->outcome.function_change = cause.row[0].change;
	}
	text_free(&words);
	compare_cause_free(&cause);
	return ret;
}

/* ---- regions and tests: measured by running tare regions and tare bench ---- */

/* The benchmark to measure, and its directory. */
struct place {
	const struct gate_benchmark *b;
	const char *dir;
	struct revision_signals *signals;
};

/* tare's message, without "tare COMMAND: " and without the part about the temporary file. */
static void put_message(struct text *out, const char *said, const char *file)
{
	const char *name = strchr(said, ':'), *about = file ? strstr(said, file) : NULL;
	size_t n = strcspn(said, "\n");

	if (!strncmp(said, "tare ", 5) && name && name[1] == ' ') {
		n -= (size_t)(name + 2 - said);
		said = name + 2;
	}
	if (about > said + 2 && about < said + n)
		n = (size_t)(about - 2 - said); /* after "; " */
	escape(out, said, n);
}

/*
 * Runs a command of tare; adds its standard output to `out`. If it fails, the benchmark fails, see
 * gate_fail(). file: a temporary file, which the message should not name; or NULL.
 */
static int run_tare(struct gate_outcome *o, const struct place *p, char *const *argv,
		    const char *file, struct text *out, struct tare_error *err)
{
	const struct gate_program program = { .argv = argv,
					      .dir = p->dir,
					      .environment = p->b->environment };
	struct text said = { 0 }, line = { 0 };
	int status = gate_program_run(&program, p->signals, out, &said, err);

	if (status > 0) {
		struct tare_error why = TARE_ERROR_INIT;

		if (said.len)
			put_message(&line, said.s, file);
		tare_fail(&why, EINVAL, "%.400s",
			  line.len ? line.s : "it failed without a message");
		gate_fail(o, GATE_FAILED, &why);
	}
	text_free(&said);
	text_free(&line);
	return status < 0 ? status : 0;
}

#define TARE_ITSELF "/proc/self/exe"

static int record_regions(struct gate_outcome *o, const struct place *p, char *file,
			  struct text *out, struct tare_error *err)
{
	char *const before[] = { TARE_ITSELF, "regions", "-q", "-e", "instructions:u",
				 "--engine",  "exact",   "-o", file, NULL,
				 "--" };
	enum { BEFORE = ARRAY_SIZE(before), ITEMS = BEFORE - 2 };
	char *const summarize[] = { TARE_ITSELF, "summarize", "-j", "--", file, NULL };
	struct text items = { 0 };
	char **argv;
	size_t n = 0;
	int ret;

	while (p->b->argv[n])
		n++;
	argv = calloc(BEFORE + n + 1, sizeof(*argv));
	text_add(&items, "--deterministic=");
	put_items(&items, p->b);
	if (!argv || items.failed) {
		ret = tare_fail_nomem(err);
	} else {
		memcpy(argv, before, sizeof(before));
		argv[ITEMS] = items.s;
		memcpy(argv + BEFORE, p->b->argv, n * sizeof(*argv));
		ret = run_tare(o, p, argv, file, NULL, err);
	}
	if (ret == 0 && !gate_verdict_is_error(o->verdict))
		ret = run_tare(o, p, summarize, NULL, out, err);
	free(argv);
	text_free(&items);
	return ret;
}

/* One run: the total of each chosen region. */
static int count_regions(struct gate_outcome *o, const struct place *p, struct tare_error *err)
{
	struct tare_error why = TARE_ERROR_INIT;
	struct temp_folder folder;
	char file[FILE_FOLDER_ROOM + 8];
	struct text document = { 0 };
	int ret = temp_folder_open(&folder, "gate", err);

	if (ret < 0)
		return ret;
	snprintf(file, sizeof(file), "%s/regions", folder.path);
	ret = record_regions(o, p, file, &document, err);
	if (ret == 0 && !gate_verdict_is_error(o->verdict) &&
	    gate_regions_parse(&o->head, p->b, document.s ? document.s : "", document.len, &why) <
		    0)
		gate_fail(o, GATE_FAILED, &why);
	temp_folder_close(&folder);
	text_free(&document);
	return ret;
}

/* One process: the cost of each test, which must be the same in five runs. */
static int count_tests(struct gate_outcome *o, const struct place *p, struct tare_error *err)
{
	char *before[] = { TARE_ITSELF, "bench", "-j", "--engine", "exact",     "-r",
			   "5",         "-e",    NULL, NULL,       "--timeout", NULL };
	enum { BEFORE = ARRAY_SIZE(before), EVENTS = 8, ITEMS = 9, TIMEOUT = 11 };
	const struct gate_benchmark *b = p->b;
	struct tare_error why = TARE_ERROR_INIT;
	struct text items = { 0 }, document = { 0 };
	char instructions[] = "instructions:u", timeout[32], **argv;
	size_t n = 0;
	int ret;

	while (b->argv[2 + n])
		n++;
	snprintf(timeout, sizeof(timeout), "%llus",
		 (unsigned long long)(b->timeout_ns ? b->timeout_ns / 1000000000 : 60));
	text_add(&items, "--deterministic=");
	put_items(&items, b);
	argv = calloc(BEFORE + n + 1, sizeof(*argv));
	if (!argv || items.failed) {
		ret = tare_fail_nomem(err);
	} else {
		before[EVENTS] = b->events ? b->events : instructions;
		before[ITEMS] = items.s;
		before[TIMEOUT] = timeout;
		memcpy(argv, before, sizeof(before));
		memcpy(argv + BEFORE, b->argv + 2, n * sizeof(*argv));
		ret = run_tare(o, p, argv, NULL, &document, err);
	}
	if (ret == 0 && !gate_verdict_is_error(o->verdict) &&
	    (ret = gate_bench_parse(o, document.s ? document.s : "", document.len, &why)) < 0) {
		gate_fail(o, ret == -EAGAIN ? GATE_VARIES : GATE_FAILED, &why);
		ret = 0;
	}
	free(argv);
	text_free(&items);
	text_free(&document);
	return ret;
}

/* The index of the first count that differs; -1: none. The smaller n: one has more counts. */
static int differs_in(const struct gate_record *a, const struct gate_record *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++)
		if (strcmp(a->value[i].event, b->value[i].event) != 0 ||
		    a->value[i].count != b->value[i].count)
			return (int)i;
	return a->n == b->n ? -1 : (int)(a->n < b->n ? a->n : b->n);
}

static void part_varies(struct gate_outcome *o, const struct gate_record *a,
			const struct gate_record *b, size_t at)
{
	struct tare_error why = TARE_ERROR_INIT;

	if (at < a->n && at < b->n && !strcmp(a->value[at].event, b->value[at].event))
		not_repeated(&why, a->value[at].event, a->value[at].count, b->value[at].count);
	else
		tare_fail(&why, EINVAL, "two runs do not have the same regions or tests");
	tare_hint(&why, "%s", why_two_differ);
	gate_fail(o, GATE_VARIES, &why);
}

/* As run_all(): all runs must be equal, except that the first one may differ. */
static int measure_parts(struct gate_outcome *out, const struct place *p, struct tare_error *err)
{
	struct gate_outcome start = *out, first = *out, now;
	int (*const once)(struct gate_outcome *, const struct place *,
			  struct tare_error *) = p->b->bench ? count_tests : count_regions;
	int ret = once(&first, p, err), at;

	for (unsigned i = 1, left_out = 0;
	     ret == 0 && !gate_verdict_is_error(first.verdict) && i < p->b->runs + left_out; i++) {
		now = start;
		ret = once(&now, p, err);
		at = ret == 0 && !gate_verdict_is_error(now.verdict)
			? differs_in(&first.head, &now.head)
			: -1;
		if (at >= 0 && i > 1)
			part_varies(&now, &first.head, &now.head, (size_t)at);
		left_out |= at >= 0;
		if (at >= 0 || gate_verdict_is_error(now.verdict))
			first = now;
	}
	*out = first;
	return ret;
}

/* ---- in tare ---- */

static bool is_measured(const struct repeat_run *how, const struct gate_benchmark *b,
			const char *event)
{
	for (int t = 0; t < COMPARE_TIMES; t++)
		if (!strcmp(event, compare_time_names[t]))
			return b->time[t];
	if (strstr(event, GATE_IN))
		return true; /* a region or a test: check_part_limits() */
	for (size_t i = 0; i < how->list.n; i++)
		if (gate_is_event(event, how->list.enc[i].name))
			return true;
	return false;
}

/* Limits of regions and tests, which are known only after they were measured. */
static void check_part_limits(struct gate_outcome *o, const struct gate_benchmark *b)
{
	struct tare_error why = TARE_ERROR_INIT;

	for (size_t k = 0; k < b->limits; k++) {
		const char *event = b->limit[k].event;
		bool found = !event || b->limit[k].usual || (!b->bench && !strstr(event, GATE_IN));

		for (size_t i = 0; !found && i < o->head.n; i++)
			found = gate_is_event(event, o->head.value[i].event);
		if (found)
			continue;
		tare_fail(&why, EINVAL, "there is a limit for %.100s, but it is not measured",
			  event);
		tare_hint(&why, "correct or remove the limit");
		gate_fail(o, GATE_FAILED, &why);
		return;
	}
}

static int unmeasured(const char *name, const struct gate_benchmark *b, const char *event,
		      struct tare_error *err)
{
	if (b)
		tare_fail(err, EINVAL,
			  "%.150s: benchmarks.%.100s.limit.%.100s: it does not measure this event",
			  name, b->name, event);
	else
		tare_fail(err, EINVAL, "%.150s: limit.%.100s: no benchmark measures this event",
			  name, event);
	tare_hint(err, "add it to \"events\", or remove the limit");
	return -EINVAL;
}

int gate_check_limits(const struct gate_config *c, const char *name, struct tare_error *err)
{
	bool used[GATE_LIMITS_MAX] = { false }; /* the usual limits, which are the last ones */
	const struct gate_benchmark *b = c->benchmark;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < c->n; i++) {
		struct tare_error why = TARE_ERROR_INIT;
		struct repeat_run how = { 0 };
		bool named = false, opened;

		b = &c->benchmark[i];
		if (b->bench) { /* its tests are known only after they were measured */
			memset(used, true, sizeof(used));
			continue;
		}
		for (size_t k = 0; k < b->limits; k++)
			named |= b->limit[k].event != NULL;
		if (!named)
			continue;
		/* if not, its measurement says why */
		opened = repeat_run_open(&how, b->argv, counted_events(b), ENGINE_EXACT, &why) == 0;
		for (size_t k = 0; ret == 0 && k < b->limits; k++) {
			const struct gate_limit *l = &b->limit[k];
			bool measured = !l->event || !opened || is_measured(&how, b, l->event);

			used[b->limits - 1 - k] |= measured;
			if (!measured && !l->usual)
				ret = unmeasured(name, b, l->event, err);
		}
		repeat_run_close(&how);
	}
	for (size_t k = 0; ret == 0 && c->n && k < b->limits && b->limit[b->limits - 1 - k].usual;
	     k++)
		if (!used[k] && b->limit[b->limits - 1 - k].event)
			ret = unmeasured(name, NULL, b->limit[b->limits - 1 - k].event, err);
	return ret;
}

/* FNV-1a */
static uint64_t hash_of(uint64_t hash, const char *s)
{
	do
		hash = (hash ^ (unsigned char)*s) * 0x100000001b3;
	while (*s++);
	return hash;
}

/* The benchmark's value of a variable: from its `environment`, or tare's own. */
static const char *variable_of(const struct gate_benchmark *b, const char *name)
{
	const char *value = getenv(name);
	size_t n = strlen(name);

	for (char **v = b->environment; v && *v; v++)
		if (!strncmp(*v, name, n) && (*v)[n] == '=')
			value = *v + n + 1;
	return value ? value : "";
}

/* The conditions that the user chose. */
static void describe(struct gate_record *r, const struct gate_benchmark *b)
{
	struct text command = { 0 };

	for (char **v = b->environment; v && *v; v++)
		text_add(&command, "%s ", *v);
	escape_command(&command, (const char *const *)b->argv, SIZE_MAX);
	snprintf(r->benchmark, sizeof(r->benchmark), "%s", b->name);
	snprintf(r->command, sizeof(r->command), "%.500s", command.s ? command.s : "");
	snprintf(r->tare, sizeof(r->tare), "%s", TARE_VERSION);
	snprintf(r->variables, sizeof(r->variables), "%016" PRIx64,
		 hash_of(hash_of(0xcbf29ce484222325, variable_of(b, "PATH")),
			 variable_of(b, "HOME")));
	text_free(&command);
}

int gate_set_up(struct gate_outcome *o, const struct gate_benchmark *b, const char *dir,
		struct revision_signals *s, struct tare_error *err)
{
	char shell[] = "sh", option[] = "-c", *argv[] = { shell, option, b->setup, NULL };
	const struct gate_program p = { .argv = argv, .dir = dir, .environment = b->environment };
	struct text said = { 0 }, line = { 0 };
	int status;

	if (!b->setup)
		return 0;
	status = gate_program_run(&p, s, NULL, &said, err);
	if (status > 0) {
		struct tare_error why = TARE_ERROR_INIT;

		gate_last_line(&line, said.s ? said.s : "");
		tare_fail(&why, EINVAL, "its setup failed with exit status %d%s%.300s",
			  WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
			  line.len ? ": " : "", line.len ? line.s : "");
		gate_fail(o, GATE_FAILED, &why);
	}
	text_free(&said);
	text_free(&line);
	return status < 0 ? status : 0;
}

/* What a failing command prints is not kept while it is counted: run it once more. */
static int tell_failure(struct gate_outcome *o, const struct gate_benchmark *b, const char *dir,
			struct revision_signals *s, struct tare_error *err)
{
	const struct gate_program p = { .argv = b->argv,
					.dir = dir,
					.environment = b->environment };
	struct text said = { 0 }, line = { 0 };
	int status = gate_program_run(&p, s, NULL, &said, err);
	size_t n = strlen(o->why);

	gate_last_line(&line, said.s ? said.s : "");
	if (status == 0)
		snprintf(o->why + n, sizeof(o->why) - n,
			 "; once more, without counting, it succeeded");
	else if (status > 0 && line.len)
		snprintf(o->why + n, sizeof(o->why) - n, ": %.250s", line.s);
	text_free(&said);
	text_free(&line);
	return status < 0 ? status : 0;
}

int gate_measure(struct gate_outcome *out, const struct gate_benchmark *b, const char *dir,
		 struct revision_signals *s, struct tare_error *err)
{
	struct answer *a = mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char by[SIGNAL_NAME_ROOM], full[PATH_MAX];
	int pid, status = 0, ret;

	*out = (struct gate_outcome){ 0 };
	if (a == MAP_FAILED)
		return tare_fail_nomem(err);
	describe(&out->head, b);
	snprintf(full, sizeof(full), "%.2000s%s%.2000s", dir, b->directory ? "/" : "",
		 b->directory ? b->directory : "");
	ret = gate_set_up(out, b, full, s, err);
	if (ret < 0 || gate_verdict_is_error(out->verdict))
		goto out;
	if (b->only_times)
		goto out;
	if (b->bench) {
		ret = measure_parts(out, &(struct place){ b, full, s }, err);
		goto out;
	}
	a->outcome = *out;
	pid = fork();
	if (pid == 0)
		measuring_process(a, b, full, s);
	if (pid < 0) {
		ret = tare_fail(err, errno, "cannot fork: %s", strerror(errno));
		goto out;
	}
	status = revision_wait(s, pid, false);
	*out = a->outcome;
	if (s->got) {
		ret = tare_fail(err, EINTR, "stopped by %s", signal_name(s->got, by));
	} else if (!a->done) {
		struct tare_error why = TARE_ERROR_INIT;

		tare_fail(&why, EIO, "the process that measured it ended early, with status %#x",
			  status);
		gate_fail(out, GATE_FAILED, &why);
	}
	if (ret == 0 && a->functions.n) {
		out->functions = malloc(sizeof(*out->functions));
		if (out->functions)
			*out->functions = a->functions;
		else
			ret = tare_fail_nomem(err);
	}
	if (ret == 0 && a->failed)
		ret = tell_failure(out, b, full, s, err);
	if (ret == 0 && !gate_verdict_is_error(out->verdict) && (b->regions || b->all_regions))
		ret = measure_parts(out, &(struct place){ b, full, s }, err);
out:
	munmap(a, sizeof(*a));
	if (ret == 0 && !gate_verdict_is_error(out->verdict))
		check_part_limits(out, b);
	return ret;
}

int gate_cause(struct gate_outcome *o, const struct gate_benchmark *b, const char *base,
	       const char *head, const char *folder, struct revision_signals *s,
	       struct tare_error *err)
{
	struct answer *a = mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char dir[COMPARE_SIDES][PATH_MAX], by[SIGNAL_NAME_ROOM];
	const char *const from[] = { base, head }, *const dirs[] = { dir[0], dir[1] };
	int pid;

	if (a == MAP_FAILED)
		return tare_fail_nomem(err);
	for (int side = 0; side < COMPARE_SIDES; side++)
		snprintf(dir[side], sizeof(dir[side]), "%.2000s%s%.2000s", from[side],
			 b->directory ? "/" : "", b->directory ? b->directory : "");
	pid = fork();
	if (pid == 0) {
		struct tare_error why = TARE_ERROR_INIT;

		prepare_process(b, s);
		if (find_cause(a, b, dirs, folder, &why) < 0)
			snprintf(a->outcome.why, sizeof(a->outcome.why),
				 "the functions that changed are not known: %.400s", why.what);
		_exit(0);
	}
	if (pid > 0) {
		revision_wait(s, pid, false);
		strcpy(o->why, a->outcome.why);
		strcpy(o->function, a->outcome.function);
		o->function_change = a->outcome.function_change;
	}
	munmap(a, sizeof(*a));
	return s->got ? tare_fail(err, EINTR, "stopped by %s", signal_name(s->got, by)) : 0;
}
