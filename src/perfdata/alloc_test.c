/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "perfdata/alloc.h"
#include "tap.h"

/* A file as written by the recorder: two blocks, of two processes. */
static unsigned char file[ALLOC_PAGE + 2 * ALLOC_BLOCK];
enum { ONE = 72 }; /* bytes of a record with a frame and two words */

static size_t used[2];
static char path[] = "/tmp/alloc-test-XXXXXX";

static void begin_alloc_file(void)
{
	const struct alloc_head head = { .magic = ALLOC_MAGIC,
					 .version = ALLOC_VERSION,
					 .block = ALLOC_BLOCK,
					 .blocks = 2,
					 .lost = 9,
					 .clock = 1,
					 .most = 3 };

	memset(file, 0, sizeof(file));
	memcpy(file, &head, sizeof(head));
	used[0] = used[1] = 0;
}

static void record(unsigned block, enum alloc_kind kind, uint64_t time_ns, uint64_t address,
		   uint64_t size, uint8_t frames)
{
	unsigned char *b = file + ALLOC_PAGE + block * ALLOC_BLOCK;
	const uint32_t told = 1 | 1u << 31; /* two words of the stack */
	unsigned char rest[10 + 6 * (2 * ALLOC_FRAMES + 2) + 8] = { 0 };
	size_t n = frames ? (10 + 6 * (2 * (size_t)frames + 2) + 7) / 8 * 8 : 0;
	struct alloc_record r = { .bytes = (uint16_t)(32 + n),
				  .kind = (uint8_t)kind,
				  .frames = frames,
				  .tid = 100 + block,
				  .time_ns = time_ns,
				  .address = address,
				  .size = size };
	struct alloc_block head = { .magic = ALLOC_BLOCK_MAGIC, .pid = 10 + block };

	for (uint64_t i = 0, at = 0; frames && i < 1 + 2 * (uint64_t)frames + 2;
	     i++, at += i == 1 ? 10 : 6) {
		uint64_t word = 0xf00000001000 + i;

		memcpy(rest + at, &word, 6);
	}
	memcpy(rest + 6, &told, sizeof(told));
	memcpy(b + 16 + used[block], &r, sizeof(r));
	memcpy(b + 16 + used[block] + sizeof(r), rest, n);
	used[block] += r.bytes;
	head.used = used[block];
	memcpy(b, &head, sizeof(head));
}

static int read_back(size_t size, struct alloc_file **out, struct tare_error *err)
{
	int fd, ret;

	memcpy(path + strlen(path) - 6, "XXXXXX", 6);
	fd = mkstemp(path);
	CHECK(fd >= 0 && write(fd, file, size) == (ssize_t)size, "a file to read");
	close(fd);
	ret = alloc_open(out, path, err);
	unlink(path);
	return ret;
}

