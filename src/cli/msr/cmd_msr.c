/* SPDX-License-Identifier: MIT */
/* tare msr: the processor's registers by name: list, plan, read, write, batch, watch. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"
#include "cli/msr/msr_options.h"
#include "launch/signals.h"
#include "launch/count_target.h"
#include "msr/msr_events.h"

enum { FILE_MAX = 1 << 20 };

/* ---- options ---- */

static int set_cpu(void *to, const char *arg, struct tare_error *err)
{
	struct cpu_row row;

	if (!cpu_row_by_model(arg, &row)) {
		tare_fail(err, ENOENT, "no CPU model '%.60s' is known", arg);
		tare_hint(err, "'tare events --cpu list' shows them");
		return -ENOENT;
	}
	((struct msr_options *)to)->cpu = arg;
	return 0;
}

#define OPTIONS struct msr_options

static const struct option_row msr_opts[] = {
	{ 'C', "cpus", "LIST", "on these CPUs, such as 0-3,8 (default: 0)", CPUS(cpus) },
	{ 'a', "all-cpus", NULL, "on all CPUs that are online, at the same time", FLAG(all_cpus) },
	EVENT_ROW(events, "plan: what to count"),
	EVENT_FILE_ROW(events,
		       "plan: names from a vendor's JSON, a table or a folder; may be repeated"),
	{ 0, "cpu", "MODEL", "plan, list: for another CPU, such as skl or 'zen 3'",
	  SPECIAL_ALL(set_cpu) },
	{ 'I', "interval", "TIME",
	  "watch: time between readings (default: 1s; a bare number is in ms)",
	  DURATION(interval_ns, 1000000, 1000000), .refusal = "too short: at least 1 ms" },
	{ 'n', "times", "N", "watch: that many intervals (default: until interrupted)",
	  NUMBER(ticks, 1, UINT64_MAX) },
	{ 0, "via", "WAY", "module, msr-safe or msr (default: the first that is there)",
	  TEXT_OF(via, "way", "module", "msr-safe", "msr") },
	{ 0, "device-root", "DIR", "where the devices are (default: /dev)", DIRECTORY(root) },
	OUTPUT_FORMAT_ROWS(out,
			   "text (default), json, or trace: the format of the kernel's msr trace",
			   "text", "json", "trace"),
	{ 0 },
};

/* ---- shared ---- */

int msr_failed(const struct command *self, const struct tare_error *err)
{
	complain(self, err, NULL);
	return EXIT_CANNOT_MEASURE;
}

int msr_put(const struct command *self, struct text *t)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct output out;
	int ret = output_open(&out, "-", OUTPUT_WHOLE, STDOUT_FILENO, &err);

	if (ret == 0)
		ret = output_put(&out, t, &err);
	if (ret == 0)
		ret = output_close(&out, &err);
	text_free(t);
	return ret == 0 ? 0 : ret == -EPIPE ? EXIT_CANNOT_MEASURE : msr_failed(self, &err);
}

int msr_cpus(const struct msr_options *o, struct cpus *out, struct tare_error *err)
{
	if (o->all_cpus)
		return cpus_online("", out, err);
	return o->cpus.n ? cpus_copy(out, &o->cpus, err) : cpus_parse("0", out, err);
}

int msr_open(struct registers **out, const struct msr_options *o, bool write,
	     struct tare_error *err)
{
	const struct registers_options opt = {
		.via = o->via, .root = o->root, .maker = msr_maker_here(), .write = write
	};

	if (!opt.maker)
		return tare_fail(err, ENODEV, "only Intel and AMD CPUs have such registers");
	return registers_open(out, &opt, err);
}

/* ---- read, write, batch ---- */

struct job {
	const struct command *self;
	const struct msr_options *o;
	struct registers *r;
	struct cpus on;
	struct tare_msr_op *op; /* n for each CPU */
	uint64_t (*span)[2];
	struct msr_bits field[TARE_MSR_OPS_MAX];
	size_t n;
	unsigned maker;
	bool writes;
	struct tare_error err;
};

static int room(struct job *j, size_t n)
{
	if (n > TARE_MSR_OPS_MAX)
		return tare_fail(&j->err, E2BIG, "%zu operations: a batch has at most %d", n,
				 TARE_MSR_OPS_MAX);
	j->n = n;
	j->op = calloc(n * j->on.n, sizeof(*j->op));
	j->span = calloc(j->on.n, sizeof(*j->span));
	return j->op && j->span ? 0 : tare_fail_nomem(&j->err);
}

