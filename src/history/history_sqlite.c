/* SPDX-License-Identifier: MIT */
/*
 * The store in a file, by SQLite: in WAL mode, so that readers do not wait for a writer, and with
 * synchronous=FULL, so that a committed transaction is on the disk. Whole numbers above 2^63-1 are
 * texts of digits, as SQLite's integers end there.
 *
 * Sources: sqlite.org, fileformat2.html (the header), wal.html, pragma.html.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/array.h"
#include "base/file.h"
#include "base/library.h"
#include "base/num.h"
#include "history/history_effort.h"
#include "history/history_pack.h"
#include "history/history_place.h"
#include "history/history_store.h"

/* clang-format off */
#define FUNCTIONS(F) \
	F(sqlite3_bind_blob) F(sqlite3_bind_double) F(sqlite3_bind_int64) F(sqlite3_bind_text) \
	F(sqlite3_busy_timeout) F(sqlite3_changes) F(sqlite3_close) F(sqlite3_column_blob) F(sqlite3_column_bytes) \
	F(sqlite3_column_double) F(sqlite3_column_int64) F(sqlite3_column_text) \
	F(sqlite3_column_type) F(sqlite3_db_config) F(sqlite3_errmsg) F(sqlite3_exec) F(sqlite3_extended_errcode) \
	F(sqlite3_finalize) F(sqlite3_last_insert_rowid) F(sqlite3_limit) F(sqlite3_open_v2) F(sqlite3_prepare_v2) F(sqlite3_progress_handler) \
	F(sqlite3_reset) F(sqlite3_step) F(sqlite3_system_errno)
/* clang-format on */
LIBRARY(sqlite, "libsqlite3.so.0", FUNCTIONS)

enum {
	APPLICATION_ID = 0x74617265, /* "tare" */
	HEADER_BYTES = 100,
	VERSION_AT = 60, /* user_version, big-endian */
	APPLICATION_AT = 68,
	NAMES_MAX = 4096,   /* bytes of a path */
	TEXT_MAX = 1 << 20, /* bytes of a text or a row */
};

/* Migrations: the script at index n leads from version n to n + 1. */
static const char *const versions[] = {
	"CREATE TABLE run (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE,"
	" name TEXT NOT NULL, parent TEXT NOT NULL, subject TEXT NOT NULL, time INTEGER NOT NULL,"
	" depth INTEGER NOT NULL, dirty INTEGER NOT NULL, added INTEGER NOT NULL);"
	"CREATE TABLE series (id INTEGER PRIMARY KEY, benchmark TEXT NOT NULL,"
	" event TEXT NOT NULL, unit TEXT NOT NULL, region TEXT NOT NULL,"
	" UNIQUE (benchmark, event, unit, region));"
	"CREATE TABLE conditions (id INTEGER PRIMARY KEY, tare TEXT NOT NULL,"
	" engine TEXT NOT NULL, quality TEXT NOT NULL, isa TEXT NOT NULL, fixed TEXT NOT NULL,"
	" command TEXT NOT NULL, machine TEXT NOT NULL,"
	" UNIQUE (tare, engine, quality, isa, fixed, command, machine));"
	"CREATE TABLE value (series INTEGER NOT NULL REFERENCES series (id),"
	" run INTEGER NOT NULL REFERENCES run (id),"
	" conditions INTEGER NOT NULL REFERENCES conditions (id),"
	" value NOT NULL, least NOT NULL, most NOT NULL, runs INTEGER NOT NULL,"
	" PRIMARY KEY (series, run)) WITHOUT ROWID;",
	"CREATE TABLE verdict (run INTEGER PRIMARY KEY REFERENCES run (id), verdict TEXT NOT NULL,"
	" why TEXT NOT NULL);"
	"CREATE TABLE functions (run INTEGER PRIMARY KEY REFERENCES run (id),"
	" unpacked INTEGER NOT NULL, packed BLOB NOT NULL);",
};

enum { NEWEST = ARRAY_SIZE(versions), WITH_FINDINGS = 2 };

enum statement {
	ADD_RUN,
	ADD_SERIES,
	FIND_SERIES,
	ADD_CONDITIONS,
	FIND_CONDITIONS,
	ADD_VALUE,
	FIND_RUN,
	ADD_VERDICT,
	ADD_FUNCTIONS,
	FINDING,
	LIST_NAMES,
	LIST_LAST,
	CONDITIONS,
	VALUES,
	REMOVE_VALUE,
	REMOVE_SERIES,
	REMOVE_RUNS,
	REMOVE_VERDICTS,
	REMOVE_FUNCTIONS,
	REMOVE_CONDITIONS,
	STATEMENTS,
};

#define SERIES_COLUMNS     "benchmark, event, unit, region"
#define CONDITIONS_COLUMNS "tare, engine, quality, isa, fixed, command, machine"

