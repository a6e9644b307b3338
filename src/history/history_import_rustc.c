/* SPDX-License-Identifier: MIT */
/*
 * The SQLite file of rustc-perf: a value (pstat) for each series, artifact and collection. An
 * artifact is a commit of rustc, with its date, or a release without one.
 *
 * Source: rust-lang/rustc-perf, database/schema.md and database/src/pool/sqlite.rs.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/array.h"
#include "base/library.h"
#include "base/words.h"
#include "history/history_document.h"
#include "history/history_effort.h"
#include "history/history_import.h"
#include "history/history_place.h"

/* clang-format off */
#define FUNCTIONS(F) \
	F(sqlite3_close) F(sqlite3_column_double) F(sqlite3_column_int64) \
	F(sqlite3_column_text) F(sqlite3_column_type) F(sqlite3_db_config) F(sqlite3_errcode) F(sqlite3_errmsg) \
	F(sqlite3_exec) F(sqlite3_finalize) F(sqlite3_limit) F(sqlite3_open_v2) \
	F(sqlite3_prepare_v2) F(sqlite3_progress_handler) F(sqlite3_step)
/* clang-format on */
LIBRARY(sqlite, "libsqlite3.so.0", FUNCTIONS)

enum { VALUES_MAX = 4000000, TEXT_MAX = 8192 };

#define TABLES                                                                                     \
	"SELECT count(*) FROM sqlite_master m WHERE type = 'table' AND name IN"                    \
	" ('artifact', 'pstat', 'pstat_series') AND sql NOT LIKE 'CREATE VIRTUAL%'"                \
	" AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(m.name) WHERE hidden)"
#define ROWS(benchmark, metric)                                                                    \
	"SELECT p.aid, p.cid, a.name, a.date, " benchmark ", " metric ", p.value FROM pstat p"     \
	" JOIN pstat_series s ON s.id = p.series JOIN artifact a ON a.id = p.aid"                  \
	" ORDER BY p.aid, p.cid, p.series"
#define START "s.crate || ' ' || s.profile || ' ' || "

/* The newest format first. The name consists of the columns that identify a series there. */
static const char *const rows[] = {
	ROWS(START "s.scenario || ' ' || s.backend || ' ' || s.target || ' ' || s.frontend_threads",
	     "s.metric"),
	ROWS(START "s.scenario || ' ' || s.backend || ' ' || s.target", "s.metric"),
	ROWS(START "s.scenario || ' ' || s.backend", "s.metric"),
	ROWS(START "s.cache", "s.statistic"),
};

enum { AID, CID, NAME, DATE, BENCHMARK, METRIC, VALUE };

struct reader {
	sqlite3 *db;
	sqlite3_stmt *st;
	const char *path;
	const struct history_import *how;
	struct history_batch *to;
	struct history_effort effort;
	struct words words; /* the names, and the batch's copy of each by number */
	const char **kept;
	size_t room;
	int64_t aid, cid;
	size_t values;
	struct tare_error *err;
};

static int fail(struct reader *r)
{
	if (sqlite.sqlite3_errcode(r->db) == SQLITE_INTERRUPT)
		return tare_fail(r->err, EINVAL,
				 "%.200s: its tables have more values than fit into its size",
				 r->path);
	return tare_fail(r->err, EINVAL, "cannot read %.200s: %.150s", r->path,
			 sqlite.sqlite3_errmsg(r->db));
}

