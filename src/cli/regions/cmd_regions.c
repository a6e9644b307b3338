/* SPDX-License-Identifier: MIT */
/*
 * tare regions: runs a command and records its regions (tare/region.h). The command writes the
 * file itself; this creates the file, passes its name in the environment, and finally reports its
 * contents.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/recordings.h"
#include "regions/async_spans.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "cli/common_options.h"
#include "output/temp_cleanup.h"
#include "launch/determinism_warn.h"
#include "output/child_output.h"
#include "exact/exact.h"
#include "regions/runtime/region_counters.h"
#include "regions/runtime/region_file.h"
#include "regions/timeline/timeline.h"
#include "launch/environment.h"
#include "launch/follow.h"
#include "output/escape.h"
#include "count/partial.h"
#include "regions/region_cells.h"
#include "launch/pidspace.h"

enum { TURNS_MAX = 10000, SIDES_MAX = 26 };

enum engine { ENGINE_ANY, ENGINE_PERF_ONLY, ENGINE_EXACT_ONLY };

struct regions_options {
	const char *counters, *output;
	enum engine engine;
	bool quiet, deterministic;
	uint64_t turns; /* 0: one command, once */
	struct determinism fixed;
};

static int set_counters(void *to, const char *arg, struct tare_error *err)
{
	struct regions_options *o = to;

	if (!*arg || strlen(arg) >= sizeof(((struct file_head *)0)->counters))
		return tare_fail(err, EINVAL,
				 "a list of counters is expected, of at most 1023 bytes");
	o->counters = arg;
	return 0;
}

#define OPTIONS struct regions_options

static const struct option_row regions_opts[] = {
	{ 'e', "event", "EVENTS",
	  "wall-time (default), instructions:u, instructions-minus-irqs:u, none, ...",
	  SPECIAL_ALL(set_counters) },
	{ 'o', "output", "FILE",
	  "the recording (default regions.tare); an existing one is replaced",
	  OUTPUT_FILE(output) },
	{ 0, "engine", "ENGINE", "auto, perf, exact: what counts instructions:u",
	  WORD(engine, "engine", "auto", "perf", "exact") },
	{ 0, "deterministic", "[ITEMS]",
	  "fix items that vary between runs; tare run --list shows them", DETERMINISTIC(fixed),
	  GIVEN(deterministic) },
	{ 0, "turns", "N",
	  "record A and B alternately, N times each, as FILE.A.1 ... FILE.B.N for tare diff",
	  NUMBER(turns, 1, TURNS_MAX) },
	{ 'q', "quiet", NULL, "print nothing at the end unless something is missing", FLAG(quiet) },
	{ 0 },
};

/* The part of a list that the exact engine does not count, clocks excluded; empty: none. counts:
 * the list has instructions:u. */
static void beside_engine(const char *counters, struct text *others, bool *counts)
{
	char *copy = strdup(counters), *rest = copy;

	*counts = false;
	for (char *word; copy && (word = strsep(&rest, ","));)
		if (!strcmp(word, "instructions:u"))
			*counts = true;
		else if (strcmp(word, "wall-time"))
			text_add(others, "%s%s", others->len ? "," : "", word);
	free(copy);
}

/* Contains only events that the exact engine counts, and clocks. */
static bool engine_counts(const char *counters)
{
	struct text others = { 0 };
	bool counts;

	beside_engine(counters, &others, &counts);
	counts &= others.len == 0;
	text_free(&others);
	return counts;
}

/* The engine could count instructions:u: report why it cannot count the others, not why the
 * PMU's are missing. */
static int blame_others(const char *counters, struct tare_error *err)
{
	struct tare_error why = TARE_ERROR_INIT;
	struct region_counters c;
	struct text others = { 0 };
	bool counts;
	int ret = -err->code;

	beside_engine(counters, &others, &counts);
	if (counts && others.s && exact_probe(&why) == 0) {
		if (region_counters_new(&c, others.s, &why) == 0) {
			region_counters_free(&c);
			ret = tare_fail(
				err, EOPNOTSUPP,
				"'%.200s' cannot be counted with instructions:u, which the exact engine counts without a PMU",
				others.s);
		} else {
			*err = why;
			ret = -why.code;
		}
		tare_hint(err, "without a PMU: -e instructions:u, or -e wall-time,instructions:u");
	}
	text_free(&others);
	return ret;
}