static const char *const sql[STATEMENTS] = {
	[ADD_RUN] = "INSERT OR IGNORE INTO run"
		    " (digest, name, parent, subject, time, depth, dirty, added)"
		    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	[ADD_SERIES] = "INSERT OR IGNORE INTO series (" SERIES_COLUMNS ") VALUES (?, ?, ?, ?)",
	[FIND_SERIES] = "SELECT id FROM series"
			" WHERE (" SERIES_COLUMNS ") = (?, ?, ?, ?)",
	[ADD_CONDITIONS] = "INSERT OR IGNORE INTO conditions (" CONDITIONS_COLUMNS ")"
			   " VALUES (?, ?, ?, ?, ?, ?, ?)",
	[FIND_CONDITIONS] = "SELECT id FROM conditions"
			    " WHERE (" CONDITIONS_COLUMNS ") = (?, ?, ?, ?, ?, ?, ?)",
	[ADD_VALUE] = "INSERT INTO value (series, run, conditions, runs, value, least, most)"
		      " VALUES (?, ?, ?, ?, ?, ?, ?)",
	[FIND_RUN] = "SELECT id FROM run WHERE digest = ?",
	[ADD_VERDICT] = "INSERT OR IGNORE INTO verdict (run, verdict, why) VALUES (?, ?, ?)",
	[ADD_FUNCTIONS] = "INSERT OR IGNORE INTO functions (run, unpacked, packed)"
			  " VALUES (?, ?, ?)",
	[FINDING] = "SELECT verdict, why, unpacked, packed FROM run"
		    " LEFT JOIN verdict ON verdict.run = run.id"
		    " LEFT JOIN functions ON functions.run = run.id WHERE digest = ?",
	[LIST_NAMES] = "SELECT id, " SERIES_COLUMNS " FROM series WHERE EXISTS"
		       " (SELECT 1 FROM value WHERE series = id) ORDER BY " SERIES_COLUMNS,
	[LIST_LAST] =
		"SELECT series.id, " SERIES_COLUMNS ", n, name, parent, subject, time, depth,"
		" dirty, value.value FROM series"
		" JOIN (SELECT series, count(*) AS n, max(run) AS last FROM value GROUP BY series)"
		" AS all_of ON all_of.series = series.id"
		" JOIN value ON value.series = series.id AND value.run = last"
		" JOIN run ON run.id = last ORDER BY " SERIES_COLUMNS,
	[CONDITIONS] = "SELECT id, " CONDITIONS_COLUMNS " FROM conditions WHERE id IN"
		       " (SELECT conditions FROM value WHERE series = ?) ORDER BY id",
	[VALUES] =
		"SELECT conditions, name, parent, subject, time, depth, dirty, runs, value, least,"
		" most, run.id, digest FROM value JOIN run ON run.id = value.run WHERE series = ?"
		" ORDER BY time, depth, dirty, run.id",
	[REMOVE_VALUE] = "DELETE FROM value WHERE series = ? AND run = ?",
	[REMOVE_SERIES] = "DELETE FROM series WHERE id NOT IN (SELECT series FROM value)",
	[REMOVE_RUNS] = "DELETE FROM run WHERE id NOT IN (SELECT run FROM value)",
	[REMOVE_VERDICTS] = "DELETE FROM verdict WHERE run NOT IN (SELECT id FROM run)",
	[REMOVE_FUNCTIONS] = "DELETE FROM functions WHERE run NOT IN (SELECT id FROM run)",
	[REMOVE_CONDITIONS] =
		"DELETE FROM conditions WHERE id NOT IN (SELECT conditions FROM value)",
};

struct history_store {
	sqlite3 *db;
	sqlite3_stmt *statement[STATEMENTS];
	const char *name;
	struct history_effort effort;
	uint64_t wait_ns;
	int64_t version; /* of the file; older ones are read as they are */
	bool asked;
	int64_t findings; /* if asked: whether there are any */
};

/* ---- errors ---- */

static int fail(struct history_store *s, struct tare_error *err)
{
	int code = sqlite.sqlite3_extended_errcode(s->db),
	    system = sqlite.sqlite3_system_errno(s->db);

	switch (code & 0xff) {
	case SQLITE_NOMEM:
		return tare_fail_nomem(err);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		tare_fail(err, EBUSY, "%.200s is in use by another program; waited %g s", s->name,
			  (double)s->wait_ns / 1e9);
		tare_hint(err, "--wait TIME waits longer");
		return -EBUSY;
	case SQLITE_FULL:
		return tare_fail(err, ENOSPC, "cannot write %.200s: %s", s->name, strerror(ENOSPC));
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		tare_fail(err, EINVAL, "%.200s is damaged: %.100s", s->name,
			  sqlite.sqlite3_errmsg(s->db));
		tare_hint(err, "sqlite3 FILE .recover saves what can be read");
		return -EINVAL;
	case SQLITE_INTERRUPT:
		return tare_fail(err, EINVAL,
				 "%.200s is damaged: it has more rows than fit into its size",
				 s->name);
	case SQLITE_READONLY:
		return tare_fail(err, EACCES, "cannot write %.200s: it is read-only", s->name);
	}
	if (system)
		return tare_fail(err, system, "cannot use %.200s: %s", s->name, strerror(system));
	return tare_fail(err, EIO, "cannot use %.200s: %.200s", s->name,
			 sqlite.sqlite3_errmsg(s->db));
}

