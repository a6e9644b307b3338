/* SPDX-License-Identifier: MIT */
/*
 * Read a recording while it is written. Data in it is never lost: the block that a thread writes to
 * grows, and is appended to the file before it is begun again. So a reader that saw a block once
 * finds its data.
 *
 * Whether a process still writes is determined from the kernel: it has the same number, pid
 * namespace and start time, and still maps the file for writing. A program after exec does not map
 * it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "base/proc_maps.h"
#include "base/process.h"
#include "regions/timeline/timeline_tare.h"

static bool is_same(const struct tare_block *b, const struct block_head *h)
{
	return h->kind == BLOCK_POINTS && h->state != BLOCK_FREE && h->process == b->process &&
		h->thread == b->thread && h->seq == b->seq;
}

bool tare_block_is_whole(const struct tare_timeline *t, const struct block_head *h, uint64_t at,
			 uint8_t *data)
{
	return tare_read(t, data, h->used, at + sizeof(*h)) && format_block_sum(h, data) == h->sum;
}

/* Find the copy of a block that its thread filled and appended to the file after the scan. */
static bool find_moved(struct tare_timeline *t, struct tare_block *b, struct block_head *h,
		       uint8_t *data)
{
	uint64_t size = tare_size(t);

	for (uint64_t at = t->behind & -(uint64_t)FILE_PAGE, step; at < size; at += step) {
		if (!tare_block_at(t, at, h)) {
			step = tare_after_blank(t, at, size) - at;
			continue;
		}
		step = tare_block_step(h);
		if (h->state != BLOCK_SEALED || !is_same(b, h) ||
		    h->used < (b->points == NOT_COUNTED ? 0 : b->used) ||
		    !tare_block_is_whole(t, h, at, data))
			continue;
		b->offset = at;
		b->used = h->used;
		b->points = h->points <= h->used / 3 && format_seal_sum(h) == h->seal_sum
			? h->points
			: NOT_COUNTED;
		b->sealed = true;
		b->cut = false;
		return true;
	}
	return false;
}

bool tare_block_fetch(struct tare_timeline *t, struct tare_block *b, struct block_head *h,
		      uint8_t *data)
{
	bool got = tare_read(t, data, b->used, b->offset + sizeof(*h));

	/* Read its head after its data: if the head is unchanged, the data is, too. */
	if (!tare_block_at(t, b->offset, h) || !is_same(b, h))
		return find_moved(t, b, h, data);
	return got && (!b->sealed || (h->used == b->used && format_block_sum(h, data) == h->sum));
}

/*
 * Compare the path if overlayfs or btrfs show another device number there than stat(2). The path
 * may differ here.
 */
static enum tare_now is_file(const struct proc_map *m, const struct stat *file, pid_t pid)
{
	char path[4200];
	struct stat st;

	if (m->inode == file->st_ino && makedev(m->major, m->minor) == file->st_dev)
		return TARE_GOES_ON;
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, m->name);
	if (m->name[0] == '/' && stat(path, &st) == 0)
		return st.st_ino == file->st_ino && st.st_dev == file->st_dev ? TARE_GOES_ON
									      : TARE_GONE;
	return m->inode == file->st_ino ? TARE_NOT_KNOWN : TARE_GONE;
}

static enum tare_now maps_it(const struct stat *file, pid_t pid)
{
	enum tare_now now = TARE_GONE, is;
	char before[256] = "";
	struct proc_maps maps;
	struct proc_map m;
	int ret = proc_maps_open(&maps, NULL, pid);

	if (ret < 0)
		return ret == -ENOENT || ret == -ESRCH ? TARE_GONE : TARE_NOT_KNOWN;
	while (now != TARE_GOES_ON && proc_maps_next(&maps, &m)) {
		if (memcmp(m.rights, "rw-s", sizeof(m.rights)) || !strcmp(m.name, before))
			continue;
		is = is_file(&m, file, pid);
		now = is == TARE_GONE ? now : is;
		snprintf(before, sizeof(before), "%s", m.name);
	}
	proc_maps_close(&maps);
	return now;
}

static enum tare_now look_at(const struct tare_process *p, uint64_t here, const struct stat *file)
{
	pid_t pid = (pid_t)(p->apart ? p->seen_pid : p->pid);
	char path[40];
	uint64_t born;

	if (!here || p->pid_namespace != here || !p->born || pid <= 0)
		return TARE_NOT_KNOWN;
	if (kill(pid, 0) < 0 && errno == ESRCH)
		return TARE_GONE;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	born = process_start_ticks(path);
	if (!born)
		return kill(pid, 0) < 0 && errno == ESRCH ? TARE_GONE : TARE_NOT_KNOWN;
	return born == p->born ? maps_it(file, pid) : TARE_GONE;
}

void tare_look_who_goes_on(struct tare_timeline *t)
{
	uint64_t here = process_pid_namespace();
	struct stat file;

	if (fstat(t->fd, &file) < 0)
		here = 0;
	for (size_t i = 0; i < t->n_processes; i++) {
		struct tare_process *p = &t->process[i];
		uint32_t ended = 0;

		if (!p->known || p->ended)
			continue;
		p->now = look_at(p, here, &file);
		if (p->now != TARE_GOES_ON &&
		    tare_read(t, &ended, sizeof(ended), p->offset + sizeof(struct block_head)) &&
		    ended) {
			p->now = TARE_JUST_ENDED;
			t->changed = true;
		}
	}
}
