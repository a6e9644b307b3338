/* SPDX-License-Identifier: MIT */
/*
 * Files of other tools for a history: each value has a name and a commit, and is finite; a second
 * reading gives the same measurements.
 */
#include <math.h>
#include "fuzz.h"
#include "history/history_import.h"

static bool is_sqlite(const char *text, size_t n)
{
	return n >= 16 && !memcmp(text, "SQLite format 3", 16);
}

/* The file of rustc-perf. */
static const char *written(const char *text, size_t n)
{
	static char folder[100], path[120];
	const char *tmp = getenv("TMPDIR");
	FILE *f;

	if (!*folder) {
		snprintf(folder, sizeof(folder), "%.70s/import-XXXXXX", tmp ? tmp : "/tmp");
		must(mkdtemp(folder));
		snprintf(path, sizeof(path), "%s/db", folder);
	}
	f = fopen(path, "w");
	must(f && fwrite(text, 1, n, f) == n && fclose(f) == 0);
	return path;
}

static int read_all(struct history_batch *b, const char *text, size_t n, bool named)
{
	const struct history_commit commit = { .name = "c", .parent = "", .subject = "" };
	const struct history_import how = { .commit = named ? &commit : NULL, .machine = "M" };
	struct tare_error err = TARE_ERROR_INIT;
	size_t undated = 0;
	int ret = is_sqlite(text, n)
		? history_import_rustc(b, written(text, n), &how, &undated, &err)
		: history_import_parse(b, text, n, "F", &how, &err);

	must(ret == 0 || err.what[0]);
	return ret;
}

static void check(const struct history_batch *b, const struct history_batch *again)
{
	must(b->n == again->n);
	for (size_t i = 0; i < b->n; i++) {
		const struct history_run *run = &b->run[i];

		must(run->commit.name[0] && run->commit.parent && run->commit.subject && run->n);
		must(!memcmp(&run->digest, &again->run[i].digest, sizeof(run->digest)));
		for (size_t k = 0; k < run->n; k++) {
			const struct history_result *r = &run->result[k];

			must(r->series.benchmark[0] && r->series.event[0] && r->runs);
			must(r->series.unit && r->series.region && r->conditions.engine);
			must(isfinite(history_real(&r->value)));
			must(isfinite(history_real(&r->least)) && isfinite(history_real(&r->most)));
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct history_batch b = { 0 }, again = { 0 };
	char *text = fuzz_text(bytes, n);
	bool named = n && bytes[n - 1] & 1;

	if (read_all(&b, text, n, named) == 0) {
		must(read_all(&again, text, n, named) == 0);
		check(&b, &again);
	}
	history_batch_free(&again);
	history_batch_free(&b);
	free(text);
	return 0;
}
