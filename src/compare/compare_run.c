/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/signal_name.h"
#include "compare/compare_run.h"
#include "launch/environment.h"

/*
 * Runs of each side: to check that exact counts repeat; more before a difference is reported, as
 * counts that vary may be equal twice by chance; and if they vary.
 */
enum { EXACT_RUNS = 2, DIFFERENT_RUNS = 4, VARYING_RUNS = 5 };

enum kind { COUNTS, TIMES, KINDS }; /* with the events; without an engine */

struct job {
	const struct compare_plan *plan;
	struct compare_measured *out;
	struct repeat_run how[COMPARE_SIDES][KINDS];
	size_t events; /* those of `how`; times follow */
	bool exact;
	unsigned expected; /* number of runs */
	struct repeat_run_result last[COMPARE_SIDES];
	bool any[COMPARE_SIDES], output_varies;
	bool confirm[COMPARE_EVENTS_MAX]; /* needs a second set */
	struct tare_error *err;
};

const char *const compare_time_names[COMPARE_TIMES] = { "cpu-time", "wall" };

const char *compare_side_name(enum compare_side side)
{
	return side == COMPARE_BEFORE ? "before" : "after";
}

int compare_enter(const struct compare_plan *plan, enum compare_side side, int *back,
		  struct tare_error *err)
{
	const char *dir = plan->dir[side];

	*back = -1;
	if (!dir)
		return 0;
	*back = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*back < 0)
		return tare_fail(err, errno, "cannot open the working directory: %s",
				 strerror(errno));
	if (chdir(dir) < 0)
		return tare_fail(err, errno, "cannot change to %.200s: %s", dir, strerror(errno));
	return setenv("PWD", dir, 1) < 0 ? tare_fail_nomem(err) : 0;
}

int compare_leave(int back, struct tare_error *err)
{
	int ret = 0;

	if (back < 0)
		return 0;
	if (fchdir(back) < 0)
		ret = tare_fail(err, errno, "cannot return to the working directory: %s",
				strerror(errno));
	close(back);
	return ret;
}

/* ---- one run ---- */

static int check_end(struct job *j, enum compare_side side, const struct repeat_run_result *r)
{
	const char *name = compare_side_name(side), *command = j->plan->argv[side][0];
	char by[SIGNAL_NAME_ROOM];
	int status = r->wait_status;
	bool alike = true;

	if (r->by_signal) {
		j->out->by_signal = r->by_signal;
		return tare_fail(j->err, EINTR, "stopped by %s", signal_name(r->by_signal, by));
	}
	if (r->timed_out)
		return tare_fail(j->err, ETIMEDOUT, "%s: %.120s did not end within --timeout", name,
				 command);
	for (int other = 0; other < COMPARE_SIDES; other++)
		alike &= !j->any[other] || status == j->last[other].wait_status;
	if (alike && (!status || j->plan->allow_failure))
		return 0;
	if (!status) { /* an earlier run failed */
		side = j->any[!side] && j->last[!side].wait_status ? !side : side;
		status = j->last[side].wait_status;
	}
	name = compare_side_name(side);
	command = j->plan->argv[side][0];
	if (WIFSIGNALED(status))
		tare_fail(j->err, EINVAL, "%s: %.120s was ended by %s", name, command,
			  signal_name(WTERMSIG(status), by));
	else
		tare_fail(j->err, EINVAL, "%s: %.120s failed with exit status %d", name, command,
			  WEXITSTATUS(status));
	tare_hint(j->err,
		  "run it alone to see why; --allow-failure compares commands that fail "
		  "the same way on both sides");
	return -EINVAL;
}

static int run_there(struct job *j, enum compare_side side, enum kind kind,
		     struct repeat_run_result *r)
{
	const struct compare_plan *p = j->plan;
	struct determinism *fixed = kind == COUNTS && p->fixed && p->fixed->set ? p->fixed : NULL;
	struct environment environment = { 0 };
	int ret = 0;

	if (p->begin)
		p->begin(p->with, j->out->runs, j->expected, side);
	j->out->runs++;
	if (p->input)
		ret = stdin_replay_again(p->input, j->err);
	if (ret == 0 && fixed)
		ret = environment_fix(&environment, fixed->set, fixed->kept, p->argv[side], environ,
				      j->err);
	*r = (struct repeat_run_result){ 0 };
	if (ret == 0)
		ret = repeat_run_once(&j->how[side][kind], fixed, environment.envp, r, j->err);
	environment_free(&environment);
	j->out->exec_code = r->exec_code;
	if (ret == 0 || r->by_signal)
		ret = check_end(j, side, r);
	if (ret < 0)
		return ret;
	j->output_varies |= j->any[side] && r->output != j->last[side].output;
	j->last[side] = *r;
	j->any[side] = true;
	return 0;
}

