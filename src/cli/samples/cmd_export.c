/* SPDX-License-Identifier: MIT */
/* tare export: converts a recording to another tool's format. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "cli/recordings.h"
#include "base/text.h"
#include "cli/common_options.h"
#include "cli/samples/export_accesses.h"
#include "cli/samples/export_samples.h"
#include "output/input.h"
#include "output/whole_file.h"
#include "output/escape.h"
#include "export/export.h"

enum {
	EXIT_PARTIAL = 1, /* the recording is damaged: the readable part was exported */
	DAMAGE_ROOM = 384,
};

struct export_command {
	const struct exporter *how;
	const char *output, *format, *input;
	bool accesses;
	struct export_options options;
	struct modules_options names;
};

static void say_formats(struct tare_error *err)
{
	struct text t = { 0 };

	for (const struct exporter *const *e = exporters; *e; e++)
		text_add(&t, "%s%s", e == exporters ? "" : ", ", (*e)->name);
	tare_hint(err, "there are %s; a file's ending chooses, too (%s, ...)", t.s,
		  exporters[0]->ending);
	text_free(&t);
}

static int set_accesses(void *options, const char *arg, struct tare_error *err)
{
	(void)err;
	struct export_command *o = options;

	o->accesses = true;
	o->format = arg ? arg : o->format;
	return 0;
}

#define OPTIONS struct export_command

static const struct option_row export_opts[] = {
	{ 'f', "format", "FORMAT",
	  "chrome (regions only), perfetto, firefox, speedscope, folded, pprof, csv or html (with --accesses: csv or parquet)",
	  TEXT(format, NULL) },
	{ 'i', "input", "FILE", "the recording; - is standard input, for regions",
	  TEXT(input, "file") },
	{ 'o', "output", "FILE",
	  "write to FILE, completely or not at all; its extension may select the format",
	  OUTPUT_FILE(output) },
	{ 0, "counter", "NAME", "counter for the axis or the stacks; default: the clock",
	  TEXT(options.counter, "counter's name") },
	{ 0, "accesses", "[FORMAT]",
	  "the precise samples of a perf.data as a table, each as one access: csv or parquet",
	  SPECIAL_ALL(set_accesses) },
	{ 0, "by-thread", NULL, "folded, pprof: keep the stacks of different threads apart",
	  FLAG(options.by_thread) },
	{ 0, "symfs", "DIR", "samples: find the programs' files under DIR",
	  DIRECTORY(names.symfs) },
	{ 0, "kallsyms", "FILE", "samples: take kernel symbols from FILE",
	  INPUT_FILE(names.kallsyms) },
	{ 0, "force-names", NULL, "samples: use local files that may differ from those that ran",
	  FLAG(names.force_names) },
	DEBUGINFOD_ROW("samples: ask the servers of DEBUGINFOD_URLS for debug files"),
	{ 0 },
};

static bool ends_with(const char *path, const char *ending)
{
	size_t n = path ? strlen(path) : 0, k = strlen(ending);

	return n > k && !strcmp(path + n - k, ending);
}

static int choose(struct export_command *o, struct tare_error *err)
{
	for (const struct exporter *const *e = exporters; *e; e++)
		if (o->format ? !strcmp((*e)->name, o->format) : ends_with(o->output, (*e)->ending))
			o->how = *e;
	if (!o->how && o->format) {
		tare_fail(err, EINVAL, "there is no format '%.40s'", o->format);
		say_formats(err);
		return -EINVAL;
	}
	if (!o->how) {
		tare_fail(err, EINVAL, "no format is chosen%s%.200s",
			  o->output ? " by the ending of " : "", o->output ? o->output : "");
		say_formats(err);
		return -EINVAL;
	}
	if (o->options.by_thread && !o->how->stack) {
		tare_fail(err, EINVAL, "%s has no stacks to keep apart", o->how->name);
		tare_hint(err, "--by-thread is for folded and pprof");
		return -EINVAL;
	}
	return 0;
}

/* ": of parse, draw": labels with added starts or ends. */
static void put_repaired_of(struct text *out, struct timeline *t, const struct export_told *told)
{
	for (size_t i = 0; i < told->n_repaired_of; i++) {
		const char *name = timeline_label(t, told->repaired_of[i])->name;

		text_add(out, "%s", i ? ", " : ": of ");
		escape(out, name, strlen(name));
	}
	text_add(out, "%s", told->repaired_of_more ? " and other labels" : "");
}