static int open_file(struct reader *r)
{
	char path[PATH_MAX];
	int64_t tables = 0;

	if (snprintf(path, sizeof(path), "%s%s", *r->path == '/' ? "" : "./", r->path) >=
	    (int)sizeof(path))
		return tare_fail(r->err, ENAMETOOLONG, "the name of the file is too long");
	if (history_place(r->path, r->err) < 0)
		return -EACCES;
	if (sqlite.sqlite3_open_v2(path, &r->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
				   NULL) != SQLITE_OK)
		return r->db ? fail(r) : tare_fail_nomem(r->err);
	sqlite.sqlite3_db_config(r->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite.sqlite3_limit(r->db, SQLITE_LIMIT_LENGTH, TEXT_MAX);
	sqlite.sqlite3_progress_handler(r->db, HISTORY_EFFORT_EACH, history_effort_step,
					&r->effort);
	if (sqlite.sqlite3_exec(r->db, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON",
				NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite.sqlite3_prepare_v2(r->db, TABLES, -1, &r->st, NULL) != SQLITE_OK)
		return fail(r);
	if (sqlite.sqlite3_step(r->st) == SQLITE_ROW)
		tables = sqlite.sqlite3_column_int64(r->st, 0);
	sqlite.sqlite3_finalize(r->st);
	r->st = NULL;
	for (size_t i = 0; tables == 3 && !r->st && i < ARRAY_SIZE(rows); i++)
		sqlite.sqlite3_prepare_v2(r->db, rows[i], -1, &r->st, NULL);
	if (r->st)
		return 0;
	tare_fail(r->err, EINVAL, "%.200s is not a database of rustc-perf", r->path);
	tare_hint(r->err, "to import another history of tare: tare history export --json there");
	return -EINVAL;
}

/* Each name once: a hostile file has few, and very many rows with them. */
static const char *keep(struct reader *r, int column, size_t most)
{
	const char *s = (const char *)sqlite.sqlite3_column_text(r->st, column);
	size_t known = r->words.n;
	uint32_t number = s && *s && strlen(s) <= most ? words_add(&r->words, s, strlen(s))
						       : WORDS_NONE;

	if (number == WORDS_NONE ||
	    !array_reserve(&r->kept, &r->room, r->words.n, sizeof(*r->kept)))
		return NULL;
	if (r->words.n > known)
		r->kept[number] = arena_string(&r->to->strings, s, strlen(s));
	return r->kept[number];
}

/* The measurement of a row: the previous row's, or a new one. */
static struct history_run *run_of(struct reader *r)
{
	int64_t aid = sqlite.sqlite3_column_int64(r->st, AID),
		cid = sqlite.sqlite3_column_int64(r->st, CID);
	struct history_run *run = r->values && aid == r->aid && cid == r->cid
		? &r->to->run[r->to->n - 1]
		: NULL;

	r->aid = aid;
	r->cid = cid;
	if (run)
		return run;
	run = history_add_run(r->to);
	if (!run)
		return NULL;
	run->commit = (struct history_commit){ .name = keep(r, NAME, HISTORY_NAME_MAX),
					       .parent = "",
					       .subject = "",
					       .time = sqlite.sqlite3_column_int64(r->st, DATE) };
	history_digest_begin(&run->digest);
	history_digest_add(&run->digest, "rustc-perf", 11);
	history_digest_add(&run->digest, &cid, sizeof(cid));
	return run;
}

static int take_row(struct reader *r)
{
	double v = sqlite.sqlite3_column_double(r->st, VALUE);
	struct history_number n = { .whole = v >= 0 && v <= 0x1p53 && v == floor(v) };
	struct history_series s = { .benchmark = keep(r, BENCHMARK, HISTORY_NAME_MAX),
				    .event = keep(r, METRIC, HISTORY_NAME_MAX),
				    .unit = "",
				    .region = "" };
	struct history_run *run = run_of(r);
	struct history_result *to = run ? history_add_result(run) : NULL;

	if (!to)
		return tare_fail_nomem(r->err);
	n.count = n.whole ? (uint64_t)v : 0;
	n.real = n.whole ? 0 : v;
	*to = history_imported(&s, "rustc-perf", &n, r->how);
	if (!run->commit.name || !to->series.benchmark || !to->series.event || !isfinite(v))
		return tare_fail(r->err, EINVAL, "%.200s: value %zu has a wrong name or number",
				 r->path, r->values + 1);
	if (++r->values > VALUES_MAX)
		return tare_fail(r->err, E2BIG, "%.200s has more than %d values", r->path,
				 VALUES_MAX);
	history_digest_add(&run->digest, to->series.benchmark, strlen(to->series.benchmark) + 1);
	history_digest_add(&run->digest, to->series.event, strlen(to->series.event) + 1);
	history_digest_add(&run->digest, &v, sizeof(v));
	return 0;
}

int history_import_rustc(struct history_batch *to, const char *path,
			 const struct history_import *how, size_t *undated, struct tare_error *err)
{
	struct reader r = { .path = path, .how = how, .to = to, .err = err, .effort.path = path };
	size_t before = to->n;
	int ret, step = SQLITE_DONE;

	if (!sqlite_load())
		return library_missing(err, EOPNOTSUPP, "libsqlite3.so.0, which reads the file",
				       "apt install libsqlite3-0");
	ret = open_file(&r);
	while (ret == 0 && (step = sqlite.sqlite3_step(r.st)) == SQLITE_ROW)
		if (sqlite.sqlite3_column_type(r.st, DATE) == SQLITE_INTEGER)
			ret = take_row(&r);
		else
			++*undated;
	if (ret == 0 && step != SQLITE_DONE)
		ret = fail(&r);
	if (ret == 0 && !r.values)
		ret = tare_fail(err, EINVAL, "%.200s has no values of dated commits", path);
	for (size_t i = before; ret == 0 && i < to->n; i++)
		history_seal(&to->run[i]);
	sqlite.sqlite3_finalize(r.st);
	sqlite.sqlite3_close(r.db);
	words_free(&r.words);
	free(r.kept);
	return ret;
}
