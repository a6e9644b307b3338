/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a recording of samples: a report of it, by every key (where it has tracepoints by
 * their fields, too), folded, and one function of it.
 * What it adds up to must be what it is made of.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "profile/report/annotate.h"
#include "fuzz.h"
#include "profile/report/folded.h"
#include "profile/report/report_view.h"
#include "profile/report/traced_view.h"

static int forget(void *arg, struct text *out, struct tare_error *err)
{
	(void)arg, (void)err;
	out->len = 0;
	return 0;
}

static void check_sums(const struct samples *s, const struct report *r)
{
	for (uint32_t c = 0; c < s->call_tree->columns; c++) {
		uint64_t self = 0, samples = 0;

		for (size_t i = 0; i < r->n; i++) {
			self += r->row[i].self[c];
			samples += r->row[i].samples[c];
			must(r->row[i].samples[c] <= s->call_tree->column[c].samples);
		}
		must(self == s->call_tree->column[c].amount &&
		     samples == s->call_tree->column[c].samples);
	}
}

static void show(const char *path, const struct samples_options *opts, unsigned keys)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct report_options how = { .keys = keys };
	struct folded_options folded = { .with_comm = true };
	struct annotate_options one = { .function = "*" };
	struct annotation annotation;
	struct style style = { .width = 100 };
	struct text out = { 0 };
	struct samples s;
	struct report r;

	if (samples_read(&s, path, opts, &err) < 0) {
		must(err.what[0]);
		return;
	}
	if (report_make(&r, s.call_tree, &how, &err) == 0) {
		struct report_shown shown = {
			.path = path, .samples = &s, .report = &r, .options = &how
		};

		check_sums(&s, &r);
		report_text(&out, &shown, &style);
		if (s.call_tree->columns) {
			report_document(&out, FORMAT_JSON, &shown);
			report_document(&out, FORMAT_CSV, &shown);
			must(folded_write(&out, s.call_tree, &folded, forget, NULL, &err) == 0);
		}
		report_free(&r);
	}
	for (uint32_t i = 0; i < s.call_tree->trace_set.n; i++) {
		out.len = 0;
		traced_text(&out, s.call_tree, i);
		traced_line(&out, s.call_tree, i);
	}
	if (s.modules && s.call_tree->columns && annotate_samples(&annotation, &s, &one, &err) == 0)
		annotate_free(&annotation);
	text_free(&out);
	samples_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const char *const fields[] = { "trace", "trace_fields" };
	const struct samples_options plain = { .filter = SAMPLES_ALL,
					       .nodes_max = 100,
					       .symfs = "/nowhere" };
	const struct samples_options fine = { .filter = SAMPLES_ALL,
					      .detail = SAMPLES_ADDRESS,
					      .lines = true,
					      .inlined = true,
					      .sample_log = true,
					      .trace = fields,
					      .n_trace = 2,
					      .trace_if_any = true,
					      .symfs = "/nowhere" };
	const struct samples_options counted = { .filter = SAMPLES_ALL,
						 .counted = true,
						 .symfs = "/nowhere" };
	const struct samples_options counted_fine = { .filter = SAMPLES_ALL,
						      .detail = SAMPLES_ADDRESS,
						      .flat = true,
						      .counted = true,
						      .symfs = "/nowhere" };
	const struct samples_options traced = { .filter = SAMPLES_ALL,
						.nodes_max = 20,
						.trace = fields,
						.n_trace = 2,
						.symfs = "/nowhere" };
	static int fd = -1;
	char path[64];

	if (fd < 0)
		fd = memfd_create("perfdata", MFD_CLOEXEC);
	must(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, bytes, n, 0) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	show(path, &plain, REPORT_COMM | REPORT_MODULE | REPORT_FUNCTION);
	show(path, &fine,
	     REPORT_TID | REPORT_MODULE | REPORT_FUNCTION | REPORT_LINE | REPORT_ADDRESS);
	if (memmem(bytes, n, "/bin", 4)) {
		show(path, &counted, REPORT_MODULE | REPORT_FUNCTION);
		show(path, &counted_fine, REPORT_MODULE | REPORT_FUNCTION | REPORT_ADDRESS);
	}
	if (memmem(bytes, n, "tracing", 7))
		show(path, &traced, REPORT_COMM | REPORT_TRACE);
	return 0;
}
