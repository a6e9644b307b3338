/* SPDX-License-Identifier: MIT */
/* tare bisect: which commit of a range made a command slower. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/temp_folder.h"
#include "bisect/bisect_run.h"
#include "bisect/bisect_view.h"
#include "output/options/output_options.h"
#include "output/progress.h"

enum { STATE_BYTES_MAX = 16 << 20, CACHE_USUAL = 1000000000 };
#define TIME_THRESHOLD 1.0 /* percent */

enum { FORMAT_MARKDOWN = FORMAT_JSON + 1 }; /* --format, after text and json; there is no CSV */

struct bisect_options {
	struct output_options out;
	const char *event, *build;
	double threshold, confidence;
	uint64_t timeout_ns, cache_bytes;
	bool threshold_given, cache_given, first_parent, no_cause, resume, reset;
};

#define OPTIONS struct bisect_options

static const struct option_row bisect_opts[] = {
	{ 0, "build", "COMMAND", "shell command that builds each commit, in the same worktree",
	  TEXT(build, "command") },
	{ 'e', "event", "EVENT",
	  "event that is compared: exact (instructions), or cpu-time or wall",
	  TEXT(event, "event") },
	{ 0, "threshold", "PERCENT",
	  "search only if the change exceeds this (default: 0, any; times: 1)",
	  PERCENT(threshold, 1000000), GIVEN(threshold_given) },
	{ 0, "confidence", "PERCENT", "with times: end when the commit is this probable (95)",
	  PERCENT(confidence, 100) },
	{ 0, "cache", "BYTES", "disk space for builds that may be needed again (times: 1G; else 0)",
	  NUMBER(cache_bytes, 0, UINT64_MAX), GIVEN(cache_given) },
	{ 0, "first-parent", NULL, "of merged branches, try only the merge commits",
	  FLAG(first_parent) },
	{ 0, "timeout", "MS", "time limit of one run; a commit that exceeds it is skipped",
	  DURATION(timeout_ns, 1000000, 1), .refusal = "the time must be above 0" },
	{ 0, "no-cause", NULL, "do not search for the function that changed", FLAG(no_cause) },
	{ 0, "resume", NULL, "continue after Ctrl-C or kill; so does the same command line",
	  FLAG(resume) },
	{ 0, "reset", NULL, "drop an interrupted one: its results and its worktree", FLAG(reset) },
	OUTPUT_FORMAT_ROWS(out, "text (default), json (schema tare/bisect/1) or markdown", "text",
			   "json", "markdown"),
	BLOCK_ROW(out, output_file_rows),
	BLOCK_ROW(out, output_colour_rows),
	{ 0 },
};

struct job {
	const struct command *self;
	const struct bisect_options *o;
	struct bisect_state state;
	struct bisect_result result;
	struct bisect_job run;
	struct revision_signals signals;
	struct progress progress;
	struct temp_folder folder;
	char path[PATH_MAX], prefix[PATH_MAX], event[256];
	int lock;
	struct tare_error *err;
};

/* ---- the state's file ---- */

/*
 * Its holder bisects this checkout. Processes that a killed tare leaves running do not hold it:
 * such a lock is of one process.
 */
static int lock(struct job *j)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char name[PATH_MAX + 8];

	snprintf(name, sizeof(name), "%s.lock", j->path);
	j->lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (j->lock < 0)
		return tare_fail(j->err, errno, "cannot create %.200s: %s", name, strerror(errno));
	if (fcntl(j->lock, F_SETLK, &whole) < 0)
		return tare_fail(j->err, EBUSY, "another tare bisects in this checkout");
	return 0;
}

/* 0, with *out empty if there is none. */
static int read_state(struct job *j, struct bisect_state *out)
{
	char *text = NULL;
	size_t n = 0;
	/* a build may put a FIFO there, which would be waited for */
	int fd = file_open_regular(j->path, INT64_MAX), ret = 0;

	if (fd >= 0) {
		close(fd);
		ret = file_read(NULL, j->path, STATE_BYTES_MAX, &text, &n, j->err);
	} else if (fd != -ENOENT) {
		ret = tare_fail(j->err, -fd, "%.200s cannot be read: %s", j->path,
				file_open_why(-fd));
	}
	if (ret == 0 && text) {
		/* nothing is to be removed yet, so a signal may end tare at once */
		sigprocmask(SIG_SETMASK, &j->signals.before.mask, NULL);
		ret = bisect_state_parse(out, text, n, j->path, j->err);
		sigprocmask(SIG_BLOCK, &j->signals.set, NULL);
	}
	free(text);
	return ret;
}

