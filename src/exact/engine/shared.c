/* SPDX-License-Identifier: MIT */
/*
 * Code in a shared mapping that the program writes through another one: a JIT compiler with one view of a file of memory
 * to be executed and one to be written. For files that this process itself has made (memfd_create) all ways to write to
 * them are known: its mappings, which are write-protected page by page where their code was translated, and its system calls.
 * What cannot be followed gives the file up: its blocks then compare their bytes before every execution.
 *
 * A forked child has the mappings and descriptors, too. When it writes to the file, code that its parent has translated may be stale: the
 * file is noted on the board, and a process that follows code of it has no counts then.
 */
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include "exact/engine/engine.h"

enum { MADE_MAX = 64, VIEWS_MAX = 128, DESCRIPTORS_MAX = 256 };

/* A file of memory that this process has made. */
static struct made {
	uint64_t file;
	bool inherited; /* by its parent, in truth */
	bool lost;	/* it may be written in a way that is not seen */
	bool followed;	/* code of it was translated and does not compare its bytes */
} made[MADE_MAX];

/* A shared mapping of one of them that the program can make writable. */
static struct view {
	uint64_t start, end, offset;
	struct made *of;
	bool writable;
	bool held; /* write-protected as a whole: a child's */
} views[VIEWS_MAX];

static uint32_t n_made;

static const char WRITTEN[] = "another process wrote to a memory file that has executable code in a shared mapping";

static struct made *made_of(uint64_t file)
{
	for (uint32_t i = 0; file && i < n_made; i++)
		if (made[i].file == file)
			return &made[i];
	return NULL;
}

static struct made *made_at(int fd)
{
	struct stat st;

	return n_made && !sys(__NR_fstat, fd, &st) ? made_of(file_of(st.st_dev, st.st_ino)) : NULL;
}

/* Whoever follows code of the file is to know; of two files, whoever follows any. */
static void note_written(const struct made *m)
{
	uint64_t none = 0;

	if (!__atomic_compare_exchange_n(&eng.board->shared_written, &none, m->file, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
	    none != m->file)
		__atomic_store_n(&eng.board->shared_written, ~0ull, __ATOMIC_SEQ_CST);
}

static bool was_written(const struct made *m)
{
	uint64_t by = eng.board->shared_written;

	return by && (by == m->file || by == ~0ull);
}

static bool protect(uint64_t start, uint64_t size, bool write)
{
	return !sys(__NR_mprotect, start, size, write ? PROT_READ | PROT_WRITE : PROT_READ);
}

/* A child writes through its view. */
static void let_go(struct view *v)
{
	note_written(v->of);
	v->held = false;
	if (!protect(v->start, v->end - v->start, true))
		refuse("a shared mapping that the kernel no longer lets be written, at", v->start);
}

/* Its writes cannot be followed any more. With the lock held. */
static void lose(struct made *m)
{
	if (m->inherited)
		note_written(m);
	m->lost = true;
	if (m->followed)
		distrust(m->file);
	m->followed = false;
	for (uint32_t i = 0; i < eng.n_views; i++)
		if (views[i].of == m && views[i].held)
			let_go(&views[i]);
}

static void lose_all(void)
{
	for (uint32_t i = 0; i < n_made; i++)
		lose(&made[i]);
}

/* memfd_create() returned it. */
void shared_made(int fd)
{
	struct stat st;

	lock();
	if (n_made < MADE_MAX && !sys(__NR_fstat, fd, &st))
		made[n_made++] = (struct made){ .file = file_of(st.st_dev, st.st_ino) };
	unlock();
}

/* What the program has unmapped, or mapped over. */
void shared_unmapped(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < eng.n_views;) {
		struct view *v = &views[i], tail = *v;

		if (v->end <= start || v->start >= end) {
			i++;
			continue;
		}
		*v = views[--eng.n_views];
		if (tail.start < start)
			views[eng.n_views++] = (struct view){ tail.start, start, tail.offset, tail.of, tail.writable, tail.held };
		if (tail.end > end && eng.n_views == VIEWS_MAX)
			lose(tail.of);
		else if (tail.end > end)
			views[eng.n_views++] = (struct view){ end, tail.end, tail.offset + (end - tail.start), tail.of, tail.writable, tail.held };
		i = 0;
	}
}

