/* SPDX-License-Identifier: MIT */
/*
 * Code in a shared mapping that this process writes. A JIT compiler has one executable and one
 * writable mapping of a memory file, or one mapping for both, or writes to the file. For files that
 * this process created (memfd_create), and for anonymous shared memory, all ways to write are
 * known: its mappings, whose pages are write-protected when their code is translated, and its
 * system calls, during which the pages they write are pinned (pages.c). If writes cannot be
 * followed, the file is given up: its blocks then compare their bytes before every execution.
 *
 * A forked child has the mappings and descriptors, too. If it writes to the file, its parent's
 * translations may be stale: the file is noted in the shared state, and a process that follows code
 * in it then has no counts. Memory that is executed through a writable mapping is given up at a
 * fork: a child is likely to write there.
 */
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include "exact/engine/engine.h"

enum { MADE_MAX = 64, VIEWS_MAX = 128, DESCRIPTORS_MAX = 256 };

/* Shared memory that this process created. */
static struct made {
	uint64_t file;  /* as file_of(); even: anonymous; 0: none */
	bool inherited; /* created by its parent */
	bool lost;      /* it may be written without detection */
	bool followed;  /* some of its code was translated without comparing its bytes */
	bool direct;    /* it is or was executed through a writable mapping */
} made[MADE_MAX];

/* A mapping of it that the program can make writable. */
static struct view {
	uint64_t start, end, offset;
	struct made *of;
	bool writable, exec;
	bool held; /* completely write-protected, in a child */
} views[VIEWS_MAX];

static uint32_t n_made, n_views, n_files;
static uint64_t last_anonymous;

static const char WRITTEN[] =
	"another process wrote to a memory file that has executable code in a shared mapping";

static bool anonymous(const struct made *m)
{
	return !(m->file & 1);
}

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

	return n_files && !sys(__NR_fstat, fd, &st) ? made_of(file_of(st.st_dev, st.st_ino)) : NULL;
}

/* NULL: too many. */
static struct made *made_new(uint64_t file)
{
	uint32_t i = 0;

	while (i < n_made && made[i].file)
		i++;
	if (i == MADE_MAX)
		return NULL;
	n_made += i == n_made;
	made[i] = (struct made){ .file = file };
	return &made[i];
}

/* Can a kernel write into a view fault because of our write protection, or must it be noted? */
static void note_views(void)
{
	eng.views_matter = false;
	for (uint32_t i = 0; i < n_views; i++)
		eng.views_matter |= views[i].held || views[i].of->followed;
}

/*
 * Report the write to processes that follow code of the file; after a second file, to processes
 * that follow any.
 */