static int damaged(struct history_store *s, struct tare_error *err)
{
	return tare_fail(err, EINVAL, "%.200s is damaged: a value has a wrong type", s->name);
}

static int exec(struct history_store *s, const char *words, struct tare_error *err)
{
	return sqlite.sqlite3_exec(s->db, words, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(s, err);
}

/* ---- statements ---- */

/* Ready for its first step; NULL on errors. */
static sqlite3_stmt *prepare(struct history_store *s, enum statement which, struct tare_error *err)
{
	sqlite3_stmt **st = &s->statement[which];

	if (!*st && sqlite.sqlite3_prepare_v2(s->db, sql[which], -1, st, NULL) != SQLITE_OK) {
		fail(s, err);
		return NULL;
	}
	sqlite.sqlite3_reset(*st);
	s->effort.steps = 0;
	return *st;
}

/* 1: a row; 0: the end. */
static int step(struct history_store *s, sqlite3_stmt *st, struct tare_error *err)
{
	int ret = sqlite.sqlite3_step(st);

	return ret == SQLITE_ROW ? 1 : ret == SQLITE_DONE ? 0 : fail(s, err);
}

/* A statement without rows. */
static int finish(struct history_store *s, sqlite3_stmt *st, struct tare_error *err)
{
	int ret = step(s, st, err);

	sqlite.sqlite3_reset(st);
	return ret;
}

static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
	sqlite.sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
}

static void bind_number(sqlite3_stmt *st, int at, const struct history_number *n)
{
	char digits[24];

	if (!n->whole) {
		sqlite.sqlite3_bind_double(st, at, n->real);
	} else if (n->count <= INT64_MAX) {
		sqlite.sqlite3_bind_int64(st, at, (int64_t)n->count);
	} else {
		snprintf(digits, sizeof(digits), "%" PRIu64, n->count);
		sqlite.sqlite3_bind_text(st, at, digits, -1, SQLITE_TRANSIENT);
	}
}

/* In a copy that the arena owns. */
static const char *text_of(sqlite3_stmt *st, int column, void **strings)
{
	const char *text = (const char *)sqlite.sqlite3_column_text(st, column);

	return text ? arena_string(strings, text, strlen(text)) : NULL;
}

static bool number_of(sqlite3_stmt *st, int column, struct history_number *out)
{
	const char *digits;
	int64_t n;

	*out = (struct history_number){ .whole = true };
	switch (sqlite.sqlite3_column_type(st, column)) {
	case SQLITE_INTEGER:
		n = sqlite.sqlite3_column_int64(st, column);
		out->count = (uint64_t)n;
		return n >= 0;
	case SQLITE_TEXT:
		digits = (const char *)sqlite.sqlite3_column_text(st, column);
		return digits && num_parse(digits, &out->count, NULL) == 0;
	case SQLITE_FLOAT:
		out->whole = false;
		out->real = sqlite.sqlite3_column_double(st, column);
		return isfinite(out->real);
	}
	return false;
}

/* name, parent, subject, time, depth, dirty */
static bool commit_of(sqlite3_stmt *st, int column, struct history_commit *c, void **strings)
{
	c->name = text_of(st, column, strings);
	c->parent = text_of(st, column + 1, strings);
	c->subject = text_of(st, column + 2, strings);
	c->time = sqlite.sqlite3_column_int64(st, column + 3);
	c->depth = (uint64_t)sqlite.sqlite3_column_int64(st, column + 4);
	c->dirty = sqlite.sqlite3_column_int64(st, column + 5) != 0;
	return c->name && c->parent && c->subject;
}

static bool series_of(sqlite3_stmt *st, int column, struct history_series *s, void **strings)
{
	s->benchmark = text_of(st, column, strings);
	s->event = text_of(st, column + 1, strings);
	s->unit = text_of(st, column + 2, strings);
	s->region = text_of(st, column + 3, strings);
	return s->benchmark && s->event && s->unit && s->region;
}

/* ---- opening ---- */

