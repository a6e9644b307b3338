/* SPDX-License-Identifier: MIT */
/* Recordings made of literal blocks that a correct program would not write. */
#include <fcntl.h>
#include "recording/region_format.h"
#include "regions/timeline/timeline.h"
#include "tap.h"
#include "tare/reading.h"
#include "tare/region.h"

static uint8_t file[16 * FILE_PAGE];
static const char *damaged; /* the damage that expect() checks; NULL: none */
static size_t size;

static uint64_t points_of(const uint8_t *data, size_t n)
{
	struct format_point point;
	uint64_t points = 0;

	for (size_t at = 0, k; (k = format_point(data + at, data + n, 2, &point)); at += k)
		points += point.op != OP_MISSING;
	return points;
}

/* Again, after the head was changed. */
static void sum_up(struct block_head *h)
{
	h->head_sum = format_head_sum(h);
	h->sum = format_block_sum(h, h + 1);
	h->seal_sum = format_seal_sum(h);
}

/* For `first`, all blocks of points have as many points as this one. */
static struct block_head *add_file_block(enum block_kind kind, uint64_t seq, const void *data,
					 size_t n, enum block_state state)
{
	struct block_head *h = (void *)(file + size);

	*h = (struct block_head){ .magic = BLOCK_MAGIC,
				  .kind = (uint16_t)kind,
				  .state = (uint16_t)state,
				  .size = FILE_PAGE,
				  .used = state == BLOCK_SEALED ? (uint32_t)n : 0,
				  .pid = 42,
				  .tid = 43,
				  .seq = seq,
				  .name = "who" };
	memcpy(h + 1, data, n);
	if (kind == BLOCK_POINTS) {
		h->points = state == BLOCK_SEALED ? points_of(data, n) : 0;
		h->first = seq * points_of(data, n);
	}
	sum_up(h);
	size += FILE_PAGE;
	return h;
}

/* Two counters: a clock of 4 ns per tick, and a count. One label, 1, "part". */
static void begin_file(void)
{
	struct file_head head = { .order = FILE_ORDER, .version = FILE_VERSION, .command = "made" };
	struct file_process p = { .n_counters = 2, .mult = 4, .shift = 0, .start_ticks = 1000 };
	uint8_t label[24] = { 24, 0, 0, 0, 1,   0,   0,   0,   9, 0,   0, 0,
			      0,  0, 0, 0, 'p', 'a', 'r', 't', 0, 'f', 0 };

	memset(file, 0, sizeof(file));
	memcpy(head.magic, FILE_MAGIC, 8);
	p.counter[0] = (struct file_counter){
		.name = "wall-time", .unit = "ns", .kind = COUNTER_CLOCK, .quality = TARE_COUNTED
	};
	p.counter[1] = (struct file_counter){ .name = "instructions:u",
					      .kind = COUNTER_COUNT,
					      .quality = TARE_EXACT };
	p.measured = 1 << TARE_PATH_INLINE | 1 << TARE_PATH_RUST | 1 << FILE_PATH_WIDE;
	for (int i = 0; i < 2; i++) {
		p.own[TARE_PATH_INLINE][i] = (struct file_own){ 6, 4, 1, 2 };
		p.own[TARE_PATH_RUST][i] = (struct file_own){ 8, 5, 0, 1 };
		p.own[FILE_PATH_WIDE][i] = (struct file_own){ 9, 4, 1.5, 0 };
		p.own[TARE_PATH_PYTHON][i] = (struct file_own){ 99, 99, 99, 99 };
	}
	memcpy(file, &head, sizeof(head));
	size = FILE_PAGE;
	add_file_block(BLOCK_PROCESS, 0, &p, sizeof(p), BLOCK_OPEN);
	add_file_block(BLOCK_LABELS, 0, label, sizeof(label), BLOCK_SEALED);
}

static size_t put_short(uint8_t *p, bool end, uint32_t gap, uint32_t second)
{
	uint32_t w = gap << 14 | 1 << 3 | (end ? 4 : 0) | 1;

	memcpy(p, &w, 3);
	p[3] = (uint8_t)(second << 2 | 1);
	p[4] = (uint8_t)(second >> 6);
	return 5;
}