static int run_batch(struct job *j)
{
	struct registers_span *span = calloc(j->on.n, sizeof(*span));
	int ret;

	if (!span)
		return tare_fail_nomem(&j->err);
	ret = registers_run_all(j->r, &j->on, j->op, j->n, span, &j->err);
	for (size_t k = 0; k < j->on.n; k++) {
		j->span[k][0] = span[k].tsc_first;
		j->span[k][1] = span[k].tsc_last;
	}
	free(span);
	return ret;
}

/* Prints the completed operations, also if some failed. */
static int show(struct job *j)
{
	const struct msr_done d = { .on = &j->on,
				    .op = j->op,
				    .field = j->field,
				    .span = (const uint64_t(*)[2])j->span,
				    .n = j->n,
				    .maker = j->maker,
				    .via = j->r ? registers_via(j->r) : NULL };
	struct text out = { 0 };

	if (j->o->out.format == FORMAT_JSON)
		msr_done_json(&out, &d);
	else if (j->o->out.format == MSR_TRACE)
		msr_done_trace(&out, &d);
	else
		msr_done_text(&out, &d);
	return msr_put(j->self, &out);
}

/* The same operation on every CPU. */
static void set_op(struct job *j, size_t i, struct tare_msr_op op)
{
	for (size_t k = 0; k < j->on.n; k++)
		j->op[k * j->n + i] = op;
}

/* Reports the reason of each operation that was refused or faulted. */
static bool any_failed(const struct job *j)
{
	for (size_t i = 0; j->op && i < j->n * j->on.n; i++)
		if (j->op[i].err)
			return true;
	return false;
}

static int end(struct job *j, int ret, bool shown)
{
	int status = 0;

	if (shown && (ret == 0 || any_failed(j)))
		status = show(j);
	if (ret < 0)
		status = msr_failed(j->self, &j->err);
	registers_close(j->r);
	free(j->op);
	free(j->span);
	cpus_free(&j->on);
	return status;
}

static int read_command(const struct command *self, const struct msr_options *o, char **word, int n)
{
	struct job j = { .self = self, .o = o, .maker = msr_maker_here(), .err = TARE_ERROR_INIT };
	int ret = msr_cpus(o, &j.on, &j.err);

	if (ret == 0 && n == 0) {
		ret = tare_fail(&j.err, EINVAL, "read needs registers");
		tare_hint(
			&j.err,
			"such as: tare msr read IA32_PERF_GLOBAL_CTRL; tare msr list shows names");
	}
	if (ret == 0)
		ret = room(&j, (size_t)n);
	for (int i = 0; ret == 0 && i < n; i++) {
		struct msr_word w;

		ret = msr_word_parse(&w, word[i], j.maker, &j.err);
		if (ret == 0 && w.has_value)
			ret = tare_fail(&j.err, EINVAL, "'%.60s': read takes no value", word[i]);
		if (ret == 0)
			set_op(&j, (size_t)i,
			       (struct tare_msr_op){ .msr = w.msr, .kind = TARE_MSR_READ });
		j.field[i] = w.field;
	}
	if (ret == 0)
		ret = msr_open(&j.r, o, false, &j.err);
	return end(&j, ret < 0 ? ret : run_batch(&j), true);
}

static volatile pid_t command_pid;

/* tare keeps running until the command has ended, and then restores the registers. */
static void pass_on(int signal)
{
	if (command_pid > 0)
		signal_send(command_pid, signal);
}

/* Runs a command while the registers contain the written values. It gets the terminal's signals
 * directly. */