static uint32_t big_endian(const unsigned char *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static int refuse_foreign(const char *name, struct tare_error *err)
{
	tare_fail(err, EINVAL, "%.200s is not a history of tare", name);
	tare_hint(err, "name another file: --db FILE");
	return -EINVAL;
}

static int refuse_newer(const char *name, int64_t version, struct tare_error *err)
{
	tare_fail(err, EINVAL, "%.200s is of a newer version of tare (format %" PRId64 ")", name,
		  version);
	tare_hint(err, "update tare");
	return -EINVAL;
}

static int refuse_absent(const char *name, struct tare_error *err)
{
	tare_fail(err, ENOENT, "there is no history in %.200s", name);
	tare_hint(err, "tare history add DOCUMENT... creates it");
	return -ENOENT;
}

/*
 * Before SQLite opens it, because that could already change a file of another program: finish its
 * transaction, or remove its log.
 */
static int check_file(const char *name, enum history_access access, struct tare_error *err)
{
	unsigned char head[HEADER_BYTES];
	struct stat st;
	ssize_t n;
	int fd;

	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno == ENOENT)
		return access == HISTORY_WRITE ? 0 : refuse_absent(name, err);
	if (fd < 0)
		return tare_fail(err, errno, "cannot open %.200s: %s", name, strerror(errno));
	n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, head, sizeof(head)) : -1;
	close(fd);
	if (n == 0) /* also of an interrupted creation */
		return access == HISTORY_WRITE ? 0 : refuse_absent(name, err);
	if (n < HEADER_BYTES || memcmp(head, "SQLite format 3", 16) != 0 ||
	    big_endian(head + APPLICATION_AT) != APPLICATION_ID)
		return refuse_foreign(name, err);
	if (big_endian(head + VERSION_AT) > NEWEST)
		return refuse_newer(name, big_endian(head + VERSION_AT), err);
	return 0;
}

static int ask_number(struct history_store *s, const char *words, int64_t *out,
		      struct tare_error *err)
{
	sqlite3_stmt *st = NULL;
	int ret = -1;

	if (sqlite.sqlite3_prepare_v2(s->db, words, -1, &st, NULL) == SQLITE_OK)
		ret = sqlite.sqlite3_step(st) == SQLITE_ROW ? 0 : -1;
	if (ret == 0)
		*out = sqlite.sqlite3_column_int64(st, 0);
	else
		ret = fail(s, err);
	sqlite.sqlite3_finalize(st);
	return ret;
}

/* A statement of `versions`, as SQLite keeps its text. */
static bool is_of_tare(const char *statement)
{
	size_t n = strlen(statement);

	for (size_t v = 0; v < NEWEST; v++)
		for (const char *at = versions[v]; (at = strstr(at, statement)); at++)
			if (at[n] == ';' && (at == versions[v] || at[-1] == ';'))
				return true;
	return false;
}

/*
 * Only tables of tare. In another file of the same id, a view, a generated column or an expression
 * in an index could make a query take any time and memory.
 */
static int check_tables(struct history_store *s, struct tare_error *err)
{
	sqlite3_stmt *st = NULL;
	bool ours = true;
	int ret = sqlite.sqlite3_prepare_v2(
		s->db, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL", -1, &st, NULL);

	while (ret == SQLITE_OK && ours && (ret = sqlite.sqlite3_step(st)) == SQLITE_ROW) {
		const char *statement = (const char *)sqlite.sqlite3_column_text(st, 0);

		ours = statement && is_of_tare(statement);
		ret = SQLITE_OK;
	}
	sqlite.sqlite3_finalize(st);
	if (!ours)
		return tare_fail(err, EINVAL,
				 "%.200s has tables, views or triggers that tare never creates",
				 s->name);
	return ret == SQLITE_OK || ret == SQLITE_DONE ? 0 : fail(s, err);
}

/* Within a transaction: check_file() again, as the file may have changed since. */
static int check_database(struct history_store *s, int64_t *version, struct tare_error *err)
{
	int64_t id = 0, tables = 0;
	int ret = ask_number(s, "PRAGMA application_id", &id, err);

	if (ret == 0)
		ret = ask_number(s, "PRAGMA user_version", version, err);
	if (ret == 0)
		ret = ask_number(s, "SELECT count(*) FROM (SELECT 1 FROM sqlite_master LIMIT 1)",
				 &tables, err);
	if (ret < 0)
		return ret;
	if (!tables && !id)
		*version = 0;
	else if (id != APPLICATION_ID)
		return refuse_foreign(s->name, err);
	if (*version > NEWEST || *version < 0)
		return refuse_newer(s->name, *version, err);
	return check_tables(s, err);
}

static int migrate(struct history_store *s, int64_t version, struct tare_error *err)
{
	char words[100];
	int ret = 0;

	for (int64_t v = version; ret == 0 && v < NEWEST; v++)
		ret = exec(s, versions[v], err);
	snprintf(words, sizeof(words), "PRAGMA application_id = %d; PRAGMA user_version = %d",
		 APPLICATION_ID, NEWEST);
	return ret < 0 ? ret : exec(s, words, err);
}

static int prepare_to_write(struct history_store *s, struct tare_error *err)
{
	int ret = exec(s, "PRAGMA synchronous = FULL; BEGIN IMMEDIATE", err);

	if (ret < 0)
		return ret;
	ret = check_database(s, &s->version, err);
	if (ret == 0 && s->version < NEWEST)
		ret = migrate(s, s->version, err);
	if (ret == 0)
		ret = exec(s, "COMMIT", err);
	s->version = NEWEST;
	if (ret < 0) {
		exec(s, "ROLLBACK", NULL);
		return ret;
	}
	/* in use by another process: it stays in the other mode, which is as safe */
	ret = sqlite.sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
	return (ret & 0xff) == SQLITE_OK || (ret & 0xff) == SQLITE_BUSY ? 0 : fail(s, err);
}

static int prepare_to_read(struct history_store *s, struct tare_error *err)
{
	int ret = exec(s, "BEGIN", err);

	if (ret == 0)
		ret = check_database(s, &s->version, err);
	if (ret == 0 && s->version == 0)
		ret = refuse_absent(s->name, err);
	return ret;
}

static void close_store(struct history_store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < STATEMENTS; i++)
		sqlite.sqlite3_finalize(s->statement[i]);
	sqlite.sqlite3_close(s->db);
	free(s);
}

