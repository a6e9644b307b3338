/* SPDX-License-Identifier: MIT */
/*
 * A store that several machines share: a schema named tare in a PostgreSQL database, by libpq. An
 * advisory lock serializes writers, so that two of them cannot deadlock on rows. COPY writes values
 * to a temporary table. Numbers have the type numeric, which has all digits of counts and of
 * doubles.
 *
 * Source: PostgreSQL 15 documentation, 34 "libpq", 13.3.5 "Advisory Locks".
 */
#include <inttypes.h>
#include <libpq-fe.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/arena.h"
#include "base/array.h"
#include "base/library.h"
#include "base/num.h"
#include "base/set.h"
#include "history/history_pack.h"
#include "history/history_store.h"
#include "output/json.h"

/* clang-format off */
#define FUNCTIONS(F) \
	F(PQconnectdbParams) F(PQstatus) F(PQerrorMessage) F(PQfinish) F(PQhost) F(PQdb) \
	F(PQexec) F(PQexecParams) F(PQsendQueryParams) F(PQsetSingleRowMode) F(PQgetResult) \
	F(PQresultStatus) F(PQresultErrorField) F(PQclear) F(PQntuples) F(PQgetvalue) F(PQgetisnull) \
	F(PQcmdTuples) F(PQputCopyData) F(PQputCopyEnd) F(PQunescapeBytea) F(PQfreemem) \
	F(PQsetNoticeProcessor)
/* clang-format on */
LIBRARY(pq, "libpq.so.5", FUNCTIONS)

enum { NEWEST = 1, COPY_BYTES = 1 << 16, DIGEST_ROOM = 2 * HISTORY_DIGEST_BYTES + 8 };

/* A number that other programs are unlikely to lock. */
#define LOCK "SELECT pg_advisory_xact_lock(8386103129427304)"

#define SERIES_COLUMNS     "benchmark, event, unit, region"
#define CONDITIONS_COLUMNS "tare, engine, quality, isa, fixed, command, machine"
#define COMMIT_COLUMNS     "name, parent, subject, time, depth, dirty"
#define NAMES_IN_ORDER                                                                             \
	"benchmark COLLATE \"C\", event COLLATE \"C\", unit COLLATE \"C\", region COLLATE \"C\""

static const char create[] =
	"CREATE SCHEMA tare;"
	"CREATE TABLE tare.format (version int NOT NULL);"
	"CREATE TABLE tare.run (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
	" digest bytea NOT NULL UNIQUE, name text NOT NULL, parent text NOT NULL,"
	" subject text NOT NULL, time bigint NOT NULL, depth bigint NOT NULL,"
	" dirty boolean NOT NULL, added timestamptz NOT NULL DEFAULT now());"
	"CREATE TABLE tare.series (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
	" benchmark text NOT NULL, event text NOT NULL, unit text NOT NULL, region text NOT NULL,"
	" UNIQUE (benchmark, event, unit, region));"
	"CREATE TABLE tare.conditions (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
	" tare text NOT NULL, engine text NOT NULL, quality text NOT NULL, isa text NOT NULL,"
	" fixed text NOT NULL, command text NOT NULL, machine text NOT NULL,"
	" UNIQUE (tare, engine, quality, isa, fixed, command, machine));"
	"CREATE TABLE tare.value (series bigint NOT NULL REFERENCES tare.series,"
	" run bigint NOT NULL REFERENCES tare.run,"
	" conditions bigint NOT NULL REFERENCES tare.conditions,"
	" value numeric NOT NULL, least numeric NOT NULL, most numeric NOT NULL,"
	" runs int NOT NULL, PRIMARY KEY (series, run));"
	"CREATE INDEX ON tare.value (run);"
	"CREATE TABLE tare.verdict (run bigint PRIMARY KEY REFERENCES tare.run ON DELETE CASCADE,"
	" verdict text NOT NULL, why text NOT NULL);"
	"CREATE TABLE tare.functions (run bigint PRIMARY KEY REFERENCES tare.run ON DELETE CASCADE,"
	" unpacked bigint NOT NULL, packed bytea NOT NULL);"
	"INSERT INTO tare.format VALUES (1)";