/*
 * The file `fd` was mapped shared. To be executed: can writes to it be followed? `may_write`: the mapping can be written, now or later.
 */
bool shared_mapped(int fd, int prot, bool may_write, const struct region *r)
{
	struct made *m = made_at(fd);

	if (!m)
		return false;
	if (m->inherited && may_write)
		note_written(m);
	if ((prot & PROT_EXEC) && (prot & PROT_WRITE))
		lose(m);
	if (may_write && !(prot & PROT_EXEC) && !m->lost) {
		if (eng.n_views == VIEWS_MAX) {
			lose(m);
		} else {
			if (m->followed) /* pages of it are watched, and not in this view */
				forget_file(m->file);
			views[eng.n_views++] = (struct view){ r->start, r->end, r->offset, m, prot & PROT_WRITE, false };
		}
	}
	if (!(prot & PROT_EXEC) || m->lost || m->inherited || was_written(m) || eng.memory_opened || eng.later_writes)
		return false;
	m->followed = true;
	return true;
}

static bool has_view(const struct made *m, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < eng.n_views; i++)
		if (views[i].of == m && views[i].start < end && views[i].end > start)
			return true;
	return false;
}

/* The protection of [start, end), or its place, is about to change, or its pages to be emptied. */
void shared_changes(uint64_t start, uint64_t end)
{
	if (!n_made)
		return;
	for (uint32_t i = 0; i < n_made; i++)
		if (has_view(&made[i], start, end))
			lose(&made[i]);
	for (uint32_t i = 0; i < eng.n_regions; i++) {
		const struct region *r = &eng.regions[i];

		if (r->followed && r->start < end && r->end > start && made_of(r->file))
			lose(made_of(r->file));
	}
}

/* ---- pages ---- */

/* No page of the file at `offset` can be written unseen from now on. False: some can. */
bool shared_watch(uint64_t file, uint64_t offset)
{
	for (uint32_t i = 0; i < eng.n_views; i++) {
		struct view *v = &views[i];

		if (v->of->file == file && v->writable && offset - v->offset < v->end - v->start &&
		    !protect(v->start + (offset - v->offset), PAGE, false))
			return false;
	}
	return true;
}

void shared_unwatch(uint64_t file, uint64_t offset)
{
	for (uint32_t i = 0; i < eng.n_views; i++) {
		struct view *v = &views[i];

		if (v->of->file == file && v->writable && !v->held && offset - v->offset < v->end - v->start &&
		    !protect(v->start + (offset - v->offset), PAGE, true))
			refuse("a shared mapping that the kernel no longer lets be written, at", v->start);
	}
}

/* A write was refused at `address`: was it for our sake? */
bool shared_fault(uint64_t address)
{
	for (uint32_t i = 0; i < eng.n_views; i++) {
		struct view *v = &views[i];
		uint64_t offset = v->offset + ((address & ~(uint64_t)(PAGE - 1)) - v->start);

		if (address < v->start || address >= v->end || !v->writable)
			continue;
		if (v->held)
			let_go(v);
		unwatch_file(v->of->file, offset);
		shared_unwatch(v->of->file, offset);
		return true;
	}
	return false;
}

/* ---- system calls ---- */

/* The kernel is to write to memory: into one of the views? */
void shared_kernel_writes(uint64_t start, uint64_t size)
{
	if (!eng.n_views)
		return;
	lock();
	for (uint32_t i = 0; i < eng.n_views; i++) {
		struct view *v = &views[i];

		if (v->start >= start + size || v->end <= start)
			continue;
		if (v->held)
			let_go(v);
		if (v->of->followed)
			lose(v->of);
	}
	unlock();
}

/* The descriptor that a call writes to, cuts or hands on; -1: none. */
static int written_descriptor(const uint64_t *r)
{
	switch (r[RAX]) {
	case __NR_write:
	case __NR_pwrite64:
	case __NR_writev:
	case __NR_pwritev:
	case __NR_pwritev2:
	case __NR_sendfile:
	case __NR_ftruncate:
	case __NR_fallocate:
		return (int)r[RDI];
	case __NR_splice:
	case __NR_copy_file_range:
		return (int)r[RDX];
	default:
		return -1;
	}
}