static int open_store(struct history_store **out, const char *where, enum history_access access,
		      uint64_t wait_ns, struct tare_error *err)
{
	/* also to read: the last user removes the log; read-only files are opened, too */
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE |
		(access == HISTORY_WRITE ? SQLITE_OPEN_CREATE : 0);
	struct history_store *s;
	char path[NAMES_MAX];
	int ret;

	*out = NULL;
	if (!sqlite_load())
		return library_missing(err, EOPNOTSUPP, "libsqlite3.so.0, which keeps the history",
				       "apt install libsqlite3-0");
	/* SQLite gives some names a meaning: ":memory:" */
	if (snprintf(path, sizeof(path), "%s%s", *where == '/' ? "" : "./", where) >=
	    (int)sizeof(path))
		return tare_fail(err, ENAMETOOLONG, "the name of the history is too long");
	ret = history_place(where, err);
	if (ret == 0)
		ret = check_file(where, access, err);
	s = ret == 0 ? calloc(1, sizeof(*s)) : NULL;
	if (!s)
		return ret < 0 ? ret : tare_fail_nomem(err);
	s->name = where;
	s->effort.path = where;
	s->wait_ns = wait_ns;
	if (sqlite.sqlite3_open_v2(path, &s->db, flags, NULL) != SQLITE_OK)
		ret = s->db ? fail(s, err) : tare_fail_nomem(err);
	if (ret == 0) {
		sqlite.sqlite3_busy_timeout(
			s->db, wait_ns / 1000000 < INT_MAX ? (int)(wait_ns / 1000000) : INT_MAX);
		/* views and triggers of an untrusted file: no functions with side effects */
		sqlite.sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		sqlite.sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, TEXT_MAX);
		sqlite.sqlite3_progress_handler(s->db, HISTORY_EFFORT_EACH, history_effort_step,
						&s->effort);
		ret = exec(s, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON", err);
	}
	if (ret == 0)
		ret = access == HISTORY_WRITE ? prepare_to_write(s, err) : prepare_to_read(s, err);
	if (ret < 0)
		close_store(s);
	else
		*out = s;
	return ret;
}

/* ---- adding ---- */

/* The id of a row that is added if there is none; -errno on errors. */
static int64_t id_of(struct history_store *s, enum statement add, enum statement find,
		     const char *const *text, int n, struct tare_error *err)
{
	int64_t id = -1;

	for (int i = 0; i < 2; i++) {
		sqlite3_stmt *st = prepare(s, i ? find : add, err);
		int ret;

		if (!st)
			return -1;
		for (int k = 0; k < n; k++)
			bind_text(st, k + 1, text[k]);
		ret = step(s, st, err);
		if (ret > 0)
			id = sqlite.sqlite3_column_int64(st, 0);
		sqlite.sqlite3_reset(st);
		if (ret < 0)
			return ret;
	}
	return id;
}

static int add_result(struct history_store *s, int64_t run, const struct history_result *r,
		      struct tare_error *err)
{
	const struct history_series *of = &r->series;
	const struct history_conditions *c = &r->conditions;
	const char *names[] = { of->benchmark, of->event, of->unit, of->region },
		   *parts[] = { c->tare,  c->engine,  c->quality, c->isa,
				c->fixed, c->command, c->machine };
	int64_t series = id_of(s, ADD_SERIES, FIND_SERIES, names, ARRAY_SIZE(names), err),
		conditions = series < 0
		? -1
		: id_of(s, ADD_CONDITIONS, FIND_CONDITIONS, parts, ARRAY_SIZE(parts), err);
	sqlite3_stmt *st = conditions < 0 ? NULL : prepare(s, ADD_VALUE, err);

	if (!st)
		return -EIO;
	sqlite.sqlite3_bind_int64(st, 1, series);
	sqlite.sqlite3_bind_int64(st, 2, run);
	sqlite.sqlite3_bind_int64(st, 3, conditions);
	sqlite.sqlite3_bind_int64(st, 4, (int64_t)r->runs);
	bind_number(st, 5, &r->value);
	bind_number(st, 6, &r->least);
	bind_number(st, 7, &r->most);
	return finish(s, st, err);
}

static int add_functions(struct history_store *s, int64_t run, const struct history_finding *f,
			 struct tare_error *err)
{
	unsigned char *packed = NULL;
	size_t n, unpacked;
	sqlite3_stmt *st;
	int ret = history_pack(&packed, &n, &unpacked, f, err);