static const char receive[] =
	"CREATE TEMP TABLE incoming (digest bytea, name text, parent text, subject text,"
	" time bigint, depth bigint, dirty boolean, benchmark text, event text, unit text,"
	" region text, tare text, engine text, quality text, isa text, fixed text, command text,"
	" machine text, runs int, value numeric, least numeric, most numeric) ON COMMIT DROP";

/* In this order, after COPY. */
static const char *const take_in[] = {
	"DELETE FROM incoming USING tare.run WHERE run.digest = incoming.digest",
	"INSERT INTO tare.run (digest, " COMMIT_COLUMNS ")"
	" SELECT DISTINCT digest, " COMMIT_COLUMNS " FROM incoming",
	"INSERT INTO tare.series (" SERIES_COLUMNS ") SELECT DISTINCT " SERIES_COLUMNS
	" FROM incoming ON CONFLICT DO NOTHING",
	"INSERT INTO tare.conditions (" CONDITIONS_COLUMNS ") SELECT DISTINCT " CONDITIONS_COLUMNS
	" FROM incoming ON CONFLICT DO NOTHING",
	"INSERT INTO tare.value (series, run, conditions, runs, value, least, most)"
	" SELECT s.id, r.id, c.id, i.runs, i.value, i.least, i.most FROM incoming i"
	" JOIN tare.run r ON r.digest = i.digest"
	" JOIN tare.series s ON (s.benchmark, s.event, s.unit, s.region) ="
	" (i.benchmark, i.event, i.unit, i.region)"
	" JOIN tare.conditions c ON"
	" (c.tare, c.engine, c.quality, c.isa, c.fixed, c.command, c.machine) ="
	" (i.tare, i.engine, i.quality, i.isa, i.fixed, i.command, i.machine)",
};
enum { TAKE_RUNS = 1 };

static const char list_names[] =
	"SELECT id, " SERIES_COLUMNS " FROM tare.series s WHERE EXISTS"
	" (SELECT 1 FROM tare.value v WHERE v.series = s.id) ORDER BY " NAMES_IN_ORDER;
static const char list_last[] =
	"SELECT s.id, " SERIES_COLUMNS ", n, " COMMIT_COLUMNS ", v.value FROM tare.series s"
	" JOIN (SELECT series, count(*) AS n, max(run) AS last FROM tare.value GROUP BY series) a"
	" ON a.series = s.id"
	" JOIN tare.value v ON v.series = s.id AND v.run = last"
	" JOIN tare.run r ON r.id = last ORDER BY " NAMES_IN_ORDER;
static const char groups_of[] =
	"SELECT id, " CONDITIONS_COLUMNS " FROM tare.conditions WHERE id IN"
	" (SELECT conditions FROM tare.value WHERE series = $1) ORDER BY id";
static const char points_of[] =
	"SELECT conditions, " COMMIT_COLUMNS ", runs, value, least, most, r.id, digest"
	" FROM tare.value v JOIN tare.run r ON r.id = v.run WHERE series = $1"
	" ORDER BY time, depth, dirty, r.id";
static const char finding_of[] = "SELECT verdict, why, unpacked, packed FROM tare.run r"
				 " LEFT JOIN tare.verdict v ON v.run = r.id"
				 " LEFT JOIN tare.functions f ON f.run = r.id WHERE digest = $1";

struct history_store {
	PGconn *db;
	char name[200]; /* for messages, without a password */
	uint64_t wait_ns;
};

/* ---- errors ---- */

/* The first line of the server's message. */
static const char *said(const struct history_store *s, char line[200])
{
	const char *all = pq.PQerrorMessage(s->db);

	snprintf(line, 200, "%.*s", (int)strcspn(all, "\n"), all);
	return line;
}

static int fail(struct history_store *s, const PGresult *r, struct tare_error *err)
{
	static const struct {
		const char *state;
		int code;
	} rows[] = { { "55P03", EBUSY },  /* lock_not_available */
		     { "53100", ENOSPC }, /* disk_full */
		     { "42501", EACCES }, /* insufficient_privilege */
		     { "25006", EROFS } };
	const char *state = r ? pq.PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
	int code = EIO;
	char line[200];

	for (size_t i = 0; state && i < ARRAY_SIZE(rows); i++)
		if (!strcmp(state, rows[i].state))
			code = rows[i].code;
	if (code == EBUSY) {
		tare_fail(err, EBUSY, "%.150s is in use by another program; waited %g s", s->name,
			  (double)s->wait_ns / 1e9);
		tare_hint(err, "--wait TIME waits longer");
		return -EBUSY;
	}
	if (pq.PQstatus(s->db) == CONNECTION_OK)
		return tare_fail(err, code, "%.150s: %s", s->name, said(s, line));
	tare_fail(err, ECONNRESET, "the connection to %.150s was lost: %s", s->name, said(s, line));
	tare_hint(err, "repeat it: measurements that were stored are not stored twice");
	return -ECONNRESET;
}

