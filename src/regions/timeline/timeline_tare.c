/* SPDX-License-Identifier: MIT */
/*
 * Open a recording in tare's own format: read the heads of all blocks, and all processes and
 * labels, but no points. Damaged or truncated parts, and parts missing because the program was
 * killed, are reported; the rest is read.
 */
#include "base/array.h"
#include "regions/timeline/timeline_tare.h"
#include <elf.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tare/region.h"

enum { NAME_MAX_HERE = sizeof(((struct block_head *)0)->name) };

bool tare_read(const struct tare_timeline *t, void *out, size_t n, uint64_t offset)
{
	char *p = out;

	while (n) {
		ssize_t got = pread(t->fd, p, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		n -= (size_t)got;
		offset += (uint64_t)got;
	}
	return true;
}

void tare_damage(struct tare_timeline *t, const char *fmt, ...)
{
	char line[300];
	va_list ap;

	/* A larger table can only come from a broken disk. */
	if (t->damage.len > 4000)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	text_add(&t->damage, "%s%s", t->damage.len ? "; " : "", line);
}

/*
 * A process that can write the file can enlarge it without using disk space. So after this many
 * zero bytes, holes are skipped. Before that they are not: some file systems report pages as a hole
 * that were written but are not on the disk yet.
 */
enum { BLANK_MOST = 256 << 20, LABELS_MOST = 64 << 20 /* of one block, if it may be a hole */ };

uint64_t tare_after_blank(struct tare_timeline *t, uint64_t at, uint64_t size)
{
	uint64_t next = at + FILE_PAGE, end = size & -(uint64_t)FILE_PAGE;
	off_t data;

	t->blank += FILE_PAGE;
	if (t->blank <= BLANK_MOST || next >= end)
		return next;
	data = lseek(t->fd, (off_t)next, SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? end : next;
	return (uint64_t)data < end ? (uint64_t)data & -(uint64_t)FILE_PAGE : end;
}

/* The part of n bytes at an offset that precedes a hole. */
static uint64_t without_hole(const struct tare_timeline *t, uint64_t at, uint64_t n)
{
	off_t hole = t->blank + n > BLANK_MOST || n > LABELS_MOST
		? lseek(t->fd, (off_t)at, SEEK_HOLE)
		: -1;

	return hole < 0 || (uint64_t)hole - at > n ? n : (uint64_t)hole - at;
}

static bool is_tare(const unsigned char *head, size_t n)
{
	return n >= 8 && !memcmp(head, FILE_MAGIC, 8);
}

static int check_head(const struct file_head *h, struct tare_error *err)
{
	int ret;

	if (h->order == __builtin_bswap32(FILE_ORDER)) {
		ret = tare_fail(
			err, EINVAL,
			"offset 8: recorded on a big-endian machine, which is not supported here");
		tare_hint(err, "read it with tare on such a machine");
		return ret;
	}
	if (h->order != FILE_ORDER)
		return tare_fail(err, EINVAL, "offset 8: the byte-order mark is damaged");
	if (h->version != FILE_VERSION) {
		ret = tare_fail(err, EINVAL, "offset 12: format version %u, but this tare reads %d",
				h->version, FILE_VERSION);
		tare_hint(err,
			  h->version > FILE_VERSION ? "it was made by a newer tare"
						    : "it was made by an older tare: record again");
		return ret;
	}
	return 0;
}

/* Labels. */

/* The way of recording, in two halves: one for labels that are too large for short points. */
static uint8_t record_path_of(uint32_t path, uint32_t number)
{
	if (path >= FILE_PATH_WIDE)
		path = TARE_PATH_OTHER;
	return (uint8_t)(path + (number >= POINT_WIDE ? TIMELINE_PATHS / 2 : 0));
}

static int add_label(struct tare_timeline *t, struct tare_process *process, const char *p,
		     uint32_t size)
{
	struct tare_labels *l = &t->labels;
	uint32_t number, line, n_args, index;
	const char *text = p + 16, *end = p + size, *name = text, *file = "";
	const char **args = NULL;
	uint8_t record_path;
	size_t at, known;
	int ret;

	memcpy(&number, p + 4, 4);
	memcpy(&line, p + 8, 4);
	memcpy(&n_args, p + 12, 4);
	if (n_args > size)
		return -EINVAL;
	for (uint32_t i = 0; i < n_args + 2; i++) {
		const char *stop = memchr(text, '\0', (size_t)(end - text));

		if (!stop)
			return -EINVAL;
		if (i == 1)
			file = text;
		if (i == 0 && n_args) {
			args = tare_labels_args(l, n_args);
			if (!args)
				return -ENOMEM;
		}
		if (i >= 2)
			args[i - 2] = text;
		text = stop + 1;
	}
	/* Pages that read as 0 cut texts short. */
	if (!*name || end - text >= 8)
		return -EINVAL;
	/* A number too large for the file would waste memory. */
	if (number < process->inherited || number - process->inherited > t->size / 16)
		return -EINVAL;
	record_path = record_path_of(line >> 24, number);
	ret = tare_labels_add(l, name, file, line & 0xffffff, record_path, args, n_args, &index);
	if (ret < 0)
		return ret;
	at = number - process->inherited;
	known = process->n_labels;
	if (!array_reserve(&process->label, &process->n_labels, at + 1, sizeof(*process->label)))
		return -ENOMEM;
	for (; known < process->n_labels; known++)
		process->label[known] = NO_LABEL;
	process->found += process->label[at] == NO_LABEL;
	process->label[at] = index;
	return 0;
}

/* Read the labels of a block, one after the other by their size. */
static int add_each(struct tare_timeline *t, struct tare_process *process, const char *p,
		    uint64_t room, uint64_t offset)
{
	const char *end = p + room;
	uint32_t size;

	for (; end - p >= 16; p += size) {
		memcpy(&size, p, 4);
		if (!size)
			break;

		bool fits = size % 8 == 0 && size >= LABEL_LEAST && size <= (size_t)(end - p);
		int ret = fits ? add_label(t, process, p, size) : -EINVAL;

		if (ret == -ENOMEM)
			return ret;
		if (ret < 0)
			tare_damage(t, "a label in the block at offset %llu is invalid",
				    (unsigned long long)offset);
		if (!fits)
			break;
	}
	t->blank += (uint64_t)(end - p);
	return 0;
}

static int add_labels(struct tare_timeline *t, const struct block_head *h, uint64_t offset)
{
	struct tare_process *process = h->process < t->n_processes ? &t->process[h->process] : NULL;
	uint64_t room = h->size - sizeof(*h);
	int ret = 0;
	char *p;

	if (!process || !process->known)
		return 0; /* already reported */
	process->label_gap |= h->seq != process->label_blocks;
	process->label_blocks++;
	if (h->state == BLOCK_SEALED)
		room = h->used;
	if (room > t->size - offset - sizeof(*h)) {
		tare_damage(t, "the file ends within labels (offset %llu)",
			    (unsigned long long)offset);
		room = t->size - offset - sizeof(*h);
	}
	room = without_hole(t, offset + sizeof(*h), room);
	p = malloc(room ? room : 1);
	if (!p)
		return -ENOMEM;
	if (!tare_read(t, p, room, offset + sizeof(*h)))
		tare_damage(t, "labels at offset %llu cannot be read", (unsigned long long)offset);
	else if (h->state == BLOCK_SEALED && (room != h->used || format_block_sum(h, p) != h->sum))
		tare_damage(t, "labels at offset %llu are damaged", (unsigned long long)offset);
	else
		ret = add_each(t, process, p, room, offset);
	free(p);
	return ret;
}

uint32_t tare_timeline_label(const struct tare_timeline *t, uint32_t process, uint32_t number)
{
	const struct tare_process *p = &t->process[process];

	while (number < p->inherited && p->parent < process && t->process[p->parent].known) {
		process = p->parent;
		p = &t->process[process];
	}
	if (number >= p->inherited && number - p->inherited < p->n_labels &&
	    p->label[number - p->inherited] != NO_LABEL)
		return p->label[number - p->inherited];
	return t->nameless;
}

static bool has_bit(const struct tare_process *p, unsigned bit)
{
	return p->lost_label[bit / 64] >> bit % 64 & 1;
}

/*
 * Which labels lost points of handlers may have: those that the process marked, including its
 * ancestors' labels.
 */
static void mark_handlers(struct tare_timeline *t)
{
	for (size_t i = 0; i < t->n_processes; i++) {
		const struct tare_process *p = &t->process[i], *of = p;
		uint64_t marks = p->lost_label[0] | p->lost_label[1] | p->lost_label[2];
		uint32_t below = UINT32_MAX;

		if (!p->handlers)
			continue;
		t->labels.label[t->nameless].handlers = true;
		t->base.info.handlers_any |= !marks || has_bit(p, LOST_ANY) ||
			has_bit(p, LOST_UNNAMED);
		for (;;) {
			for (size_t at = 0; at < of->n_labels && of->inherited + at < below; at++)
				if (of->label[at] != NO_LABEL &&
				    has_bit(p, format_lost_bit((uint32_t)(of->inherited + at))))
					t->labels.label[of->label[at]].handlers = true;
			below = of->inherited;
			if (!below || of->parent >= (size_t)(of - t->process) ||
			    !t->process[of->parent].known)
				break;
			of = &t->process[of->parent];
		}
	}
	for (size_t i = 0; t->base.info.handlers_any && i < t->labels.n; i++)
		t->labels.label[i].handlers = true;
}

/* Blocks of points. */

static uint32_t keep_name(struct tare_timeline *t, const char name[NAME_MAX_HERE])
{
	struct tare_names *n = &t->names;
	size_t len = strnlen(name, NAME_MAX_HERE);

	if (!array_reserve(&n->s, &n->room, n->len + len + 1, 1))
		return UINT32_MAX;
	memcpy(n->s + n->len, name, len);
	n->s[n->len + len] = '\0';
	n->len += len + 1;
	return (uint32_t)(n->len - len - 1);
}

static int add_points(struct tare_timeline *t, const struct block_head *h, uint64_t offset)
{
	struct tare_process *p;
	struct tare_block *b;

	p = tare_process_at(t, h->process);
	if (!p)
		return 0;
	p->has_blocks = true;
	if (!p->known) {
		p->pid = h->pid;
		return 0;
	}
	if (!array_reserve(&t->block, &t->block_room, t->n_blocks + 1, sizeof(*t->block)))
		return -ENOMEM;
	b = &t->block[t->n_blocks];
	*b = (struct tare_block){ .offset = offset,
				  .seq = h->seq,
				  .lost = h->lost,
				  .process = h->process,
				  .thread = h->thread,
				  .pid = h->pid,
				  .tid = h->tid,
				  .sealed = h->state == BLOCK_SEALED,
				  .flags = (uint8_t)h->flags,
				  .first = h->first,
				  .points = NOT_COUNTED };
	if (b->sealed && h->points <= h->used / 3 && format_seal_sum(h) == h->seal_sum)
		b->points = h->points;
	b->used = b->sealed ? h->used : h->size - (uint32_t)sizeof(*h);
	if (b->used > t->size - offset - sizeof(*h)) {
		b->used = (uint32_t)(t->size - offset - sizeof(*h));
		b->cut = true;
	}
	/* One name per thread is enough: that of its last block. */
	if (t->n_blocks && t->block[t->n_blocks - 1].process == h->process &&
	    t->block[t->n_blocks - 1].thread == h->thread &&
	    !strncmp(t->names.s + t->block[t->n_blocks - 1].name, h->name, NAME_MAX_HERE))
		b->name = t->block[t->n_blocks - 1].name;
	else
		b->name = keep_name(t, h->name);
	if (b->name == UINT32_MAX)
		return -ENOMEM;
	t->n_blocks++;
	return 0;
}

/*
 * A thread's block is free for a moment while it is begun again; a thread killed at that moment
 * lost nothing. It is also free after its thread ended, until another thread gets it.
 */
static int note_between(struct tare_timeline *t, const struct block_head *h)
{
	if (h->kind != BLOCK_POINTS)
		return 0;

	if (!array_one_more(&t->between, t->n_between, sizeof(*t->between)))
		return -ENOMEM;
	t->between[t->n_between].process = h->process;
	t->between[t->n_between].last = h->flags & BLOCK_LAST;
	t->between[t->n_between++].thread = h->thread;
	return 0;
}

static bool sane_block(const struct block_head *h)
{
	uint32_t most = h->kind == BLOCK_POINTS ? BLOCK_BYTES
		: h->kind == BLOCK_PROCESS      ? FILE_PAGE
						: 1u << 30;

	return h->magic == BLOCK_MAGIC && h->kind >= BLOCK_PROCESS && h->kind <= BLOCK_POINTS &&
		h->state >= BLOCK_OPEN && h->state <= BLOCK_FREE && h->size % FILE_PAGE == 0 &&
		h->size && h->size <= most &&
		(h->state != BLOCK_SEALED || h->used <= h->size - sizeof(*h)) &&
		format_head_sum(h) == h->head_sum;
}

bool tare_block_at(const struct tare_timeline *t, uint64_t at, struct block_head *h)
{
	memset(h, 0, sizeof(*h));
	/* A head that is being written while it is read is valid a moment later. */
	for (int tries = 0; tries < 4; tries++) {
		if (!tare_read(t, h, sizeof(*h), at))
			return false;
		if (sane_block(h))
			return true;
		if (h->magic != BLOCK_MAGIC)
			return false;
	}
	return false;
}

uint64_t tare_block_step(const struct block_head *h)
{
	return h->state == BLOCK_SEALED
		? (sizeof(*h) + h->used + FILE_PAGE - 1) & ~(uint64_t)(FILE_PAGE - 1)
		: h->size;
}

uint64_t tare_size(const struct tare_timeline *t)
{
	off_t size = lseek(t->fd, 0, SEEK_END);

	return size < 0 ? 0 : (uint64_t)size;
}

/* Count pages with data that are not part of a block. */
struct gap {
	uint64_t from, n;
};

static void note_gap(struct tare_timeline *t, struct gap *g)
{
	t->base.info.lost_unknown |= g->n > 0;
	if (g->n)
		tare_damage(t, "%llu bytes from offset %llu on are not blocks",
			    (unsigned long long)g->n, (unsigned long long)g->from);
	g->n = 0;
}

/* The page is empty, or a block is just being begun in it. */
static bool empty_page(const struct tare_timeline *t, uint64_t offset, size_t n)
{
	static const char zeros[FILE_PAGE];
	char page[FILE_PAGE];

	return tare_read(t, page, n, offset) &&
		(!memcmp(page, zeros, n) || format_is_begun(page, n));
}

/*
 * A block that was not there when its first page was passed, not before `least`, but is there now
 * and contains `at`. Returns its beginning, or 0.
 */
static uint64_t begun_before(const struct tare_timeline *t, uint64_t least, uint64_t at)
{
	struct block_head h;

	for (uint64_t from = at; from >= least && at - from < BLOCK_BYTES; from -= FILE_PAGE)
		if (tare_block_at(t, from, &h))
			return h.state != BLOCK_FREE && from + tare_block_step(&h) > at ? from : 0;
	return 0;
}

/* Is a block that was written since the file was opened complete? It may still be in flight. */
static bool has_come(const struct tare_timeline *t, const struct block_head *h, uint64_t offset)
{
	uint8_t *data = malloc(h->used + 1);
	bool all = data && tare_block_is_whole(t, h, offset, data);

	free(data);
	return all;
}

/* Add any block except labels, which are read when the points are known. */
static int add_block(struct tare_timeline *t, const struct block_head *h, uint64_t at,
		     uint64_t last[2])
{
	struct tare_process *p;

	if (h->state == BLOCK_FREE && h->kind == BLOCK_PROCESS &&
	    (p = tare_process_at(t, h->process)))
		p->beginning = true;
	if (h->state == BLOCK_FREE)
		return note_between(t, h);
	/* Its points are in the block that its thread writes to, or come with the next scan. */
	if (h->kind == BLOCK_POINTS && h->state == BLOCK_SEALED && at >= t->first_size &&
	    !has_come(t, h, at))
		return 0;
	tare_note_pair(h->ticks, h->clock_ns, last);
	if (h->kind == BLOCK_LABELS)
		return 0;
	return h->kind == BLOCK_PROCESS ? tare_process_add(t, h, at, last) : add_points(t, h, at);
}

/*
 * Scan from *from to the end. *from is then the place to continue when the file has grown: not
 * within a block, unless this is the last time. Processes precede their blocks, except if the
 * process block is damaged.
 */
static int scan(struct tare_timeline *t, uint64_t *from, struct gap *gap, uint64_t last[2],
		bool last_time)
{
	struct block_head h = { 0 };
	/* end of the last block, and start of the area already rescanned */
	uint64_t passed = *from;
	int ret = 0;

	for (uint64_t at = *from, step, before; at < t->size && ret == 0; *from = at += step) {
		size_t there = t->size - at < FILE_PAGE ? (size_t)(t->size - at) : FILE_PAGE;

		step = FILE_PAGE;
		if (there >= sizeof(h) && tare_block_at(t, at, &h)) {
			if (!last_time && h.state == BLOCK_SEALED &&
			    at + sizeof(h) + h.used > t->size)
				return 0;
			note_gap(t, gap);
			step = tare_block_step(&h);
			passed = at + step;
			ret = add_block(t, &h, at, last);
			continue;
		}
		if (!last_time && there < FILE_PAGE)
			return 0;
		t->behind = at < t->behind ? at : t->behind;
		/*
		 * A head that was being written when its program was killed, or is being written
		 * now: the block has no contents yet.
		 */
		if (there >= sizeof(h) && h.state == BLOCK_FREE &&
		    (h.magic == 0 || (h.magic == BLOCK_MAGIC && h.kind == BLOCK_POINTS))) {
			if (h.magic)
				ret = note_between(t, &h);
		} else if (empty_page(t, at, there)) {
			step = tare_after_blank(t, at, t->size) - at;
		} else {
			before = gap->n ? 0 : begun_before(t, passed, at);
			if (before) {
				passed = before + FILE_PAGE;
				at = before;
				step = 0;
				continue;
			}
			if (!gap->n)
				gap->from = at;
			gap->n += there;
		}
	}
	return ret;
}

/*
 * Read all labels up to the current end of the file. A label is written before the first point that
 * uses it.
 */
static int scan_labels(struct tare_timeline *t)
{
	struct block_head h;
	int ret = 0;

	t->size = tare_size(t);
	for (uint64_t at = FILE_PAGE, step; at < t->size && ret == 0; at += step) {
		if (t->size - at < sizeof(h) || !tare_block_at(t, at, &h)) {
			step = tare_after_blank(t, at, t->size) - at;
			continue;
		}
		step = tare_block_step(&h);
		if (h.kind == BLOCK_LABELS && h.state != BLOCK_FREE)
			ret = add_labels(t, &h, at);
	}
	return ret;
}

static int by_place(const void *x, const void *y)
{
	const struct tare_block *a = x, *b = y;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->seq != b->seq)
		return a->seq < b->seq ? -1 : 1;
	if (a->sealed != b->sealed)
		return a->sealed ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/*
 * If a thread began during the scan, the block that it writes to may be there while an earlier one
 * is not: the next scan finds it.
 */
static void leave_for_later(struct tare_timeline *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_blocks; i++) {
		const struct tare_block *b = &t->block[i], *before = n ? &t->block[n - 1] : NULL;
		uint64_t next = before && before->process == b->process &&
				before->thread == b->thread
			? before->seq + 1
			: 0;

		if (b->offset < t->first_size || b->seq <= next + (b->lost != 0))
			t->block[n++] = *b;
	}
	t->n_blocks = n;
}

static int make_threads(struct tare_timeline *t)
{
	size_t n = 0;

	if (t->n_blocks)
		qsort(t->block, t->n_blocks, sizeof(*t->block), by_place);
	leave_for_later(t);
	for (size_t i = 0; i < t->n_blocks; i++)
		n += !i || t->block[i].process != t->block[i - 1].process ||
			t->block[i].thread != t->block[i - 1].thread;
	t->threads = calloc(n + 1, sizeof(*t->threads));
	t->span = calloc(n + 1, sizeof(*t->span));
	if (!t->threads || !t->span)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0, k; i < t->n_blocks; i = k, n++) {
		struct timeline_thread *thread = &t->threads[n];
		const struct tare_block *b = &t->block[i];

		for (k = i; k < t->n_blocks && t->block[k].process == b->process &&
		     t->block[k].thread == b->thread;
		     k++)
			;
		b = &t->block[k - 1];
		t->span[n].first = i;
		t->span[n].n = k - i;
		thread->pid = b->pid;
		thread->tid = b->tid;
		if (t->process[b->process].apart) {
			thread->pid = t->process[b->process].pid;
			thread->tid = b->tid == b->pid ? thread->pid : APART_TID + n;
		}
		thread->name = t->names.s + b->name;
		thread->complete = b->flags & BLOCK_LAST || t->process[b->process].ended;
		thread->goes_on = !thread->complete && t->process[b->process].now >= TARE_GOES_ON;
		thread->end_unknown = !thread->complete &&
			t->process[b->process].now == TARE_NOT_KNOWN;
	}
	t->base.info.thread = t->threads;
	t->base.info.n_threads = n;
	return 0;
}