static int run_command(struct job *j, char **argv)
{
	static const struct {
		int signal;
		void (*handler)(int signal);
	} rows[] = {
		{ SIGINT, SIG_IGN }, { SIGQUIT, SIG_IGN }, { SIGTERM, pass_on }, { SIGHUP, pass_on }
	};
	struct sigaction old[ARRAY_SIZE(rows)];
	sigset_t held, before;
	int status = 0;
	pid_t pid;

	sigemptyset(&held);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sigaction on = { .sa_handler = rows[i].handler };

		sigaddset(&held, rows[i].signal);
		sigaction(rows[i].signal, &on, &old[i]);
	}
	sigprocmask(SIG_BLOCK, &held, &before);
	pid = command_pid = fork();
	if (pid == 0) {
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			sigaction(rows[i].signal, &old[i], NULL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(argv[0], argv);
		fprintf(stderr, "tare msr: cannot run %s: %s\n", argv[0], strerror(errno));
		_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
	}
	if (pid < 0)
		tare_fail(&j->err, errno, "cannot start %.100s: %s", argv[0], strerror(errno));
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return msr_failed(j->self, &j->err);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	/* The handlers stay installed: only the restore is left, and it is short. */
	command_pid = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A field is part of a register: first read the register on every CPU. */
static int fill_fields(struct job *j, const struct msr_word *w, struct tare_msr_op *before)
{
	int ret;

	for (size_t i = 0; i < j->n * j->on.n; i++)
		before[i] = (struct tare_msr_op){ .msr = w[i % j->n].msr, .kind = TARE_MSR_READ };
	ret = registers_run_all(j->r, &j->on, before, j->n, NULL, &j->err);
	for (size_t k = 0; ret == 0 && k < j->on.n; k++)
		for (size_t i = 0; i < j->n; i++) {
			struct tare_msr_op *op = &j->op[k * j->n + i];
			uint64_t mask = ((UINT64_C(1) << w[i].field.bits) - 1) << w[i].field.low,
				 value = before[k * j->n + i].value;

			*op = (struct tare_msr_op){ .msr = w[i].msr,
						    .kind = TARE_MSR_WRITE,
						    .value = w[i].value };
			if (!w[i].one_field)
				continue;
			for (size_t e = 0; e < i; e++) /* an earlier word wrote the same register */
				if (w[e].msr == w[i].msr)
					value = j->op[k * j->n + e].value;
			op->value = (value & ~mask) | w[i].value << w[i].field.low;
		}
	return ret;
}

/* The write that restores the old value; bits that cannot be written are left out. */
static struct tare_msr_op as_before(struct job *j, int cpu, struct tare_msr_op was, bool *whole)
{
	const struct msr_row *row = msr_row_of(was.msr, j->maker);
	struct tare_msr_op op = { .msr = was.msr,
				  .kind = TARE_MSR_WRITE,
				  .value = msr_value_kept(row, was.value) };

	if (op.value != was.value && row->flags & TARE_MSR_SIGNED &&
	    registers_full_width(j->r, cpu)) {
		op.msr += MSR_FULL_WIDTH;
		op.value = was.value;
	}
	*whole &= op.value == was.value;
	return op;
}

/* Other subcommands leave the written values in place; this one promises to restore them after
 * the command. */
static int put_back(struct job *j, const struct tare_msr_op *before)
{
	bool whole = true;
	int ret;

	for (size_t k = 0; k < j->on.n; k++)
		for (size_t i = 0; i < j->n; i++)
			j->op[k * j->n + i] = as_before(j, j->on.cpu[k],
							before[k * j->n + (j->n - 1 - i)], &whole);
	ret = registers_run_all(j->r, &j->on, j->op, j->n, NULL, &j->err);
	if (ret == 0 && !whole)
		return tare_fail(
			&j->err, EIO,
			"some bits of the previous values could not be restored: tare may not set them, or this CPU cannot");
	return ret;
}

/* Called before any read: a register that may not be written need not be read. Reports each such
 * word with its reason. */
static int may_write(struct job *j, const struct msr_word *w)
{
	int first = 0;

	for (size_t i = 0; i < j->n; i++) {
		struct tare_msr_op op = { .msr = w[i].msr,
					  .kind = TARE_MSR_WRITE,
					  .value = w[i].one_field ? w[i].value << w[i].field.low
								  : w[i].value };

		op.err = (int16_t)msr_op_check(&op, j->maker, first ? NULL : &j->err);
		first = first ? first : op.err;
		set_op(j, i, op);
	}
	if (!first)
		return 0;
	registers_none_ran(j->op, j->n * j->on.n);
	tare_hint(&j->err, "nothing was written. 'tare msr list' shows the writable registers");
	return -EACCES;
}

static int write_words(struct job *j, struct msr_word *w, char **word)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < j->n; i++) {
		ret = msr_word_parse(&w[i], word[i], j->maker, &j->err);
		if (ret == 0 && !w[i].has_value) {
			ret = tare_fail(&j->err, EINVAL, "'%.60s' has no value", word[i]);
			tare_hint(
				&j->err,
				"such as: tare msr write IA32_PERF_GLOBAL_CTRL=0 IA32_FIXED_CTR_CTRL.EN0=2");
		}
	}
	return ret < 0 ? ret : may_write(j, w);
}