TEST(alloc_in_order_of_time)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct alloc_file *f = NULL;
	struct alloc_event e;

	begin_alloc_file();
	record(0, ALLOC_PROGRAM, 5, 1, 0, 0);
	record(0, ALLOC_TAKEN, 30, 0xa000, 64, 3);
	record(0, ALLOC_FREED, 20, 0x9000, 0, 1);
	record(1, ALLOC_FORK, 25, 10, 0, 0);
	record(1, ALLOC_MAPPED, 30, 0xf000, 4096, 8);
	CHECK_EQ(read_back(sizeof(file), &f, &err), 0, "%s", err.what);
	CHECK_EQ(alloc_count(f), 5);
	CHECK_EQ(alloc_count_of(f, ALLOC_TAKEN), 1);
	CHECK_EQ(alloc_count_of(f, ALLOC_MAPPED), 1);
	CHECK_EQ(alloc_count_of(f, ALLOC_UNMAPPED), 0);
	CHECK_EQ(alloc_count_of(f, (enum alloc_kind)7), 0);

	static const struct {
		enum alloc_kind kind;
		uint32_t pid;
		uint64_t time_ns, address, size;
		uint8_t frames;
	} want[] = { { ALLOC_PROGRAM, 10, 5, 1, 0, 0 },
		     { ALLOC_FREED, 10, 20, 0x9000, 0, 1 },
		     { ALLOC_FORK, 11, 25, 10, 0, 0 },
		     { ALLOC_TAKEN, 10, 30, 0xa000, 64, 3 },
		     { ALLOC_MAPPED, 11, 30, 0xf000, 4096, 8 } };

	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		CHECK_EQ(alloc_next(f, &e), 1, "event %zu", i);
		CHECK_EQ(e.kind, want[i].kind, "event %zu", i);
		CHECK_EQ(e.pid, want[i].pid, "event %zu", i);
		CHECK_EQ(e.tid, e.pid + 90, "event %zu", i);
		CHECK_EQ(e.time_ns, want[i].time_ns, "event %zu", i);
		CHECK_EQ(e.address, want[i].address, "event %zu", i);
		CHECK_EQ(e.size, want[i].size, "event %zu", i);
		CHECK_EQ(e.frames, want[i].frames, "event %zu", i);
		CHECK_EQ(e.told, e.frames ? 0x80000001 : 0, "event %zu", i);
		CHECK_EQ(e.stack, e.frames ? 0xf00000001000 : 0, "event %zu", i);
		for (uint64_t k = 0; k < e.frames; k++) {
			CHECK_EQ(e.frame[k].returns, 0xf00000001001 + 2 * k, "event %zu", i);
			CHECK_EQ(e.frame[k].pointer, 0xf00000001002 + 2 * k, "event %zu", i);
		}
		if (e.frames) {
			CHECK_EQ(e.word[0], 0xf00000001001 + 2 * e.frames, "event %zu", i);
			CHECK_EQ(e.word[31], 0xf00000001002 + 2 * e.frames, "event %zu", i);
		}
	}
	CHECK_EQ(alloc_next(f, &e), 0);
	CHECK_EQ(alloc_loss(f)->lost, 9);
	CHECK_EQ(alloc_loss(f)->full, 0, "one more block was allowed");
	CHECK_EQ(alloc_loss(f)->damaged, 0);
	CHECK_EQ(alloc_loss(f)->missing, 0);
	alloc_close(f);
}