static void drop_state(struct job *j)
{
	unlink(j->path);
}

static int reset(struct job *j)
{
	struct bisect_state old = { .text = NULL };
	bool any = access(j->path, F_OK) == 0;

	read_state(j, &old); /* of one that cannot be read, too */
	bisect_clean_up_left(&old);
	bisect_state_free(&old);
	drop_state(j);
	printf(any ? "dropped\n" : "there is no bisection to drop\n");
	return 0;
}

/* ---- the question ---- */

static int ask(struct job *j, char **words)
{
	struct bisect_state *s = &j->state;

	if (!words[0] || !words[1]) {
		tare_fail(j->err, EINVAL, "%s", !words[0] ? "no range" : "no command");
		tare_hint(j->err, "tare bisect v1.0..HEAD --build make -- ./prog ARGS");
		return -EINVAL;
	}
	if (j->o->event && strlen(j->o->event) >= sizeof(j->event))
		return tare_fail(j->err, EINVAL, "-e: the name is too long");
	if (j->o->confidence < 50 || j->o->confidence >= 100) {
		tare_fail(j->err, EINVAL, "--confidence: at least 50, and less than 100");
		return -EINVAL;
	}
	strcpy(j->event, j->o->event ? j->o->event : "instructions");
	s->build = (char *)j->o->build;
	s->event = j->event;
	s->prefix = j->prefix;
	s->argv = words + 1;
	s->first_parent = j->o->first_parent;
	s->threshold = bisect_is_time(s->event) && !j->o->threshold_given ? TIME_THRESHOLD
									  : j->o->threshold;
	s->confidence = j->o->confidence;
	s->timeout_ns = j->o->timeout_ns;
	return bisect_range(s, words[0], j->prefix, sizeof(j->prefix), &j->signals, j->err);
}

static int continue_or_begin(struct job *j, char **words)
{
	struct bisect_state old = { .text = NULL };
	int ret = read_state(j, &old);

	if (ret < 0) {
		bisect_state_free(&old);
		return ret;
	}
	if (j->o->resume) {
		if (old.text) {
			j->state = old;
			return 0;
		}
		tare_fail(j->err, ENOENT, "there is no interrupted bisection here");
		tare_hint(j->err, "tare bisect GOOD..BAD --build COMMAND -- COMMAND begins one");
		return -ENOENT;
	}
	ret = ask(j, words);
	if (ret == 0 && old.text && !bisect_state_same(&old, &j->state)) {
		tare_fail(j->err, EBUSY, "there is another bisection, of %.12s..%.12s",
			  old.end[BISECT_GOOD], old.end[BISECT_BAD]);
		tare_hint(j->err, "tare bisect --resume continues it, --reset drops it");
		ret = -EBUSY;
	}
	if (ret == 0 && old.text) { /* strings of the options live as long */
		j->state.tries = old.tries;
		strcpy(j->state.folder, old.folder);
		old.tries = (struct bisect_tries){ 0 };
	}
	bisect_state_free(&old);
	return ret;
}

/* ---- all ---- */

static void show_progress(void *with, size_t done, size_t steps, const char *doing,
			  const char *commit)
{
	struct job *j = with;

	progress_show(&j->progress, steps ? (double)done / (double)(steps + 1) : 0,
		      "step %zu of about %zu, %s %.12s", done + 1, steps > done ? steps : done + 1,
		      doing, commit);
}

static int show(struct job *j)
{
	const struct bisect_shown shown = { .state = &j->state, .result = &j->result };
	struct document to;
	int ret = document_open(&to, j->o->out.path, j->err);

	if (ret < 0)
		return ret;
	to.style = output_style(&to.to, j->o->out.colour);
	to.style.thousands = true;
	if (j->o->out.format == FORMAT_JSON)
		bisect_show_json(&to.out, &shown);
	else if (j->o->out.format == FORMAT_MARKDOWN)
		bisect_markdown(&to.out, &shown);
	else
		bisect_show_text(&to.out, &shown, &to.style);
	return document_close(&to, j->err);
}