static int damaged(const struct history_store *s, struct tare_error *err)
{
	return tare_fail(err, EINVAL, "%.150s is damaged: a value has a wrong type", s->name);
}

/* ---- statements ---- */

/* SQL statements without parameters, or one with. *out (may be NULL): the rows; clear it. */
static int query(struct history_store *s, const char *words, int n, const char *const *values,
		 PGresult **out, struct tare_error *err)
{
	PGresult *r = n ? pq.PQexecParams(s->db, words, n, NULL, values, NULL, NULL, 0)
			: pq.PQexec(s->db, words);
	ExecStatusType status = pq.PQresultStatus(r);
	int ret = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0 : fail(s, r, err);

	if (ret == 0 && out)
		*out = r;
	else
		pq.PQclear(r);
	return ret;
}

static int exec(struct history_store *s, const char *words, struct tare_error *err)
{
	return query(s, words, 0, NULL, NULL, err);
}

/* The number of rows that a statement changed. */
static int change(struct history_store *s, const char *words, int n, const char *const *values,
		  uint64_t *rows, struct tare_error *err)
{
	PGresult *r = NULL;
	int ret = query(s, words, n, values, &r, err);

	*rows = 0;
	if (ret == 0)
		num_parse(pq.PQcmdTuples(r), rows, NULL);
	pq.PQclear(r);
	return ret;
}

static void digest_words(char out[DIGEST_ROOM], const struct history_digest *d)
{
	int at = sprintf(out, "\\x");

	for (size_t i = 0; i < HISTORY_DIGEST_BYTES; i++)
		at += sprintf(out + at, "%02x", d->byte[i]);
}

/* ---- values of rows ---- */

static const char *text_of(const PGresult *r, int column, void **strings)
{
	const char *text = pq.PQgetvalue(r, 0, column);

	return arena_string(strings, text, strlen(text));
}

static int64_t id_of(const PGresult *r, int row, int column)
{
	return strtoll(pq.PQgetvalue(r, row, column), NULL, 10);
}

static bool number_of(const PGresult *r, int column, struct history_number *out)
{
	const char *digits = pq.PQgetvalue(r, 0, column);
	char *end;

	*out = (struct history_number){ .whole = true };
	if (num_parse(digits, &out->count, NULL) == 0)
		return true;
	out->whole = false;
	out->real = strtod(digits, &end);
	return *digits && !*end && isfinite(out->real);
}

static bool commit_of(const PGresult *r, int column, struct history_commit *c, void **strings)
{
	c->name = text_of(r, column, strings);
	c->parent = text_of(r, column + 1, strings);
	c->subject = text_of(r, column + 2, strings);
	c->time = id_of(r, 0, column + 3);
	c->depth = (uint64_t)id_of(r, 0, column + 4);
	c->dirty = *pq.PQgetvalue(r, 0, column + 5) == 't';
	return c->name && c->parent && c->subject;
}

static bool series_of(const PGresult *r, int column, struct history_series *to, void **strings)
{
	to->benchmark = text_of(r, column, strings);
	to->event = text_of(r, column + 1, strings);
	to->unit = text_of(r, column + 2, strings);
	to->region = text_of(r, column + 3, strings);
	return to->benchmark && to->event && to->unit && to->region;
}

/* Calls take() for each row, with the row as row 0. Only one row is in memory at a time. */
static int each_row(struct history_store *s, const char *words, int n, const char *const *values,
		    int (*take)(void *with, const PGresult *r, struct tare_error *err), void *with,
		    struct tare_error *err)
{
	PGresult *r;
	int ret = 0;

