/* SPDX-License-Identifier: MIT */
/* tare scan: finds event selectors that count something, documented or not, and what they count. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "verify/verdicts.h"
#include "base/file.h"
#include "base/num.h"
#include "output/own_stdout.h"
#include "output/options/output_options.h"
#include "cli/trust/scan_names.h"
#include "cli/trust/scan_paths.h"
#include "output/state_file.h"
#include "cli/trust/verify.h"
#include "pmu/fit.h"
#include "pmu/machine.h"
#include "scan/scan_file.h"
#include "scan/scan_view.h"

enum { STATE_MOST = 256 << 20, SAVE_SECONDS = 1, SELECTS_USUAL = 1024, KNOWN_MOST = 24 };

/* Counted as well, to find events that follow one of them. */
static const char known_events[] =
	"instructions,cycles,branches,branch-misses,cache-references,cache-misses,ref-cycles,bus-cycles,"
	"stalled-cycles-frontend,stalled-cycles-backend,L1-dcache-loads,L1-dcache-load-misses,L1-icache-load-misses,"
	"LLC-loads,LLC-load-misses,dTLB-loads,dTLB-load-misses,iTLB-load-misses,page-faults,context-switches,cpu-migrations";

struct scan_options {
	struct output_options out;
	const char *state, *table, *pmu, *like;
	bool fresh, kernel;
	struct scan_range range[16];
	size_t ranges;
};

/* "0-0xff,0x1b7" */
static int set_selectors(void *options, const char *arg, struct tare_error *err)
{
	struct scan_options *o = options;
	const char *p = arg;

	for (o->ranges = 0; *p; o->ranges++) {
		size_t n = strcspn(p, ","), first = strcspn(p, "-,");
		char from[24], to[24];
		uint64_t a, b;

		if (o->ranges == ARRAY_SIZE(o->range))
			return tare_fail(err, E2BIG, "more than %zu ranges", ARRAY_SIZE(o->range));
		snprintf(from, sizeof(from), "%.*s", (int)(first < n ? first : n), p);
		snprintf(to, sizeof(to), "%.*s", (int)(first < n ? n - first - 1 : n),
			 first < n ? p + first + 1 : p);
		if (num_parse(from, &a, NULL) < 0 || num_parse(to, &b, NULL) < 0 || a > b ||
		    b > UINT16_MAX)
			return tare_fail(err, EINVAL,
					 "'%.40s' is not a range of event selectors such as 0-0xff",
					 p);
		o->range[o->ranges] = (struct scan_range){ (uint32_t)a, (uint32_t)b };
		p += n + (p[n] == ',');
	}
	return o->ranges ? 0
			 : tare_fail(err, EINVAL, "event selectors are expected, such as 0-0xff");
}

#define OPTIONS struct scan_options

static const struct option_row scan_opts[] = {
	{ 0, "selectors", "RANGES",
	  "event selectors, such as 0-0xff,0x1b7; default: all of the PMU, at most the first 1024",
	  SPECIAL_ALL(set_selectors) },
	{ 0, "pmu", "NAME", "which core PMU, on machines with several", TEXT(pmu, "name") },
	{ 0, "like", "EVENT", "show the events most similar to this one, such as page-faults:u",
	  TEXT(like, "name") },
	{ 0, "kernel", NULL, "also count in the kernel", FLAG(kernel) },
	{ 0, "state", "FILE", "file with the counts so far; default: one below ~/.local/state",
	  TEXT(state, "name") },
	{ 0, "fresh", NULL, "start over", FLAG(fresh) },
	{ 0, "table", "FILE", "file for the results; default: where tare events reads it",
	  TEXT(table, "name") },
	OUTPUT_FORMAT_ROWS(out, "text (default), json (schema tare/scan/1) or csv", "text", "json",
			   "csv"),
	BLOCK_ROW(out, output_file_rows),
	{ 0 },
};

/* ---- the work ---- */

struct job {
	const struct command *self;
	struct scan_options o;
	struct machine *machine;
	const struct pmu *pmu;
	struct scan scan;
	struct scan_plan plan;
	struct calibration *shop;
	char state[4096], table[4096];
	int lock; /* descriptor of `state`, open until the end; below 0: not open */
	time_t saved;
	struct tare_error unsaved; /* why the counts cannot be saved */
	struct scan_names names;
	struct scan_event column[KNOWN_MOST + 1];
	struct scan_known known[KNOWN_MOST + 1];
	struct encoding_list list, like;
	size_t n_known;
};

static volatile sig_atomic_t stopped_by;