/* The effect of one changed byte or word: how many records remain, and how many bytes are lost. */
TEST(alloc_damage)
{
	enum { FIRST = ALLOC_PAGE, SECOND = ALLOC_PAGE + ALLOC_BLOCK };
	static const struct {
		int line;
		size_t at, size; /* bytes of the change; of the file */
		uint64_t value, n, damaged, missing;
	} rows[] = {
		{ __LINE__, 0, 0, 0, 4, 0, 0 },
		{ __LINE__, FIRST, 4, 1, 2, ALLOC_BLOCK, 0 }, /* the block's magic */
		{ __LINE__, FIRST + 8, 8, ALLOC_BLOCK - 15, 2, ALLOC_BLOCK, 0 }, /* its length */
		{ __LINE__, FIRST + 8, 8, ALLOC_BLOCK - 16, 4, ALLOC_BLOCK - 16 - 2 * ONE, 0 },
		{ __LINE__, FIRST + 8, 8, 2 * ONE - 1, 3, ONE - 1, 0 },
		{ __LINE__, FIRST + 8, 8, ONE + 36, 3, 36, 0 },
		{ __LINE__, FIRST + 16, 2, ONE - 1, 2, 2 * ONE, 0 }, /* a record's length */
		{ __LINE__, FIRST + 16, 2, 0, 2, 2 * ONE, 0 },
		{ __LINE__, FIRST + 18, 1, 0, 2, 2 * ONE, 0 }, /* its kind */
		{ __LINE__, FIRST + 18, 1, 7, 2, 2 * ONE, 0 },
		{ __LINE__, FIRST + 19, 1, 9, 2, 2 * ONE, 0 }, /* its frames */
		{ __LINE__, FIRST + 19, 1, 3, 2, 2 * ONE, 0 }, /* more than fit */
		{ __LINE__, FIRST + 19, 1, 0, 2, 2 * ONE, 0 }, /* none, but words */
		{ __LINE__, 16, 8, 1, 2, 0, 0 },               /* blocks */
		{ __LINE__, 16, 8, 5, 4, 0, 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct alloc_file *f = NULL;
		struct alloc_event e;
		uint64_t n = 0;

		begin_alloc_file();
		record(0, ALLOC_TAKEN, 1, 0xa000, 8, 1);
		record(0, ALLOC_TAKEN, 2, 0xb000, 8, 1);
		record(1, ALLOC_TAKEN, 3, 0xc000, 8, 0);
		record(1, ALLOC_FREED, 4, 0xc000, 0, 0);
		memcpy(file + rows[i].at, &rows[i].value, rows[i].size);
		CHECK_EQ(read_back(sizeof(file), &f, &err), 0, "row at line %d: %s", rows[i].line,
			 err.what);
		while (alloc_next(f, &e) > 0)
			n++;
		CHECK_EQ(n, rows[i].n, "row at line %d", rows[i].line);
		CHECK_EQ(alloc_loss(f)->damaged, rows[i].damaged, "row at line %d", rows[i].line);
		CHECK_EQ(alloc_loss(f)->missing, rows[i].missing, "row at line %d", rows[i].line);
		alloc_close(f);
	}
}

TEST(alloc_cut_off)
{
	static const struct {
		int line;
		size_t size;
		uint64_t n, damaged, missing;
	} rows[] = {
		{ __LINE__, ALLOC_PAGE, 0, 0, 2 },
		{ __LINE__, ALLOC_PAGE + 15, 0, 15, 1 },
		{ __LINE__, ALLOC_PAGE + 16 + ONE, 1, ONE, 1 },
		{ __LINE__, ALLOC_PAGE + 16 + 2 * ONE - 1, 1, ONE, 1 },
		{ __LINE__, ALLOC_PAGE + 16 + 2 * ONE, 2, 0, 1 },
		{ __LINE__, sizeof(file) - 1, 3, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct alloc_file *f = NULL;

		begin_alloc_file();
		record(0, ALLOC_TAKEN, 1, 0xa000, 8, 1);
		record(0, ALLOC_TAKEN, 2, 0xb000, 8, 1);
		record(1, ALLOC_TAKEN, 3, 0xc000, 8, 0);
		CHECK_EQ(read_back(rows[i].size, &f, &err), 0, "row at line %d: %s", rows[i].line,
			 err.what);
		CHECK_EQ(alloc_count(f), rows[i].n, "row at line %d", rows[i].line);
		CHECK_EQ(alloc_loss(f)->missing, rows[i].missing, "row at line %d", rows[i].line);
		if (rows[i].n != 1) /* for a truncated record, the rest of its block is counted */
			CHECK_EQ(alloc_loss(f)->damaged, rows[i].damaged, "row at line %d",
				 rows[i].line);
		if (rows[i].missing)
			CHECK_EQ(alloc_loss(f)->missing_at,
				 ALLOC_PAGE + (2 - rows[i].missing) * ALLOC_BLOCK, "row at line %d",
				 rows[i].line);
		if (rows[i].n == 1)
			CHECK_EQ(alloc_loss(f)->damaged_at, ALLOC_PAGE + 16 + ONE,
				 "row at line %d: after the complete record", rows[i].line);
		alloc_close(f);
	}
}

/*
 * A file that claims more blocks than the recorder writes, enlarged by a hole of 4 TiB: reading all
 * of them would take minutes.
 */
TEST(alloc_enlarged)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct alloc_file *f = NULL;
	uint64_t blocks = UINT64_C(1) << 26;
	int fd;

	begin_alloc_file();
	record(0, ALLOC_TAKEN, 1, 0xa000, 8, 1);
	memcpy(file + 16, &blocks, sizeof(blocks));
	CHECK_EQ(read_back(sizeof(file), &f, &err), 0, "%s", err.what);
	alloc_close(f);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK_EQ(pwrite(fd, file, sizeof(file), 0), sizeof(file));
	CHECK_EQ(ftruncate(fd, (off_t)1 << 42), 0);
	CHECK_EQ(alloc_open(&f, path, &err), 0, "%s", err.what);
	CHECK_EQ(alloc_count(f), 1);
	CHECK_EQ(alloc_loss(f)->missing, blocks - (ALLOC_MOST - ALLOC_PAGE) / ALLOC_BLOCK);
	alloc_close(f);
	close(fd);
	unlink(path);
}

/* A read of a mapped file would end this process by SIGBUS. */
TEST(alloc_truncated_while_it_is_read)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct alloc_file *f = NULL;
	struct alloc_event e;
	int fd;

	begin_alloc_file();
	record(0, ALLOC_TAKEN, 1, 0xa000, 8, 1);
	record(1, ALLOC_TAKEN, 2, 0xb000, 8, 1);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK_EQ(pwrite(fd, file, sizeof(file), 0), sizeof(file));
	CHECK_EQ(alloc_open(&f, path, &err), 0, "%s", err.what);
	CHECK_EQ(ftruncate(fd, 0), 0);
	while (alloc_next(f, &e) > 0)
		;
	alloc_close(f);
	close(fd);
	unlink(path);
}