static int run_one(struct job *j, enum compare_side side, enum kind kind,
		   struct repeat_run_result *r)
{
	int back, ret = compare_enter(j->plan, side, &back, j->err), left;

	if (ret == 0)
		ret = run_there(j, side, kind, r);
	left = compare_leave(back, ret < 0 ? NULL : j->err);
	return ret < 0 ? ret : left;
}

/* ---- sets of runs ---- */

/* The events that a run measures: [*from, *to). */
static void measured(const struct job *j, enum kind kind, size_t *from, size_t *to)
{
	*from = kind == COUNTS ? 0 : j->events;
	/* under the engine, times include its overhead */
	*to = kind == COUNTS && j->exact ? j->events : j->out->n;
}

static bool is_wall(const struct compare_event *time)
{
	return !strcmp(time->name, compare_time_names[COMPARE_WALL]);
}

static int keep(struct job *j, enum compare_side side, enum kind kind, bool again,
		const struct repeat_run_result *r)
{
	size_t from, to;
	int ret = 0;

	measured(j, kind, &from, &to);
	for (size_t i = from; ret == 0 && i < to; i++) {
		struct compare_event *e = &j->out->event[i];

		if (i < j->events)
			e->exact &= r->quality[i] == TARE_EXACT;
		if (!again || j->confirm[i])
			ret = compare_add(again ? &e->again[side] : &e->of[side],
					  i < j->events        ? r->count[i]
						  : is_wall(e) ? r->wall_ns
							       : r->cpu_ns,
					  j->err);
	}
	return ret;
}

/* Of each side, in the order A B B A. */
static int run_turns(struct job *j, unsigned runs, enum kind kind, bool again)
{
	struct repeat_run_result r;
	int ret = 0;

	for (unsigned i = 0; ret == 0 && i < runs * COMPARE_SIDES; i++) {
		enum compare_side side = (i + 1) / 2 % 2;

		ret = run_one(j, side, kind, &r);
		if (ret == 0)
			ret = keep(j, side, kind, again, &r);
	}
	return ret;
}

static enum compare_side random_side(void)
{
	unsigned char byte = 0;

	return getrandom(&byte, 1, 0) == 1 && byte & 1 ? COMPARE_AFTER : COMPARE_BEFORE;
}

/*
 * The order is random. So without a change, each sign of a difference has probability 1/2, whatever
 * the machine does meanwhile. The test of pairs has no other requirement.
 */
static int run_pair(struct job *j, enum kind kind, bool again)
{
	enum compare_side side = random_side();
	struct repeat_run_result r;
	int ret = 0;

	for (int i = 0; ret == 0 && i < COMPARE_SIDES; i++, side = !side) {
		ret = run_one(j, side, kind, &r);
		if (ret == 0)
			ret = keep(j, side, kind, again, &r);
	}
	return ret;
}

/*
 * Are the pairs so far enough? An increase decides the whole comparison. An event without a verdict
 * needs more runs, unless the second set contradicts the first.
 */
static bool decided(const struct job *j, size_t from, size_t to, bool again)
{
	bool open = false;

	for (size_t i = from; i < to; i++) {
		const struct compare_event *e = &j->out->event[i];

		if (again && !j->confirm[i])
			continue;
		if (e->verdict == COMPARE_MORE)
			return true;
		open |= e->verdict == COMPARE_CANNOT_TELL && e->needed;
	}
	return !open;
}

/*
 * The number of looks at a set. The second set is first judged when it is twice as large as the
 * first: an earlier look would rarely decide, but would use its share of the level.
 */
static unsigned looks_of(struct job *j, size_t from, size_t to, bool again)
{
	const struct compare_plan *p = j->plan;
	unsigned looks;

	compare_first_look(p->runs, &looks);
	if (p->one_set)
		return 1;
	while (again && looks > 1 && p->runs >> (looks - 1) < 2 * j->out->event[from].of[0].n)
		looks--;
	for (size_t i = from; i < to; i++)
		*(again ? &j->out->event[i].again_looks : &j->out->event[i].looks) = looks;
	return looks;
}