	if (!pq.PQsendQueryParams(s->db, words, n, NULL, values, NULL, NULL, 0) ||
	    !pq.PQsetSingleRowMode(s->db))
		return fail(s, NULL, err);
	while ((r = pq.PQgetResult(s->db))) {
		ExecStatusType status = pq.PQresultStatus(r);

		if (ret == 0 && status == PGRES_SINGLE_TUPLE)
			ret = take(with, r, err);
		else if (ret == 0 && status != PGRES_TUPLES_OK)
			ret = fail(s, r, err);
		pq.PQclear(r);
	}
	return ret;
}

/* ---- opening ---- */

static int ask_number(struct history_store *s, const char *words, int64_t *out,
		      struct tare_error *err)
{
	PGresult *r = NULL;
	int ret = query(s, words, 0, NULL, &r, err);

	*out = ret == 0 && pq.PQntuples(r) ? id_of(r, 0, 0) : 0;
	pq.PQclear(r);
	return ret;
}

/* *version: 0 if there is no history yet. */
static int check_schema(struct history_store *s, int64_t *version, struct tare_error *err)
{
	int64_t there = 0, ours = 0;
	int ret = ask_number(s, "SELECT count(*) FROM pg_namespace WHERE nspname = 'tare'", &there,
			     err);

	*version = 0;
	if (ret == 0 && there)
		ret = ask_number(s, "SELECT (to_regclass('tare.format') IS NOT NULL)::int", &ours,
				 err);
	if (ret < 0 || !there)
		return ret;
	if (ours)
		ret = ask_number(s, "SELECT version FROM tare.format", version, err);
	if (ret == 0 && *version > NEWEST) {
		tare_fail(err, EINVAL, "%.150s is of a newer version of tare (format %" PRId64 ")",
			  s->name, *version);
		tare_hint(err, "update tare");
		return -EINVAL;
	}
	if (ret == 0 && *version != NEWEST) {
		tare_fail(err, EINVAL, "%.150s has a schema tare that is not a history", s->name);
		tare_hint(err, "name another database");
		return -EINVAL;
	}
	return ret;
}

static int prepare_to_write(struct history_store *s, struct tare_error *err)
{
	int64_t version;
	int ret = exec(s, "BEGIN", err);

	if (ret == 0)
		ret = exec(s, LOCK, err);
	if (ret == 0)
		ret = check_schema(s, &version, err);
	if (ret == 0 && !version)
		ret = exec(s, create, err);
	return ret == 0 ? exec(s, "COMMIT", err) : ret;
}

/* All reads of a command see the same state. */
static int prepare_to_read(struct history_store *s, struct tare_error *err)
{
	int64_t version;
	int ret = exec(s, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err);

	if (ret == 0)
		ret = check_schema(s, &version, err);
	if (ret < 0 || version)
		return ret;
	tare_fail(err, ENOENT, "there is no history in %.150s", s->name);
	tare_hint(err, "tare history add DOCUMENT... creates it");
	return -ENOENT;
}

static void close_store(struct history_store *s)
{
	if (!s)
		return;
	pq.PQfinish(s->db);
	free(s);
}

static void ignore_notice(void *with, const char *message)
{
	(void)with;
	(void)message;
}

static int connect_to(struct history_store *s, const char *where, struct tare_error *err)
{
	char seconds[24], words[60], line[200];
	const char *const keys[] = { "dbname", "connect_timeout", "client_encoding",
				     "fallback_application_name", NULL };
	const char *const values[] = { where, seconds, "UTF8", "tare", NULL };

	snprintf(seconds, sizeof(seconds), "%" PRIu64, s->wait_ns / 1000000000 + 2);
	s->db = pq.PQconnectdbParams(keys, values, 1);
	if (!s->db)
		return tare_fail_nomem(err);
	if (pq.PQstatus(s->db) != CONNECTION_OK) {
		tare_fail(err, ECONNREFUSED, "no connection to the history: %s", said(s, line));
		tare_hint(err, "--db postgresql://USER@HOST/DATABASE; the password in ~/.pgpass");
		return -ECONNREFUSED;
	}
	snprintf(s->name, sizeof(s->name), "the database %.80s on %.80s", pq.PQdb(s->db),
		 pq.PQhost(s->db));
	pq.PQsetNoticeProcessor(s->db, ignore_notice, NULL);
	snprintf(words, sizeof(words), "SET lock_timeout = %" PRIu64,
		 s->wait_ns / 1000000 < INT32_MAX ? s->wait_ns / 1000000 + 1 : 0);
	return exec(s, words, err);
}