static int write_command(const struct command *self, const struct msr_options *o, char **word,
			 int n, char **argv)
{
	struct job j = { .self = self, .o = o, .maker = msr_maker_here(), .err = TARE_ERROR_INIT };
	struct msr_word *w = calloc((size_t)n + 1, sizeof(*w));
	struct tare_msr_op *before = NULL;
	int ret = w ? msr_cpus(o, &j.on, &j.err) : tare_fail_nomem(&j.err), status = 0;

	if (ret == 0 && n == 0)
		ret = tare_fail(&j.err, EINVAL, "write needs NAME=VALUE");
	if (ret == 0)
		ret = room(&j, (size_t)n);
	if (ret == 0)
		ret = write_words(&j, w, word);
	if (ret == 0) {
		before = calloc(j.n * j.on.n, sizeof(*before));
		ret = before ? msr_open(&j.r, o, true, &j.err) : tare_fail_nomem(&j.err);
	}
	if (ret == 0 && !argv && registers_guarded(j.r)) {
		ret = tare_fail(
			&j.err, EINVAL,
			"the module restores written registers when tare ends: write for the duration of a command");
		tare_hint(&j.err,
			  "tare msr write NAME=VALUE -- COMMAND; or --via msr, which keeps them");
	}
	if (ret == 0)
		ret = fill_fields(&j, w, before);
	if (ret == 0)
		ret = run_batch(&j);
	if (ret == 0 && argv) {
		status = run_command(&j, argv);
		if (!registers_guarded(j.r))
			ret = put_back(&j, before);
	}
	free(before);
	free(w);
	if (ret == 0 && argv) {
		end(&j, 0, false);
		return status;
	}
	return end(&j, ret, true);
}

