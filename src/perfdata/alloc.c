/* SPDX-License-Identifier: MIT */
/*
 * See alloc.h for the file format. The file may come from a misbehaving program: every length is
 * checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/array.h"
#include "base/file.h"
#include "perfdata/alloc.h"

struct entry { /* offset of a record, sorted by time */
	uint64_t time_ns, at;
};

struct alloc_file {
	const unsigned char *bytes;
	size_t size;
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

/* Calls come in order of offset, except that a truncated block reports its end first. */
static void lose(struct alloc_file *f, uint64_t at, uint64_t bytes)
{
	if (bytes && (!f->loss.damaged || at < f->loss.damaged_at))
		f->loss.damaged_at = at;
	f->loss.damaged += bytes;
}

/* A block truncated by the end of the file is read up to there. */
static int index_block(struct alloc_file *f, uint64_t at, struct tare_error *err)
{
	uint64_t here = f->size - at < ALLOC_BLOCK ? f->size - at : ALLOC_BLOCK, end;
	struct alloc_block b;
	struct alloc_record r;
	int ret = 0;

	if (here < sizeof(b)) {
		lose(f, at, here);
		return 0;
	}
	memcpy(&b, f->bytes + at, sizeof(b));
	if (!b.magic && !b.used)
		return 0; /* allocated, but its thread was killed before it wrote */
	if (b.magic != ALLOC_BLOCK_MAGIC || b.used > ALLOC_BLOCK - sizeof(b)) {
		lose(f, at, here);
		return 0;
	}
	end = at + sizeof(b) + b.used;
	if (end > at + here) {
		lose(f, at + here, end - (at + here));
		end = at + here;
	}
	for (at += sizeof(b); ret == 0 && at < end; at += r.bytes) {
		if (end - at < sizeof(r)) {
			lose(f, at, end - at);
			break;
		}
		memcpy(&r, f->bytes + at, sizeof(r));
		if (!is_record(&r, f->bytes + at + sizeof(r), end - at)) {
			lose(f, at, end - at);
			break;
		}
		ret = add_entry(f, r.time_ns, at, err);
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

	if (f->size < sizeof(h))
		return tare_fail(err, EINVAL,
				 "%.200s: not a recording of allocations: it has only %zu bytes",
				 path, f->size);
	memcpy(&h, f->bytes, sizeof(h));
	ret = check_head(&h, path, err);
	here = f->size > ALLOC_PAGE ? (f->size - ALLOC_PAGE + ALLOC_BLOCK - 1) / ALLOC_BLOCK : 0;
	n = h.blocks < here ? h.blocks : here;
	f->loss.lost = h.lost;
	f->loss.since_ns = h.lost_ns;
	f->loss.full = h.blocks >= h.most ? ALLOC_PAGE + (uint64_t)h.most * ALLOC_BLOCK : 0;
	f->loss.missing = h.blocks - n;
	f->loss.missing_at = f->loss.missing ? ALLOC_PAGE + n * ALLOC_BLOCK : 0;
	for (uint64_t i = 0; ret == 0 && i < n; i++)
		ret = index_block(f, ALLOC_PAGE + i * ALLOC_BLOCK, err);
	return ret;
}

static int map(struct alloc_file *f, const char *path, struct tare_error *err)
{
	int fd = file_open_regular(path, INT64_MAX), code;
	struct stat st;

	if (fd == -EINVAL)
		return tare_fail(err, EINVAL, "%.200s is not a regular file", path);
	if (fd < 0)
		return tare_fail(err, -fd, "cannot open %.200s: %s", path, strerror(-fd));
	f->size = fstat(fd, &st) == 0 ? (size_t)st.st_size : 0;
	f->bytes = f->size ? mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
	code = errno;
	close(fd);
	if (f->bytes == MAP_FAILED) {
		f->bytes = NULL;
		return tare_fail(err, code, "cannot read %.200s: %s", path, strerror(code));
	}
	return 0;
}

int alloc_open(struct alloc_file **out, const char *path, struct tare_error *err)
{
	struct alloc_file *f = calloc(1, sizeof(*f));
	int ret;

	if (!f)
		return tare_fail_nomem(err);
	ret = map(f, path, err);
	if (ret == 0)
		ret = index_all(f, path, err);
	if (ret < 0) {
		alloc_close(f);
		return ret;
	}
	*out = f;
	return 0;
}

int alloc_next(struct alloc_file *f, struct alloc_event *out)
{
	struct alloc_record r;
	struct alloc_block b;
	uint64_t at;

	if (f->next == f->n)
		return 0;
	if (!f->sorted)
		qsort(f->entry, f->n, sizeof(*f->entry), by_time);
	f->sorted = true;
	at = f->entry[f->next++].at;
	memcpy(&r, f->bytes + at, sizeof(r));
	memcpy(&b, f->bytes + at - (at - ALLOC_PAGE) % ALLOC_BLOCK, sizeof(b));
	*out = (struct alloc_event){ .kind = r.kind,
				     .pid = b.pid,
				     .tid = r.tid,
				     .time_ns = r.time_ns,
				     .address = r.address,
				     .size = r.size,
				     .frames = r.frames };
	if (r.frames)
		read_stack(out, f->bytes + at + sizeof(r));
	return 1;
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
	if (f->bytes)
		munmap((void *)f->bytes, f->size);
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