/* Up to plan->runs pairs, judged whenever their number has doubled. */
static int run_pairs(struct job *j, enum kind kind, bool again)
{
	const struct compare_plan *p = j->plan;
	uint64_t begin = clock_now_ns();
	unsigned looks, made = 0;
	size_t from, to;
	int ret = 0;

	measured(j, kind, &from, &to);
	looks = looks_of(j, from, to, again);
	while (ret == 0 && looks-- > 0) {
		j->expected = j->out->runs + COMPARE_SIDES * ((p->runs >> looks) - made);
		for (; ret == 0 && made < p->runs >> looks; made++)
			ret = run_pair(j, kind, again);
		for (size_t i = from; ret == 0 && i < to; i++)
			ret = compare_judge(&j->out->event[i], j->err);
		if (ret == 0 && decided(j, from, to, again))
			break;
		/* the next look doubles the time */
		if (p->budget_ns && clock_now_ns() - begin > p->budget_ns / 2)
			break;
	}
	return ret;
}

static bool differ(const struct job *j, enum compare_side side, size_t a, size_t b)
{
	for (size_t i = 0; i < j->events; i++) {
		const struct compare_values *v = &j->out->event[i].of[side];

		if (j->out->event[i].exact && v->value[a] != v->value[b])
			return true;
	}
	return false;
}

/*
 * The first run may differ because it creates files that the next ones find. If the next two agree,
 * it is left out.
 */
static int look_at_first(struct job *j, enum compare_side side)
{
	struct repeat_run_result r;
	int ret;

	if (!differ(j, side, 0, 1))
		return 0;
	j->expected++;
	ret = run_one(j, side, COUNTS, &r);
	if (ret == 0)
		ret = keep(j, side, COUNTS, false, &r);
	if (ret < 0 || differ(j, side, 1, 2))
		return ret;
	j->out->first_apart[side] = true;
	for (size_t i = 0; i < j->events; i++) {
		struct compare_values *v = &j->out->event[i].of[side];

		memmove(v->value, v->value + 1, --v->n * sizeof(*v->value));
	}
	return 0;
}

static int judge(struct job *j)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < j->out->n; i++)
		ret = compare_judge(&j->out->event[i], j->err);
	return ret;
}

static bool any_varies(const struct job *j)
{
	for (size_t i = 0; i < j->events; i++)
		if (j->out->event[i].exact && !j->out->event[i].by_equality)
			return true;
	return false;
}

/* Up to `to` runs of each side, of which `*from` were made. */
static int count_more(struct job *j, unsigned *from, unsigned to)
{
	unsigned more = to - *from;
	int ret;

	*from = to;
	j->expected += COMPARE_SIDES * more;
	ret = run_turns(j, more, COUNTS, false);
	for (size_t i = 0; ret == 0 && i < j->events; i++)
		ret = compare_judge(&j->out->event[i], j->err);
	return ret;
}

static bool any_differs(const struct job *j)
{
	for (size_t i = 0; i < j->events; i++)
		if (j->out->event[i].by_equality && j->out->event[i].verdict != COMPARE_SAME)
			return true;
	return false;
}

static int count_exactly(struct job *j)
{
	unsigned made = EXACT_RUNS;
	int ret = run_turns(j, EXACT_RUNS, COUNTS, false);

	for (int side = 0; ret == 0 && side < COMPARE_SIDES; side++)
		ret = look_at_first(j, side);
	for (size_t i = 0; ret == 0 && i < j->events; i++)
		ret = compare_judge(&j->out->event[i], j->err);
	if (ret == 0 && any_differs(j))
		ret = count_more(j, &made, DIFFERENT_RUNS);
	if (ret == 0 && any_varies(j))
		ret = count_more(j, &made, VARYING_RUNS);
	return ret;
}

static bool to_confirm(struct job *j, size_t from, size_t to)
{
	bool any = false;

	for (size_t i = from; i < to; i++)
		any |= j->confirm[i] = compare_to_confirm(&j->out->event[i]);
	return any;
}

/* Changes of other events must show in a second set of runs, too. */
static int confirm(struct job *j)
{
	bool counts = to_confirm(j, 0, j->events), times = to_confirm(j, j->events, j->out->n);
	int ret = 0;

	j->expected = j->out->runs + COMPARE_SIDES * VARYING_RUNS;
	if (!j->exact && (counts || times)) /* both are of the same runs */
		return run_pairs(j, COUNTS, true);
	if (counts)
		ret = run_turns(j, VARYING_RUNS, COUNTS, true);
	if (ret == 0 && times)
		ret = run_pairs(j, TIMES, true);
	return ret;
}