TEST(alloc_refused)
{
	static const struct {
		int line;
		size_t at, size, file_size;
		uint64_t value;
		const char *why;
	} rows[] = {
		{ __LINE__, 0, 1, sizeof(file), 'X', "magic number differs" },
		{ __LINE__, 8, 4, sizeof(file), 1, "version 1, but this tare reads 3" },
		{ __LINE__, 8, 4, sizeof(file), 0x03000000, "the other byte order" },
		{ __LINE__, 12, 4, sizeof(file), 4096, "blocks of 4096 bytes" },
		{ __LINE__, 0, 0, 39, 0, "not a recording of allocations: it has only 39 bytes" },
		{ __LINE__, 0, 0, 0, 0, "not a recording of allocations: it has only 0 bytes" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct alloc_file *f = NULL;

		begin_alloc_file();
		memcpy(file + rows[i].at, &rows[i].value, rows[i].size);
		CHECK_EQ(read_back(rows[i].file_size, &f, &err), -EINVAL, "row at line %d",
			 rows[i].line);
		CHECK(strstr(err.what, rows[i].why), "row at line %d: %s", rows[i].line, err.what);
	}
}

TEST(alloc_limit)
{
	static const struct {
		int line;
		uint64_t most;
		uint32_t blocks;
	} rows[] = {
		{ __LINE__, 0, 16383 },
		{ __LINE__, 5ull << 30, 16383 },
		{ __LINE__, ALLOC_PAGE + 2 * ALLOC_BLOCK, 2 },
		{ __LINE__, ALLOC_PAGE + 2 * ALLOC_BLOCK - 1, 1 },
		{ __LINE__, 100, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct alloc_file *f = NULL;
		struct alloc_head h;
		int fd = memfd_create("alloc", 0);
		char name[64];

		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		CHECK_EQ(alloc_begin(fd, rows[i].most), 0);
		CHECK_EQ(pread(fd, &h, sizeof(h), 0), sizeof(h));
		CHECK_EQ(h.most, rows[i].blocks, "row at line %d", rows[i].line);
		h.blocks = h.most;
		CHECK_EQ(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
		CHECK_EQ(alloc_open(&f, name, &err), 0, "%s", err.what);
		CHECK_EQ(alloc_loss(f)->full, ALLOC_PAGE + (uint64_t)ALLOC_BLOCK * h.most,
			 "row at line %d", rows[i].line);
		alloc_close(f);
		close(fd);
	}
}

TEST(alloc_made_anew)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct alloc_file *f = NULL;
	char small[8];

	begin_alloc_file();
	CHECK_EQ(read_back(0, &f, &err), -EINVAL); /* for its name */
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK_EQ(alloc_begin(fd, 0), 0);
	close(fd);
	CHECK_EQ(alloc_open(&f, path, &err), 0, "%s", err.what);
	CHECK_EQ(alloc_count(f), 0);
	alloc_close(f);
	unlink(path);
	CHECK_EQ(alloc_begin(-1, 0), -EBADF);
	CHECK_EQ(alloc_open(&f, "/", &err), -EINVAL);
	CHECK(!alloc_path(small, sizeof(small), "ab"), "no room for the end");
	CHECK(alloc_path(small, sizeof(small), "a") && !strcmp(small, "a.alloc"), "%s", small);
	CHECK(alloc_path(path, sizeof(path), "dir/a.part-2") && !strcmp(path, "dir/a.alloc.part-2"),
	      "%s", path);
}

TEST_MAIN()