static int open_store(struct history_store **out, const char *where, enum history_access access,
		      uint64_t wait_ns, struct tare_error *err)
{
	struct history_store *s;
	int ret;

	*out = NULL;
	if (!pq_load())
		return library_missing(err, EOPNOTSUPP, "libpq.so.5, which connects to PostgreSQL",
				       "apt install libpq5");
	s = calloc(1, sizeof(*s));
	if (!s)
		return tare_fail_nomem(err);
	s->wait_ns = wait_ns;
	ret = connect_to(s, where, err);
	if (ret == 0)
		ret = access == HISTORY_WRITE ? prepare_to_write(s, err) : prepare_to_read(s, err);
	if (ret < 0)
		close_store(s);
	else
		*out = s;
	return ret;
}

/* ---- adding ---- */

/* A field of COPY in text format. Source: sql-copy.html, "Text Format". */
static void put_field(struct text *out, const char *field)
{
	struct text valid = { 0 };

	text_add(out, "%s", out->len && out->s[out->len - 1] != '\n' ? "\t" : "");
	text_utf8(&valid, field);
	for (const char *c = valid.s ? valid.s : ""; *c; c++)
		text_add(out,
			 *c == '\\'           ? "\\\\"
				 : *c == '\t' ? "\\t"
				 : *c == '\n' ? "\\n"
				 : *c == '\r' ? "\\r"
					      : "%c",
			 *c);
	out->failed |= valid.failed;
	text_free(&valid);
}

static void put_result(struct text *out, const struct history_run *run,
		       const struct history_result *r)
{
	const struct history_commit *c = &run->commit;
	const struct history_conditions *o = &r->conditions;
	const char *const names[] = { r->series.benchmark, r->series.event, r->series.unit,
				      r->series.region,    o->tare,         o->engine,
				      o->quality,          o->isa,          o->fixed,
				      o->command,          o->machine };
	const struct history_number *const numbers[] = { &r->value, &r->least, &r->most };
	char digest[DIGEST_ROOM];

	digest_words(digest, &run->digest);
	put_field(out, digest);
	put_field(out, c->name);
	put_field(out, c->parent);
	put_field(out, c->subject);
	text_add(out, "\t%" PRId64 "\t%" PRId64 "\t%c", c->time, (int64_t)c->depth,
		 c->dirty ? 't' : 'f');
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		put_field(out, names[i]);
	text_add(out, "\t%" PRIu64, r->runs);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		text_add(out, "\t");
		history_put_number(out, numbers[i]);
	}
	text_add(out, "\n");
}

static int send(struct history_store *s, struct text *rows, struct tare_error *err)
{
	int ret = rows->failed ? tare_fail_nomem(err) : 0;

	if (ret == 0 && rows->len && pq.PQputCopyData(s->db, rows->s, (int)rows->len) != 1)
		ret = fail(s, NULL, err);
	text_free(rows);
	return ret;
}

/* Each measurement once. */
static int send_all(struct history_store *s, const struct history_batch *b, struct tare_error *err)
{
	struct set seen = { 0 };
	struct text rows = { 0 };
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < b->n; i++) {
		const struct history_digest *d = &b->run[i].digest;

		if (set_find(&seen, d, sizeof(*d), sizeof(*d)) != SET_NONE)
			continue;
		if (set_add(&seen, d, sizeof(*d), sizeof(*d), NULL) == SET_NONE)
			ret = tare_fail_nomem(err);
		for (size_t k = 0; ret == 0 && k < b->run[i].n; k++) {
			put_result(&rows, &b->run[i], &b->run[i].result[k]);
			if (rows.failed || rows.len > COPY_BYTES)
				ret = send(s, &rows, err);
		}
	}
	if (ret == 0)
		ret = send(s, &rows, err);
	text_free(&rows);
	set_free(&seen);
	return ret;
}