/* ns per tick. */
static void make_scale(struct tare_timeline *t, const uint64_t last[2])
{
	const struct file_process *p = &t->first;

	if (p->mult) {
		t->scale = (uint64_t)(((unsigned __int128)p->mult << SCALE_SHIFT) >> p->shift);
	} else if (last[0] > t->zero_ticks && last[1] > t->zero_ns) {
		unsigned __int128 scale = ((unsigned __int128)(last[1] - t->zero_ns)
					   << SCALE_SHIFT) /
			(last[0] - t->zero_ticks);

		t->scale = scale > UINT64_MAX ? 0 : (uint64_t)scale;
	}
}

/*
 * The additional cost of a label above the 2046th is the same for all paths, because they share
 * that code.
 */
static void make_own(const struct file_process *p, uint32_t counter, double unit,
		     struct timeline_own *out)
{
	const struct file_own *narrow = &p->own[TARE_PATH_INLINE][counter],
			      *wide = &p->own[FILE_PATH_WIDE][counter];
	bool both = p->measured >> TARE_PATH_INLINE & p->measured >> FILE_PATH_WIDE & 1;

	for (unsigned path = 0; path < FILE_PATH_WIDE; path++) {
		const struct file_own *f = &p->own[path][counter];

		if (!(p->measured >> path & 1))
			continue;
		out[path] = (struct timeline_own){ true, f->inside * unit, f->outside * unit,
						   f->inside_off * unit, f->outside_off * unit };
		out[path + TIMELINE_PATHS / 2] = (struct timeline_own){
			both, (f->inside + wide->inside - narrow->inside) * unit,
			(f->outside + wide->outside - narrow->outside) * unit,
			fmax(f->inside_off, wide->inside_off) * unit,
			fmax(f->outside_off, wide->outside_off) * unit
		};
	}
}