/* A child is about to be made, or a program executed: files are given up that a program executed there has descriptors of. */
void shared_passed_on(void)
{
	if (!n_made)
		return;

	for (int fd = 0; fd < DESCRIPTORS_MAX; fd++) {
		long flags = sys(__NR_fcntl, fd, F_GETFD, 0);
		struct made *m = flags < 0 || (flags & FD_CLOEXEC) ? NULL : made_at(fd);

		if (m && m->inherited)
			note_written(m);
		else if (m && m->followed)
			lose(m);
	}
}

enum { SOCKET_LEVEL = 1, RIGHTS_TYPE = 1, CONTROL_MAX = 1024, MESSAGES_MAX = 64, HEAD_WORDS = 7, MESSAGE_WORDS = 8, CONTROL_HEAD = 16 };

/*
 * Descriptors in the control messages at `control`. Source: cmsg(3), unix(7), "SCM_RIGHTS"; struct cmsghdr: length with this
 * head, level, type.
 */
static bool lose_rights(uint64_t control, uint64_t size)
{
	uint8_t bytes[CONTROL_MAX];
	uint64_t length;

	if (size > sizeof bytes || copy_bytes(bytes, (const void *)control, size) != size)
		return false;
	for (uint64_t at = 0; at + CONTROL_HEAD <= size; at += (length + 7) & ~7ull) {
		int32_t head[2], fd;

		memcpy(&length, bytes + at, sizeof length);
		memcpy(head, bytes + at + 8, sizeof head);
		if (length < CONTROL_HEAD || length > size - at)
			return true; /* the kernel refuses it */
		for (uint64_t i = CONTROL_HEAD; head[0] == SOCKET_LEVEL && head[1] == RIGHTS_TYPE && i + 4 <= length; i += 4) {
			struct made *m;

			memcpy(&fd, bytes + at + i, sizeof fd);
			m = made_at(fd);
			if (m)
				lose(m);
		}
	}
	return true;
}

/* sendmsg, sendmmsg: who gets a descriptor of a file may write to it. */
static void lose_sent(const uint64_t *r)
{
	bool one = r[RAX] == __NR_sendmsg;
	uint64_t n = one ? 1 : r[RDX], head[HEAD_WORDS]; /* of struct msghdr: control is word 4, its size word 5 */
	bool known = n <= MESSAGES_MAX;

	for (uint64_t i = 0; known && i < n; i++) {
		known = copy_bytes(head, (const void *)(r[RSI] + i * MESSAGE_WORDS * 8), sizeof head) == sizeof head;
		if (known && head[4] && head[5])
			known = lose_rights(head[4], head[5]);
	}
	if (!known)
		lose_all();
}

/* Before each call: what it may do to the files, and what another process has done to them. */
void shared_call(const struct thread *t)
{
	const uint64_t *r = t->regs;
	struct made *m;
	int fd;

	if (r[RAX] == __NR_io_setup || r[RAX] == __NR_io_uring_setup || r[RAX] == __NR_userfaultfd) {
		lock();
		eng.later_writes = true; /* at no call that can be seen */
		lose_all();
		unlock();
	}
	if (!n_made)
		return;
	lock();
	for (uint32_t i = 0; i < n_made; i++)
		if (made[i].followed && was_written(&made[i])) {
			note_wrong(eng.process, WRITTEN, 0);
			lose(&made[i]);
		}
	fd = written_descriptor(r);
	m = fd < 0 ? NULL : made_at(fd);
	if (m && m->inherited)
		note_written(m);
	if (m && m->followed)
		lose(m);
	if (r[RAX] == __NR_sendmsg || r[RAX] == __NR_sendmmsg)
		lose_sent(r);
	if (r[RAX] == __NR_execve || r[RAX] == __NR_execveat)
		shared_passed_on();
	unlock();
}

/* In a forked child: its writes are its parent's business. */
void shared_forked(void)
{
	for (uint32_t i = 0; i < n_made; i++) {
		if (made[i].followed)
			distrust(made[i].file);
		made[i].followed = false;
		made[i].inherited = true;
	}
	for (uint32_t i = 0; i < eng.n_views; i++)
		if (views[i].writable && !views[i].held)
			views[i].held = protect(views[i].start, views[i].end - views[i].start, false);
}

/* /proc/self/mem was opened for writing. */
void shared_memory_opened(void)
{
	lock();
	lose_all();
	unlock();
}
