/* SPDX-License-Identifier: MIT */
/*
 * See alloc.h for the file format. The file may come from a misbehaving program, and may change
 * while it is read: every length is checked, and it is not mapped, because a read past the end of a
 * truncated file would be a signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/array.h"
#include "base/file.h"
#include "perfdata/alloc.h"

struct entry { /* offset of a record, sorted by time */
	uint64_t time_ns, at;
};

/* Threads write to one block each: events in order of time are in a few blocks at once. */
enum { CACHED = 64, BLOCKS_MOST = (ALLOC_MOST - ALLOC_PAGE) / ALLOC_BLOCK };

struct cached {
	uint64_t n;  /* its number + 1; 0: none */
	size_t size; /* less than ALLOC_BLOCK only at the end of the file */
	unsigned char bytes[ALLOC_BLOCK];
};

struct alloc_file {
	int fd;
	uint64_t size;
	struct cached *cached[CACHED];
	struct entry *entry;
	size_t n, room, next;
	bool sorted;
	uint64_t kinds[ALLOC_PROGRAM + 1];
	struct alloc_loss loss;
};

static int add_entry(struct alloc_file *f, uint64_t time_ns, uint64_t at, struct tare_error *err)
{
	if (!array_reserve(&f->entry, &f->room, f->n + 1, sizeof(*f->entry)))
		return tare_fail_nomem(err);
	f->entry[f->n++] = (struct entry){ time_ns, at };
	return 0;
}

/* `tail`: the data after the head, if it has that many bytes. */
static bool is_record(const struct alloc_record *r, const unsigned char *tail, uint64_t room)
{
	size_t bytes = sizeof(*r);
	uint32_t told;

	if (r->kind < ALLOC_TAKEN || r->kind > ALLOC_PROGRAM || r->bytes > room ||
	    r->bytes < bytes || r->frames > ALLOC_FRAMES)
		return false;
	if (r->frames && r->bytes < ALLOC_FRAMES_AT)
		return false;
	if (r->frames) {
		memcpy(&told, tail + ALLOC_ADDRESS, sizeof(told));
		bytes = ALLOC_FRAMES_AT +
			ALLOC_ADDRESS * (2u * r->frames + (unsigned)__builtin_popcount(told));
	}
	return r->bytes == ((bytes + 7) & ~(size_t)7);
}

static uint64_t next_address(const unsigned char **at)
{
	uint64_t address = 0;

	memcpy(&address, *at, ALLOC_ADDRESS);
	*at += ALLOC_ADDRESS;
	return address;
}

static void read_stack(struct alloc_event *out, const unsigned char *at)
{
	out->stack = next_address(&at);
	memcpy(&out->told, at, sizeof(out->told));
	at += sizeof(out->told);
	for (unsigned i = 0; i < out->frames; i++) {
		out->frame[i].returns = next_address(&at);
		out->frame[i].pointer = next_address(&at);
	}
	for (unsigned i = 0; i < ALLOC_WORDS; i++)
		if (out->told >> i & 1)
			out->word[i] = next_address(&at);
}