static int make_counters(struct tare_timeline *t, struct tare_error *err)
{
	const struct file_process *p = &t->first;
	struct timeline_info *info = &t->base.info;

	info->time = -1;
	for (uint32_t i = 0; i < p->n_counters; i++) {
		const struct file_counter *f = &p->counter[i];
		double unit = 1;

		if (f->kind == COUNTER_CLOCK) {
			if (!t->scale)
				return tare_fail(err, EINVAL,
						 "%.200s: the length of a clock tick is missing",
						 info->path);
			t->is_clock |= 1u << i;
			unit = (double)t->scale / (double)((uint64_t)1 << SCALE_SHIFT);
		}
		if (f->kind == COUNTER_CLOCK_NS)
			t->is_clock_ns |= 1u << i;
		if (f->kind != COUNTER_COUNT && info->time < 0)
			info->time = (int)i;
		t->counters[i] = (struct timeline_counter){
			.name = f->name,
			.unit = f->unit,
			.quality = (enum tare_quality)f->quality,
			.note = f->note[0] ? f->note : NULL
		};
		make_own(p, i, unit, t->counters[i].own);
	}
	info->counter = t->counters;
	info->n_counters = p->n_counters;
	info->counters_unknown = !t->zero_ns; /* no process has a block */
	return 0;
}