/* Reports data that is missing in the exported file. */
static void remark(const struct command *self, struct timeline *t, const struct export_command *o,
		   const struct export_told *told)
{
	const struct timeline_info *info = timeline_info(t);
	struct text of = { 0 };
	const struct {
		uint64_t n;
		const char *one, *more;
		const struct text *of;
	} rows[] = {
		{ told->lost, "point is missing in the recording",
		  "points are missing in the recording" },
		{ told->repaired,
		  "begin or end is not in the recording and was placed at the recording's start or stop",
		  "begins or ends are not in the recording and were placed at the recording's start or stop",
		  &of },
		{ told->missing,
		  "region has a counter that could not be read: it is left out there",
		  "regions have a counter that could not be read: it is left out there" },
		{ told->unplaced,
		  "point has no position on the axis: it is shown at the nearest point of its thread",
		  "points have no position on the axis: they are shown at the nearest point of their thread" },
		{ told->too_deep,
		  "region is too deep for a stack: its amount is added to the deepest one that fits",
		  "regions are too deep for a stack: their amounts are added to the deepest ones that fit" },
	};

	put_repaired_of(&of, t, told);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].n)
			fprintf(stderr, "tare %s: %" PRIu64 " %s%s\n", self->name, rows[i].n,
				rows[i].n == 1 ? rows[i].one : rows[i].more,
				rows[i].of && rows[i].of->s ? rows[i].of->s : "");
	text_free(&of);
	if (info->live)
		fprintf(stderr, "tare %s: %s: %s\n", self->name, info->path, info->live);
	if (!o->options.counter && info->time < 0 && o->how->close)
		fprintf(stderr,
			"tare %s: the recording has no clock: the axis is %s, and threads are not aligned\n",
			self->name, info->counter[0].name);
}

/* Writes the recording in the format to `out`; `damage` (DAMAGE_ROOM bytes) describes the
 * unreadable part, or is "". *partial: already reported on standard error. */
static int export_into(struct out *out, const struct command *self, const struct export_command *o,
		       const char *path, char *damage, bool *partial, struct tare_error *err)
{
	struct export_told told = { 0 };
	struct timeline *t = NULL;
	int ret;

	if (is_perfdata(path))
		return export_perfdata(out, o->how, path, &o->options, &o->names, partial, err);
	ret = timeline_open(&t, path, err);
	if (ret < 0)
		return ret;
	ret = export_timeline(out, o->how, t, &o->options, &told, err);
	if (ret == 0)
		remark(self, t, o, &told);
	if (timeline_info(t)->damage)
		snprintf(damage, DAMAGE_ROOM, "%s", timeline_info(t)->damage);
	timeline_close(t);
	return ret;
}

static int run_export(const struct command *self, const struct export_command *o, const char *path,
		      struct tare_error *err)
{
	struct whole_file file = { .fd = -1 };
	char damage[DAMAGE_ROOM] = "";
	struct out out;
	bool partial = false;
	int ret, closed;

	input_note_recording(self->name, path);
	ret = whole_file_open(&file, o->output, o->how->binary, err);
	if (ret < 0)
		return ret;
	out_open_fd(&out, &file.fd);
	ret = export_into(&out, self, o, path, damage, &partial, err);
	closed = out_close(&out);
	if (ret == 0 && closed < 0)
		ret = tare_fail(err, -closed, "cannot write to %.200s: %s",
				o->output ? o->output : "standard output", strerror(-closed));
	if (ret == 0)
		ret = whole_file_commit(&file, err);
	whole_file_abandon(&file);
	if (ret == 0 && *damage) {
		struct tare_error cut = TARE_ERROR_INIT;

		tare_fail(&cut, EIO, "%.150s: %.200s", path, damage);
		tare_hint(&cut, "what could be read was exported");
		complain(self, &cut, NULL);
		partial = true;
	}
	return ret == 0 && partial ? EXIT_PARTIAL : ret;
}

static int export_run(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct export_command o = { 0 };
	int status, rest = options_parse(self, argc, argv, &o, &status), ret;

	if (rest < 0)
		return status;
	if (o.accesses && !o.format && argc - rest == (o.input ? 1 : 2) &&
	    access_format_known(argv[rest])) /* --accesses csv FILE */
		o.format = argv[rest++];
	if (!o.input && rest < argc)
		o.input = argv[rest++];
	if (!o.input || rest < argc) {
		if (!o.input)
			ret = tare_fail(&err, EINVAL, "no recording is named");
		else
			ret = tare_fail(&err, EINVAL, "'%.64s' is one file too many", argv[rest]);
		tare_hint(&err, "tare export takes one file");
	} else if (o.accesses) {
		ret = o.options.by_thread || o.options.counter
			? tare_fail(
				  &err, EINVAL,
				  "--counter and --by-thread are not for --accesses, which has every thread and column")
			: export_accesses(self, o.input, o.format, o.output, &err);
	} else {
		ret = choose(&o, &err);
		if (ret == 0)
			ret = run_export(self, &o, o.input, &err);
	}
	if (ret == -EPIPE)
		return 128 + SIGPIPE;
	if (ret < 0)
		complain(self, &err, NULL);
	return ret < 0 ? EXIT_CANNOT_MEASURE : ret;
}

const struct command cmd_export = {
	.name = "export",
	.about = "convert a recording for another tool: Perfetto, pprof, CSV, ...",
	.args = "FILE",
	.example =
		"  tare export -o trace.pftrace run.tare           # open in ui.perfetto.dev\n"
		"  tare export -o run.firefox.json perf.data      # open in profiler.firefox.com\n"
		"  tare export -o run.pb.gz run.tare && go tool pprof -http : run.pb.gz\n"
		"  tare export --accesses -o accesses.parquet perf.data",
	.topic = TOPIC_WHERE,
	.words = WORDS_ANYWHERE,
	.options = export_opts,
	.run = export_run,
};
