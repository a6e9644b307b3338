/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include "base/array.h"
#include "base/text.h"
#include "history/history_store.h"
#include "tap.h"

static const char *const qualities[] = { "exact", "counted" };

static struct history_number whole(uint64_t n)
{
	return (struct history_number){ .whole = true, .count = n };
}

static struct history_number real(double x)
{
	return (struct history_number){ .real = x };
}

/* Values of groups 0 and 1; the second group is of another version. */
static void make(struct history_values *v, const uint64_t *value, const size_t *group, size_t n,
		 const char *quality)
{
	*v = (struct history_values){ .groups = 2, .n = n };
	v->group = calloc(2, sizeof(*v->group));
	v->point = calloc(n, sizeof(*v->point));
	for (size_t i = 0; i < 2; i++)
		v->group[i].conditions = (struct history_conditions){
			i ? "2" : "1", "exact", quality, "", "", "", ""
		};
	for (size_t i = 0; i < n; i++) {
		v->point[i].value = v->point[i].least = v->point[i].most = whole(value[i]);
		v->point[i].group = group[i];
	}
}

TEST(each_exact_difference_is_a_change)
{
	static const uint64_t value[] = { 100, 100, 101, 101, 99, 99 };
	static const size_t group[6] = { 0 };
	static const bool change[] = { false, false, true, false, true, false };

	for (size_t q = 0; q < ARRAY_SIZE(qualities); q++) {
		struct history_values v;

		make(&v, value, group, 6, qualities[q]);
		history_judge(&v, NULL);
		CHECK_EQ(v.group[0].exact, q == 0, "%s", qualities[q]);
		for (size_t i = 0; i < 6; i++) {
			CHECK_EQ(v.point[i].change, change[i] && q == 0, "%s, %zu", qualities[q],
				 i);
			CHECK_EQ(v.point[i].before, (ssize_t)i - 1, "before %zu", i);
			CHECK(!v.point[i].unlike, "%zu has the same conditions", i);
		}
		history_values_free(&v);
	}
}

TEST(only_like_is_compared_with_like)
{
	static const uint64_t value[] = { 100, 200, 100, 200, 101, 200 };
	static const size_t group[] = { 0, 1, 0, 1, 0, 1 };
	struct history_values v;

	make(&v, value, group, 6, "exact");
	history_judge(&v, NULL);
	for (size_t i = 0; i < 6; i++) {
		CHECK_EQ(v.point[i].before, (ssize_t)i - 2 < 0 ? -1 : (ssize_t)i - 2, "before %zu",
			 i);
		CHECK_EQ(v.point[i].change, i == 4, "%zu", i);
		CHECK_EQ(v.point[i].unlike, i > 0, "%zu has other conditions", i);
	}
	history_values_free(&v);
}

/* A count that differs between runs is not exact enough for each difference to be a change. */
TEST(a_count_that_does_not_repeat)
{
	static const uint64_t value[] = { 100, 101, 102 };
	static const size_t group[3] = { 0 };
	struct history_values v;

	make(&v, value, group, 3, "exact");
	v.point[1].most = whole(105);
	history_judge(&v, NULL);
	CHECK(!v.group[0].exact, "not exact");
	for (size_t i = 0; i < 3; i++)
		CHECK(!v.point[i].change, "%zu", i);
	history_values_free(&v);
}

/* Two groups that alternate, one with a step in its noise. */
TEST(change_points_of_noisy_values)
{
	uint64_t value[80];
	size_t group[80];
	struct history_values v;

	for (size_t i = 0; i < 80; i++) {
		group[i] = i % 2;
		value[i] = 1000 + i * 7 % 5 + (i % 2 && i >= 41 ? 100 : 0);
	}
	make(&v, value, group, 80, "counted");
	CHECK_EQ(history_judge(&v, NULL), 0, "memory");
	for (size_t i = 0; i < 80; i++)
		CHECK_EQ(v.point[i].change, i == 41, "point %zu", i);
	CHECK(history_real(&v.point[41].from) == 1002, "%g", history_real(&v.point[41].from));
	CHECK(history_real(&v.point[41].to) == 1102, "%g", history_real(&v.point[41].to));
	CHECK(v.point[41].p < 1e-20, "%g", v.point[41].p);
	history_values_free(&v);
}