static void close_tare(struct timeline *base)
{
	struct tare_timeline *t = (struct tare_timeline *)base;

	for (size_t i = 0; i < t->n_processes; i++)
		free(t->process[i].label);
	free(t->process);
	free(t->block);
	free(t->names.s);
	free(t->span);
	free(t->between);
	free(t->threads);
	free(t->command);
	tare_labels_free(&t->labels);
	text_free(&t->damage);
	text_free(&t->remark);
	text_free(&t->live);
	if (t->fd >= 0)
		close(t->fd);
	free(t);
}

static void note_machine(struct timeline_machine *m, const struct file_head *h)
{
	m->kind = h->machine == EM_X86_64 ? "x86-64" : h->machine == EM_AARCH64 ? "arm64" : NULL;
	snprintf(m->cpu, sizeof(m->cpu), "%.*s", (int)strnlen(h->cpu, sizeof(h->cpu)), h->cpu);
}

/* A text about its writers, if it is being written. */
static void note_writers(struct tare_timeline *t)
{
	enum { NAMED = 3 };
	struct text pids = { 0 };
	size_t threads = 0, processes = 0;

	for (size_t i = 0; i < t->base.info.n_threads; i++)
		threads += t->threads[i].goes_on;
	for (size_t i = 0; i < t->n_processes; i++)
		if (t->process[i].now >= TARE_GOES_ON && processes++ < NAMED)
			text_add(&pids, "%s %u", processes > 1 ? "," : "", t->process[i].pid);
	if (!processes && !t->changed)
		return;
	text_add(&t->live, "it is still being written");
	if (processes)
		text_add(&t->live, ", by process%s%s%s (%zu thread%s)", processes > 1 ? "es" : "",
			 pids.s, processes > NAMED ? ", ..." : "", threads,
			 threads == 1 ? "" : "s");
	text_add(&t->live,
		 "; the points recorded so far are shown, and open regions have no end yet");
	t->live.failed |= pids.failed;
	text_free(&pids);
}

