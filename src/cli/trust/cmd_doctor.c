/* SPDX-License-Identifier: MIT */
/* tare doctor: checks what this user can measure, and how to fix what this user cannot. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/file.h"
#include "output/options/output_options.h"
#include "doctor/doctor_view.h"

enum { EXIT_FINDINGS = 3 };

struct doctor_options {
	struct output_options out;
	bool strict;
	const char *root;
};

#define OPTIONS struct doctor_options

static const struct option_row doctor_opts[] = {
	OUTPUT_FORMAT_ROWS(out, "text (default) or json (schema tare/doctor/1)", "text", "json"),
	{ 0, "strict", NULL,
	  "exit with 3 if hardware events count, but a finding is a warning or worse",
	  FLAG(strict) },
	{ 0, "sysfs-root", "DIR", "check a copy of /proc and /sys under DIR; nothing is tested",
	  DIRECTORY(root) },
	{ 0 },
};

static struct doctor_style style_of_terminal(void)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM"),
		   *columns = getenv("COLUMNS");
	struct doctor_style style = { .width = 100 };
	struct winsize size;

	if (isatty(STDOUT_FILENO)) {
		style.colour = !(no_colour && *no_colour) && !(term && !strcmp(term, "dumb"));
		if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
			style.width = size.ws_col;
	}
	if (columns && atoi(columns) > 0)
		style.width = (unsigned)atoi(columns);
	return style;
}

static int run_doctor(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct doctor_options o = { 0 };
	static struct host host; /* several KiB each: too large for the stack */
	static struct diagnosis diagnosis;
	struct text out = { 0 };
	int status, rest = options_parse(self, argc, argv, &o, &status);

	if (rest < 0)
		return status;
	if (rest < argc) {
		tare_fail(&err, EINVAL, "'%.64s' is not expected: doctor takes only options",
			  argv[rest]);
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	if (host_gather(&host, o.root, &err) < 0) {
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	doctor_judge(&host, &diagnosis);
	if (o.out.format == FORMAT_JSON)
		doctor_json(&out, &host, &diagnosis);
	else
		doctor_text(&out, &host, &diagnosis, style_of_terminal());

	int ret = out.failed ? -ENOMEM : file_write_all(STDOUT_FILENO, out.s, out.len);

	text_free(&out);
	if (ret < 0) {
		tare_fail(&err, -ret, "cannot write to standard output: %s", strerror(-ret));
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	/* Sorted, the worst first. */
	if (o.strict && diagnosis.verdict == VERDICT_HARDWARE && diagnosis.findings &&
	    diagnosis.finding[0].mark != MARK_OK)
		return EXIT_FINDINGS;
	return diagnosis.verdict;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.about = "check what you can measure, and how to fix what you cannot",
	.args = "",
	.example = "  tare doctor\n  tare doctor --format json | jq -r '.findings[].fix[].command'",
	.topic = TOPIC_MACHINE,
	.common = true,
	.options = doctor_opts,
	.run = run_doctor,
};
