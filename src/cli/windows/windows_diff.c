/* SPDX-License-Identifier: MIT */
/* tare windows diff: compares two runs by the count that divides their windows. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "windows/windows_csv.h"
#include "base/num.h"
#include "output/input.h"
#include "output/options/output_options.h"
#include "output/page_file.h"
#include "cli/windows/windows_diff.h"
#include "windows/windows_diff_view.h"

enum { EXIT_PARTED = 1 };

struct diff_options {
	uint64_t thread_a, thread_b;
	struct output_options out;
};

/* N, or N,M */
static int set_thread(void *to, const char *arg, struct tare_error *err)
{
	struct diff_options *o = to;
	const char *comma = strchr(arg, ',');
	char first[32] = "";
	int ret;

	strncat(first, arg, comma && comma - arg < 31 ? (size_t)(comma - arg) : 31);
	ret = num_parse(first, &o->thread_a, err);
	o->thread_b = o->thread_a;
	return ret < 0 || !comma ? ret : num_parse(comma + 1, &o->thread_b, err);
}

#define OPTIONS struct diff_options

static const struct option_row options[] = {
	{ 0, "thread", "N[,M]",
	  "compare thread N of A with N, or M, of B; default: the longest of each",
	  SPECIAL_ALL(set_thread) },
	OUTPUT_FORMAT_ROWS(out, "text or json", "text", "json"),
	BLOCK_ROW(out, output_file_rows),
	OUTPUT_HTML_ROW(out, "also write an HTML page to FILE"),
	{ 0 },
};

static const struct command diff = {
	.name = "windows diff",
	.about = "find where two runs diverge, by the counter of their windows",
	.args = "A.csv B.csv",
	.example =
		"  tare windows --format csv -o A.csv -- old; tare windows --format csv -o B.csv -- new\n"
		"  tare windows diff A.csv B.csv",
	.words = WORDS_ANYWHERE,
	.options = options,
};

static int to_page(struct page_file *p, const struct windows_diff *d, bool exact, char **files,
		   struct tare_error *err)
{
	struct text json = { 0 }, title = { 0 };
	int ret;

	windows_diff_json(&json, d, exact, files[0], files[1]);
	text_add(&title, "%s and %s", files[0], files[1]);
	json.failed |= title.failed;
	ret = page_file_document(p, "tare windows diff", title.s, &json, err);
	text_free(&title);
	text_free(&json);
	return ret;
}

int windows_diff_run(int argc, char **argv)
{
	struct diff_options o = { .thread_a = UINT64_MAX, .thread_b = UINT64_MAX };
	struct page_file page = PAGE_FILE_INIT;
	struct tare_error err = TARE_ERROR_INIT;
	struct windows *w[2] = { NULL, NULL };
	const struct windows_table *t[2] = { NULL, NULL };
	struct windows_diff *d = NULL;
	struct document out = { 0 };
	bool exact = true;
	int status, rest = options_parse(&diff, argc, argv, &o, &status), ret = 0;

	if (rest < 0)
		return status;
	if (argc - rest != 2) {
		ret = tare_fail(&err, EINVAL, "two files are required, but %d %s given",
				argc - rest, argc - rest == 1 ? "is" : "are");
		tare_hint(&err, "tare windows --format csv -o FILE -- COMMAND makes one");
	}
	input_note_all(argv + rest, (size_t)(argc - rest));
	if (ret == 0 && o.out.html)
		ret = page_file_open(&page, o.out.html, o.out.path, &err);
	for (int i = 0; ret == 0 && i < 2; i++) {
		bool one;

		ret = windows_csv_read(&w[i], argv[rest + i], &one, &err);
		exact &= one;
		if (ret == 0 && !(t[i] = windows_table(w[i], &err)))
			ret = -err.code;
	}
	if (ret == 0 && !(d = calloc(1, sizeof(*d))))
		ret = tare_fail_nomem(&err);
	if (ret == 0)
		ret = windows_diff(t[0], t[1], exact, o.thread_a, o.thread_b, d, &err);
	if (ret == 0)
		ret = document_open(&out, o.out.path ? o.out.path : "-", &err);
	if (ret == 0) {
		out.style.thousands = true;
		if (o.out.format == FORMAT_JSON)
			windows_diff_json(&out.out, d, exact, argv[rest], argv[rest + 1]);
		else
			windows_diff_text(&out.out, d, exact, argv[rest], argv[rest + 1],
					  &out.style);
		status = d->parted || d->length_a != d->length_b ? EXIT_PARTED : 0;
		ret = document_close(&out, &err);
	}
	if (ret == 0 && o.out.html)
		ret = to_page(&page, d, exact, argv + rest, &err);
	page_file_abandon(&page);
	if (ret < 0 && ret != -EPIPE)
		complain(&diff, &err, NULL);
	free(d);
	windows_free(w[0]);
	windows_free(w[1]);
	return ret == -EPIPE ? 128 + 13 : ret < 0 ? EXIT_CANNOT_MEASURE : status;
}