static int copy_in(struct history_store *s, const struct history_batch *b, struct tare_error *err)
{
	PGresult *r = pq.PQexec(s->db, "COPY incoming FROM STDIN");
	int ret = pq.PQresultStatus(r) == PGRES_COPY_IN ? 0 : fail(s, r, err);

	pq.PQclear(r);
	if (ret < 0)
		return ret;
	ret = send_all(s, b, err);
	if (pq.PQputCopyEnd(s->db, ret < 0 ? "tare stopped" : NULL) != 1 && ret == 0)
		ret = fail(s, NULL, err);
	while ((r = pq.PQgetResult(s->db))) {
		if (ret == 0 && pq.PQresultStatus(r) != PGRES_COMMAND_OK)
			ret = fail(s, r, err);
		pq.PQclear(r);
	}
	return ret;
}

static int add_functions(struct history_store *s, const char *digest,
			 const struct history_finding *f, struct tare_error *err)
{
	unsigned char *packed = NULL;
	size_t n = 0, unpacked = 0;
	char size[24], *hex;
	int ret = history_pack(&packed, &n, &unpacked, f, err);

	hex = ret == 0 ? malloc(2 * n + 3) : NULL;
	if (ret == 0 && !hex)
		ret = tare_fail_nomem(err);
	if (ret == 0) {
		const char *const values[] = { digest, size, hex };

		strcpy(hex, "\\x");
		for (size_t i = 0; i < n; i++)
			sprintf(hex + 2 + 2 * i, "%02x", packed[i]);
		snprintf(size, sizeof(size), "%zu", unpacked);
		ret = query(s,
			    "INSERT INTO tare.functions (run, unpacked, packed)"
			    " SELECT id, $2, $3 FROM tare.run WHERE digest = $1"
			    " ON CONFLICT DO NOTHING",
			    ARRAY_SIZE(values), values, NULL, err);
	}
	free(hex);
	free(packed);
	return ret;
}

static int add_finding(struct history_store *s, const struct history_run *r, struct tare_error *err)
{
	const struct history_finding *f = &r->finding;
	char digest[DIGEST_ROOM];
	const char *const values[] = { digest, f->verdict, f->why ? f->why : "" };
	int ret = 0;

	digest_words(digest, &r->digest);
	if (f->verdict)
		ret = query(s,
			    "INSERT INTO tare.verdict (run, verdict, why)"
			    " SELECT id, $2, $3 FROM tare.run WHERE digest = $1"
			    " ON CONFLICT DO NOTHING",
			    ARRAY_SIZE(values), values, NULL, err);
	return ret == 0 && f->n ? add_functions(s, digest, f, err) : ret;
}

static int add(struct history_store *s, const struct history_batch *b, size_t *known,
	       struct tare_error *err)
{
	uint64_t rows = 0, runs = 0;
	int ret = exec(s, "BEGIN", err);

	*known = 0;
	if (ret == 0)
		ret = exec(s, LOCK, err);
	if (ret == 0)
		ret = exec(s, receive, err);
	if (ret == 0)
		ret = copy_in(s, b, err);
	for (size_t i = 0; ret == 0 && i < ARRAY_SIZE(take_in); i++) {
		ret = change(s, take_in[i], 0, NULL, &rows, err);
		runs = i == TAKE_RUNS ? rows : runs;
	}
	for (size_t i = 0; ret == 0 && i < b->n; i++)
		ret = add_finding(s, &b->run[i], err);
	ret = ret == 0 ? exec(s, "COMMIT", err) : ret;
	if (ret < 0)
		exec(s, "ROLLBACK", NULL);
	else
		*known = b->n - runs;
	return ret;
}

/* ---- reading ---- */

struct listing {
	struct history_store *s;
	struct history_list *out;
	bool last;
};

static int take_listed(void *with, const PGresult *r, struct tare_error *err)
{
	struct listing *l = with;
	struct history_list *out = l->out;
	struct history_listed *row;

	if (!array_reserve_zeroed(&out->row, &out->room, out->n + 1, sizeof(*out->row)))
		return tare_fail_nomem(err);
	row = &out->row[out->n];
	row->id = id_of(r, 0, 0);
	if (!series_of(r, 1, &row->series, &out->strings) ||
	    (l->last && !commit_of(r, 6, &row->commit, &out->strings)))
		return tare_fail_nomem(err);
	if (l->last)
		row->values = (uint64_t)id_of(r, 0, 5);
	if (l->last && !number_of(r, 12, &row->value))
		return damaged(l->s, err);
	out->n++;
	return 0;
}