/* 1: under the exact engine; 0: without it; or the error why the counters are unavailable. */
static int choose_engine(const struct regions_options *o, struct tare_error *err)
{
	struct tare_error without = TARE_ERROR_INIT;
	struct region_counters c;
	int ret = 0;

	if (o->engine == ENGINE_EXACT_ONLY) {
		if (!engine_counts(o->counters)) {
			ret = tare_fail(
				err, EINVAL,
				"--engine exact: it counts instructions:u, and not all of '%.100s'",
				o->counters);
			tare_hint(err, "-e instructions:u, or -e wall-time,instructions:u");
			return ret;
		}
		ret = exact_probe(err);
		return ret < 0 ? ret : 1;
	}
	ret = region_counters_new(&c, o->counters, err);
	if (ret == 0) {
		region_counters_free(&c);
		return 0;
	}
	if (o->engine == ENGINE_ANY && engine_counts(o->counters) && exact_probe(&without) == 0)
		return 1;
	if (o->engine == ENGINE_ANY)
		ret = blame_others(o->counters, err);
	if (strstr(o->counters, "exact/"))
		tare_hint(
			err,
			"the exact engine counts regions by the name instructions:u: -e instructions:u --engine exact");
	return ret;
}

static char *words_of(char *const *argv)
{
	struct text out = { 0 };

	for (; *argv; argv++)
		text_add(&out, "%s%s", out.len ? " " : "", *argv);
	return text_take(&out);
}

/* The caller's environment and three variables of tare's; the strings belong to the caller or to
 * `own`. */
static char **environment_with(const char *path, const char *counters, bool exact,
			       struct text own[3])
{
	size_t n = 0;
	char **env;

	while (environ[n])
		n++;
	env = calloc(n + 4, sizeof(*env));
	if (!env)
		return NULL;
	n = 0;
	for (char **e = environ; *e; e++)
		if (strncmp(*e, "TARE_REGIONS=", 13) &&
		    strncmp(*e, "TARE_REGIONS_E", 14)) /* _EVENTS, _ENGINE */
			env[n++] = *e;
	text_add(&own[0], "TARE_REGIONS=%s", path);
	text_add(&own[1], "TARE_REGIONS_EVENTS=%s", counters);
	text_add(&own[2], "TARE_REGIONS_ENGINE=%s", exact ? "exact" : "none");
	for (int i = 0; i < 3; i++)
		env[n++] = own[i].s;
	if (own[0].failed || own[1].failed || own[2].failed) {
		free(env);
		return NULL;
	}
	return env;
}

/* Nesting errors. */
struct seen {
	uint64_t missing;
	struct region_unbalanced *of; /* per label */
	struct async_spans halves;
};

/* A start or a finish. False: out of memory. */
static bool look_at_half(struct seen *seen, const struct timeline_point *p, size_t thread)
{
	const struct async_end h = { .number = p->number,
				     .label = p->label,
				     .thread = thread,
				     .is_start = p->kind == TIMELINE_START };
	struct async_end other;
	enum async_end_met met = async_spans_meet(&seen->halves, &h, &other);

	if (met == ASYNC_END_TWICE && !h.is_start)
		seen->of[p->label].finished_again++;
	return met != ASYNC_END_NO_MEMORY;
}

/* Does not report halves that may be lost in a gap, or that may still come. */
static int look_at_halves(struct timeline *t, struct seen *seen, struct tare_error *err)
{
	const struct timeline_info *info = timeline_info(t);
	bool lost = false;
	const struct async_end *h;
	int ret = async_spans_settle(&seen->halves, t, NULL, err);

	for (size_t i = 0; i < info->n_threads; i++)
		lost |= info->thread[i].lost != 0;
	for (size_t i = 0; ret == 0 && !lost && i < seen->halves.slots; i++) {
		h = &seen->halves.slot[i];
		if (h->used && !(h->is_start && info->thread[h->thread].goes_on))
			async_end_judge(h, &seen->of[h->label]);
	}
	return ret;
}

static int look_at_thread(struct timeline *t, size_t thread, struct seen *seen,
			  struct tare_error *err)
{
	struct timeline_point p;
	struct cursor *c;
	const struct timeline_thread *about = &timeline_info(t)->thread[thread];
	int ret = timeline_thread(t, thread, &c, err);

