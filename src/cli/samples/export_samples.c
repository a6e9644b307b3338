/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/recordings.h"
#include "profile/samples.h"
#include "base/text.h"
#include "cli/samples/export_samples.h"
#include "profile/report/tell_names.h"
#include "perfdata/dump/tell_partial.h"
#include "perfdata/perfdata_features.h"
#include "output/escape.h"

bool is_perfdata(const char *path)
{
	static const char *const magics[] = { "PERFILE2", "2ELIFREP", "PERFFILE" };
	char head[8];
	struct stat st;
	int fd;
	bool is = false;

	if (!strcmp(path, "-") || stat(path, &st) < 0)
		/* standard input cannot be read twice: treat it as a recording of regions */
		return false;
	if (S_ISDIR(st.st_mode))
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	if (S_ISREG(st.st_mode) && pread(fd, head, sizeof(head), 0) == sizeof(head))
		for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
			is |= !memcmp(head, magics[i], sizeof(head));
	close(fd);
	return is;
}

/* The recorder's command line, stored in the file as words. */
static void command_of(struct text *out, const struct samples *s)
{
	const struct perfdata_features *f = perfdata_features(s->file);

	escape_command(out, (const char *const *)f->cmdline.s, f->cmdline.n);
}

/* The root of every stack: the command that was sampled, if there was one; for a thread that
 * called exec, the last program. */
static const char *program_of(const struct call_tree *s)
{
	size_t n, threads;
	const struct call_tree_task *task = call_tree_tasks(s, &n);
	uint32_t *of = calloc(2 * n + 1, sizeof(*of)), *last = of + n;
	const char *name = "all";

	threads = of ? call_tree_threads(s, of) : SIZE_MAX;
	if (n && threads != SIZE_MAX) {
		for (size_t i = 0; i < n; i++)
			last[of[i]] = task[i].comm;
		name = call_tree_name(s, last[0]);
		for (size_t i = 1; i < threads; i++)
			if (last[i] != last[0])
				name = "all";
	}
	free(of);
	return name;
}

int export_perfdata(struct out *out, const struct exporter *how, const char *path,
		    const struct export_options *opt, const struct modules_options *names,
		    bool *partial, struct tare_error *err)
{
	static const char *const fields[] = { "trace_fields" };
	struct samples_options read = { .filter = SAMPLES_ALL,
					.lines = how->by_address,
					.detail = how->by_address ? SAMPLES_ADDRESS
								  : SAMPLES_FUNCTION,
					.offsets = true,
					.trace = fields,
					.n_trace = how->fields ? ARRAY_SIZE(fields) : 0,
					.trace_if_any = true,
					.counted = how->sample == NULL,
					.comms_apart = true,
					.threads_apart = true,
					.sample_log = how->sample != NULL,
					.symfs = names->symfs,
					.kallsyms = names->kallsyms,
					.force_names = names->force_names,
					.home = getenv("HOME") };
	struct export_options options = *opt;
	struct timeline_info head = { .path = path, .format = "perf.data", .time = -1 };
	struct samples s = { 0 };
	struct text command = { 0 };
	const char *why = NULL;
	int ret = samples_read(&s, path, &read, err);

	if (ret == 0 && s.counted.used && s.quality.with_stacks) { /* stacks are of samples */
		samples_free(&s);
		s = (struct samples){ 0 };
		read.counted = false;
		why = "with callees they are from samples";
		ret = samples_read(&s, path, &read, err);
	}
	if (ret < 0)
		return ret;
	if (why || s.counted.why)
		fprintf(stderr,
			"tare export: note: amounts are from samples, although the recording has exact ones: %s\n",
			why ? why : s.counted.why);
	command_of(&command, &s);
	head.command = command.s ? command.s : path;
	head.broke_off = s.quality.broke_off;
	input_tell_broke_off("export", path, s.quality.broke_off);
	tell_doubted_names("export", path, s.unnamed, s.n_unnamed);
	head.damage = s.quality.damage[0] ? s.quality.damage : NULL;
	options.program = program_of(s.call_tree);
	options.first_ns = s.quality.first_ns;
	*partial = tell_partial("export", path, s.file, s.quality.damage, true);
	if (s.call_tree->columns == 0) {
		ret = tare_fail(err, ENODATA, "%.200s has no samples", path);
		tare_hint(err, "tare dump --counts shows what it has");
	} else {
		ret = export_stacks(out, how, s.call_tree, &head, &options, err);
	}
	text_free(&command);
	samples_free(&s);
	return ret;
}