static void on_signal(int signal)
{
	stopped_by = signal;
}

static int save(struct job *j, struct tare_error *err)
{
	struct text t = { 0 };
	int ret;

	scan_file_write(&t, &j->scan, j->o.kernel);
	ret = scan_file_replace(j->state, &t, err);
	text_free(&t);
	j->saved = time(NULL);
	return ret;
}

/* A kill loses at most a second of work; a signal that tare can handle loses nothing. Stops if
 * the counts cannot be saved. */
static int progress(void *with, int pass, size_t done, size_t all)
{
	struct job *j = with;

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r pass %d: %zu of %zu \033[K", pass, done, all);
	if (time(NULL) - j->saved >= SAVE_SECONDS && save(j, &j->unsaved) < 0)
		return -j->unsaved.code;
	return stopped_by;
}

static int choose_pmu(struct job *j, struct tare_error *err)
{
	const struct pmu *const *cores;
	size_t n;
	int ret = machine_cores(j->machine, &cores, &n, err);

	if (ret < 0)
		return ret;
	if (!n) {
		ret = tare_fail(err, ENODEV,
				"this machine has no core PMU, so there is nothing to scan");
		tare_hint(err, "tare doctor says why");
		return ret;
	}
	for (size_t i = 0; i < n; i++)
		if (j->o.pmu ? !strcmp(j->o.pmu, cores[i]->name) : n == 1)
			j->pmu = cores[i];
	if (j->pmu)
		return 0;
	ret = j->o.pmu ? tare_fail(err, ENOENT, "no core PMU is called '%.60s'", j->o.pmu)
		       : tare_fail(err, EINVAL, "this machine has %zu core PMUs", n);
	tare_hint(err, "--pmu %s", cores[0]->name);
	return ret;
}

static int make_plan(struct job *j, struct tare_error *err)
{
	struct counter_facts facts;
	unsigned bits;
	int ret = machine_format(j->machine, j->pmu, "event", &j->plan.event, err);

	if (ret < 0)
		return ret;
	if (machine_format(j->machine, j->pmu, "umask", &j->plan.umask, NULL) < 0)
		j->plan.umask = (struct format){ 0, 0 };
	if (j->plan.event.config || j->plan.umask.config)
		return tare_fail(err, ENOTSUP, "%s has its event selector in an unusual register",
				 j->pmu->name);
	bits = format_bits(&j->plan.event);
	j->plan.source = &source_perf;
	j->plan.type = j->pmu->type;
	j->plan.place = j->pmu->place;
	j->plan.kernel = j->o.kernel;
	j->plan.counters = counter_facts_of(j->machine, j->pmu->name, &facts, NULL) == 0 &&
			facts.programmable
		? facts.programmable
		: 4;
	j->plan.range[0] = (struct scan_range){ 0, (1u << (bits > 16 ? 16 : bits)) - 1 };
	j->plan.ranges = 1;
	if (j->plan.range[0].to >= SELECTS_USUAL && bits > 12)
		j->plan.range[0].to = SELECTS_USUAL - 1;
	if (j->o.ranges) {
		memcpy(j->plan.range, j->o.range, sizeof(j->plan.range));
		j->plan.ranges = j->o.ranges;
	}
	for (size_t i = 0; i < j->plan.ranges; i++)
		if (bits < 16 && j->plan.range[i].to >> bits)
			return tare_fail(err, ERANGE, "event selectors of %s have %u bits",
					 j->pmu->name, bits);
	j->plan.progress = progress;
	j->plan.with = j;
	return calibration_open(&j->shop, j->pmu->cpus.n ? j->pmu->cpus.cpu[0] : -1, err);
}

/* Resumes an earlier scan of the same work on the same PMU; events that could not be counted
 * then are tried again. */
static int take_up(struct job *j, struct tare_error *err)
{
	struct scan old = { .cpu = "" };
	char *text = NULL;
	bool kernel;
	int ret;

	if (j->o.fresh || access(j->state, F_OK) < 0)
		return 0;
	ret = file_read(NULL, j->state, STATE_MOST, &text, NULL, err);
	if (ret == 0)
		ret = scan_file_parse(text, j->state, &old, &kernel, err);
	free(text);
	if (ret < 0)
		return ret;
	if (strcmp(old.cpu, j->scan.cpu) == 0 && strcmp(old.machine, j->scan.machine)) {
		fprintf(stderr,
			"tare scan: started over: %s is from another kernel, hypervisor or microcode\n",
			j->state);
		scan_free(&old);
		return 0;
	}
	if (strcmp(old.cpu, j->scan.cpu) || strcmp(old.pmu, j->scan.pmu) || kernel != j->o.kernel ||
	    old.rows != j->scan.rows || memcmp(old.row, j->scan.row, old.rows * sizeof(*old.row))) {
		scan_free(&old);
		ret = tare_fail(err, EEXIST,
				"%s is from another scan: another PMU, mode, or other work",
				j->state);
		tare_hint(err, "--fresh starts over; --state names another file");
		return ret;
	}
	scan_retry(&old);
	j->scan.event = old.event;
	j->scan.n = old.n;
	j->scan.room = old.room;
	j->scan.interrupts_guessed |= old.interrupts_guessed;
	return 0;
}

/* Encodes a list as tare stat would, in the scan's mode. */
static int encode(struct job *j, const char *text, struct encoding_list *out,
		  struct tare_error *err)
{
	const struct encode_options how = { .keep_unavailable = true };
	struct event_list events = { 0 };
	int ret = event_list_parse(text, &events, err);

	if (ret == 0)
		ret = pmu_encode(j->machine, &events, &how, out, err);
	event_list_free(&events);
	return ret;
}

static void count_known(struct job *j)
{
	for (size_t i = 0; i < j->list.n && j->n_known < KNOWN_MOST; i++) {
		struct encoding *e = &j->list.enc[i];

		if (e->unavailable || (e->place == PLACE_CORE && strcmp(e->pmu, j->pmu->name)))
			continue;
		if (!j->o.kernel)
			encoding_restrict(e, true);
		if (scan_column(&j->column[j->n_known], &j->scan, &j->plan, e, NULL) == 0) {
			j->known[j->n_known] = (struct scan_known){ e->name,
								    &j->column[j->n_known] };
			j->n_known++;
		}
	}
}

static int count_all(struct job *j, char *const argv[], struct tare_error *err)
{
	int ret = save(j, err), kept;

	if (ret == 0)
		ret = scan_sweep(&j->scan, &j->plan, err);
	if (ret == 0 && argv)
		ret = scan_command(&j->scan, &j->plan, argv, err);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	if (j->unsaved.code)
		*err = j->unsaved;
	kept = ret < 0 ? 0 : save(j, err);
	return kept < 0 ? kept : ret;
}

static int keep_table(struct job *j, const struct scan_shown *v, struct tare_error *err)
{
	struct text t = { 0 };
	int ret;

	scan_view_table(&t, v);
	ret = scan_file_replace(j->table, &t, err);
	text_free(&t);
	return ret;
}

static int show(struct job *j, const struct scan_shown *v, bool kept, struct tare_error *err)
{
	struct document to;
	int ret = document_open(&to, j->o.out.path, err);

	if (ret < 0)
		return ret;
	if (j->o.out.format == FORMAT_TEXT)
		scan_view_text(&to.out, v, &to.style);
	else
		scan_view_document(&to.out, (enum output_format)j->o.out.format, v);
	if (j->o.out.format == FORMAT_TEXT && kept)
		text_add(&to.out, " Kept in %s; tare events scan shows it.\n", j->table);
	return document_close(&to, err);
}

static int explain(struct job *j, char *const argv[], struct tare_error *err)
{
	struct scan_finding *f = calloc(j->scan.n + 1, sizeof(*f));
	uint64_t classes[EXACT_CLASSES];
	struct scan_event *like = &j->column[KNOWN_MOST];
	const bool counted = argv && scan_command_classes(classes, argv, NULL) == 0;
	struct scan_shown v = {
		.scan = &j->scan,
		.finding = f,
		.known = j->known,
		.n_known = j->n_known,
		.kernel = j->o.kernel,
		.name = scan_name_of,
		.with = &j->names,
		.command = argv,
		.classes = counted ? classes : NULL,
		.like = j->o.like,
	};
	int ret = f ? 0 : tare_fail_nomem(err);

	if (ret == 0 && j->o.like)
		ret = scan_column(like, &j->scan, &j->plan, &j->like.enc[0], err);
	if (ret == 0 && j->o.like && like->state == SCAN_LIVE)
		v.like_event = like;
	if (ret == 0)
		ret = scan_explain(&j->scan, j->known, j->n_known, f, err);
	if (ret == 0) { /* the findings are printed even if they cannot be saved */
		struct tare_error unkept = TARE_ERROR_INIT;
		int kept = keep_table(j, &v, &unkept);

		ret = show(j, &v, kept == 0, err);
		if (ret == 0 && kept < 0) {
			*err = unkept;
			ret = kept;
		}
	}
	free(f);
	return ret;
}

/* Two scans that use the same file would each overwrite the other's counts. */
static int lock_state(struct job *j, struct tare_error *err)
{
	j->lock = state_lock_now(j->state, err);
	return j->lock < 0 ? j->lock : 0;
}

static int prepare(struct job *j, struct tare_error *err)
{
	int ret = 0;

	if (j->o.state) {
		snprintf(j->state, sizeof(j->state), "%s", j->o.state);
		ret = lock_state(j, err);
	}
	if (ret < 0)
		return ret;
	j->machine = machine_open(NULL, err);
	ret = j->machine ? choose_pmu(j, err) : -err->code;
	if (ret == 0)
		ret = make_plan(j, err);
	if (ret < 0)
		return ret;
	j->plan.shop = j->shop;
	snprintf(j->scan.cpu, sizeof(j->scan.cpu), "%s", machine_cpu(j->machine));
	verdict_machine(j->scan.machine, sizeof(j->scan.machine), machine_root(j->machine),
			machine_cpu(j->machine));
	snprintf(j->scan.pmu, sizeof(j->scan.pmu), "%s", j->pmu->name);
	j->scan.rows = scan_rows(j->shop, j->scan.row);
	if (!j->o.state) {
		ret = scan_state_path(j->state, sizeof(j->state), j->scan.cpu, j->scan.pmu,
				      j->o.kernel, err);
		if (ret == 0)
			ret = lock_state(j, err);
	}
	if (ret == 0 && j->o.table)
		snprintf(j->table, sizeof(j->table), "%s", j->o.table);
	else if (ret == 0)
		ret = scan_table_path(j->table, sizeof(j->table), j->scan.cpu, j->scan.pmu,
				      j->o.kernel, err);
	if (ret == 0)
		ret = encode(j, known_events, &j->list, err);
	if (ret == 0 && j->o.like) {
		ret = encode(j, j->o.like, &j->like, err);
		if (ret == 0 && j->like.n != 1)
			ret = tare_fail(err, EINVAL, "--like takes one event");
		else if (ret == 0 && j->like.enc[0].unavailable)
			ret = tare_fail(err, j->like.enc[0].unavailable, "%s: %s", j->o.like,
					j->like.enc[0].why);
	}
	if (ret == 0)
		ret = scan_names_read(&j->names, j->machine, err);
	return ret == 0 ? take_up(j, err) : ret;
}

static void finish(struct job *j)
{
	for (size_t i = 0; i <= KNOWN_MOST; i++) {
		free(j->column[i].count);
		free(j->column[i].interrupts);
	}
	scan_names_free(&j->names);
	encoding_list_free(&j->list);
	encoding_list_free(&j->like);
	scan_free(&j->scan);
	calibration_close(j->shop);
	machine_close(j->machine);
	if (j->lock >= 0)
		close(j->lock);
}

static int work(struct job *j, char *const argv[], struct tare_error *err)
{
	const struct sigaction stop = { .sa_handler = on_signal };
	int ret = argv && (!j->o.out.path || own_stdout_is(j->o.out.path)) ? own_stdout_take(err)
									   : 0;

	if (ret == 0)
		ret = prepare(j, err);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	if (ret == 0)
		ret = count_all(j, argv, err);
	if (ret == 0) {
		count_known(j);
		ret = explain(j, argv, err);
	}
	if (ret > 0) {
		fprintf(stderr,
			"tare scan: stopped; the counts are in %s, and the same command continues with them\n",
			j->state);
		return 128 + ret;
	}
	return ret;
}

static int run_scan(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct job *j = calloc(1, sizeof(*j));
	int status, rest = j ? options_parse(self, argc, argv, &j->o, &status) : -1;

	if (!j) {
		status = tare_fail_nomem(&err);
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	if (rest >= 0) {
		j->self = self;
		j->lock = -1;
		status = work(j, rest < argc ? argv + rest : NULL, &err);
		finish(j);
		if (status < 0) {
			complain(self, &err, NULL);
			status = EXIT_CANNOT_MEASURE;
		}
	}
	free(j);
	return status;
}

const struct command cmd_scan = {
	.name = "scan",
	.about = "find which event selectors count, and what they probably count",
	.args = "[[--] COMMAND [ARG...]]",
	.example =
		"  tare scan\n  tare scan --selectors 0xc0-0xcf -- ./prog\n  tare scan --like page-faults:u",
	.topic = TOPIC_TRUST,
	.options = scan_opts,
	.run = run_scan,
};