	if (ret < 0)
		return ret;
	while ((ret = cursor_next(c, &p, err)) == 1) {
		if (p.kind == TIMELINE_LOST ||
		    p.repaired == TIMELINE_AT_GAP) /* the other half may be lost in a gap */
			continue;
		seen->missing += p.missing != 0;
		if ((p.kind == TIMELINE_START || p.kind == TIMELINE_FINISH) &&
		    !look_at_half(seen, &p, thread)) {
			ret = tare_fail_nomem(err);
			break;
		}
		if (!p.repaired || about->lost || (p.repaired == TIMELINE_AT_END && about->goes_on))
			continue;
		if (p.kind == TIMELINE_BEGIN)
			seen->of[p.label].not_begun++;
		else
			seen->of[p.label].not_ended++;
	}
	cursor_close(c);
	return ret;
}

/* One warning for all argument sets of a label, with the first place. */
static void add_to_group(struct timeline *t, const struct seen *seen, uint32_t label)
{
	const struct timeline_label *l = timeline_label(t, label);
	struct region_unbalanced *from = &seen->of[label], *to = &seen->of[l->group];

	if (!(from->not_ended + from->not_begun + from->not_finished + from->not_started +
	      from->finished_again))
		return;
	if (!to->file) {
		to->file = l->file;
		to->line = l->line;
	}
	if (to == from)
		return;
	to->not_ended += from->not_ended;
	to->not_begun += from->not_begun;
	to->not_finished += from->not_finished;
	to->not_started += from->not_started;
	to->finished_again += from->finished_again;
	*from = (struct region_unbalanced){ 0 };
}

static void say_unbalanced(const struct command *self, struct timeline *t, const struct seen *seen)
{
	enum { SHOWN = 8 };
	size_t n = 0;

	for (uint32_t i = 0; i < timeline_info(t)->n_labels; i++)
		add_to_group(t, seen, i);
	for (uint32_t i = 0; i < timeline_info(t)->n_labels; i++) {
		const struct timeline_label *l = timeline_label(t, i);
		struct text words = { 0 }, what = { 0 };

		put_unbalanced(&what, &seen->of[i]);
		if (what.len && n++ < SHOWN) {
			escape(&words, l->name, strnlen(l->name, 200));
			text_add(&words, "%s'", strlen(l->name) > 200 ? "..." : "");
			put_source(&words, seen->of[i].file, seen->of[i].line);
			fprintf(stderr, "tare %s: warning: '%s: %s\n", self->name,
				words.s ? words.s : "", what.s);
		}
		text_free(&words);
		text_free(&what);
	}
	if (n > SHOWN)
		fprintf(stderr, "tare %s: warning: and %zu labels more\n", self->name, n - SHOWN);
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* 0: unknown. */
static size_t count_processes(const struct timeline_info *info)
{
	uint64_t *pid = calloc(info->n_threads + 1, sizeof(*pid));
	size_t n = 0;

	for (size_t i = 0; pid && i < info->n_threads; i++)
		pid[i] = info->thread[i].pid;
	if (pid)
		qsort(pid, info->n_threads, sizeof(*pid), by_size);
	for (size_t i = 0; pid && i < info->n_threads; i++)
		n += i == 0 || pid[i] != pid[i - 1];
	free(pid);
	return n;
}

/* Larger recordings are not read completely just for this report: `tare summarize` does that. */
enum { LOOK_MAX = 256 << 20 };

enum found { NOTHING, LOST_ALL, SOME };

/* No warning for regions that are known to be continuing. */
static void say_unfinished(const struct command *self, const struct timeline_info *info,
			   bool unknown)
{
	uint64_t first = 0;
	size_t n = 0;

	for (size_t i = 0; i < info->n_threads; i++)
		if (!info->thread[i].complete && !info->thread[i].goes_on &&
		    info->thread[i].end_unknown == unknown && !n++)
			first = info->thread[i].tid;
	if (n)
		fprintf(stderr, "tare %s: warning: %zu of %zu threads %s%s%" PRIu64 "\n",
			self->name, n, info->n_threads,
			unknown ? "have no end; they were killed or are still running"
				: "did not end",
			n > 1 ? ", first " : ": ", first);
}

/* Returns enum found, or an error. */
static int report(const struct command *self, const struct regions_options *o, const char *made,
		  struct tare_error *err)
{
	struct timeline *t = NULL;
	struct seen seen = { 0 };
	struct stat st = { 0 };
	int ret = timeline_open(&t, made, err);

	if (ret < 0)
		return ret;
	stat(made, &st);

	const struct timeline_info *info = timeline_info(t);
	uint64_t lost = info->lost, points = 0;

	for (size_t i = 0; i < info->n_threads; i++) {
		lost += info->thread[i].lost;
		points += info->thread[i].points;
	}
	if (info->damage)
		fprintf(stderr, "tare %s: warning: %s\n", self->name, info->damage);
	if (lost)
		fprintf(stderr, "tare %s: warning: %" PRIu64 "%s points are missing in it\n",
			self->name, lost, info->lost_unknown ? " and more" : "");
	say_unfinished(self, info, false);
	say_unfinished(self, info, true);
	if (!info->n_threads || (!points && lost)) {
		ret = info->damage || lost ? LOST_ALL : NOTHING;
		timeline_close(t);
		return ret;
	}
	seen.of = calloc(info->n_labels + 1, sizeof(*seen.of));
	if (!seen.of)
		ret = tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < info->n_threads && st.st_size <= LOOK_MAX; i++)
		ret = look_at_thread(t, i, &seen, err);
	if (ret == 0)
		ret = look_at_halves(t, &seen, err);
	async_spans_free(&seen.halves);
	if (ret == 0) {
		say_unbalanced(self, t, &seen);
		if (seen.missing)
			fprintf(stderr,
				"tare %s: warning: at %" PRIu64
				" points a counter could not be read; they say so\n",
				self->name, seen.missing);
	}
	if (ret == 0 && !o->quiet) {
		size_t processes = count_processes(info);

		fprintf(stderr, "tare %s: %" PRIu64 " point%s of %zu thread%s", self->name, points,
			points == 1 ? "" : "s", info->n_threads, info->n_threads > 1 ? "s" : "");
		if (processes > 1)
			fprintf(stderr, " of %zu processes", processes);
		fprintf(stderr, ", %.1f MB of disk: %s\n", (double)st.st_blocks * 512 / 1e6,
			o->output);
		if (info->live)
			fprintf(stderr, "tare %s: %s: %.*s\n", self->name, o->output,
				(int)strcspn(info->live, ";"), info->live);
	}
	free(seen.of);
	timeline_close(t);
	return ret < 0 ? ret : SOME;
}