/* ---- all ---- */

static int name_event(struct job *j, const char *name, bool exact, double threshold)
{
	struct compare_event *e = &j->out->event[j->out->n++];

	*e = (struct compare_event){
		.name = strdup(name),
		.exact = exact,
		.paired = !exact,
		.threshold = threshold >= 0 ? threshold : COMPARE_THRESHOLD_COUNT,
		.allowed = threshold >= 0 ? threshold : 0,
	};
	return e->name ? 0 : tare_fail_nomem(j->err);
}

static int name_times(struct job *j)
{
	const struct compare_plan *p = j->plan;
	int ret = 0;

	for (int t = 0; ret == 0 && p->runs && t < COMPARE_TIMES; t++) {
		double threshold = p->time ? p->time[t].threshold : p->threshold;

		if (p->time && !p->time[t].measured)
			continue;
		ret = name_event(j, compare_time_names[t], false,
				 threshold >= 0 ? threshold : COMPARE_THRESHOLD_TIME);
		j->out->event[j->out->n - 1].time = true;
	}
	return ret;
}

static int prepare(struct job *j)
{
	const struct compare_plan *p = j->plan;
	const struct encoding_list *list = &j->how[0][COUNTS].list;
	int ret = 0;

	for (int side = 0; ret == 0 && side < COMPARE_SIDES; side++) {
		ret = repeat_run_open(&j->how[side][COUNTS], p->argv[side], p->events, p->engine,
				      j->err);
		if (ret == 0)
			ret = repeat_run_open(&j->how[side][TIMES], p->argv[side], NULL,
					      ENGINE_AUTO, j->err);
		j->how[side][COUNTS].timeout_ns = j->how[side][TIMES].timeout_ns = p->timeout_ns;
	}
	j->out->launcher = j->how[0][COUNTS].launcher;
	j->exact = j->out->launcher == &launch_exact;
	j->events = list->n;
	for (size_t i = 0; ret == 0 && i < list->n; i++)
		ret = name_event(j, list->enc[i].name, j->exact && engine_counts(&list->enc[i]),
				 p->threshold);
	if (ret == 0)
		ret = name_times(j);
	for (size_t i = 0; ret == 0 && i < j->events; i++)
		if (j->exact && !j->out->event[i].exact) {
			tare_fail(j->err, EINVAL,
				  "%.100s would include the overhead of the exact engine",
				  j->out->event[i].name);
			tare_hint(j->err,
				  "name events that the engine counts (tare events exact), "
				  "or --engine perf");
			ret = -EINVAL;
		}
	return ret;
}

int compare_measure(struct compare_measured *out, const struct compare_plan *plan,
		    struct tare_error *err)
{
	struct job j = { .plan = plan, .out = out, .err = err };
	int ret;

	*out = (struct compare_measured){ 0 };
	ret = prepare(&j);
	if (ret == 0 && !j.exact && !plan->runs) {
		tare_fail(err, EINVAL, "-r 0: without the exact engine nothing would be measured");
		tare_hint(err, "-r 8, or --engine exact");
		ret = -EINVAL;
	}
	j.expected = COMPARE_SIDES * EXACT_RUNS;
	if (ret == 0 && j.exact)
		ret = count_exactly(&j);
	if (ret == 0 && plan->runs)
		ret = run_pairs(&j, j.exact ? TIMES : COUNTS, false);
	if (ret == 0)
		ret = judge(&j);
	if (ret == 0 && !plan->one_set)
		ret = confirm(&j);
	if (ret == 0)
		ret = judge(&j);
	out->output_differs = !j.output_varies && j.last[0].output != j.last[1].output;
	out->wait_status = j.last[0].wait_status;
	for (int side = 0; side < COMPARE_SIDES; side++)
		for (int kind = 0; kind < KINDS; kind++)
			repeat_run_close(&j.how[side][kind]);
	return ret;
}

const struct compare_event *compare_instructions(const struct compare_event *e, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (e[i].exact && !strcmp(e[i].name, "instructions:u"))
			return &e[i];
	return NULL;
}

void compare_measured_free(struct compare_measured *m)
{
	for (size_t i = 0; i < m->n; i++)
		compare_event_free(&m->event[i]);
	m->n = 0;
}