static void note_written(const struct made *m)
{
	uint64_t none = 0;

	if (!__atomic_compare_exchange_n(&eng.shared->shared_written, &none, m->file, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
	    none != m->file)
		__atomic_store_n(&eng.shared->shared_written, ~0ull, __ATOMIC_SEQ_CST);
}

static bool was_written(const struct made *m)
{
	uint64_t by = eng.shared->shared_written;

	return by && !anonymous(m) && (by == m->file || by == ~0ull);
}

static bool protect(const struct view *v, uint64_t start, uint64_t size, bool write)
{
	return !sys(__NR_mprotect, start, size,
		    PROT_READ | (v->exec ? PROT_EXEC : 0) | (write ? PROT_WRITE : 0));
}

/* A child writes through its view. */
static void let_go(struct view *v)
{
	note_written(v->of);
	v->held = false;
	if (!protect(v, v->start, v->end - v->start, true))
		refuse("a shared mapping that the kernel no longer lets be written, at", v->start);
}

/* Its writes cannot be followed any more. Needs the lock. */
static void lose(struct made *m)
{
	if (m->inherited)
		note_written(m);
	m->lost = true;
	if (m->followed)
		distrust(m->file);
	m->followed = false;
	for (uint32_t i = 0; i < n_views; i++)
		if (views[i].of == m && views[i].held)
			let_go(&views[i]);
	note_views();
}

static void lose_all(void)
{
	for (uint32_t i = 0; i < n_made; i++)
		if (made[i].file)
			lose(&made[i]);
}

/* memfd_create() returned it. */
void shared_made(int fd)
{
	struct stat st;

	lock();
	if (!sys(__NR_fstat, fd, &st) && made_new(file_of(st.st_dev, st.st_ino)))
		n_files++;
	unlock();
}

/* ---- mappings ---- */

static void add_part(struct view v, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	v.offset += start - v.start;
	v.start = start;
	v.end = end;
	views[n_views++] = v;
}

/* Remove [start, end) from the views; or, with `prot` >= 0, set its protection. */
static void cut_views(uint64_t start, uint64_t end, int prot)
{
	bool writable = prot & PROT_WRITE, exec = prot & PROT_EXEC, stays = prot >= 0;

	for (uint32_t i = 0; i < n_views;) {
		struct view v = views[i];
		uint64_t from = v.start > start ? v.start : start, to = v.end < end ? v.end : end;

		if (from >= to || (stays && v.writable == writable && v.exec == exec)) {
			i++;
			continue;
		}
		v.of->direct |= stays;
		if (n_views - 1 + (v.start < from) + (to < v.end) + stays > VIEWS_MAX) {
			lose(v.of);
			stays = false;
			v.start = from;
			v.end = to;
		}
		views[i] = views[--n_views];
		add_part(v, v.start, from);
		add_part(v, to, v.end);
		v.writable = writable;
		v.exec = exec;
		if (stays)
			add_part(v, from, to);
	}
	note_views();
}

/* The program unmapped it, or mapped over it. */
void shared_unmapped(uint64_t start, uint64_t end)
{
	if (!n_views)
		return;
	cut_views(start, end, -1);
	for (uint32_t m = 0; m < n_made; m++) {
		bool any = !anonymous(&made[m]);

		for (uint32_t i = 0; i < n_views && !any; i++)
			any = views[i].of == &made[m];
		if (!any)
			made[m].file = 0;
	}
}

static void add_view(struct made *m, int prot, const struct region *r)
{
	if (n_views == VIEWS_MAX) {
		lose(m);
		return;
	}
	/* pages of the file are watched, but not in this view */
	if (m->followed && (prot & PROT_WRITE))
		forget_file(m->file, 0, ~0ull);
	m->direct |= (prot & PROT_EXEC) && (prot & PROT_WRITE);
	views[n_views++] = (struct view){ r->start,          r->end,           r->offset, m,
					  prot & PROT_WRITE, prot & PROT_EXEC, false };
	note_views();
}

/* It becomes executable: can writes to it be followed? */
static bool follow(struct made *m)
{
	if (m->lost || m->inherited || was_written(m) || eng.memory_opened || eng.later_writes)
		return false;
	m->followed = true;
	note_views();
	return true;
}

/*
 * The file `fd` was mapped shared. If executable: can writes to it be followed? `may_write`: the
 * mapping can be written, now or later.
 */
bool shared_mapped(int fd, int prot, bool may_write, const struct region *r)
{
	struct made *m = made_at(fd);

	if (!m)
		return false;
	if (m->inherited && may_write)
		note_written(m);
	if (may_write && !m->lost)
		add_view(m, prot, r);
	return (prot & PROT_EXEC) && follow(m);
}

/* The same for anonymous memory. */
bool shared_anonymous(int prot, struct region *r)
{
	struct made *m = n_views < VIEWS_MAX ? made_new(last_anonymous += 2) : NULL;

	if (!m)
		return false;
	r->file = m->file;
	r->offset = 0;
	add_view(m, prot, r);
	return (prot & PROT_EXEC) && follow(m);
}

/*
 * [start, end), which is in no region yet, has become executable. Sets *what and returns true if it
 * is in a view.
 */
bool shared_known(uint64_t start, uint64_t end, struct region *what)
{
	for (uint32_t i = 0; i < n_views; i++) {
		const struct view *v = &views[i];

		if (v->start > start || v->end < end)
			continue;
		*what = (struct region){ .start = start,
					 .end = end,
					 .file = v->of->file,
					 .offset = v->offset + (start - v->start) };
		what->followed = follow(v->of);
		what->checked = !what->followed;
		return true;
	}
	return false;
}

static bool has_view(const struct made *m, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < n_views; i++)
		if (views[i].of == m && views[i].start < end && views[i].end > start)
			return true;
	return false;
}