TEST(differences_of_numbers)
{
	const struct {
		struct history_number before, after;
		bool negative, equal;
		double change;
	} rows[] = {
		{ whole(1), whole(3), false, false, 2 },
		{ whole(3), whole(1), true, false, 2 },
		{ whole(5), whole(5), false, true, 0 },
		{ whole(UINT64_MAX), whole(UINT64_MAX - 1), true, false, 1 },
		{ real(1.5), whole(2), false, false, 0.5 },
		{ whole(2), real(1.5), true, false, -0.5 },
		{ real(2), whole(2), false, true, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool negative;
		struct history_number n = history_change(&rows[i].before, &rows[i].after,
							 &negative);

		CHECK_EQ(negative, rows[i].negative, "sign of row %zu", i);
		CHECK(history_real(&n) == rows[i].change, "row %zu: %g", i, history_real(&n));
		CHECK_EQ(history_equal(&rows[i].before, &rows[i].after), rows[i].equal, "row %zu",
			 i);
	}
	{
		struct history_number a = whole(UINT64_C(1) << 53),
				      b = whole((UINT64_C(1) << 53) + 1);

		CHECK(!history_equal(&a, &b), "differ by one above 2^53");
	}
}

TEST(what_differs)
{
	const struct history_conditions a = { "1", "exact", "exact", "", "aslr", "ls", "" },
					b = { "2", "exact", "exact", "v3", "aslr", "ls", "" };
	struct text t = { 0 };

	history_put_difference(&t, &a, &b);
	CHECK_STR(t.s, "the version of tare (1; 2), the CPU model (unknown; v3)", "words");
	text_free(&t);
}

TEST(digests)
{
	/* of the RFC: "", "a", "foobar", most significant byte first */
	static const struct {
		const char *text, *digest;
	} rows[] = {
		{ "", "6c62272e07bb014262b821756295c58d" },
		{ "a", "d228cb696f1a8caf78912b704e4a8964" },
		{ "foobar", "343e1662793c64bf6f0d3597ba446f18" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct history_digest d;
		char hex[40] = "";

		history_digest_begin(&d);
		history_digest_add(&d, rows[i].text, strlen(rows[i].text));
		for (size_t k = 0; k < HISTORY_DIGEST_BYTES; k++)
			snprintf(hex + 2 * k, 3, "%02x", d.byte[HISTORY_DIGEST_BYTES - 1 - k]);
		CHECK_STR(hex, rows[i].digest, "of '%s'", rows[i].text);
	}
}

TEST(names_and_times)
{
	struct text t = { 0 };

	CHECK_EQ(history_short("1f30a79b04f85b83387ba8cddce38b4aa51b6963"), 12, "a hash");
	CHECK_EQ(history_short("release-2"), 9, "a name");
	history_put_time(&t, 1795867200);
	CHECK_STR(t.s, "2026-11-28T12:00:00Z", "a time");
	text_free(&t);
}

TEST(numbers_have_all_digits)
{
	static const struct {
		double real;
		const char *words;
	} row[] = { { 20, "20" },
		    { -3, "-3" },
		    { 1e14, "100000000000000" },
		    { 1e15, "1e+15" },
		    { 0.1, "0.1" },
		    { 12.5, "12.5" },
		    { 1e-7, "1e-07" },
		    { 1e-300, "1e-300" },
		    { 1.0 / 3, "0.3333333333333333" },
		    { 0x1p60, "1.152921504606847e+18" } };

	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct history_number n = real(row[i].real);
		struct text t = { 0 };

		history_put_number(&t, &n);
		CHECK_STR(t.s, row[i].words, "row %zu", i);
		CHECK(strtod(t.s, NULL) == row[i].real, "row %zu: %s", i, t.s);
		text_free(&t);
	}
}

/* ---- the store ---- */

struct place {
	char folder[64], file[80];
};

static bool make_place(struct place *p)
{
	snprintf(p->folder, sizeof(p->folder), "/tmp/history-test-XXXXXX");
	if (!mkdtemp(p->folder))
		return false;
	snprintf(p->file, sizeof(p->file), "%s/h.db", p->folder);
	return true;
}

static void remove_place(const struct place *p)
{
	static const char *const endings[] = { "", "-wal", "-shm", "-journal" };
	char name[100];

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		snprintf(name, sizeof(name), "%s%s", p->file, endings[i]);
		unlink(name);
	}
	rmdir(p->folder);
}

static struct history_store *open_it(const struct place *p, enum history_access access,
				     struct tare_error *err)
{
	struct history_store *s = NULL;

	return history_sqlite.open(&s, p->file, access, 100000000, err) == 0 ? s : NULL;
}

static void put_run(struct history_batch *b, const char *commit, int64_t time, uint64_t depth,
		    struct history_number n)
{
	struct history_run *run = history_add_run(b);
	struct history_result *r = history_add_result(run);

	run->commit = (struct history_commit){ commit, "", "", time, depth, false };
	history_digest_begin(&run->digest);
	history_digest_add(&run->digest, commit, strlen(commit));
	*r = (struct history_result){
		{ "b", "e", "", "" }, { "1", "exact", "exact", "", "", "", "" }, n, n, n, 2
	};
}

static void need_sqlite(void)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct history_store *s = NULL;
	struct place p;

	CHECK(make_place(&p), "a folder");
	if (history_sqlite.open(&s, p.file, HISTORY_WRITE, 0, &err) == -EOPNOTSUPP) {
		remove_place(&p);
		tap_skip("sqlite", "%s", err.what);
	}
	CHECK(s != NULL, "%s", err.what);
	history_sqlite.close(s);
	remove_place(&p);
}