static int open_once(struct timeline **out, int fd, const char *path, struct tare_error *err)
{
	struct tare_timeline *t = calloc(1, sizeof(*t));
	struct file_head *h = malloc(sizeof(*h));
	uint64_t last[2] = { 0, 0 }, from = FILE_PAGE, copying = 0;
	struct gap gap = { 0 };
	int ret;

	if (!t || !h) {
		free(t);
		free(h);
		return tare_fail_nomem(err);
	}
	t->fd = fd;
	t->size = t->first_size = t->behind = tare_size(t);
	t->base.info.path = path;
	t->base.info.format = "tare 2";
	if (!tare_read(t, h, sizeof(*h), 0)) {
		ret = tare_fail(err, EINVAL, "ends at offset %llu, within its header",
				(unsigned long long)t->size);
		goto out;
	}
	ret = check_head(h, err);
	if (ret < 0)
		goto out;
	t->base.info.start_ns = h->start_ns;
	note_machine(&t->base.info.machine, h);
	t->base.info.one_cpu = h->one_cpu;
	t->command = strndup(h->command, sizeof(h->command));
	t->base.info.lost = h->lost;
	if (h->lost_processes)
		tare_damage(t, "%u process%s could write nothing, %llu points in all: %s",
			    h->lost_processes, h->lost_processes > 1 ? "es" : "",
			    (unsigned long long)h->lost,
			    h->lost_errno < 4096 ? strerror((int)h->lost_errno) : "?");
	if (h->untold_processes) {
		tare_damage(
			t,
			"at least %u process%s could write nothing, an unknown number of points: another thread was starting or stopping "
			"the recording when clone() made %s",
			h->untold_processes, h->untold_processes > 1 ? "es" : "",
			h->untold_processes > 1 ? "them" : "it");
		t->base.info.lost_unknown = true;
	}
	ret = scan(t, &from, &gap, last, false);
	t->behind = from < t->behind ? from : t->behind;
	/*
	 * Data written during the scan: the previous contents of scanned blocks are in it, or were
	 * there until then.
	 */
	t->size = tare_size(t);
	if (ret == 0)
		ret = scan(t, &from, &gap, last, true);
	note_gap(t, &gap);
	t->changed = t->size != t->first_size;
	if (t->lost_in_handlers > TARE_SHOWN)
		tare_damage(t, "and so did %u process%s more; %llu points in all",
			    t->lost_in_handlers - TARE_SHOWN,
			    t->lost_in_handlers > TARE_SHOWN + 1 ? "es" : "",
			    (unsigned long long)t->base.info.lost_handlers);
	if (ret == 0)
		ret = tare_processes_number_apart(t, h->pid_namespace);
	if (ret == 0)
		ret = tare_processes_note_execs(t);
	if (ret == 0) {
		tare_look_who_goes_on(t);
		ret = make_threads(t);
	}
	if (ret == 0)
		ret = tare_check_threads(t, &copying);
	if (ret == 0)
		ret = scan_labels(t);
	if (ret == 0)
		ret = tare_labels_add(&t->labels, "(label with lost name)", "", 0,
				      TIMELINE_PATH_UNKNOWN, NULL, 0, &t->nameless);
	if (ret == 0)
		ret = tare_labels_add(&t->labels, "(lost)", "", 0, TIMELINE_PATH_NONE, NULL, 0,
				      &t->gap);
	if (ret == 0) {
		struct timeline_label *l = &t->labels.label[t->nameless];

		/* A label of the program may have the same text, but it is a different label. */
		l->kind = TIMELINE_NAMELESS;
		l->group = t->nameless;
		t->labels.label[t->gap].gap = true;
	}
	if (ret == 0)
		mark_handlers(t);
	tare_labels_settle(&t->labels);
	if (ret == 0) {
		tare_check_whole(t, h, copying);
		note_writers(t);
		make_scale(t, last);
		ret = make_counters(t, err);
	}
	if (ret == -ENOMEM || !t->command || t->damage.failed || t->live.failed)
		ret = tare_fail_nomem(err);
	t->base.info.command = t->command;
	t->base.info.damage = t->damage.s;
	t->base.info.remark = t->remark.s;
	t->base.info.live = t->live.s;
	t->base.info.n_labels = t->labels.n;
out:
	free(h);
	if (ret < 0) {
		t->fd = -1;
		close_tare(&t->base);
		return ret;
	}
	*out = &t->base;
	return 0;
}