/*
 * The protection of [start, end) is about to change, or its pages to be discarded. True if it is in
 * a view.
 */
bool shared_changes(uint64_t start, uint64_t end)
{
	bool any = false;

	for (uint32_t i = 0; i < n_views; i++) {
		const struct view *v = &views[i];
		uint64_t from = v->start > start ? v->start : start,
			 to = v->end < end ? v->end : end;

		if (from >= to)
			continue;
		any = true;
		if (v->of->inherited)
			lose(v->of);
		else if (v->of->followed)
			forget_file(v->of->file, v->offset + (from - v->start),
				    v->offset + (to - v->start));
	}
	return any;
}

/* It has changed. */
void shared_protected(uint64_t start, uint64_t end, int prot)
{
	if (n_views)
		cut_views(start, end, prot);
}

/* [start, end) is about to move, to grow, or to be replaced by a move. */
void shared_moves(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < n_made; i++)
		if (made[i].file && has_view(&made[i], start, end))
			lose(&made[i]);
	for (uint32_t i = 0; n_made && i < eng.n_regions; i++) {
		const struct region *r = &eng.regions[i];

		if (r->followed && r->start < end && r->end > start && made_of(r->file))
			lose(made_of(r->file));
	}
}

/* ---- pages ---- */

/* From now on writes to the page of the file at `offset` are detected. False: not all are. */
bool shared_watch(uint64_t file, uint64_t offset)
{
	for (uint32_t i = 0; i < n_views; i++) {
		struct view *v = &views[i];

		if (v->of->file == file && v->writable && offset - v->offset < v->end - v->start &&
		    !protect(v, v->start + (offset - v->offset), PAGE, false))
			return false;
	}
	return true;
}

void shared_unwatch(uint64_t file, uint64_t offset)
{
	for (uint32_t i = 0; i < n_views; i++) {
		struct view *v = &views[i];

		if (v->of->file == file && v->writable && !v->held &&
		    offset - v->offset < v->end - v->start &&
		    !protect(v, v->start + (offset - v->offset), PAGE, true))
			refuse("a shared mapping that the kernel no longer lets be written, at",
			       v->start);
	}
}

