/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include "base/error.h"
#include "measureme_maker.h"
#include "regions/timeline/timeline.h"
#include "tap.h"

static struct timeline *opened(const struct maker *m, size_t n, struct tare_error *err)
{
	struct timeline *t = NULL;
	char path[64];

	if (!CHECK(maker_write(m, n, path)))
		return NULL;
	if (timeline_open(&t, path, err) < 0)
		t = NULL;
	unlink(path);
	return t;
}

static struct timeline *open_made(const struct maker *m)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline *t = opened(m, m->file.len, &err);

	CHECK(t, "%s", err.what);
	return t;
}

static const char *const kinds[] = {
	"begin", "end", "instant", "integer", "start", "finish", "lost"
};

/* A thread's points as "begin a 3, end a 7". */
static void told(struct timeline *t, size_t thread, struct text *out)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline_point p;
	struct cursor *c;
	int ret;

	if (!CHECK(timeline_thread(t, thread, &c, &err) == 0, "%s", err.what))
		return;
	while ((ret = cursor_next(c, &p, &err)) == 1) {
		const struct timeline_label *l = timeline_label(t, p.label);

		text_add(out, "%s%s %s", out->len ? ", " : "", kinds[p.kind], l->name);
		for (size_t i = 0; l->arg[i]; i++)
			text_add(out, "(%s)", l->arg[i]);
		if (p.kind == TIMELINE_INTEGER)
			text_add(out, " =%llu", (unsigned long long)p.number);
		text_add(out, " %s%llu", p.missing ? "?" : "", (unsigned long long)p.value[0]);
	}
	CHECK_EQ(ret, 0, "%s", err.what);
	cursor_close(c);
}

static void check_thread(struct timeline *t, size_t thread, const char *want)
{
	struct text got = { 0 };

	told(t, thread, &got);
	CHECK_STR(got.s ? got.s : "", want, "thread %zu", thread);
	text_free(&got);
}

static void check_all(const struct maker *m, const char *want)
{
	struct timeline *t = open_made(m);

	if (t)
		check_thread(t, 0, want);
	timeline_close(t);
}

TEST(forward_from_ends)
{
	for (uint32_t version = 8; version <= 9; version++) {
		struct maker m;
		uint64_t k, a, b, c;

		maker_begin(&m, version);
		k = maker_string(&m, "Query");
		a = maker_string(&m, "a");
		b = maker_string(&m,
				 "b\x1e"
				 "arg one\x1e"
				 "two");
		c = maker_string(&m, "c");
		maker_event(&m, k, c, 7, 5, MAKER_INSTANT);
		maker_event(&m, k, b, 7, 3, 8);
		maker_event(&m, k, c, 7, 99, MAKER_INTEGER);
		maker_event(&m, k, b, 3, 1, 2);
		maker_event(&m, k, c, 7, 8, 9);
		maker_event(&m, k, a, 7, 2, UINT64_C(0xfffffffffffd));
		maker_end(&m, MAKER_WALL_TIME);

		struct timeline *t = open_made(&m);

		if (t) {
			const struct timeline_info *i = timeline_info(t);

			CHECK_EQ(i->n_threads, 2, "threads");
			CHECK_EQ(i->thread[0].tid, 3, "in order of their numbers");
			CHECK_EQ(i->thread[1].pid, 42, "of the description");
			CHECK_EQ(i->start_ns, 1700000000000000000, "start");
			CHECK_EQ(i->time, 0, "the clock");
			CHECK(i->thread[0].complete && !i->damage, "%s",
			      i->damage ? i->damage : "");
			CHECK_STR(i->command, "made", "command");
			CHECK_STR(i->counter[0].name, "wall-time", "counter");
			CHECK_STR(i->counter[0].unit, "ns", "unit");
			CHECK_EQ(i->n_labels, 4, "a, b, b with arguments, c");
			CHECK_STR(i->format, version == 8 ? "measureme 8" : "measureme 9",
				  "format");
			check_thread(t, 0, "begin b(arg one)(two) 1, end b(arg one)(two) 2");
			check_thread(
				t, 1,
				"begin a 2, begin b(arg one)(two) 3, instant c 5, end b(arg one)(two) 8, begin c 8, "
				"integer c =99 ?8, end c 9, end a 281474976710653");
		}
		timeline_close(t);
		maker_free(&m);
	}
}