/* Returns the number of bytes; 0 at the end, or if they cannot be read. */
static size_t read_at(int fd, void *to, size_t n, uint64_t at)
{
	size_t done = 0;
	ssize_t got;

	while (done < n) {
		got = pread(fd, (char *)to + done, n - done, (off_t)(at + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/* NULL: out of memory. */
static const struct cached *block_at(struct alloc_file *f, uint64_t n)
{
	struct cached **at = &f->cached[n % CACHED], *c = *at;

	if (!c)
		c = *at = calloc(1, sizeof(*c));
	if (!c || c->n == n + 1)
		return c;
	c->size = read_at(f->fd, c->bytes, sizeof(c->bytes), ALLOC_PAGE + n * ALLOC_BLOCK);
	c->n = n + 1;
	return c;
}

/* Calls come in order of offset, except that a truncated block reports its end first. */
static void lose(struct alloc_file *f, uint64_t at, uint64_t bytes)
{
	if (bytes && (!f->loss.damaged || at < f->loss.damaged_at))
		f->loss.damaged_at = at;
	f->loss.damaged += bytes;
}

/* A block truncated by the end of the file is read up to there. */
static int index_block(struct alloc_file *f, uint64_t n, struct tare_error *err)
{
	const uint64_t at = ALLOC_PAGE + n * ALLOC_BLOCK;
	const struct cached *c = block_at(f, n);
	uint64_t from = sizeof(struct alloc_block), end;
	struct alloc_block b;
	struct alloc_record r;
	int ret = 0;

	if (!c)
		return tare_fail_nomem(err);
	if (c->size < sizeof(b)) {
		lose(f, at, c->size);
		return 0;
	}
	memcpy(&b, c->bytes, sizeof(b));
	if (!b.magic && !b.used)
		return 0; /* allocated, but its thread was killed before it wrote */
	if (b.magic != ALLOC_BLOCK_MAGIC || b.used > ALLOC_BLOCK - sizeof(b)) {
		lose(f, at, c->size);
		return 0;
	}
	end = sizeof(b) + b.used;
	if (end > c->size) {
		lose(f, at + c->size, end - c->size);
		end = c->size;
	}
	for (; ret == 0 && from < end; from += r.bytes) {
		if (end - from < sizeof(r)) {
			lose(f, at + from, end - from);
			break;
		}
		memcpy(&r, c->bytes + from, sizeof(r));
		if (!is_record(&r, c->bytes + from + sizeof(r), end - from)) {
			lose(f, at + from, end - from);
			break;
		}
		ret = add_entry(f, r.time_ns, at + from, err);
		f->kinds[r.kind]++;
	}
	return ret;
}

static int by_time(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int check_head(const struct alloc_head *h, const char *path, struct tare_error *err)
{
	if (memcmp(h->magic, ALLOC_MAGIC, sizeof(h->magic)))
		return tare_fail(err, EINVAL,
				 "%.200s: not a recording of allocations: its magic number differs",
				 path);
	if (h->version == __builtin_bswap32(ALLOC_VERSION))
		return tare_fail(err, EINVAL, "%.200s: from a machine with the other byte order",
				 path);
	if (h->version != ALLOC_VERSION)
		return tare_fail(err, EINVAL, "%.200s: byte 8: version %u, but this tare reads %d",
				 path, h->version, ALLOC_VERSION);
	if (h->block != ALLOC_BLOCK)
		return tare_fail(err, EINVAL, "%.200s: byte 12: blocks of %u bytes, not %d", path,
				 h->block, ALLOC_BLOCK);
	return 0;
}

static int index_all(struct alloc_file *f, const char *path, struct tare_error *err)
{
	uint64_t here, n;
	struct alloc_head h;
	int ret;

	if (read_at(f->fd, &h, sizeof(h), 0) < sizeof(h))
		return tare_fail(err, EINVAL,
				 "%.200s: not a recording of allocations: it has only %" PRIu64
				 " bytes",
				 path, f->size);
	ret = check_head(&h, path, err);
	here = f->size > ALLOC_PAGE ? (f->size - ALLOC_PAGE + ALLOC_BLOCK - 1) / ALLOC_BLOCK : 0;
	here = here < BLOCKS_MOST ? here : BLOCKS_MOST; /* the recorder writes no more */
	n = h.blocks < here ? h.blocks : here;
	f->loss.lost = h.lost;
	f->loss.since_ns = h.lost_ns;
	f->loss.full = h.blocks >= h.most ? ALLOC_PAGE + (uint64_t)h.most * ALLOC_BLOCK : 0;
	f->loss.missing = h.blocks - n;
	f->loss.missing_at = f->loss.missing ? ALLOC_PAGE + n * ALLOC_BLOCK : 0;
	for (uint64_t i = 0; ret == 0 && i < n; i++)
		ret = index_block(f, i, err);
	return ret;
}

static int open_file(struct alloc_file *f, const char *path, struct tare_error *err)
{
	struct stat st;

	f->fd = file_open_regular(path, INT64_MAX);
	if (f->fd == -EINVAL)
		return tare_fail(err, EINVAL, "%.200s is not a regular file", path);
	if (f->fd < 0)
		return tare_fail(err, -f->fd, "cannot open %.200s: %s", path, strerror(-f->fd));
	f->size = fstat(f->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
	return 0;
}

int alloc_open(struct alloc_file **out, const char *path, struct tare_error *err)
{
	struct alloc_file *f = calloc(1, sizeof(*f));
	int ret;

	if (!f)
		return tare_fail_nomem(err);
	ret = open_file(f, path, err);
	if (ret == 0)
		ret = index_all(f, path, err);
	if (ret < 0) {
		alloc_close(f);
		return ret;
	}
	*out = f;
	return 0;
}

/* The record at an offset, if it is still there. */
static bool event_at(struct alloc_file *f, uint64_t at, struct alloc_event *out)
{
	const struct cached *c = block_at(f, (at - ALLOC_PAGE) / ALLOC_BLOCK);
	size_t from = (at - ALLOC_PAGE) % ALLOC_BLOCK;
	struct alloc_record r;
	struct alloc_block b;

	if (!c || c->size < from + sizeof(r))
		return false;
	memcpy(&b, c->bytes, sizeof(b));
	memcpy(&r, c->bytes + from, sizeof(r));
	if (!is_record(&r, c->bytes + from + sizeof(r), c->size - from))
		return false;
	*out = (struct alloc_event){ .kind = r.kind,
				     .pid = b.pid,
				     .tid = r.tid,
				     .time_ns = r.time_ns,
				     .address = r.address,
				     .size = r.size,
				     .frames = r.frames };
	if (r.frames)
		read_stack(out, c->bytes + from + sizeof(r));
	return true;
}

int alloc_next(struct alloc_file *f, struct alloc_event *out)
{
	if (!f->sorted && f->n)
		qsort(f->entry, f->n, sizeof(*f->entry), by_time);
	f->sorted = true;
	while (f->next < f->n) {
		uint64_t at = f->entry[f->next++].at;

		if (event_at(f, at, out))
			return 1;
		lose(f, at, sizeof(struct alloc_record));
	}
	return 0;
}

const struct alloc_loss *alloc_loss(const struct alloc_file *f)
{
	return &f->loss;
}

void alloc_loss_text(struct text *out, const struct alloc_loss *loss)
{
	if (loss->damaged)
		text_add(out, "%" PRIu64 " byte%s, the first at byte %" PRIu64, loss->damaged,
			 loss->damaged == 1 ? " is not a record" : "s are not records",
			 loss->damaged_at);
	if (loss->missing)
		text_add(out, "%s%" PRIu64 " block%s not in the file, the first at byte %" PRIu64,
			 loss->damaged ? "; " : "", loss->missing,
			 loss->missing == 1 ? " is" : "s are", loss->missing_at);
}

uint64_t alloc_count(const struct alloc_file *f)
{
	return f->n;
}

uint64_t alloc_count_of(const struct alloc_file *f, enum alloc_kind kind)
{
	return kind >= ALLOC_TAKEN && kind <= ALLOC_PROGRAM ? f->kinds[kind] : 0;
}

void alloc_close(struct alloc_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	for (size_t i = 0; i < CACHED; i++)
		free(f->cached[i]);
	free(f->entry);
	free(f);
}

bool alloc_path(char *out, size_t room, const char *recording)
{
	char place[PATH_MAX], name[FILE_PART_ROOM], whole[PATH_MAX];
	const char *file = file_place(recording, place) > 0 ? place : recording,
		   *end = strrchr(file, '.');
	bool part = end && end > file && (!strcmp(end, ".part") || !strncmp(end, ".part-", 6));

	snprintf(whole, sizeof(whole), "%.*s", part ? (int)(end - file) : PATH_MAX, file);
	return file_beside(whole, ".alloc", name) &&
		(size_t)snprintf(out, room, "%s%s", name, part ? end : "") < room;
}

bool alloc_is_own(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	char magic[sizeof(ALLOC_MAGIC) - 1];
	struct stat st;
	bool own = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		st.st_uid == geteuid() && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		!memcmp(magic, ALLOC_MAGIC, sizeof(magic));

	if (fd >= 0)
		close(fd);
	return own;
}

int alloc_begin(int fd, uint64_t most)
{
	struct alloc_head head = { .magic = ALLOC_MAGIC,
				   .version = ALLOC_VERSION,
				   .block = ALLOC_BLOCK,
				   .clock = CLOCK_MONOTONIC };
	char page[ALLOC_PAGE] = { 0 };

	if (!most || most > ALLOC_MOST)
		most = ALLOC_MOST;
	head.most = most > ALLOC_PAGE ? (uint32_t)((most - ALLOC_PAGE) / ALLOC_BLOCK) : 0;
	memcpy(page, &head, sizeof(head));
	return file_write_all(fd, page, sizeof(page));
}