	if (ret < 0)
		return ret;
	st = prepare(s, ADD_FUNCTIONS, err);
	if (st) {
		sqlite.sqlite3_bind_int64(st, 1, run);
		sqlite.sqlite3_bind_int64(st, 2, (int64_t)unpacked);
		sqlite.sqlite3_bind_blob(st, 3, packed, (int)n, SQLITE_STATIC);
		ret = finish(s, st, err);
	}
	free(packed);
	return st ? ret : -EIO;
}

static int add_finding(struct history_store *s, int64_t run, const struct history_finding *f,
		       struct tare_error *err)
{
	sqlite3_stmt *st;
	int ret = 0;

	if (f->verdict) {
		st = prepare(s, ADD_VERDICT, err);
		if (!st)
			return -EIO;
		sqlite.sqlite3_bind_int64(st, 1, run);
		bind_text(st, 2, f->verdict);
		bind_text(st, 3, f->why ? f->why : "");
		ret = finish(s, st, err);
	}
	return ret == 0 && f->n ? add_functions(s, run, f, err) : ret;
}

static void bind_digest(sqlite3_stmt *st, const struct history_digest *d)
{
	sqlite.sqlite3_bind_blob(st, 1, d->byte, sizeof(d->byte), SQLITE_STATIC);
}

/* Of a run that was added before. */
static int add_finding_later(struct history_store *s, const struct history_run *r,
			     struct tare_error *err)
{
	sqlite3_stmt *st = prepare(s, FIND_RUN, err);
	int64_t id = 0;
	int ret;

	if (!st)
		return -EIO;
	bind_digest(st, &r->digest);
	ret = step(s, st, err);
	if (ret > 0)
		id = sqlite.sqlite3_column_int64(st, 0);
	sqlite.sqlite3_reset(st);
	return ret > 0 ? add_finding(s, id, &r->finding, err) : ret;
}

/* 1: it is already there. */
static int add_run(struct history_store *s, const struct history_run *r, struct tare_error *err)
{
	sqlite3_stmt *st = prepare(s, ADD_RUN, err);
	int64_t id;
	int ret;

	if (!st)
		return -EIO;
	bind_digest(st, &r->digest);
	bind_text(st, 2, r->commit.name);
	bind_text(st, 3, r->commit.parent);
	bind_text(st, 4, r->commit.subject);
	sqlite.sqlite3_bind_int64(st, 5, r->commit.time);
	sqlite.sqlite3_bind_int64(st, 6, (int64_t)r->commit.depth);
	sqlite.sqlite3_bind_int64(st, 7, r->commit.dirty);
	sqlite.sqlite3_bind_int64(st, 8, (int64_t)time(NULL));
	ret = finish(s, st, err);
	if (ret == 0 && !sqlite.sqlite3_changes(s->db)) {
		ret = add_finding_later(s, r, err);
		return ret < 0 ? ret : 1;
	}
	if (ret < 0)
		return ret;
	id = sqlite.sqlite3_last_insert_rowid(s->db);
	for (size_t i = 0; ret == 0 && i < r->n; i++)
		ret = add_result(s, id, &r->result[i], err);
	return ret == 0 ? add_finding(s, id, &r->finding, err) : ret;
}

static int add(struct history_store *s, const struct history_batch *b, size_t *known,
	       struct tare_error *err)
{
	int ret = exec(s, "BEGIN IMMEDIATE", err);

	*known = 0;
	if (ret < 0)
		return ret;
	for (size_t i = 0; ret >= 0 && i < b->n; i++) {
		ret = add_run(s, &b->run[i], err);
		*known += ret == 1;
	}
	ret = ret < 0 ? ret : exec(s, "COMMIT", err);
	if (ret < 0)
		exec(s, "ROLLBACK", NULL);
	return ret;
}

/* ---- reading ---- */

static int list(struct history_store *s, enum history_detail detail, struct history_list *out,
		struct tare_error *err)
{
	bool last = detail == HISTORY_LAST;
	sqlite3_stmt *st = prepare(s, last ? LIST_LAST : LIST_NAMES, err);
	int ret = st ? 1 : -EIO;

	*out = (struct history_list){ 0 };
	while (ret > 0 && (ret = step(s, st, err)) > 0) {
		struct history_listed *l;

		if (!array_reserve_zeroed(&out->row, &out->room, out->n + 1, sizeof(*out->row)))
			return tare_fail_nomem(err);
		l = &out->row[out->n];
		l->id = sqlite.sqlite3_column_int64(st, 0);
		if (last)
			l->values = (uint64_t)sqlite.sqlite3_column_int64(st, 5);
		if (!series_of(st, 1, &l->series, &out->strings) ||
		    (last && !commit_of(st, 6, &l->commit, &out->strings)))
			return tare_fail_nomem(err);
		if (last && !number_of(st, 12, &l->value))
			return damaged(s, err);
		out->n++;
	}
	return ret;
}