static size_t put_wide(uint8_t *p, enum point_op op, uint64_t number, uint64_t gap, uint64_t second)
{
	uint64_t w[4] = { 3 | (uint64_t)POINT_WIDE << 3 | (uint64_t)op << 14 | 1ull << 20, number,
			  gap, second };

	memcpy(p, w, sizeof(w));
	return sizeof(w);
}

static void check_own(const struct timeline_own *own, double unit)
{
	const struct timeline_own *rust = &own[TARE_PATH_RUST],
				  *wide = &own[TARE_PATH_RUST + TIMELINE_PATHS / 2];

	CHECK(own[0].known && own[0].inside == 6 * unit && own[0].outside == 4 * unit &&
		      own[0].inside_off == unit && own[0].outside_off == 2 * unit,
	      "of C");
	CHECK(rust->known && rust->inside == 8 * unit && rust->outside == 5 * unit, "of Rust");
	CHECK(wide->known && wide->inside == 11 * unit && wide->outside == 5 * unit &&
		      wide->inside_off == 1.5 * unit && wide->outside_off == unit,
	      "and the additional cost of a long label in C");
	CHECK(!own[TARE_PATH_PYTHON].known && !own[TARE_PATH_PYTHON + TIMELINE_PATHS / 2].known,
	      "not measured");
}

struct expected {
	enum timeline_kind kind;
	uint8_t repaired;
	unsigned missing;
	uint64_t value[2], number;
};