static void say_fixed(const struct command *self, const struct regions_options *o)
{
	if (o->deterministic && !o->quiet)
		determinism_warn_had(self, &o->fixed);
	determinism_warn_missed(self, &o->fixed);
}

/* A shell would report it; here tare ran the command, and tare was not killed. */
static void say_killed(const struct command *self, const struct follow *end)
{
	char by[SIGNAL_NAME_ROOM];

	if (end->has_status && WIFSIGNALED(end->wait_status))
		fprintf(stderr, "tare %s: the command was killed by %s%s\n", self->name,
			signal_name(WTERMSIG(end->wait_status), by),
			end->child.never_began ? " before its first instruction" : "");
}

/* Their regions are missing from a recording of exact counts. */
static void say_partial(const struct command *self, const struct exact_partial *p)
{
	struct text words = { 0 };

	for (unsigned i = 0; partial_sentence(&words, p, i); i++) {
		fprintf(stderr, "tare %s: %s\n", self->name, words.failed ? "" : words.s);
		text_free(&words);
	}
}

/* Claims nothing unknown: a process that was killed early might have recorded regions later. */
static void say_none(const struct command *self, const struct follow *end, const char *output,
		     bool before)
{
	const char *chosen = getenv("TARE_FUNCTIONS");
	int status = follow_status(end);

	fprintf(stderr, "tare %s: no regions: ", self->name);
	if (end->has_status && WIFSIGNALED(end->wait_status))
		fprintf(stderr, "the command was killed before any began, or ");
	else if (status > 128 && status - 128 < NSIG)
		fprintf(stderr,
			"the program was killed before any began, as status %d may mean, or ",
			status);
	fprintf(stderr, "%s; %s %s\n",
		chosen && *chosen
			? "the program has none, by tare/region.h or a binding to it, and TARE_FUNCTIONS selects no function that ran; or its message says why"
			: "the program has none, by tare/region.h or a binding to it, or its message says why",
		output, before ? "is unchanged" : "is not written");
}