/* Their ids are in the order of the groups. */
static int read_groups(struct history_store *s, int64_t series, struct history_values *out,
		       int64_t **ids, struct tare_error *err)
{
	sqlite3_stmt *st = prepare(s, CONDITIONS, err);
	size_t room = 0;
	int ret;

	if (!st)
		return -EIO;
	sqlite.sqlite3_bind_int64(st, 1, series);
	while ((ret = step(s, st, err)) > 0) {
		struct history_conditions *c;
		const char **parts[7];

		if (!array_reserve(ids, &room, out->groups + 1, sizeof(**ids)) ||
		    !array_reserve_zeroed(&out->group, &out->group_room, out->groups + 1,
					  sizeof(*out->group)))
			return tare_fail_nomem(err);
		c = &out->group[out->groups].conditions;
		memcpy(parts,
		       (const char **[]){ &c->tare, &c->engine, &c->quality, &c->isa, &c->fixed,
					  &c->command, &c->machine },
		       sizeof(parts));
		(*ids)[out->groups++] = sqlite.sqlite3_column_int64(st, 0);
		for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
			if (!(*parts[i] = text_of(st, (int)i + 1, &out->strings)))
				return tare_fail_nomem(err);
	}
	return ret;
}

static int compare_ids(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int read_points(struct history_store *s, int64_t series, const int64_t *ids,
		       struct history_values *out, struct tare_error *err)
{
	sqlite3_stmt *st = prepare(s, VALUES, err);
	int ret;

	if (!st)
		return -EIO;
	sqlite.sqlite3_bind_int64(st, 1, series);
	while ((ret = step(s, st, err)) > 0) {
		int64_t id = sqlite.sqlite3_column_int64(st, 0);
		const int64_t *found = bsearch(&id, ids, out->groups, sizeof(id), compare_ids);
		struct history_point *p;

		if (!array_reserve_zeroed(&out->point, &out->room, out->n + 1, sizeof(*out->point)))
			return tare_fail_nomem(err);
		p = &out->point[out->n];
		if (!commit_of(st, 1, &p->commit, &out->strings))
			return tare_fail_nomem(err);
		p->runs = (uint64_t)sqlite.sqlite3_column_int64(st, 7);
		if (!found || !p->runs || p->runs > INT32_MAX || !number_of(st, 8, &p->value) ||
		    !number_of(st, 9, &p->least) || !number_of(st, 10, &p->most))
			return damaged(s, err);
		if (sqlite.sqlite3_column_bytes(st, 12) != HISTORY_DIGEST_BYTES)
			return damaged(s, err);
		memcpy(p->digest.byte, sqlite.sqlite3_column_blob(st, 12), HISTORY_DIGEST_BYTES);
		p->group = (size_t)(found - ids);
		out->n++;
	}
	return ret;
}

static int values(struct history_store *s, const struct history_listed *of,
		  struct history_values *out, struct tare_error *err)
{
	int64_t *ids = NULL;
	int ret;

	*out = (struct history_values){ .series = of->series };
	ret = read_groups(s, of->id, out, &ids, err);
	if (ret == 0)
		ret = read_points(s, of->id, ids, out, err);
	free(ids);
	return ret;
}

static int take_finding(struct history_store *s, sqlite3_stmt *st, struct history_finding *out,
			void **strings, struct tare_error *err)
{
	int64_t unpacked;
	int ret;

	if (sqlite.sqlite3_column_type(st, 0) == SQLITE_TEXT) {
		out->verdict = text_of(st, 0, strings);
		out->why = text_of(st, 1, strings);
		if (!out->verdict || !out->why)
			return tare_fail_nomem(err);
	}
	if (sqlite.sqlite3_column_type(st, 3) != SQLITE_BLOB)
		return 0;
	unpacked = sqlite.sqlite3_column_int64(st, 2);
	if (unpacked < 0 || unpacked > HISTORY_UNPACKED_MAX)
		return damaged(s, err);
	ret = history_unpack(out, strings, sqlite.sqlite3_column_blob(st, 3),
			     (size_t)sqlite.sqlite3_column_bytes(st, 3), (size_t)unpacked, err);
	if (ret < 0)
		tare_prefix(err, "%.200s: ", s->name);
	return ret;
}

static int finding(struct history_store *s, const struct history_digest *measurement,
		   struct history_finding *out, void **strings, struct tare_error *err)
{
	sqlite3_stmt *st;
	int ret;

	*out = (struct history_finding){ 0 };
	if (s->version >= WITH_FINDINGS && !s->asked) {
		ret = ask_number(s,
				 "SELECT EXISTS (SELECT 1 FROM verdict) OR"
				 " EXISTS (SELECT 1 FROM functions)",
				 &s->findings, err);
		if (ret < 0)
			return ret;
		s->asked = true;
	}
	if (!s->findings)
		return 0;
	st = prepare(s, FINDING, err);
	if (!st)
		return -EIO;
	bind_digest(st, measurement);
	ret = step(s, st, err);
	if (ret > 0)
		ret = take_finding(s, st, out, strings, err);
	sqlite.sqlite3_reset(st);
	return ret;
}

/* ---- removing ---- */

struct doomed {
	int64_t *run; /* owned; in the order of the commits */
	bool *kept;   /* owned */
	size_t n, run_room, kept_room;
};

/* Finds the series by its names: its id may have changed since it was listed. */
static int find_doomed(struct history_store *s, const struct history_series *of,
		       const struct history_prune *what, int64_t *series, struct doomed *out,
		       struct tare_error *err)
{
	const char *names[] = { of->benchmark, of->event, of->unit, of->region };
	sqlite3_stmt *st = prepare(s, FIND_SERIES, err);
	int ret;

	if (!st)
		return -EIO;
	for (int i = 0; i < 4; i++)
		bind_text(st, i + 1, names[i]);
	ret = step(s, st, err);
	*series = ret > 0 ? sqlite.sqlite3_column_int64(st, 0) : 0;
	sqlite.sqlite3_reset(st);
	st = ret > 0 ? prepare(s, VALUES, err) : NULL;
	if (!st)
		return ret > 0 ? -EIO : ret;
	sqlite.sqlite3_bind_int64(st, 1, *series);
	while ((ret = step(s, st, err)) > 0) {
		const char *name = (const char *)sqlite.sqlite3_column_text(st, 1);

		if (!array_reserve(&out->run, &out->run_room, out->n + 1, sizeof(*out->run)) ||
		    !array_reserve(&out->kept, &out->kept_room, out->n + 1, sizeof(*out->kept)) ||
		    !name)
			return tare_fail_nomem(err);
		out->run[out->n] = sqlite.sqlite3_column_int64(st, 11);
		out->kept[out->n++] = sqlite.sqlite3_column_int64(st, 4) >= what->before ||
			(what->kept && what->kept(what->with, name));
	}
	return ret;
}

static int prune_series(struct history_store *s, const struct history_series *of,
			const struct history_prune *what, uint64_t *removed, struct tare_error *err)
{
	struct doomed d = { 0 };
	int64_t series = 0;
	int ret = find_doomed(s, of, what, &series, &d, err);

	*removed = 0;
	for (size_t i = 0; ret == 0 && i < d.n && d.n - i > what->keep; i++) {
		sqlite3_stmt *st;

		if (d.kept[i])
			continue;
		++*removed;
		if (what->dry)
			continue;
		st = prepare(s, REMOVE_VALUE, err);
		if (!st) {
			ret = -EIO;
			break;
		}
		sqlite.sqlite3_bind_int64(st, 1, series);
		sqlite.sqlite3_bind_int64(st, 2, d.run[i]);
		ret = finish(s, st, err);
	}
	free(d.run);
	free(d.kept);
	return ret;
}

static int remove_unused(struct history_store *s, enum statement which, uint64_t *removed,
			 struct tare_error *err)
{
	sqlite3_stmt *st = prepare(s, which, err);
	int ret = st ? finish(s, st, err) : -EIO;

	*removed = ret < 0 ? 0 : (uint64_t)sqlite.sqlite3_changes(s->db);
	return ret;
}

static int file_bytes(struct history_store *s, uint64_t *out, struct tare_error *err)
{
	int64_t pages = 0, size = 0;
	int ret = ask_number(s, "PRAGMA page_count", &pages, err);

	if (ret == 0)
		ret = ask_number(s, "PRAGMA page_size", &size, err);
	*out = (uint64_t)(pages * size);
	return ret;
}

static int prune(struct history_store *s, const struct history_prune *what,
		 struct history_pruned *out, struct tare_error *err)
{
	uint64_t unused;
	int ret = what->dry ? 0 : exec(s, "BEGIN IMMEDIATE", err);

	if (ret < 0)
		return ret;
	ret = file_bytes(s, &out->bytes_before, err);
	for (size_t i = 0; ret == 0 && i < what->n; i++) {
		ret = prune_series(s, &what->series[i].series, what, &out->of[i], err);
		out->values += out->of[i];
	}
	if (what->dry || (ret == 0 && !out->values)) {
		out->bytes_after = out->bytes_before;
		return what->dry ? ret : exec(s, "ROLLBACK", err);
	}
	if (ret == 0)
		ret = remove_unused(s, REMOVE_SERIES, &out->series, err);
	if (ret == 0)
		ret = remove_unused(s, REMOVE_RUNS, &out->runs, err);
	if (ret == 0)
		ret = remove_unused(s, REMOVE_VERDICTS, &unused, err);
	if (ret == 0)
		ret = remove_unused(s, REMOVE_FUNCTIONS, &unused, err);
	if (ret == 0)
		ret = remove_unused(s, REMOVE_CONDITIONS, &unused, err);
	if (ret == 0)
		ret = exec(s, "COMMIT", err);
	if (ret < 0) {
		exec(s, "ROLLBACK", NULL);
		return ret;
	}
	out->compacted = exec(s, "VACUUM", NULL) == 0;
	return file_bytes(s, &out->bytes_after, err);
}

const struct history_store_kind history_sqlite = {
	.name = "sqlite",
	.open = open_store,
	.add = add,
	.list = list,
	.values = values,
	.finding = finding,
	.prune = prune,
	.close = close_store,
};