static uint64_t cache_of(const struct job *j)
{
	if (j->o->cache_given)
		return j->o->cache_bytes;
	return bisect_is_time(j->state.event) ? CACHE_USUAL : 0;
}

static int bisect(struct job *j, char **words)
{
	int ret = continue_or_begin(j, words);

	if (ret == 0)
		ret = bisect_check_event(&j->state, j->err);
	if (ret == 0) {
		bisect_clean_up_left(&j->state);
		ret = temp_folder_open(&j->folder, "bisect", j->err);
		strcpy(j->state.folder, j->folder.path);
	}
	if (ret < 0)
		return ret;
	ret = bisect_save(&j->state, j->path, j->err);
	j->run = (struct bisect_job){ .state = &j->state,
				      .path = j->path,
				      .no_cause = j->o->no_cause,
				      .cache_bytes = cache_of(j),
				      .signals = &j->signals,
				      .progress = show_progress,
				      .with = j };
	progress_begin(&j->progress, j->self->name, false);
	if (ret == 0)
		ret = bisect_run(&j->result, &j->run, j->err);
	progress_end(&j->progress);
	if (ret == -EINTR)
		tare_hint(j->err, "tare bisect --resume continues, --reset drops it");
	bisect_clean_up(&j->state, &j->signals);
	temp_folder_close(&j->folder);
	if (ret == -EINVAL)
		drop_state(j);
	return ret;
}

static int bisect_in_checkout(struct job *j, char **words)
{
	int ret;

	if ((j->o->resume || j->o->reset) && (*words || (j->o->resume && j->o->reset)))
		return tare_fail(j->err, EINVAL, "--%s takes no range and no command",
				 j->o->resume ? "resume" : "reset");
	ret = bisect_path(j->path, &j->signals, j->err);
	if (ret == 0)
		ret = lock(j);
	if (ret == 0)
		ret = j->o->reset ? reset(j) : bisect(j, words);
	return ret;
}

static int run_bisect(const struct command *self, int argc, char **argv)
{
	/* git finds the repository of the working directory, also in a hook */
	static const char *const unset[] = { "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
					     "GIT_PREFIX" };
	struct tare_error err = TARE_ERROR_INIT;
	struct bisect_options o = { .confidence = 95 };
	struct job j = { .self = self, .o = &o, .lock = -1, .err = &err };
	int status, rest = options_parse(self, argc, argv, &o, &status), ret;

	if (rest < 0)
		return status;
	for (size_t i = 0; i < ARRAY_SIZE(unset); i++)
		unsetenv(unset[i]);
	revision_remove_stale();
	revision_signals_begin(&j.signals);
	ret = bisect_in_checkout(&j, argv + rest);
	status = ret == 0 && (o.reset || j.result.found) ? 0 : EXIT_CANNOT_MEASURE;
	if (ret < 0)
		complain(self, &err, NULL);
	if (j.signals.got)
		status = 128 + j.signals.got;
	revision_signals_end(&j.signals); /* the worktrees are removed */
	if (ret == 0 && !o.reset) {
		if (show(&j) == 0) {
			drop_state(&j);
		} else {
			complain(self, &err, NULL);
			status = EXIT_CANNOT_MEASURE;
		}
	}
	bisect_result_free(&j.result);
	bisect_state_free(&j.state);
	if (j.lock >= 0)
		close(j.lock);
	return status;
}

const struct command cmd_bisect = {
	.name = "bisect",
	.about = "find the commit that made a command slower, and the function",
	.args = "GOOD..BAD -- COMMAND [ARG]... | --resume | --reset",
	.example = "  tare bisect v1.0..HEAD --build make -- ./prog args\n"
		   "  tare bisect --resume\n"
		   "  tare bisect v1.0..HEAD --first-parent -- ./script",
	.topic = TOPIC_HOW_MUCH,
	.common = true,
	.words = WORDS_ANYWHERE,
	.options = bisect_opts,
	.run = run_bisect,
};