TEST(numbers_and_offsets)
{
	struct maker m;
	struct timeline_point p;
	struct cursor *c;

	maker_begin(&m, 9);
	m.page = 40; /* one record per page */

	uint64_t k = maker_string(&m, "K"), a = maker_string(&m, "a");

	maker_event(&m, k, a, 1, 1, 3);
	maker_event(&m, k, a, 1, 2, 5); /* overlaps the first */
	maker_end(&m, MAKER_WALL_TIME);

	struct timeline *t = open_made(&m);

	if (!t || timeline_thread(t, 0, &c, NULL) < 0)
		return;
	/* 8 bytes of the file, 5 of the page, 8 of the stream; then 32 more and a page's 5. */
	static const struct {
		enum timeline_kind kind;
		uint64_t value, offset;
	} rows[] = {
		{ TIMELINE_BEGIN, 2, 58 },
		{ TIMELINE_START, 1, 21 },
		{ TIMELINE_FINISH, 3, 21 },
		{ TIMELINE_END, 5, 58 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_EQ(cursor_next(c, &p, NULL), 1, "point %zu", i);
		CHECK_EQ(p.kind, rows[i].kind, "kind of %zu", i);
		CHECK_EQ(p.value[0], rows[i].value, "value of %zu", i);
		CHECK_EQ(p.offset, rows[i].offset, "offset of %zu", i);
		CHECK_EQ(p.number, i == 1 || i == 2 ? 21 : 0, "number of %zu", i);
	}
	CHECK_EQ(cursor_next(c, &p, NULL), 0, "the end");
	CHECK(timeline_info(t)->remark &&
		      strstr(timeline_info(t)->remark, "1 events overlap others"),
	      "%s", timeline_info(t)->remark);
	CHECK(!timeline_info(t)->damage, "that is no damage");
	CHECK(timeline_info(t)->thread[0].complete, "nothing is lost of it");
	cursor_close(c);
	timeline_close(t);
	maker_free(&m);
}

TEST(touching_and_empty)
{
	static const struct {
		int line;
		uint64_t v[8];
		const char *want;
	} rows[] = {
		{ __LINE__, { 1, 5, 5, 9 }, "begin a 1, end a 5, begin a 5, end a 9" },
		/* as in measureme */
		{ __LINE__, { 5, 5, 5, 9 }, "begin a 5, begin a 5, end a 5, end a 9" },
		{ __LINE__, { 5, 5, 5, 5 }, "begin a 5, begin a 5, end a 5, end a 5" },
		{ __LINE__, { 4, 9, 5, 9 }, "begin a 5, start a 4, finish a 9, end a 9" },
		{ __LINE__,
		  { 3, 9, 1, 4 },
		  "begin a 1, start a 3, finish a 9, end a 4" }, /* not in order of ends */
		{ __LINE__, { 9, 3, 1, 4 }, "begin a 1, end a 4" },
		{ __LINE__,
		  { 0, 0, 0, 1, 0, 2 },
		  "begin a 0, begin a 0, begin a 0, end a 0, end a 1, end a 2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct maker m;

		maker_begin(&m, 9);

		uint64_t a = maker_string(&m, "a");

		for (size_t k = 0; k < 8 && (k == 0 || rows[i].v[k + 1] || rows[i].v[k]); k += 2)
			maker_event(&m, a, a, 1, rows[i].v[k], rows[i].v[k + 1]);
		maker_end(&m, MAKER_WALL_TIME);
		printf("# row at line %d\n", rows[i].line);
		check_all(&m, rows[i].want);
		maker_free(&m);
	}
}

/* Random trees, many threads mixed, over many chunks: reading returns the original. */
struct tree_thread {
	uint64_t clock, sum; /* sum: checksum of a forward reader */
	unsigned depth;
	struct {
		uint64_t start;
		uint64_t label;
	} open[64];
};

static uint64_t mix(uint64_t sum, uint64_t kind, uint64_t label, uint64_t value)
{
	return (sum ^ (kind << 60 ^ label << 50 ^ value)) * 0x9e3779b97f4a7c15ull + 1;
}

TEST(trees_over_many_chunks)
{
	enum { THREADS = 5, LABELS = 7, STEPS = 300000 };
	static struct tree_thread thread[THREADS];
	uint64_t label[LABELS], seed = 12345, kind;
	struct maker m;

	maker_begin(&m, 9);
	m.page = 10000; /* not a multiple of a record */
	kind = maker_string(&m, "K");
	for (unsigned i = 0; i < LABELS; i++)
		label[i] = maker_string(&m, (const char[]){ (char)('a' + i), 0 });
	for (unsigned step = 0; step < STEPS; step++) {
		struct tree_thread *t;
		unsigned id;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		id = seed >> 60 < 11 ? 0 : (unsigned)(seed >> 40) % THREADS;
		t = &thread[id];
		t->clock += 1 + (seed >> 33) % 100;
		if ((seed >> 20) % 16 == 0) {
			maker_event(&m, kind, label[0], id, t->clock, MAKER_INSTANT);
			t->sum = mix(t->sum, TIMELINE_INSTANT, 0, t->clock);
		} else if (t->depth && (t->depth == 64 || (seed >> 50) % 2)) {
			t->depth--;
			maker_event(&m, kind, label[t->open[t->depth].label], id,
				    t->open[t->depth].start, t->clock);
			t->sum = mix(t->sum, TIMELINE_END, t->open[t->depth].label, t->clock);
		} else {
			t->open[t->depth].start = t->clock;
			t->open[t->depth++].label = (seed >> 25) % LABELS;
			t->sum = mix(t->sum, TIMELINE_BEGIN, (seed >> 25) % LABELS, t->clock);
		}
	}
	for (unsigned id = 0; id < THREADS; id++)
		while (thread[id].depth) {
			struct tree_thread *t = &thread[id];

			t->depth--;
			maker_event(&m, kind, label[t->open[t->depth].label], id,
				    t->open[t->depth].start, ++t->clock);
			t->sum = mix(t->sum, TIMELINE_END, t->open[t->depth].label, t->clock);
		}
	maker_end(&m, MAKER_WALL_TIME);

	struct timeline *t = open_made(&m);

	if (!t)
		return;
	CHECK(!timeline_info(t)->damage, "%s",
	      timeline_info(t)->damage ? timeline_info(t)->damage : "");
	CHECK_EQ(timeline_info(t)->n_threads, THREADS, "threads");
	for (unsigned id = 0; id < THREADS; id++) {
		struct timeline_point p;
		struct cursor *c;
		uint64_t sum = 0, n = 0;

		CHECK_EQ(timeline_thread(t, id, &c, NULL), 0, "cursor");
		while (cursor_next(c, &p, NULL) == 1) {
			sum = mix(sum, p.kind,
				  (uint64_t)(timeline_label(t, p.label)->name[0] - 'a'),
				  p.value[0]);
			n++;
		}
		CHECK_EQ(sum, thread[id].sum, "thread %u, %llu points", id, (unsigned long long)n);
		CHECK(n > 5000, "%llu points of thread %u", (unsigned long long)n, id);
		cursor_close(c);
	}
	timeline_close(t);
	maker_free(&m);
}

TEST(nested_deeply)
{
	enum { DEPTH = 100000 };
	struct timeline_point p;
	struct cursor *c;
	struct maker m;
	uint64_t n = 0;

	maker_begin(&m, 9);

	uint64_t a = maker_string(&m, "a");

	for (uint64_t i = 0; i < DEPTH; i++)
		maker_event(&m, a, a, 1, DEPTH - i, DEPTH + 1 + i);
	maker_end(&m, MAKER_WALL_TIME);

	struct timeline *t = open_made(&m);

	if (!t || timeline_thread(t, 0, &c, NULL) < 0)
		return;
	while (cursor_next(c, &p, NULL) == 1) {
		n++;
		if (p.value[0] != n || p.kind != (n <= DEPTH ? TIMELINE_BEGIN : TIMELINE_END))
			break;
	}
	CHECK_EQ(n, 2 * DEPTH, "points");
	cursor_close(c);
	timeline_close(t);
	maker_free(&m);
}

/* Composite strings, virtual ids, and invalid files. */
TEST(strings)
{
	struct maker m;
	struct text s = { 0 };
	uint64_t k, abc, twice, circle;

	maker_begin(&m, 9);
	k = maker_string(&m, "K");
	abc = maker_string(&m, "abc");
	maker_reference(&m, &s, abc);
	text_put(&s, "-", 1);
	maker_reference(&m, &s, 17); /* virtual, mapped below */
	twice = maker_string_of(&m, s.s, s.len);
	maker_map(&m, 17, abc);
	s.len = 0;
	text_put(&s, "o", 1);
	maker_reference(&m, &s, MAKER_REGULAR + m.stream[1].len);
	circle = maker_string_of(&m, s.s, s.len);
	maker_map(&m, 5, abc);
	maker_map(&m, 5, twice); /* the last entry is valid */
	maker_event(&m, k, twice, 1, 1, 1);
	maker_event(&m, k, 5, 1, 2, 2);
	maker_event(&m, k, 17, 1, 3, 3);
	maker_event(&m, k, 18, 1, 4, 4);                      /* without a mapping */
	maker_event(&m, k, MAKER_REGULAR + 1000000, 1, 5, 5); /* beyond the end */
	maker_event(&m, k, maker_string_of(&m, "x\0y", 3), 1, 6, 6);
	maker_event(&m, k, maker_string(&m, ""), 1, 7, 7);
	maker_event(&m, k, circle, 1, 8, 8);
	maker_end(&m, MAKER_WALL_TIME);

	struct timeline *t = open_made(&m);
	struct text got = { 0 };

	if (!t)
		return;
	told(t, 0, &got);
	CHECK(got.s &&
		      strstr(got.s,
			     "begin abc-abc 1, end abc-abc 1, begin abc-abc 2, end abc-abc 2, begin abc 3"),
	      "%s", got.s);
	CHECK(strstr(got.s, "begin (label without a text) 4") &&
		      strstr(got.s, "begin (label 101000003, not in the file) 5"),
	      "%s", got.s);
	CHECK(strstr(got.s, "begin x\\0y 6") && strstr(got.s, "begin (no name) 7"), "%s", got.s);
	CHECK(strstr(got.s, "begin oooooooo"), "%.300s", got.s);
	CHECK_STR(timeline_info(t)->damage,
		  "the text of 1 labels is not in it; the text of 1 labels is cut", "damage");
	CHECK(timeline_info(t)->remark &&
		      strstr(timeline_info(t)->remark, "1 events have labels without a text"),
	      "remark");
	text_free(&got);
	text_free(&s);
	timeline_close(t);
	maker_free(&m);
}

/* Each string is the previous one twice: 2^60 characters without a limit. */
TEST(a_string_that_doubles)
{
	struct maker m;
	uint64_t id;

	maker_begin(&m, 9);
	id = maker_string(&m, "x");
	for (unsigned i = 0; i < 60; i++) {
		struct text s = { 0 };

		maker_reference(&m, &s, id);
		maker_reference(&m, &s, id);
		id = maker_string_of(&m, s.s, s.len);
		text_free(&s);
	}
	maker_event(&m, id, id, 1, 1, 2);
	maker_end(&m, MAKER_WALL_TIME);

	struct timeline *t = open_made(&m);

	if (t) {
		size_t n = strlen(timeline_label(t, 0)->name);

		CHECK(n > 1000 && n <= (2 << 20) + 10, "%zu characters", n);
		CHECK_STR(timeline_info(t)->damage, "the text of 1 labels is cut", "damage");
	}
	timeline_close(t);
	maker_free(&m);
}

TEST(a_label_of_a_megabyte)
{
	char *name = malloc(1000001);
	struct maker m;

	memset(name, 'n', 1000000);
	name[1000000] = '\0';
	maker_begin(&m, 9);

	uint64_t a = maker_string(&m, name);

	maker_event(&m, a, a, 1, 1, 2);
	maker_end(&m, MAKER_WALL_TIME);

	struct timeline *t = open_made(&m);

	if (t)
		CHECK(!strcmp(timeline_label(t, 0)->name, name) && !timeline_info(t)->damage,
		      "whole");
	timeline_close(t);
	maker_free(&m);
	free(name);
}

/*
 * So many that every table grows: each with an id of its own and a distant virtual one, and once
 * more with equal text.
 */
TEST(many_labels)
{
	enum { LABELS = 5000 };
	static uint64_t id[LABELS];
	struct timeline_point p;
	struct cursor *c;
	struct maker m;
	uint64_t n = 0, wrong = 0;

	maker_begin(&m, 9);

	uint64_t k = maker_string(&m, "K");

	for (uint64_t i = 0; i < LABELS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%llu", (unsigned long long)i);
		id[i] = maker_string(&m, name);
		maker_map(&m, i * 19997, id[i]);
		maker_event(&m, k, id[i], 1, 3 * i, 3 * i);
		maker_event(&m, k, i * 19997, 1, 3 * i + 1, 3 * i + 1);
		maker_event(&m, k, maker_string(&m, name), 1, 3 * i + 2, 3 * i + 2);
	}
	maker_end(&m, MAKER_WALL_TIME);

	struct timeline *t = open_made(&m);

	if (!t || timeline_thread(t, 0, &c, NULL) < 0)
		return;
	CHECK_EQ(timeline_info(t)->n_labels, LABELS, "one for each text");
	CHECK(!timeline_info(t)->damage && !timeline_info(t)->remark, "nothing to say");
	for (; cursor_next(c, &p, NULL) == 1; n++)
		wrong += strtoull(timeline_label(t, p.label)->name + 1, NULL, 10) != p.value[0] / 3;
	CHECK_EQ(n, 6 * LABELS, "points");
	CHECK_EQ(wrong, 0, "points under another label");
	cursor_close(c);
	timeline_close(t);
	maker_free(&m);
}

TEST(descriptions)
{
	static const struct {
		int line;
		const char *json, *command, *counter, *unit;
	} rows[] = {
		{ __LINE__, MAKER_WALL_TIME, "made", "wall-time", "ns" },
		/*
		 * The way measureme writes an apostrophe and non-ASCII characters; its own tools
		 * refuse both.
		 */
		{ __LINE__,
		  "{ \"cmd\": \"it\\'s \\u{e9}\\u{1f600} \\\"q\\\" \", \"counter\": {\"name\": \"instructions:u\", \"units\": "
		  "[[\"instructions\", 1]]}}",
		  "it's é😀 \"q\"", "instructions:u", "" },
		{ __LINE__,
		  "{ \"cmd\": \"é\\u00e9\\n\" , \"x\": [1,{\"y\":\"}\"}], \"counter\": {\"name\": \"c\"}}",
		  "éé\n", "c", "" },
		{ __LINE__, "", "", "counter", "" },
		{ __LINE__, "{ \"cmd\": \"cut of", "cut of", "counter", "" },
		{ __LINE__, "{ \"cmd\": ", "", "counter", "" },
		{ __LINE__, "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "",
		  "counter", "" },
		{ __LINE__, "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
		  "", "counter", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct maker m;

		maker_begin(&m, 9);

		uint64_t a = maker_string(&m, "a");

		maker_event(&m, a, a, 1, 1, 2);
		maker_end(&m, rows[i].json);

		struct timeline *t = open_made(&m);

		if (t) {
			CHECK_STR(timeline_info(t)->command, rows[i].command, "row at line %d",
				  rows[i].line);
			CHECK_STR(timeline_info(t)->counter[0].name, rows[i].counter,
				  "row at line %d", rows[i].line);
			CHECK_STR(timeline_info(t)->counter[0].unit, rows[i].unit, "row at line %d",
				  rows[i].line);
			CHECK(timeline_info(t)->counter[0].note, "row at line %d", rows[i].line);
			CHECK_EQ(timeline_info(t)->time, rows[i].unit[0] ? 0 : -1, "row at line %d",
				 rows[i].line);
		}
		timeline_close(t);
		maker_free(&m);
	}
}

/* A recording of a killed run: events, but no strings and no description. */
TEST(killed)
{
	struct maker m;

	maker_begin(&m, 9);

	uint64_t a = maker_string(&m, "a");

	for (uint64_t i = 0; i < 10; i++)
		maker_event(&m, a, a, 1, 10 * i, 10 * i + 5);
	maker_page(&m, 0);

	struct timeline *t = open_made(&m);

	if (!t)
		return;
	CHECK_EQ(timeline_info(t)->n_threads, 1, "the thread is there");
	CHECK(!timeline_info(t)->thread[0].complete, "and not whole");
	CHECK_EQ(timeline_info(t)->n_labels, 1, "one label");
	CHECK_STR(
		timeline_info(t)->damage,
		"the description of the recording is missing: its writer did not finish, and intervals that were open then are missing; "
		"the text of 1 labels is not in it",
		"damage");
	timeline_close(t);
	maker_free(&m);
}

/*
 * A program enlarges the file by a hole of 4 TiB, which would be 2^40 empty pages, or has pages of
 * 4 GiB in it. The events before are there.
 */
TEST(enlarged)
{
	static const struct {
		bool pages;
		const char *damage;
	} rows[] = { { false, "4096 pages without contents: the " },
		     { true, "the file has a hole at byte " } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const uint8_t page[5] = { 0, 0xff, 0xff, 0xff, 0xff };
		struct tare_error err = TARE_ERROR_INIT;
		struct timeline *t = NULL;
		struct maker m;
		char path[64];
		off_t at;
		int fd;

		maker_begin(&m, 9);

		uint64_t a = maker_string(&m, "a");

		maker_event(&m, a, a, 1, 10, 20);
		maker_end(&m, MAKER_WALL_TIME);
		at = (off_t)m.file.len;
		CHECK(maker_write(&m, m.file.len, path));
		fd = open(path, O_RDWR);
		for (int k = 0; rows[i].pages && k < 1000; k++, at += 5 + 0xffffffff)
			CHECK_EQ(pwrite(fd, page, sizeof(page), at), sizeof(page));
		CHECK_EQ(ftruncate(fd, (off_t)1 << 42), 0);
		close(fd);
		CHECK_EQ(timeline_open(&t, path, &err), 0, "%s", err.what);
		unlink(path);
		CHECK(t && strstr(timeline_info(t)->damage, rows[i].damage), "%s",
		      t ? timeline_info(t)->damage : "");
		CHECK(t && timeline_info(t)->n_threads, "the thread is there");
		timeline_close(t);
		maker_free(&m);
	}
}

/*
 * A file truncated at any byte either opens with a message or is refused with a reason. The events
 * before the cut are there.
 */
TEST(cut_anywhere)
{
	struct maker m;

	maker_begin(&m, 9);
	m.page = 100;

	uint64_t a = maker_string(&m, "a");

	for (uint64_t i = 0; i < 10; i++)
		maker_event(&m, a, a, 1, 10 * i, 10 * i + 5);
	maker_end(&m, MAKER_WALL_TIME);
	for (size_t n = 0; n < m.file.len; n++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct timeline *t = opened(&m, n, &err);
		struct text got = { 0 };

		if (!t) {
			CHECK(n < 21 && err.what[0], "%zu bytes: %s", n, err.what);
			continue;
		}
		CHECK(timeline_info(t)->damage && timeline_info(t)->damage[0], "%zu bytes", n);
		if (timeline_info(t)->n_threads)
			told(t, 0, &got);
		if (n > 21 + 32 + 5)
			CHECK(got.s && strstr(got.s, " 0, end "), "%zu bytes: %s", n,
			      got.s ? got.s : "");
		text_free(&got);
		timeline_close(t);
	}
	maker_free(&m);
}

TEST(refused)
{
	static const struct {
		int line;
		const char *bytes;
		size_t n;
		const char *what;
	} rows[] = {
		{ __LINE__, "", 0, "the file is empty" },
		{ __LINE__, "PERFILE3 and more", 17, "the format at byte 0 is not known" },
		{ __LINE__, "PERFILE2 and more", 17,
		  "not a recording of regions: it is a perf.data file" },
		{ __LINE__, "2ELIFREP", 8, "not a recording of regions: it is a perf.data file" },
		{ __LINE__, "PERFILE", 7, "the format at byte 0 is not known" },
		{ __LINE__, "MMPD\7\0\0\0", 8,
		  "byte 4: a recording of measureme in format version 7; 8 and 9 are read" },
		{ __LINE__, "MMPD", 4, "ends after 4 bytes, within its header" },
		{ __LINE__, "MMPD\11\0\0\0\0\10\0\0\0MMSD\11\0\0\0", 21,
		  "byte 13: the stream of events does not begin with \"MMES\" and version 9" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct maker m = { 0 };
		struct timeline *t;

		text_put(&m.file, rows[i].bytes, rows[i].n);
		t = opened(&m, rows[i].n, &err);
		CHECK(!t, "row at line %d", rows[i].line);
		CHECK(strstr(err.what, rows[i].what) && strstr(err.what, "tare-made-"),
		      "row at line %d: %s", rows[i].line, err.what);
		timeline_close(t);
		maker_free(&m);
	}
}

TEST_MAIN()