static void expect(const struct expected *wanted, size_t n)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline_point p;
	struct timeline *t;
	struct cursor *c;
	char path[64];
	size_t i = 0;
	uint64_t points = 0, lost = 0;
	int fd, ret;

	snprintf(path, sizeof(path), "timeline-test-%d.tare", (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK_EQ(write(fd, file, size), size);
	close(fd);
	CHECK_EQ(timeline_open(&t, path, &err), 0, "%s", err.what);
	CHECK_EQ(timeline_info(t)->n_threads, 1);
	CHECK_STR(timeline_info(t)->thread[0].name, "who");
	if (damaged)
		CHECK(timeline_info(t)->damage && strstr(timeline_info(t)->damage, damaged) &&
			      !timeline_info(t)->thread[0].complete,
		      "%s", timeline_info(t)->damage);
	else
		CHECK(!timeline_info(t)->damage, "%s", timeline_info(t)->damage);
	damaged = NULL;
	check_own(timeline_info(t)->counter[0].own, 4); /* ticks as ns */
	check_own(timeline_info(t)->counter[1].own, 1);
	CHECK_EQ(timeline_thread(t, 0, &c, &err), 0);
	while ((ret = cursor_next(c, &p, &err)) == 1 && i < n) {
		CHECK_EQ(p.kind, wanted[i].kind, "point %zu", i);
		CHECK_EQ(p.repaired, wanted[i].repaired, "point %zu", i);
		CHECK_EQ(p.missing, wanted[i].missing, "point %zu", i);
		CHECK_EQ(p.value[0], wanted[i].value[0], "point %zu", i);
		CHECK_EQ(p.value[1], wanted[i].value[1], "point %zu", i);
		CHECK_EQ(p.number, wanted[i].number, "point %zu", i);
		points += p.kind != TIMELINE_LOST && !p.put_in;
		lost += p.kind == TIMELINE_LOST ? p.number : 0;
		i++;
	}
	CHECK_EQ(i, n);
	CHECK_EQ(ret, 0);
	CHECK_EQ(timeline_info(t)->thread[0].points, points, "as the heads say");
	CHECK_EQ(timeline_info(t)->thread[0].lost, lost, "likewise");
	cursor_close(c);
	timeline_close(t);
	unlink(path);
}

/*
 * The state after a thread filled its block of two points while the file was open: the block is
 * appended elsewhere with a third point, if that could be written, and begun again. Returns the
 * number of points read, and lost.
 */
static void read_as_it_is_written(bool appended, unsigned points, unsigned lost)
{
	struct tare_error err = TARE_ERROR_INIT;
	unsigned n = 0, n_lost = 0;
	struct timeline_point p;
	struct timeline *t;
	struct cursor *c;
	uint8_t data[64];
	size_t place, bytes = 0;
	char path[64];
	int fd;

	begin_file();
	for (int i = 0; i < 3; i++)
		bytes += put_short(data + bytes, i == 1, 5, 100);
	place = size;
	add_file_block(BLOCK_POINTS, 0, data, bytes * 2 / 3, BLOCK_OPEN)->first = 0;
	sum_up((void *)(file + place));
	snprintf(path, sizeof(path), "timeline-test-%d.tare", (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK_EQ(write(fd, file, size), size);
	CHECK_EQ(timeline_open(&t, path, &err), 0, "%s", err.what);
	CHECK_EQ(timeline_info(t)->thread[0].points, 2);
	CHECK(timeline_info(t)->thread[0].end_unknown && !timeline_info(t)->thread[0].goes_on &&
		      !timeline_info(t)->live,
	      "an unknown process");

	if (appended) {
		add_file_block(BLOCK_POINTS, 0, data, bytes, BLOCK_SEALED)->first = 0;
		sum_up((void *)(file + size - FILE_PAGE));
	}
	CHECK_EQ(pwrite(fd, file, size, 0), size);
	size = place;
	add_file_block(BLOCK_POINTS, 1, data, bytes / 3, BLOCK_OPEN);
	CHECK_EQ(pwrite(fd, file + place, FILE_PAGE, (off_t)place), FILE_PAGE);
	close(fd);

	CHECK_EQ(timeline_thread(t, 0, &c, &err), 0);
	while (cursor_next(c, &p, &err) == 1) {
		n += !p.put_in && p.kind != TIMELINE_LOST;
		n_lost += p.kind == TIMELINE_LOST ? (unsigned)p.number : 0;
	}
	CHECK_EQ(n, points);
	CHECK_EQ(n_lost, lost);
	cursor_close(c);
	timeline_close(t);
	unlink(path);
}

TEST(a_block_that_is_full_while_it_is_read)
{
	read_as_it_is_written(true, 2, 0);
	read_as_it_is_written(false, 0, 2);
}

/*
 * A program enlarges the recording by a hole, with or without blocks of labels that are mostly
 * holes. Reading it page by page would take hours.
 */
static void read_enlarged(unsigned blocks)
{
	enum { LABELS = 1 << 30 };
	struct tare_error err = TARE_ERROR_INIT;
	struct block_head *h;
	struct timeline *t;
	uint8_t data[64];
	char path[64];
	int fd;

	begin_file();
	add_file_block(BLOCK_POINTS, 0, data, put_short(data, false, 5, 100), BLOCK_SEALED);
	snprintf(path, sizeof(path), "timeline-test-%d.tare", (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK_EQ(write(fd, file, size), size);
	h = add_file_block(BLOCK_LABELS, 1, "", 0, BLOCK_OPEN);
	h->size = LABELS;
	for (unsigned i = 0; i < blocks; i++) {
		h->seq = i + 1;
		sum_up(h);
		CHECK_EQ(pwrite(fd, h, sizeof(*h), ((off_t)i + 1) * LABELS), sizeof(*h));
	}
	CHECK_EQ(ftruncate(fd, (off_t)1 << 42), 0, "4 TiB");
	close(fd);
	CHECK_EQ(timeline_open(&t, path, &err), 0, "%s", err.what);
	CHECK_EQ(timeline_info(t)->n_threads, 1);
	CHECK_EQ(timeline_info(t)->thread[0].points, 1);
	timeline_close(t);
	unlink(path);
}

TEST(a_hole_is_not_read)
{
	read_enlarged(0);
	read_enlarged(4000);
}

TEST(values_add_up_and_ticks_become_ns)
{
	uint8_t data[64];
	size_t n = 0;
	struct block_head *h;

	begin_file();
	n += put_short(data + n, false, 5, 100);
	n += put_short(data + n, true, 7, 200);
	h = add_file_block(BLOCK_POINTS, 0, data, n, BLOCK_SEALED);
	h->value[0] = 1000;
	h->value[1] = 50;
	sum_up(h);
	expect((struct expected[]){ { TIMELINE_BEGIN, false, 0, { 20, 150 }, 0 },
				    { TIMELINE_END, false, 0, { 48, 350 }, 0 } },
	       2);
}

/* At a step back, the value is repeated and marked as not read. The next values continue. */
TEST(a_clock_that_steps_back)
{
	uint8_t data[128];
	size_t n = 0;
	struct block_head *h;

	begin_file();
	n += put_short(data + n, false, 100, 1);
	n += put_wide(data + n, OP_END, 0, (uint64_t)-60, 2);
	n += put_short(data + n, false, 5, 3);
	n += put_short(data + n, true, 5, 4);
	h = add_file_block(BLOCK_POINTS, 0, data, n, BLOCK_SEALED);
	h->value[0] = 1000;
	sum_up(h);
	expect((struct expected[]){ { TIMELINE_BEGIN, false, 0, { 400, 1 }, 0 },
				    { TIMELINE_END, false, 1, { 400, 3 }, 0 },
				    { TIMELINE_BEGIN, false, 0, { 420, 6 }, 0 },
				    { TIMELINE_END, false, 0, { 440, 10 }, 0 } },
	       4);
}

TEST(a_counter_that_is_lost_is_missing_from_there_on)
{
	uint8_t data[128];
	size_t n = 0;
	struct block_head *h;

	begin_file();
	n += put_short(data + n, false, 1, 10);
	n += put_wide(data + n, OP_MISSING, 2, 0, 0);
	n += put_short(data + n, true, 1, 0);
	h = add_file_block(BLOCK_POINTS, 0, data, n, BLOCK_OPEN);
	h->value[0] = 1000;
	sum_up(h);
	expect((struct expected[]){ { TIMELINE_BEGIN, false, 0, { 4, 10 }, 0 },
				    { TIMELINE_END, false, 2, { 8, 10 }, 0 } },
	       2);
}

/*
 * The second of three blocks is damaged: open regions are closed, the gap is a point, and an end
 * after it has no begin.
 */
TEST(a_block_that_is_missing)
{
	uint8_t data[64];
	size_t n = put_short(data, false, 1, 1);
	struct block_head *h;

	begin_file();
	h = add_file_block(BLOCK_POINTS, 0, data, n, BLOCK_SEALED);
	h->value[0] = 1000;
	sum_up(h);
	h = add_file_block(BLOCK_POINTS, 1, data, n, BLOCK_SEALED);
	((uint8_t *)(h + 1))[1] ^= 1;
	n = put_short(data, true, 1, 1);
	h = add_file_block(BLOCK_POINTS, 2, data, n, BLOCK_SEALED);
	h->value[0] = 2000;
	h->value[1] = 7;
	h->lost = 5; /* and some that could not be written before it */
	h->first = 1 + 1 + 5;
	sum_up(h);
	damaged = "the block of thread 43 at offset 16384 is damaged, with 1 points";
	expect((struct expected[]){ { TIMELINE_BEGIN, false, 0, { 4, 1 }, 0 },
				    { TIMELINE_END, TIMELINE_AT_GAP, 0, { 4, 1 }, 0 },
				    { TIMELINE_BEGIN, TIMELINE_AT_GAP, 0, { 4, 1 }, 0 },
				    { TIMELINE_LOST, false, 0, { 4000, 7 }, 6 },
				    { TIMELINE_END, TIMELINE_AT_GAP, 0, { 4000, 7 }, 0 },
				    { TIMELINE_BEGIN, TIMELINE_AT_GAP, 0, { 4004, 8 }, 0 },
				    { TIMELINE_END, false, 0, { 4004, 8 }, 0 } },
	       7);
}

/* Counts during the writing of a block belong to the recorder, not to the program. */
TEST(a_block_goes_on_where_the_one_before_ended)
{
	uint8_t data[64];
	size_t n = put_short(data, false, 1, 1);
	struct block_head *h;

	begin_file();
	h = add_file_block(BLOCK_POINTS, 0, data, n, BLOCK_SEALED);
	h->value[0] = 1000;
	sum_up(h);
	n = put_short(data, true, 1, 1);
	h = add_file_block(BLOCK_POINTS, 1, data, n, BLOCK_OPEN);
	h->value[0] = 1001;
	h->value[1] = 30001;
	sum_up(h);
	expect((struct expected[]){ { TIMELINE_BEGIN, false, 0, { 4, 1 }, 0 },
				    { TIMELINE_END, false, 0, { 8, 2 }, 0 } },
	       2);
}

/*
 * A full block was appended, and the program was killed before its own block was begun again: the
 * points are there twice.
 */
TEST(a_block_that_is_there_twice)
{
	uint8_t data[64];
	size_t n = put_short(data, false, 1, 1);
	struct block_head *h;

	n += put_short(data + n, true, 1, 1);
	begin_file();
	for (int i = 0; i < 2; i++) {
		h = add_file_block(BLOCK_POINTS, 0, data, n, i ? BLOCK_OPEN : BLOCK_SEALED);
		h->value[0] = 1000;
		sum_up(h);
	}
	expect((struct expected[]){ { TIMELINE_BEGIN, false, 0, { 4, 1 }, 0 },
				    { TIMELINE_END, false, 0, { 8, 2 }, 0 } },
	       2);
	/* If the copy is incomplete, the block itself is complete. */
	((struct block_head *)(file + 3 * FILE_PAGE))->sum++;
	expect((struct expected[]){ { TIMELINE_BEGIN, false, 0, { 4, 1 }, 0 },
				    { TIMELINE_END, false, 0, { 8, 2 }, 0 } },
	       2);
}

/*
 * A file that ended properly, with one of three blocks of two points missing, given by `missing`.
 */
static void three_blocks(unsigned missing)
{
	struct file_process *p;

	begin_file();
	p = (void *)(file + FILE_PAGE + sizeof(struct block_head));
	p->ended = 1;
	for (unsigned i = 0; i < 3; i++) {
		uint8_t data[64];
		size_t n = put_short(data, false, 1, 1);
		struct block_head *h;

		n += put_short(data + n, true, 1, 1);
		if (i == missing)
			continue;
		/* the one it writes to is first in the file */
		h = add_file_block(BLOCK_POINTS, i == 0 ? 2 : i - 1, data, n, BLOCK_SEALED);
		h->flags = i == 0 ? BLOCK_LAST : 0;
		h->value[0] = 1000;
		sum_up(h);
	}
}

TEST(a_file_that_was_cut_off_says_so)
{
	static const struct expected gap[] = { { TIMELINE_BEGIN, false, 0, { 4, 1 }, 0 },
					       { TIMELINE_END, false, 0, { 8, 2 }, 0 },
					       { TIMELINE_BEGIN, TIMELINE_AT_GAP, 0, { 8, 2 }, 0 },
					       { TIMELINE_LOST, false, 0, { 8, 2 }, 2 },
					       { TIMELINE_END, TIMELINE_AT_GAP, 0, { 8, 2 }, 0 },
					       { TIMELINE_BEGIN, false, 0, { 12, 3 }, 0 },
					       { TIMELINE_END, false, 0, { 16, 4 }, 0 } };

	three_blocks(2);
	damaged = "1 block of thread 43 is missing before its block at offset 12288, with 2 points";
	expect(gap, 7);
	/* The head has the size. */
	three_blocks(2);
	((struct file_head *)(void *)file)->next = size + FILE_PAGE;
	damaged = "the file ends at offset 20480, and was written up to 24576";
	expect(gap, 7);
	/* Within a block. */
	three_blocks(3);
	size -= FILE_PAGE - sizeof(struct block_head) - 3;
	damaged = "the block of thread 43 at offset 20480 is truncated, with 2 points";
	expect(gap, 7);
}

/* Killed while a page was allocated: for a copy of an existing block, or for unknown data. */
TEST(a_killed_program_s_file_that_ends_before_what_was_taken)
{
	static const struct expected there[] = { { TIMELINE_BEGIN, false, 0, { 4, 1 }, 0 },
						 { TIMELINE_END, false, 0, { 8, 2 }, 0 } };
	static const struct {
		enum block_state state; /* of the thread's block */
		/* the first block is free, because its thread ended; the recording ended */
		bool moved, ended;
		unsigned pages;
		bool told;
	} rows[] = {
		{ BLOCK_SEALED, false, false, 1, false }, { BLOCK_SEALED, false, false, 2, true },
		{ BLOCK_SEALED, true, false, 1, true },   { BLOCK_SEALED, false, true, 1, true },
		{ BLOCK_OPEN, false, false, 1, true },    { BLOCK_OPEN, false, false, 0, false }
	};
	uint8_t data[64];
	size_t n = put_short(data, false, 1, 1);

	n += put_short(data + n, true, 1, 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct block_head *h;

		begin_file();
		((struct file_process *)(void *)(file + FILE_PAGE + sizeof(*h)))
			->ended = rows[i].ended;
		if (rows[i].moved) {
			h = add_file_block(BLOCK_POINTS, 1, data, 0, BLOCK_FREE);
			h->flags = BLOCK_LAST;
			sum_up(h);
		}
		h = add_file_block(BLOCK_POINTS, 0, data, n, rows[i].state);
		h->value[0] = 1000;
		sum_up(h);
		((struct file_head *)(void *)file)->next = size + rows[i].pages * FILE_PAGE;
		damaged = rows[i].told ? "bytes before the end of the space allocated for it"
				       : NULL;
		expect(there, 2);
	}
}

TEST(a_thread_whose_last_block_is_missing)
{
	uint8_t data[64];
	size_t n = put_short(data, false, 1, 1);
	struct file_process *p;
	struct block_head *h;

	n += put_short(data + n, true, 1, 1);
	begin_file();
	p = (void *)(file + FILE_PAGE + sizeof(struct block_head));
	for (int ended = 0; ended < 2; ended++) {
		size = 3 * FILE_PAGE;
		for (uint64_t seq = 0; seq < 2; seq++) {
			h = add_file_block(BLOCK_POINTS, seq, data, n, BLOCK_SEALED);
			h->value[0] = 1000;
			sum_up(h);
		}
		/*
		 * Its own block was given to another thread, and its previous contents are nowhere.
		 */
		p->ended = (uint32_t)ended;
		damaged = ended
			? "the last block of thread 43 is missing, after its block at offset 16384"
			: NULL;
		expect((struct expected[]){ { TIMELINE_BEGIN, false, 0, { 4, 1 }, 0 },
					    { TIMELINE_END, false, 0, { 8, 2 }, 0 },
					    { TIMELINE_BEGIN, false, 0, { 12, 3 }, 0 },
					    { TIMELINE_END, false, 0, { 16, 4 }, 0 } },
		       4);
	}
}

/*
 * Damaged blocks at the end: a damaged block has its number of points and the number before it; a
 * block with a wrong seal has neither.
 */
TEST(points_of_the_last_blocks)
{
	uint8_t data[64];
	size_t n = put_short(data, false, 1, 1);
	struct block_head *h;

	n += put_short(data + n, true, 1, 1);
	for (int seal = 0; seal < 2; seal++) {
		begin_file();
		h = add_file_block(BLOCK_POINTS, 0, data, n, BLOCK_SEALED);
		h->value[0] = 1000;
		sum_up(h);
		/* and two blocks are missing */
		h = add_file_block(BLOCK_POINTS, 3, data, n, BLOCK_SEALED);
		((uint8_t *)(h + 1))[1] ^= 1;
		h->points -= (unsigned)seal;
		damaged = seal ? "at offset 16384 is damaged"
			       : "at offset 16384 is damaged, with 2 points";
		expect((struct expected[]){ { TIMELINE_BEGIN, false, 0, { 4, 1 }, 0 },
					    { TIMELINE_END, false, 0, { 8, 2 }, 0 },
					    { TIMELINE_BEGIN, TIMELINE_AT_GAP, 0, { 8, 2 }, 0 },
					    { TIMELINE_LOST, false, 3, { 8, 2 }, seal ? 0 : 6 },
					    { TIMELINE_END, TIMELINE_AT_GAP, 3, { 8, 2 }, 0 } },
		       5);
	}
	/* The first block is missing: the beginning of the thread is not known. */
	begin_file();
	h = add_file_block(BLOCK_POINTS, 1, data, n, BLOCK_SEALED);
	h->value[0] = 1000;
	h->first = 2;
	sum_up(h);
	damaged = "1 block of thread 43 is missing";
	expect((struct expected[]){ { TIMELINE_BEGIN, TIMELINE_AT_GAP, 3, { 0, 0 }, 0 },
				    { TIMELINE_LOST, false, 0, { 0, 0 }, 2 },
				    { TIMELINE_END, TIMELINE_AT_GAP, 0, { 0, 0 }, 0 },
				    { TIMELINE_BEGIN, false, 0, { 4, 1 }, 0 },
				    { TIMELINE_END, false, 0, { 8, 2 }, 0 } },
	       5);
	/* A wrong seal with intact data: the points are counted. */
	begin_file();
	h = add_file_block(BLOCK_POINTS, 0, data, n, BLOCK_SEALED);
	h->value[0] = 1000;
	sum_up(h);
	h->points = 1;
	expect((struct expected[]){ { TIMELINE_BEGIN, false, 0, { 4, 1 }, 0 },
				    { TIMELINE_END, false, 0, { 8, 2 }, 0 } },
	       2);
}

TEST_MAIN()