static int record_held(const struct command *self, struct regions_options *o, char *const *argv,
		       struct tare_error *err)
{
	struct environment padded = { 0 };
	struct child_output kept;
	struct region_file file;
	struct text own[3] = { { 0 } };
	const struct count_target target = { .all_cpus = true };
	struct follow_plan plan = { .argv = argv, .target = &target };
	struct follow end = { 0 };
	char *command = words_of(argv), **env;
	sigset_t before;
	int ret = choose_engine(o, err);

	if (ret < 0 || !command) {
		free(command);
		return -1;
	}
	plan.launcher = ret ? &launch_exact : &launch_plain;
	plan.running = ret;
	if (ret && !o->deterministic)
		o->fixed.set = FIXED_LAYOUT;
	if (o->fixed.set)
		plan.fixed = &o->fixed;
	if (!o->quiet)
		input_tell_left_part(self->name, o->output);
	before = temp_cleanup_block();
	ret = child_output_begin(&kept, o->output, argv[0], err);
	if (ret == 0)
		ret = region_file_create(&file, kept.path, o->counters, command, true, err);
	if (ret == 0)
		temp_cleanup_add(kept.path);
	temp_cleanup_unblock(&before);
	free(command);
	if (ret < 0) {
		child_output_end(&kept, false, NULL);
		return -1;
	}
	ret = child_output_hold(&kept, file.fd);
	if (ret < 0)
		tare_fail(err, -ret, "%.200s: cannot be held open: %s", kept.path, strerror(-ret));
	if (o->fixed.set & FIXED(CPU))
		file.head->one_cpu = 1;
	env = environment_with(file.path, o->counters, plan.launcher == &launch_exact, own);
	region_file_close(&file);
	plan.envp = env;
	if (ret == 0 && !env)
		ret = tare_fail_nomem(err);
	if (ret == 0 && plan.fixed) {
		ret = environment_fix(&padded, o->fixed.set, o->fixed.kept, argv, env, err);
		plan.envp = padded.envp;
	}
	if (ret == 0)
		ret = follow_command(&plan, &end, err);
	environment_free(&padded);
	free(env);
	for (int i = 0; i < 3; i++)
		text_free(&own[i]);
	temp_cleanup_finish();
	temp_cleanup_forget(kept.path);
	if (ret < 0) {
		child_output_end(&kept, false, NULL);
		complain(self, err, NULL);
		return end.exec_code == ENOENT ? EXIT_NOT_FOUND
			: end.exec_code        ? EXIT_NOT_EXECUTABLE
					       : EXIT_CANNOT_MEASURE;
	}
	if (o->fixed.isa_model[0] && region_file_name_cpu(kept.fd, o->fixed.isa_model) < 0)
		fprintf(stderr,
			"tare %s: the recording names this machine's CPU, as %s cannot be written there\n",
			self->name, o->fixed.isa_model);
	say_fixed(self, o);
	say_killed(self, &end);
	say_partial(self, &end.child.partial);
	ret = file_part_check(kept.fd, kept.path, err);
	if (ret == 0)
		ret = report(self, o, kept.path, err);
	if (ret < 0) { /* the program damaged or replaced it: keep the existing file */
		child_output_leave(&kept);
		return -1;
	}
	if (ret == NOTHING) { /* keep the existing file rather than replace it with an empty one */
		say_none(self, &end, o->output, kept.before);
		child_output_end(&kept, false, NULL);
		return follow_status(&end) ? follow_status(&end) : EXIT_CANNOT_MEASURE;
	}
	if (ret == LOST_ALL && kept.before) { /* full disk: same as above */
		fprintf(stderr, "tare %s: no point could be stored; %s is unchanged\n", self->name,
			o->output);
		child_output_end(&kept, false, NULL);
		return follow_status(&end) ? follow_status(&end) : EXIT_CANNOT_MEASURE;
	}
	if (child_output_end(&kept, true, err) < 0)
		return -1;
	if (ret == SOME)
		return follow_status(&end);
	fprintf(stderr, "tare %s: no regions in %s\n", self->name, o->output);
	return follow_status(&end) ? follow_status(&end) : EXIT_CANNOT_MEASURE;
}

/* A signal during the report ends tare once the recording has its name or is removed. */
static int record(const struct command *self, struct regions_options *o, char *const *argv,
		  struct tare_error *err)
{
	int status = record_held(self, o, argv, err);

