/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "analyze/samples.h"
#include "base/text.h"
#include "cli/export_samples.h"
#include "cli/input.h"
#include "record/perfdata_features.h"
#include "view/escape.h"

bool is_perfdata(const char *path)
{
	static const char *const magics[] = { "PERFILE2", "2ELIFREP", "PERFFILE" };
	char head[8];
	struct stat st;
	int fd;
	bool is = false;

	if (!strcmp(path, "-") || stat(path, &st) < 0)
		return false; /* standard input cannot be looked at twice: it is a recording of regions */
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

/* The recorder's command line, which the file has as words. */
static void command_of(struct text *out, const struct samples *s)
{
	const struct perfdata_features *f = perfdata_features(s->file);

	escape_command(out, (const char *const *)f->cmdline.s, f->cmdline.n);
}

/* The root of every stack: the command that was sampled, if it was one. */
static const char *program_of(const struct stacks *s)
{
	size_t n;
	const struct stacks_task *task = stacks_tasks(s, &n);

	for (size_t i = 1; i < n; i++)
		if (task[i].comm != task[0].comm)
			return "all";
	return n ? stacks_name(s, task[0].comm) : "all";
}

int export_perfdata(struct out *out, const struct exporter *how, const char *path, const struct export_options *opt, char *damage,
		    struct tare_error *err)
{
	struct samples_options read = { .filter = SAMPLES_ALL,
					.lines = how->by_address,
					.detail = how->by_address ? SAMPLES_ADDRESS : SAMPLES_FUNCTION,
					.moments = how->sample != NULL,
					.home = getenv("HOME") };
	struct export_options options = *opt;
	struct timeline_info head = { .path = path, .format = "perf.data", .time = -1 };
	struct samples s = { 0 };
	struct text command = { 0 };
	int ret = samples_read(&s, path, &read, err);

	if (ret < 0)
		return ret;
	command_of(&command, &s);
	head.command = command.s ? command.s : path;
	head.broke_off = s.quality.broke_off;
	input_tell_broke_off("export", path, s.quality.broke_off);
	head.damage = s.quality.damage[0] ? s.quality.damage : NULL;
	options.program = program_of(s.stacks);
	options.first_ns = s.quality.first_ns;
	snprintf(damage, sizeof(s.quality.damage), "%s", s.quality.damage);
	if (s.stacks->columns == 0) {
		ret = tare_fail(err, ENODATA, "%.200s has no samples", path);
		tare_hint(err, "tare dump --counts shows what it has");
	} else {
		ret = export_stacks(out, how, s.stacks, &head, &options, err);
	}
	text_free(&command);
	samples_free(&s);
	return ret;
}