/* A write faulted at `address`: because of our write protection? */
bool shared_fault(uint64_t address)
{
	for (uint32_t i = 0; i < n_views; i++) {
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

/*
 * The kernel is about to write to [start, start + size) in a call of thread `of`. Pins the pages if
 * that is in a view.
 */
bool shared_kernel_writes(const struct thread *of, uint64_t start, uint64_t size)
{
	bool any = false;

	if (!eng.views_matter)
		return false;
	lock();
	for (uint32_t i = 0; i < n_views; i++) {
		struct view *v = &views[i];
		uint64_t from = v->start > start ? v->start : start,
			 to = v->end < start + size ? v->end : start + size;

		if (from >= to)
			continue;
		if (v->held)
			let_go(v);
		if (v->of->followed) {
			pin_file(v->of->file, v->offset + (from - v->start),
				 v->offset + (to - v->start), of);
			any = true;
		}
	}
	note_views();
	unlock();
	return any;
}

/* The descriptor that a call writes to, truncates or passes on; -1: none. */
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

/*
 * The call is about to be made. If it writes to such a file, the pages are pinned. Only pwrite has
 * a certain file offset: another thread or process may move the position. Source: pwrite(2),
 * "Bugs", O_APPEND.
 */
bool shared_file_written(const struct thread *t)
{
	const uint64_t *r = t->regs;
	int fd = n_files ? written_descriptor(r) : -1;
	bool placed = r[RAX] == __NR_pwrite64 && r[R10] + r[RDX] > r[R10];
	struct made *m;
	bool any;

	if (fd < 0)
		return false;
	lock();
	m = made_at(fd);
	any = m && m->followed;
	placed = placed && any && !(sys(__NR_fcntl, fd, F_GETFL, 0) & O_APPEND);
	if (any)
		pin_file(m->file, placed ? r[R10] : 0, placed ? r[R10] + r[RDX] : ~0ull, t);
	unlock();
	return any;
}

/* The same for a call that the engine makes itself, with other arguments. */
void shared_file_written_apart(const struct thread *t)
{
	struct made *m;
	int fd = n_files ? written_descriptor(t->regs) : -1;

	if (fd < 0)
		return;
	lock();
	m = made_at(fd);
	if (m && m->followed)
		lose(m);
	unlock();
}

/*
 * Before a fork (`forks`) or an exec: stop following files that have a descriptor which an exec
 * keeps open. Before a fork, also anonymous memory and files that are executed in the mapping that
 * writes them.
 */
void shared_passed_on(bool forks)
{
	for (uint32_t i = 0; forks && i < n_made; i++)
		if (made[i].file && !made[i].inherited &&
		    (anonymous(&made[i]) || (made[i].followed && made[i].direct)))
			lose(&made[i]);
	for (int fd = 0; n_files && fd < DESCRIPTORS_MAX; fd++) {
		long flags = sys(__NR_fcntl, fd, F_GETFD, 0);
		struct made *m = flags < 0 || (flags & FD_CLOEXEC) ? NULL : made_at(fd);

		if (m && m->inherited)
			note_written(m);
		else if (m && m->followed)
			lose(m);
	}
}

enum {
	SOCKET_LEVEL = 1,
	RIGHTS_TYPE = 1,
	CONTROL_MAX = 1024,
	MESSAGES_MAX = 64,
	HEAD_WORDS = 7,
	MESSAGE_WORDS = 8,
	CONTROL_HEAD = 16
};

/*
 * Descriptors in the control messages at `control`. Source: cmsg(3), unix(7), "SCM_RIGHTS"; struct
 * cmsghdr: length with this head, level, type.
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
		for (uint64_t i = CONTROL_HEAD;
		     head[0] == SOCKET_LEVEL && head[1] == RIGHTS_TYPE && i + 4 <= length; i += 4) {
			struct made *m;

			memcpy(&fd, bytes + at + i, sizeof fd);
			m = made_at(fd);
			if (m)
				lose(m);
		}
	}
	return true;
}

/* sendmsg, sendmmsg: the receiver of a file's descriptor may write to the file. */
static void lose_sent(const uint64_t *r)
{
	bool one = r[RAX] == __NR_sendmsg;
	uint64_t n = one ? 1 : r[RDX],
		 head[HEAD_WORDS]; /* of struct msghdr: control is word 4, its size word 5 */
	bool known = n <= MESSAGES_MAX;

	for (uint64_t i = 0; known && i < n; i++) {
		known = copy_bytes(head, (const void *)(r[RSI] + i * MESSAGE_WORDS * 8),
				   sizeof head) == sizeof head;
		if (known && head[4] && head[5])
			known = lose_rights(head[4], head[5]);
	}
	if (!known)
		lose_all();
}

/* Before each call: its effects on the files, and what other processes have done to them. */
void shared_call(const struct thread *t)
{
	const uint64_t *r = t->regs;
	struct made *m;
	int fd;

	if (r[RAX] == __NR_io_setup || r[RAX] == __NR_io_uring_setup ||
	    r[RAX] == __NR_userfaultfd) {
		lock();
		eng.later_writes = true; /* without a system call that can be detected */
		lose_all();
		unlock();
	}
	if (r[RAX] == __NR_remap_file_pages && n_made) {
		lock();
		lose_all();
		unlock();
	}
	if (!n_files)
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
	if (r[RAX] == __NR_sendmsg || r[RAX] == __NR_sendmmsg)
		lose_sent(r);
	if (r[RAX] == __NR_execve || r[RAX] == __NR_execveat)
		shared_passed_on(false);
	unlock();
}

/* In a forked child: its writes affect its parent. */
void shared_forked(void)
{
	for (uint32_t i = 0; i < n_made; i++) {
		if (made[i].followed)
			distrust(made[i].file);
		made[i].followed = false;
		made[i].inherited = !anonymous(&made[i]);
		made[i].lost |= anonymous(&made[i]);
	}
	for (uint32_t i = 0; i < n_views; i++)
		if (views[i].writable && !views[i].held && !anonymous(views[i].of))
			views[i].held = protect(&views[i], views[i].start,
						views[i].end - views[i].start, false);
	note_views();
}

/* /proc/self/mem was opened for writing. */
void shared_memory_opened(void)
{
	lock();
	lose_all();
	unlock();
}