	temp_cleanup_finished();
	return status;
}

/* Splits "A ARG ::: B ARG" in place; 0: not at least two commands. */
static size_t split_sides(char **argv, char **side[SIDES_MAX])
{
	size_t n = 1;

	side[0] = argv;
	for (char **word = argv; *word; word++)
		if (!strcmp(*word, ":::")) {
			if (n == SIDES_MAX)
				return 0;
			*word = NULL;
			side[n++] = word + 1;
		}
	for (size_t i = 0; i < n; i++)
		if (!*side[i])
			return 0;
	return n > 1 ? n : 0;
}

static int record_side(const struct command *self, const struct regions_options *o, char **argv,
		       size_t side, uint64_t turn, struct tare_error *err)
{
	struct regions_options one = *o;
	struct text name = { 0 };
	int status = -1;

	text_add(&name, "%s.%c.%" PRIu64, o->output, (char)('A' + side), turn);
	one.output = name.s;
	if (name.failed)
		tare_fail_nomem(err);
	else
		status = record(self, &one, argv, err);
	if (status)
		fprintf(stderr, "tare %s: stopped at turn %" PRIu64 " of %" PRIu64 ", command %c\n",
			self->name, turn, o->turns, (char)('A' + side));
	text_free(&name);
	return status;
}

/* Each round runs all commands, in the reverse order of the round before, so that a steady drift
 * of the machine affects all of them equally. */
static int record_turns(const struct command *self, const struct regions_options *o, char **argv,
			struct tare_error *err)
{
	char **side[SIDES_MAX];
	size_t n = split_sides(argv, side);
	int status = 0;

	if (o->deterministic) {
		tare_fail(err, EINVAL,
			  "--turns: with --deterministic the order of the runs does not matter");
		tare_hint(err, "record each command separately, without --turns");
		return -1;
	}
	if (!n) {
		tare_fail(err, EINVAL, "--turns needs 2 to %d commands, with ::: between them",
			  SIDES_MAX);
		tare_hint(err, "tare regions --turns 5 -o NAME -- ./before ::: ./after");
		return -1;
	}
	for (uint64_t turn = 1; status == 0 && turn <= o->turns; turn++)
		for (size_t i = 0; status == 0 && i < n; i++)
			status = record_side(self, o, side[turn % 2 ? i : n - 1 - i],
					     turn % 2 ? i : n - 1 - i, turn, err);
	if (status == 0 && n == 2 && !o->quiet)
		fprintf(stderr, "tare %s: compare them: tare diff %s.A.* -- %s.B.*\n", self->name,
			o->output, o->output);
	return status;
}

static int run_regions(const struct command *self, int argc, char **argv)
{
	struct regions_options o = { .counters = "wall-time", .output = "regions.tare" };
	struct tare_error err = TARE_ERROR_INIT;
	int status, rest = options_parse(self, argc, argv, &o, &status);

	if (rest < 0)
		return status;
	if (rest == argc) {
		tare_fail(&err, EINVAL, "which command?");
		tare_hint(&err, "tare regions -o FILE -- COMMAND");
		status = -1;
	} else if (!strcmp(o.output, "-")) {
		tare_fail(
			&err, EINVAL,
			"-o -: a recording of regions is a file that the command maps, not a pipe");
		tare_hint(&err, "tare regions -o FILE -- COMMAND");
		status = -1;
	} else if (o.turns) {
		status = record_turns(self, &o, argv + rest, &err);
	} else {
		status = o.deterministic ? pidspace_enter(&o.fixed, argv[rest]) : -1;
		if (status >= 0)
			return status;
		status = record(self, &o, argv + rest, &err);
	}
	if (status >= 0)
		return status;
	complain(self, &err, NULL);
	return EXIT_CANNOT_MEASURE;
}

const struct command cmd_regions = {
	.name = "regions",
	.about = "record named regions of a program, each time they run",
	.args = "[--] COMMAND [ARG...] [::: COMMAND [ARG...]]...",
	.example = "  tare regions -o base.tare -- ./program\n"
		   "  tare regions --turns 5 -o runs -- ./before ::: ./after\n"
		   "  tare regions -e wall-time,instructions:u -- ./program",
	.topic = TOPIC_HOW_MUCH,
	.common = true,
	.options = regions_opts,
	.run = run_regions,
};