/* Was it being written during the scan, while no process writes it any more? */
static bool came_to_rest(const struct tare_timeline *t)
{
	bool rests = t->changed;

	for (size_t i = 0; i < t->n_processes; i++)
		rests &= !t->process[i].known || t->process[i].ended ||
			t->process[i].now == TARE_GONE || t->process[i].now == TARE_JUST_ENDED;
	return rests;
}

static int open_tare(struct timeline **out, int fd, const char *path, struct tare_error *err)
{
	enum { TRIES = 3, WAIT_US = 1000 };

	for (int tries = 1;; tries++) {
		int ret = open_once(out, fd, path, err);
		struct tare_timeline *t = (struct tare_timeline *)*out;

		if (ret < 0 || tries == TRIES || !(came_to_rest(t) || t->look_again))
			return ret;
		if (t->look_again)
			usleep(WAIT_US);
		t->fd = -1;
		close_tare(*out);
	}
}

static const struct timeline_label *label_tare(struct timeline *base, uint32_t index)
{
	struct tare_timeline *t = (struct tare_timeline *)base;

	return index < t->labels.n ? &t->labels.label[index] : NULL;
}

static void *take_texts(struct timeline *base)
{
	struct tare_timeline *t = (struct tare_timeline *)base;
	void *arena = t->labels.arena;

	t->labels.arena = NULL;
	return arena;
}

const struct timeline_format timeline_tare = {
	.is = is_tare,
	.open = open_tare,
	.label = label_tare,
	.take_texts = take_texts,
	.close = close_tare,
	.thread = tare_cursor_open,
	.read = tare_cursor_read,
	.cursor_close = tare_cursor_close,
};
