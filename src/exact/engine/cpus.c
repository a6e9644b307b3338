/* SPDX-License-Identifier: MIT */
/*
 * The number of CPUs that the program sees: its affinity, the files that list the CPUs, and the CPU
 * on which a thread runs. The affinity that a thread sets is stored but not applied, because these
 * CPUs are not the machine's.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/memfd.h>
#include "exact/engine/engine.h"

enum { MASK_BYTES = 8, KERNEL_MASK = 1024 };

static uint64_t all_cpus(void)
{
	const uint32_t n = eng.shared->cpu_files.cpus;

	return n < CPUS_MAX ? (1ull << n) - 1 : ~0ull;
}

/* ---- affinity ---- */

/* The thread with this id (0: `t`); NULL: no counted thread of this PID namespace has it. */
struct thread *counted_thread(struct thread *t, int32_t tid)
{
	const bool foreign = process_at(t->process)->foreign;

	if (!tid || tid == t->tid)
		return t;
	for (uint32_t i = 0; i < shared_threads(eng.shared); i++) {
		struct thread *other = thread_at(i);

		if (eng.shared->thread_states[i] == THREAD_LIVE && other->tid == tid &&
		    process_at(other->process)->foreign == foreign &&
		    (!foreign || other->process == t->process))
			return other;
	}
	return NULL;
}

/* Is there such a thread? 0, or the kernel's error. */
static long known(int32_t tid)
{
	uint64_t mask[KERNEL_MASK / 8];
	long ret = sys(__NR_sched_getaffinity, tid, sizeof mask, mask);

	return ret < 0 ? ret : 0;
}

/*
 * As a kernel for at most 64 CPUs. Source: linux/kernel/sched/syscalls.c, sched_getaffinity().
 */
static long get_affinity(struct thread *t, int32_t tid, uint32_t size, uint64_t to)
{
	const struct thread *of = counted_thread(t, tid);
	uint64_t mask = of && of->cpus ? of->cpus : all_cpus();
	long ret;

	if (size * 8ull < eng.shared->cpu_files.cpus || size % MASK_BYTES)
		return -EINVAL;
	ret = of ? 0 : known(tid);
	if (ret < 0)
		return ret;
	return copy_bytes((void *)to, &mask, sizeof mask) == sizeof mask ? MASK_BYTES : -EFAULT;
}

/* For a process that is not counted, only its existence is checked. */
static long set_affinity(struct thread *t, int32_t tid, uint32_t size, uint64_t from)
{
	struct thread *of = counted_thread(t, tid);
	uint64_t mask = 0;

	size = size < MASK_BYTES ? size : MASK_BYTES;
	if (copy_bytes(&mask, (const void *)from, size) != size)
		return -EFAULT;
	mask &= all_cpus();
	if (!of)
		return known(tid);
	if (!mask)
		return -EINVAL;
	of->cpus = mask;
	of->cpu = (uint32_t)__builtin_ctzll(mask);
	return 0;
}

/* ---- files ---- */

static const struct cpu_file *file_at(uint64_t path)
{
	const struct cpu_files *all = &eng.shared->cpu_files;
	char name[CPU_FILE_PATH] = "";

	copy_bytes(name, (const void *)path, sizeof name);
	for (uint32_t i = 0; i < all->n && i < CPU_FILES_MAX; i++) {
		unsigned n = 0;

		while (n < CPU_FILE_PATH - 1 && name[n] && name[n] == all->file[i].path[n])
			n++;
		if (!name[n] && !all->file[i].path[n])
			return &all->file[i];
	}
	return NULL;
}

/* Opens a memory file in its place. */
static long open_memory(const struct cpu_file *f, uint64_t flags)
{
	static const char name[] = "cpus";
	long fd = sys(__NR_memfd_create, name, flags & O_CLOEXEC ? MFD_CLOEXEC : 0);

	if (fd >= 0 && f->at < CPU_FILES_BYTES && f->bytes <= CPU_FILES_BYTES - f->at) {
		sys(__NR_write, fd, eng.shared->cpu_files.text + f->at, f->bytes);
		sys(__NR_lseek, fd, 0, 0);
	}
	return fd;
}

static bool open_file(struct thread *t)
{
	const uint64_t *r = t->regs;
	uint64_t path = r[RAX] == __NR_open ? r[RDI] : r[RSI],
		 flags = r[RAX] == __NR_open ? r[RSI] : r[RDX];
	const struct cpu_file *f;

	if ((flags & O_ACCMODE) != O_RDONLY || flags & (O_PATH | O_DIRECTORY))
		return false;
	f = file_at(path);
	if (f)
		finish(t, open_memory(f, flags));
	return f;
}

/* ---- calls ---- */

/* The thread runs on the first CPU of its affinity. */
static long get_cpu(const struct thread *t, uint64_t cpu, uint64_t node)
{
	const uint32_t zero = 0;

	if (cpu && copy_bytes((void *)cpu, &t->cpu, sizeof t->cpu) < sizeof t->cpu)
		return -EFAULT;
	if (node && copy_bytes((void *)node, &zero, sizeof zero) < sizeof zero)
		return -EFAULT;
	return 0;
}

/* Answers a call about the CPUs. False: another call, or one for the kernel. */
bool cpus_call(struct thread *t)
{
	const uint64_t *r = t->regs;

	if (r[RAX] == __NR_getcpu && eng.mode & (SAME_ISA | SAME_CPUS)) {
		finish(t, get_cpu(t, r[RDI], r[RSI]));
		return true;
	}
	if (!(eng.mode & SAME_CPUS))
		return false;
	switch (r[RAX]) {
	case __NR_sched_getaffinity:
		finish(t, get_affinity(t, (int32_t)r[RDI], (uint32_t)r[RSI], r[RDX]));
		return true;
	case __NR_sched_setaffinity:
		finish(t, set_affinity(t, (int32_t)r[RDI], (uint32_t)r[RSI], r[RDX]));
		return true;
	case __NR_rseq: /* the kernel would write the machine's CPU into the program's memory */
		finish(t, -ENOSYS);
		return true;
	case __NR_open:
	case __NR_openat:
		return open_file(t);
	default:
		return false;
	}
}