static int list(struct history_store *s, enum history_detail detail, struct history_list *out,
		struct tare_error *err)
{
	struct listing l = { s, out, detail == HISTORY_LAST };

	*out = (struct history_list){ 0 };
	return each_row(s, l.last ? list_last : list_names, 0, NULL, take_listed, &l, err);
}

struct reading {
	struct history_store *s;
	struct history_values *out;
	int64_t *ids; /* of the groups, in their order */
	size_t room;
};

static int take_group(void *with, const PGresult *r, struct tare_error *err)
{
	struct reading *to = with;
	struct history_values *out = to->out;
	struct history_conditions *c;
	const char **parts[7];

	if (!array_reserve(&to->ids, &to->room, out->groups + 1, sizeof(*to->ids)) ||
	    !array_reserve_zeroed(&out->group, &out->group_room, out->groups + 1,
				  sizeof(*out->group)))
		return tare_fail_nomem(err);
	c = &out->group[out->groups].conditions;
	memcpy(parts,
	       (const char **[]){ &c->tare, &c->engine, &c->quality, &c->isa, &c->fixed,
				  &c->command, &c->machine },
	       sizeof(parts));
	to->ids[out->groups++] = id_of(r, 0, 0);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!(*parts[i] = text_of(r, (int)i + 1, &out->strings)))
			return tare_fail_nomem(err);
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int take_point(void *with, const PGresult *r, struct tare_error *err)
{
	struct reading *to = with;
	struct history_values *out = to->out;
	int64_t id = id_of(r, 0, 0), runs = id_of(r, 0, 7);
	const int64_t *found = bsearch(&id, to->ids, out->groups, sizeof(id), compare_ids);
	struct history_point *p;
	unsigned char *digest;
	size_t n = 0;

	if (!array_reserve_zeroed(&out->point, &out->room, out->n + 1, sizeof(*out->point)))
		return tare_fail_nomem(err);
	p = &out->point[out->n];
	if (!commit_of(r, 1, &p->commit, &out->strings))
		return tare_fail_nomem(err);
	p->runs = (uint64_t)runs;
	if (!found || runs < 1 || !number_of(r, 8, &p->value) || !number_of(r, 9, &p->least) ||
	    !number_of(r, 10, &p->most))
		return damaged(to->s, err);
	p->group = (size_t)(found - to->ids);
	digest = pq.PQunescapeBytea((const unsigned char *)pq.PQgetvalue(r, 0, 12), &n);
	if (digest && n == HISTORY_DIGEST_BYTES)
		memcpy(p->digest.byte, digest, n);
	pq.PQfreemem(digest);
	if (n != HISTORY_DIGEST_BYTES)
		return damaged(to->s, err);
	out->n++;
	return 0;
}

static int values(struct history_store *s, const struct history_listed *of,
		  struct history_values *out, struct tare_error *err)
{
	struct reading to = { .s = s, .out = out };
	char id[24];
	const char *const with[] = { id };
	int ret;

	*out = (struct history_values){ .series = of->series };
	snprintf(id, sizeof(id), "%" PRId64, of->id);
	ret = each_row(s, groups_of, 1, with, take_group, &to, err);
	if (ret == 0)
		ret = each_row(s, points_of, 1, with, take_point, &to, err);
	free(to.ids);
	return ret;
}

static int take_finding(struct history_store *s, const PGresult *r, struct history_finding *out,
			void **strings, struct tare_error *err)
{
	unsigned char *packed;
	size_t n = 0;
	int ret;

	if (!pq.PQgetisnull(r, 0, 0)) {
		out->verdict = text_of(r, 0, strings);
		out->why = text_of(r, 1, strings);
		if (!out->verdict || !out->why)
			return tare_fail_nomem(err);
	}
	if (pq.PQgetisnull(r, 0, 3))
		return 0;
	packed = pq.PQunescapeBytea((const unsigned char *)pq.PQgetvalue(r, 0, 3), &n);
	if (!packed)
		return tare_fail_nomem(err);
	ret = history_unpack(out, strings, packed, n, (size_t)id_of(r, 0, 2), err);
	pq.PQfreemem(packed);
	if (ret < 0)
		tare_prefix(err, "%.150s: ", s->name);
	return ret;
}

