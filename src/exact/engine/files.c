/* SPDX-License-Identifier: MIT */
/*
 * Code that is modified through a file: a file that is mapped executable and also written,
 * /proc/PID/mem, and writes of one process into another (process_vm_writev, ptrace). If a write is
 * detected, its translations are discarded. If writes cannot be detected, blocks compare their
 * bytes. If the code of another counted process is written, that process cannot be counted any more
 * and is ended with the reason.
 */
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/magic.h>
#include <linux/mman.h>
#include <linux/ptrace.h>
#include <linux/signal.h>
#include <linux/time.h>
#include "exact/engine/engine.h"

enum {
	NAME_MAX_ = 1024,
	LINK_MAX = 128,
	FORMAT_MAX = 24,
	F_GET_SEALS_ = 1034,
	F_SEAL_WRITE_ = 8,
	FILE_TYPE = 0170000,
	REGULAR = 0100000
};

/* "before", a number, "after" */
static const char *name_of(char to[64], const char *before, uint64_t n, const char *after)
{
	char digits[FORMAT_MAX];
	unsigned i = 0, d = 0;

	while (*before)
		to[i++] = *before++;
	do
		digits[d++] = (char)('0' + n % 10);
	while (n /= 10);
	while (d)
		to[i++] = digits[--d];
	while (*after)
		to[i++] = *after++;
	to[i] = 0;
	return to;
}

/* A descriptor of another process. */
const char *fd_path(char to[64], uint64_t pid, uint64_t fd)
{
	char directory[64];

	name_of(directory, "/proc/", pid, "/fd/");
	return name_of(to, directory, fd, "");
}

/* ---- /proc/PID/maps ---- */

struct maps {
	int fd;
	unsigned at, n;
	char text[1024];
};

static int next_char(struct maps *m)
{
	if (m->at == m->n) {
		long n = sys(__NR_read, m->fd, m->text, sizeof m->text);

		if (n <= 0)
			return -1;
		m->n = (unsigned)n;
		m->at = 0;
	}
	return (uint8_t)m->text[m->at++];
}