TEST(values_come_back_in_the_order_of_commits)
{
	const struct history_number numbers[] = { whole(0),          whole(INT64_MAX),
						  whole(UINT64_MAX), whole((1ULL << 53) + 1),
						  real(0.1),         real(-1e-300) };
	static const char *const names[] = { "5", "1", "0", "3", "2", "4" };
	static const int64_t times[] = { 30, 20, 10, 20, 20, 20 };
	static const uint64_t depths[] = { 0, 5, 9, 7, 6, 8 };
	struct tare_error err = TARE_ERROR_INIT;
	struct history_batch b = { 0 };
	struct history_list l = { 0 };
	struct history_values v = { 0 };
	struct history_store *s;
	struct place p;
	size_t known = 9;

	need_sqlite();
	make_place(&p);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		put_run(&b, names[i], times[i], depths[i], numbers[i]);
	s = open_it(&p, HISTORY_WRITE, &err);
	CHECK_EQ(history_sqlite.add(s, &b, &known, &err), 0, "add: %s", err.what);
	CHECK_EQ(known, (size_t)0, "none was known");
	CHECK_EQ(history_sqlite.add(s, &b, &known, &err), 0, "again: %s", err.what);
	CHECK_EQ(known, ARRAY_SIZE(names), "all are known");
	history_sqlite.close(s);
	s = open_it(&p, HISTORY_READ, &err);
	CHECK(s != NULL, "read: %s", err.what);
	CHECK_EQ(history_sqlite.list(s, HISTORY_LAST, &l, &err), 0, "list: %s", err.what);
	CHECK_EQ(l.n, (size_t)1, "one series");
	CHECK_EQ(l.row[0].values, (uint64_t)ARRAY_SIZE(names), "its values");
	CHECK_EQ(history_sqlite.values(s, &l.row[0], &v, &err), 0, "values: %s", err.what);
	CHECK_EQ(v.n, ARRAY_SIZE(names), "all of them");
	for (size_t i = 0; i < v.n; i++) {
		size_t k = 0;

		while (atoi(names[k]) != (int)i)
			k++;
		CHECK_STR(v.point[i].commit.name, names[k], "commit %zu", i);
		CHECK_EQ(v.point[i].value.whole, numbers[k].whole, "kind of %zu", i);
		CHECK(history_equal(&v.point[i].value, &numbers[k]), "value %zu", i);
	}
	history_values_free(&v);
	history_list_free(&l);
	history_batch_free(&b);
	history_sqlite.close(s);
	remove_place(&p);
}

static void write_file(const char *name, size_t at, const void *bytes, size_t n)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	CHECK_EQ(pwrite(fd, bytes, n, (off_t)at), (ssize_t)n, "write");
	close(fd);
}

/* Files of other programs and of newer versions are refused, and not changed. */
TEST(foreign_files_are_refused)
{
	static const unsigned char other[4] = { 0, 0, 0, 1 }, newer[4] = { 0, 0, 0, 99 };
	static const struct {
		const char *what;
		size_t at;
		const void *bytes;
		size_t n;
	} rows[] = {
		{ "is not a history of tare", 0, "x", 1 },
		{ "is not a history of tare", 68, other, 4 },
		{ "newer version of tare", 60, newer, 4 },
	};

	need_sqlite();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (int access = HISTORY_READ; access <= HISTORY_WRITE; access++) {
			struct tare_error err = TARE_ERROR_INIT;
			char before[200] = "", after[200] = "";
			struct place p;
			int fd;

			make_place(&p);
			history_sqlite.close(open_it(&p, HISTORY_WRITE, &err));
			write_file(p.file, rows[i].at, rows[i].bytes, rows[i].n);
			fd = open(p.file, O_RDONLY | O_CLOEXEC);
			CHECK_EQ(pread(fd, before, sizeof(before), 0), (ssize_t)sizeof(before),
				 "before");
			CHECK(!open_it(&p, (enum history_access)access, &err), "row %zu", i);
			CHECK(strstr(err.what, rows[i].what), "row %zu: %s", i, err.what);
			CHECK_EQ(pread(fd, after, sizeof(after), 0), (ssize_t)sizeof(after),
				 "after");
			CHECK(!memcmp(before, after, sizeof(before)), "row %zu: unchanged", i);
			close(fd);
			remove_place(&p);
		}
}

TEST(there_is_no_history_yet)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct place p;

	need_sqlite();
	make_place(&p);
	CHECK(!open_it(&p, HISTORY_READ, &err), "no file");
	CHECK(strstr(err.what, "there is no history in"), "%s", err.what);
	CHECK(access(p.file, F_OK) != 0, "reading creates none");
	write_file(p.file, 0, "", 0);
	CHECK(!open_it(&p, HISTORY_READ, &err), "an empty file");
	CHECK(strstr(err.what, "there is no history in"), "%s", err.what);
	remove_place(&p);
}

TEST_MAIN()