static int finding(struct history_store *s, const struct history_digest *measurement,
		   struct history_finding *out, void **strings, struct tare_error *err)
{
	char digest[DIGEST_ROOM];
	const char *const with[] = { digest };
	PGresult *r = NULL;
	int ret;

	*out = (struct history_finding){ 0 };
	digest_words(digest, measurement);
	ret = query(s, finding_of, 1, with, &r, err);
	if (ret == 0 && pq.PQntuples(r))
		ret = take_finding(s, r, out, strings, err);
	pq.PQclear(r);
	return ret;
}

/* ---- removing ---- */

struct doomed {
	const struct history_prune *what;
	int64_t *run; /* owned; in the order of the commits */
	bool *kept;   /* owned */
	size_t n, run_room, kept_room;
};

/* A row of points_of. */
static int take_doomed(void *with, const PGresult *r, struct tare_error *err)
{
	struct doomed *d = with;
	const struct history_prune *what = d->what;

	if (!array_reserve(&d->run, &d->run_room, d->n + 1, sizeof(*d->run)) ||
	    !array_reserve(&d->kept, &d->kept_room, d->n + 1, sizeof(*d->kept)))
		return tare_fail_nomem(err);
	d->run[d->n] = id_of(r, 0, 11);
	d->kept[d->n++] = id_of(r, 0, 4) >= what->before ||
		(what->kept && what->kept(what->with, pq.PQgetvalue(r, 0, 1)));
	return 0;
}

static int prune_series(struct history_store *s, const struct history_listed *of,
			const struct history_prune *what, uint64_t *removed, struct tare_error *err)
{
	struct doomed d = { .what = what };
	struct text runs = { 0 };
	char id[24];
	const char *const one[] = { id };
	int ret;

	snprintf(id, sizeof(id), "%" PRId64, of->id);
	ret = each_row(s, points_of, 1, one, take_doomed, &d, err);
	*removed = 0;
	for (size_t i = 0; ret == 0 && i < d.n && d.n - i > what->keep; i++)
		if (!d.kept[i])
			text_add(&runs, "%s%" PRId64, (*removed)++ ? "," : "{", d.run[i]);
	text_add(&runs, "}");
	if (ret == 0 && runs.failed)
		ret = tare_fail_nomem(err);
	if (ret == 0 && *removed && !what->dry) {
		const char *const with[] = { id, runs.s };

		ret = change(s,
			     "DELETE FROM tare.value"
			     " WHERE series = $1 AND run = ANY($2::bigint[])",
			     ARRAY_SIZE(with), with, removed, err);
	}
	text_free(&runs);
	free(d.run);
	free(d.kept);
	return ret;
}

static int remove_unused(struct history_store *s, struct history_pruned *out,
			 struct tare_error *err)
{
	uint64_t unused;
	int ret = change(s,
			 "DELETE FROM tare.series WHERE id NOT IN (SELECT series FROM tare.value)",
			 0, NULL, &out->series, err);

	if (ret == 0)
		ret = change(s, "DELETE FROM tare.run WHERE id NOT IN (SELECT run FROM tare.value)",
			     0, NULL, &out->runs, err);
	if (ret == 0)
		ret = change(s,
			     "DELETE FROM tare.conditions"
			     " WHERE id NOT IN (SELECT conditions FROM tare.value)",
			     0, NULL, &unused, err);
	return ret;
}

static int prune(struct history_store *s, const struct history_prune *what,
		 struct history_pruned *out, struct tare_error *err)
{
	int ret = what->dry ? 0 : exec(s, "BEGIN", err);

	if (ret == 0 && !what->dry)
		ret = exec(s, LOCK, err);
	for (size_t i = 0; ret == 0 && i < what->n; i++) {
		ret = prune_series(s, &what->series[i], what, &out->of[i], err);
		out->values += out->of[i];
	}
	if (what->dry)
		return ret;
	if (ret == 0 && out->values)
		ret = remove_unused(s, out, err);
	ret = ret == 0 ? exec(s, "COMMIT", err) : ret;
	if (ret < 0)
		exec(s, "ROLLBACK", NULL);
	return ret;
}

const struct history_store_kind history_postgres = {
	.name = "postgresql",
	.open = open_store,
	.add = add,
	.list = list,
	.values = values,
	.finding = finding,
	.prune = prune,
	.close = close_store,
};