static uint64_t next_number(struct maps *m, int *c)
{
	uint64_t n = 0;

	while ((*c = next_char(m)) >= 0 && ((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'f')))
		n = n << 4 | (uint64_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
	return n;
}

/* Is part of [start, end) mapped with permission `p`, the nth of "rwxs"? Yes if unknown. */
static bool mapped_with(const char *path, uint64_t start, uint64_t end, unsigned nth, char p)
{
	struct maps m = { .fd = (int)sys(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) };
	bool found = m.fd < 0;
	int c = 0;

	while (!found && c >= 0) {
		uint64_t from = next_number(&m, &c), to;

		if (c < 0)
			break;
		to = next_number(&m, &c);
		for (unsigned i = 0; c >= 0 && c != '\n'; i++) {
			c = next_char(&m);
			if (i == nth && c == p && from < end && to > start)
				found = true;
		}
	}
	if (m.fd >= 0)
		sys(__NR_close, m.fd);
	return found;
}

bool memory_shared(uint64_t start, uint64_t end)
{
	return mapped_with("/proc/self/maps", start, end, 3, 's');
}

/*
 * Does a userfaultfd serve part of [start, end)? Yes if unknown. Of the kernel's two-letter flags
 * of a mapping no others start with u. Source: proc_pid_smaps(5), VmFlags;
 * linux/fs/proc/task_mmu.c, show_smap_vma_flags().
 */
bool memory_served(uint64_t start, uint64_t end)
{
	struct maps m = { .fd = (int)sys(__NR_openat, AT_FDCWD, "/proc/self/smaps",
					 O_RDONLY | O_CLOEXEC) };
	bool found = m.fd < 0, inside = false;
	int c = 0;

	while (!found && c >= 0) {
		uint64_t from = next_number(&m, &c);
		bool flags = c == 'V';

		if (c == '-')
			inside = next_number(&m, &c) > start && from < end;
		for (int before; c >= 0 && c != '\n';) {
			before = c;
			c = next_char(&m);
			found |= inside && flags && before == ' ' && c == 'u';
		}
	}
	if (m.fd >= 0)
		sys(__NR_close, m.fd);
	return found;
}

/* ---- files that are mapped to be executed ---- */

uint64_t file_of(uint64_t dev, uint64_t inode)
{
	return (inode * 0x9e3779b97f4a7c15ull ^ dev) | 1;
}

static uint64_t written_ns(const struct stat *st)
{
	return st->st_mtime * 1000000000ull + st->st_mtime_nsec;
}

static void note_version(struct file_version *v, const struct stat *st)
{
	uint64_t changed = st->st_ctime * 1000000000ull + st->st_ctime_nsec;

	if (changed_just_now(changed, (uint64_t)real_time(CLOCK_REALTIME_COARSE)))
		return;
	*v = (struct file_version){ .dev = st->st_dev,
				    .inode = st->st_ino,
				    .size = (uint64_t)st->st_size,
				    .written_ns = written_ns(st),
				    .changed_ns = changed };
}

static bool open_for_writing(int fd)
{
	long flags = sys(__NR_fcntl, fd, F_GETFL, 0);

	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

/* Writes to its regions can no longer be detected: blocks compare their bytes. */
void distrust(uint64_t file)
{
	bool any = false;

	for (uint32_t i = 0; i < eng.n_regions; i++) {
		struct region *r = &eng.regions[i];

		if (r->file != file || r->checked)
			continue;
		code_written(r->start, r->end);
		r->followed = 0;
		r->checked = 1;
		any = true;
	}
	if (any)
		note_bounds();
}

/* Are all writes to it detected, in every region that executes it? */
static bool followed(uint64_t file)
{
	for (uint32_t i = 0; i < eng.n_regions; i++)
		if (eng.regions[i].file == file && eng.regions[i].followed)
			return true;
	return false;
}

/*
 * A file was mapped. If executable: can it also be written elsewhere, as a memory file or an
 * unlinked file is likely to be? If shared and writable: is it also mapped executable? Needs the
 * lock.
 */
void file_mapped(int fd, int prot, bool shared, struct region *r)
{
	bool exec = prot & PROT_EXEC, writable;
	struct stat st;

	if ((!exec && !shared) || sys(__NR_fstat, fd, &st) < 0 ||
	    (st.st_mode & FILE_TYPE) != REGULAR)
		return;
	writable = open_for_writing(fd);
	r->file = file_of(st.st_dev, st.st_ino);
	r->written_ns = written_ns(&st);
	if (exec && !shared && (eng.mode & KEEP_CODE))
		note_version(&r->version, &st);
	if (exec && (writable || !st.st_nlink)) {
		long seals = sys(__NR_fcntl, fd, F_GET_SEALS_, 0);

		r->checked = seals < 0 || !(seals & F_SEAL_WRITE_);
	}
	if (shared && shared_mapped(fd, prot, writable, r)) {
		r->followed = 1;
		r->checked = 0;
	} else if (shared) {
		r->checked = 1;
	}
	if (shared && writable && !followed(r->file))
		distrust(r->file);
}

/* One line of maps: [start, end), and the name. False at the end. */
static bool next_line(struct maps *m, uint64_t *start, uint64_t *end, char name[NAME_MAX_])
{
	unsigned n = 0;
	bool in_name = false;
	int c;

	*start = next_number(m, &c);
	*end = next_number(m, &c);
	while (c >= 0 && c != '\n') {
		c = next_char(m);
		in_name |= c == '/';
		if (in_name && c >= 0 && c != '\n' && n < NAME_MAX_ - 1)
			name[n++] = (char)c;
	}
	name[n] = 0;
	return c >= 0;
}

/*
 * Code in files is assumed to change only through this process, which the engine detects. Was one
 * of the files in [start, end) written by another process, or through an inherited descriptor? No
 * report means that no file with a known time was.
 */
void files_unchanged(uint64_t start, uint64_t end)
{
	struct maps m = { .fd = (int)sys(__NR_openat, AT_FDCWD, "/proc/self/maps",
					 O_RDONLY | O_CLOEXEC) };
	uint64_t from, to;
	char name[NAME_MAX_];
	struct stat st;

	if (m.fd < 0)
		return;
	lock();
	while (next_line(&m, &from, &to, name)) {
		const struct region *r = from < end && to > start && name[0] ? region_in(from, to)
									     : NULL;

		if (!r || !r->exec || !r->file || r->checked || sys(__NR_stat, name, &st) < 0 ||
		    file_of(st.st_dev, st.st_ino) != r->file || written_ns(&st) == r->written_ns)
			continue;
		note_wrong(
			eng.process,
			"a file was written while its code was mapped, and not in a way that the exact engine detects "
			"(another process, an inherited descriptor): code at",
			r->start);
		break;
	}
	unlock();
	sys(__NR_close, m.fd);
}

/*
 * Call `each` for every mapping of this process except the kernel's; false if they cannot be read.
 */
bool each_mapping(void (*each)(uint64_t start, uint64_t end, void *of), void *of)
{
	struct maps m = { .fd = (int)sys(__NR_openat, AT_FDCWD, "/proc/self/maps",
					 O_RDONLY | O_CLOEXEC) };
	uint64_t from, to;
	char name[NAME_MAX_];

	if (m.fd < 0)
		return false;
	while (next_line(&m, &from, &to, name))
		if (!(to >> 63))
			each(from, to, of);
	sys(__NR_close, m.fd);
	return true;
}

/* ---- opened for writing ---- */

/* Does the next call open a file for writing? */
bool opens_to_write(const struct thread *t)
{
	const uint64_t *r = t->regs;

	switch (r[RAX]) {
	case __NR_open:
		return (r[RSI] & O_ACCMODE) != O_RDONLY;
	case __NR_openat:
		return (r[RDX] & O_ACCMODE) != O_RDONLY;
	case __NR_creat:
	case __NR_openat2:
		return true;
	default:
		return false;
	}
}

/* Does the call open a file? */
bool opens(const struct thread *t)
{
	const uint64_t nr = t->regs[RAX];

	return nr == __NR_open || nr == __NR_openat || nr == __NR_openat2 || nr == __NR_creat ||
		nr == __NR_open_by_handle_at;
}

/* The process or thread of `fd`, if that is /proc/.../NUMBER/.../`name`; 0: another file. */
int64_t proc_file(int fd, const char *name)
{
	char path[64], link[LINK_MAX];
	long n = sys(__NR_readlink, name_of(path, "/proc/self/fd/", (uint64_t)fd, ""), link,
		     sizeof link),
	     size = 0, i;
	struct {
		long type, rest[31];
	} fs;
	int64_t pid = 0;

	while (name[size])
		size++;
	if (n < size + 2 || n == sizeof link ||
	    memcmp(link + n - size, name, (unsigned long)size) || sys(__NR_fstatfs, fd, &fs) < 0 ||
	    fs.type != PROC_SUPER_MAGIC)
		return 0;
	for (i = n - size; i > 0 && link[i - 1] != '/'; i--)
		;
	for (; link[i] >= '0' && link[i] <= '9'; i++)
		pid = pid * 10 + (link[i] - '0');
	return pid;
}

void file_opened(int fd)
{
	struct stat st;

	if (sys(__NR_fstat, fd, &st) < 0 || (st.st_mode & FILE_TYPE) != REGULAR)
		return;
	if (!st.st_size && proc_file(fd, "/mem"))
		shared_memory_opened(), eng.memory_opened = true;
	if (!st.st_size && proc_file(fd, "/comm"))
		eng.name_opened = true;
	lock();
	distrust(file_of(st.st_dev, st.st_ino));
	unlock();
}

/* ---- written into memory ---- */

/* The counted process of thread or process `pid`, or NULL. */
struct process *counted(int64_t pid)
{
	for (uint32_t i = 0; i < shared_processes(eng.shared); i++) {
		struct process *p = process_at(i);

		if (p->state == PROCESS_LIVE && p->pid == pid)
			return p;
	}
	for (uint32_t i = 0; i < shared_threads(eng.shared); i++)
		if (eng.shared->thread_states[i] == THREAD_LIVE && thread_at(i)->tid == pid)
			return process_at(thread_at(i)->process);
	return NULL;
}

/*
 * A number for the file that is mapped shared at `at`; 0: none. Only for comparisons: it parses the
 * decimal inode as hexadecimal.
 */
static uint64_t shared_inode(const char *path, uint64_t at)
{
	struct maps m = { .fd = (int)sys(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) };
	uint64_t inode = 0;
	int c = 0;

	while (m.fd >= 0 && !inode && c >= 0) {
		uint64_t from = next_number(&m, &c), to = next_number(&m, &c), number;
		bool shared;

		for (int i = 0; i < 4; i++) /* "rwxs" */
			c = next_char(&m);
		shared = c == 's';
		next_char(&m);
		for (int i = 0; i < 3; i++) /* offset, device */
			next_number(&m, &c);
		number = next_number(&m, &c);
		if (shared && from <= at && at < to)
			inode = number;
		while (c >= 0 && c != '\n')
			c = next_char(&m);
	}
	if (m.fd >= 0)
		sys(__NR_close, m.fd);
	return inode;
}

/*
 * [start, end) of another process was written. If that process is counted and has code there, it
 * must end. A process that executed a program without the engine has no shared state; it may have
 * that of another tare, at the same address.
 */
static void end_if_code(const struct process *p, int64_t pid, uint64_t start, uint64_t end)
{
	char path[64];

	name_of(path, "/proc/", (uint64_t)pid, "/maps");
	if (shared_inode(path, p->shared_at) !=
		    shared_inode("/proc/self/maps", eng.process->shared_at) ||
	    !mapped_with(path, start, end, 2, 'x'))
		return;
	note_wrong(
		process_at((uint32_t)(p - process_at(0))),
		"another process wrote into its code (ptrace, /proc/PID/mem, process_vm_writev), undetected by "
		"the exact engine, at",
		start);
	sys(__NR_kill, p->pid, SIGKILL);
}

/* A write to a descriptor that may be a process's memory; false: another call. */
bool writes_memory(struct thread *t)
{
	const uint64_t *r = t->regs;
	uint64_t start = 0, end = ~0ull >> 17, nr = r[RAX];
	int fd = (int)r[RDI];
	const struct process *p;
	const struct range *ours;
	int64_t pid;
	long ret;

	if (!eng.memory_opened)
		return false;
	switch (nr) {
	case __NR_pwrite64:
		start = r[R10];
		break;
	case __NR_write:
		start = (uint64_t)sys(__NR_lseek, fd, 0, 1);
		break;
	case __NR_writev:
	case __NR_pwritev:
	case __NR_pwritev2:
	case __NR_sendfile:
		break;
	case __NR_splice:
		fd = (int)r[RDX];
		break;
	default:
		return false;
	}
	pid = proc_file(fd, "/mem");
	if (!pid)
		return false;
	if (nr == __NR_write || nr == __NR_pwrite64)
		end = start + r[RDX] < start || r[RDX] > 1ull << 31 ? ~0ull >> 17 : start + r[RDX];
	p = counted(pid);
	if (!p)
		return false;
	lock();
	ours = p == eng.process && (nr == __NR_write || nr == __NR_pwrite64) ? own_first(start, end)
									     : NULL;
	if (ours) /* natively nothing is mapped there */
		ret = ours->start > start ? sys(nr, r[RDI], r[RSI], ours->start - start, r[R10])
					  : -EIO;
	else
		ret = sys(nr, r[RDI], r[RSI], r[RDX], r[R10], r[R8], r[R9]);
	if (p == eng.process)
		code_written(start, end);
	unlock();
	if (ret > 0 && p != eng.process)
		end_if_code(p, pid, start, end);
	finish(t, ret);
	return true;
}

/* ptrace and process_vm_writev that write into another process; false: another call. */
bool pokes_memory(struct thread *t)
{
	const uint64_t *r = t->regs;
	bool poke = r[RAX] == __NR_ptrace &&
		(r[RDI] == PTRACE_POKETEXT || r[RDI] == PTRACE_POKEDATA);
	int64_t pid = (int32_t)(poke ? r[RSI] : r[RDI]);
	const struct process *p;
	uint64_t range[2], before;
	bool same;
	long ret;

	if (!poke && r[RAX] != __NR_process_vm_writev)
		return false;
	p = counted(pid);
	if (!p || p == eng.process)
		return false;
	same = poke && !sys(__NR_ptrace, PTRACE_PEEKTEXT, pid, r[RDX], &before) && before == r[R10];
	ret = sys(r[RAX], r[RDI], r[RSI], r[RDX], r[R10], r[R8], r[R9]);
	if (poke && !ret && !same)
		end_if_code(p, pid, r[RDX], r[RDX] + 8);
	for (uint64_t i = 0; !poke && ret > 0 && i < r[R8]; i++)
		if (copy_bytes(range, (const void *)(r[R10] + 16 * i), 16) == 16)
			end_if_code(p, pid, range[0], range[0] + range[1]);
	finish(t, ret);
	return true;
}