static int read_stdin(char **out, struct tare_error *err)
{
	struct text t = { 0 };
	char piece[4096];
	ssize_t n;

	while ((n = read(STDIN_FILENO, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR)) {
		if (n > 0)
			text_put(&t, piece, (size_t)n);
		if (t.len > FILE_MAX)
			break;
	}
	if (n < 0 || t.len > FILE_MAX) {
		int code = n < 0 ? errno : EFBIG;

		text_free(&t);
		return tare_fail(err, code, "standard input: %s", strerror(code));
	}
	*out = text_take(&t);
	return *out ? 0 : tare_fail_nomem(err);
}

static int batch_command(const struct command *self, const struct msr_options *o, char **word,
			 int n)
{
	struct job j = { .self = self, .o = o, .maker = msr_maker_here(), .err = TARE_ERROR_INIT };
	const char *path = n == 1 ? word[0] : NULL;
	struct msr_batch *b = calloc(1, sizeof(*b));
	char *text = NULL;
	int ret = b ? msr_cpus(o, &j.on, &j.err) : tare_fail_nomem(&j.err);

	if (ret == 0 && !path) {
		ret = tare_fail(&j.err, EINVAL,
				"batch needs one file of operations; - is standard input");
		tare_hint(&j.err,
			  "lines such as: read IA32_PMC0; write IA32_PERF_GLOBAL_CTRL 0; tsc");
	}
	if (ret == 0)
		ret = !strcmp(path, "-") ? read_stdin(&text, &j.err)
					 : file_read("", path, FILE_MAX, &text, NULL, &j.err);
	if (ret == 0) {
		ret = msr_batch_parse(b, text, j.maker, &j.err);
		if (ret < 0)
			tare_prefix(&j.err, "%.100s: ", path);
	}
	if (ret == 0)
		ret = room(&j, b->n);
	for (size_t i = 0; ret == 0 && i < b->n; i++) {
		set_op(&j, i, b->op[i]);
		j.writes |= b->op[i].kind == TARE_MSR_WRITE;
	}
	if (ret == 0)
		ret = msr_open(&j.r, o, j.writes, &j.err);
	free(text);
	free(b);
	return end(&j, ret < 0 ? ret : run_batch(&j), true);
}

/* ---- list ---- */

static int list_command(const struct command *self, const struct msr_options *o, char **word, int n)
{
	struct tare_error err = TARE_ERROR_INIT;
	unsigned maker = msr_maker_here();
	struct text out = { 0 };
	struct cpu_row row;

	if (o->cpu && cpu_row_by_model(o->cpu, &row))
		maker = !strncmp(row.cpu, "GenuineIntel", 12)   ? TARE_MSR_INTEL
			: !strncmp(row.cpu, "AuthenticAMD", 12) ? TARE_MSR_AMD
								: 0;
	if (!maker)
		maker = TARE_MSR_ANY;
	if (n == 0 && o->out.format == FORMAT_JSON)
		msr_list_json(&out, maker);
	else if (n == 0)
		msr_list_text(&out, maker);
	for (int i = 0; i < n; i++) {
		uint32_t msr;

		if (msr_by_name(word[i], maker, &msr, &err) < 0) {
			text_free(&out);
			return msr_failed(self, &err);
		}
		if (msr_row_of(msr, maker)) {
			msr_row_text(&out, msr_row_of(msr, maker), msr);
			continue;
		}
		text_free(&out);
		tare_fail(&err, ENOENT, "register 0x%x is unknown", msr);
		tare_hint(&err, "it can still be read: tare msr read --via msr 0x%x", msr);
		return msr_failed(self, &err);
	}
	return msr_put(self, &out);
}

/* ---- words ---- */

static int dispatch(const struct command *self, struct msr_options *o, char **word, int n,
		    char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const struct command *self, const struct msr_options *o, char **word,
			   int n);
	} rows[] = { { "list", list_command },
		     { "plan", msr_plan_command },
		     { "read", read_command },
		     { "batch", batch_command },
		     { "watch", msr_watch_command } };
	struct tare_error err = TARE_ERROR_INIT;

	if (n && !strcmp(word[0], "write"))
		return write_command(self, o, word + 1, n - 1, argv);
	if (argv) {
		tare_fail(&err, EINVAL, "only write takes a command after --");
		return msr_failed(self, &err);
	}
	for (size_t i = 0; n && i < ARRAY_SIZE(rows); i++)
		if (!strcmp(word[0], rows[i].name))
			return rows[i].run(self, o, word + 1, n - 1);
	tare_fail(&err, EINVAL,
		  n ? "'%.40s' is not one of: list, plan, read, write, batch, watch"
		    : "what?%.0s One of: list, plan, read, write, batch, watch",
		  n ? word[0] : "");
	return msr_failed(self, &err);
}

static int msr_run(const struct command *self, int argc, char **argv)
{
	struct msr_options o = { .interval_ns = 1000000000 };
	char **word = calloc((size_t)argc + 1, sizeof(*word)), **behind = NULL;
	struct tare_error err = TARE_ERROR_INIT;
	int n = 0, status, end_of_words = argc;

	if (!word) {
		tare_fail_nomem(&err);
		return msr_failed(self, &err);
	}
	for (int i = 1; i < argc && !behind; i++)
		if (!strcmp(argv[i], "--")) {
			behind = argv[i + 1] ? argv + i + 1 : NULL;
			end_of_words = i;
			break;
		}

	char *cut = argv[end_of_words];

	argv[end_of_words] = NULL;
	for (int at = 0, more; at < end_of_words; at += more) {
		if (at)
			word[n++] = argv[at];
		more = options_parse(self, end_of_words - at, argv + at, &o, &status);
		if (more < 0)
			goto out;
	}
	status = dispatch(self, &o, word, n, behind);
out:
	argv[end_of_words] = cut;
	cpus_free(&o.cpus);
	event_options_free(&o.events);
	free(word);
	return status;
}

const struct command cmd_msr = {
	.name = "msr",
	.about = "read and write registers of the processor, by name and in batches",
	.args = "list|plan|read|write|batch|watch [WORD...] [-- COMMAND]",
	.example = "  tare msr read -a IA32_PERF_GLOBAL_CTRL IA32_FIXED_CTR_CTRL.EN0\n"
		   "  tare msr plan --cpu skl -e instructions:u,branch-misses:u\n"
		   "  tare msr watch -a IA32_APERF IA32_MPERF",
	.topic = TOPIC_MACHINE,
	.options = msr_opts,
	.run = msr_run,
};
