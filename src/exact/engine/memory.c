/* SPDX-License-Identifier: MIT */
/*
 * The engine's foundation: system calls, memory, the lock, and ending a process that cannot be
 * counted.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <linux/mman.h>
#include <linux/signal.h>
#include "exact/engine/engine.h"

struct engine eng;

/* The compiler may emit calls to these even in freestanding code. */
void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);

void *memcpy(void *to, const void *from, size_t n)
{
	void *d = to;

	__asm__ volatile("rep movsb" : "+D"(d), "+S"(from), "+c"(n)::"memory");
	return to;
}

void *memset(void *to, int c, size_t n)
{
	void *d = to;

	__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(c) : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

long sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/* From kernels newer than the headers this is built with: MADV_POPULATE_WRITE, from Linux 5.14. */
enum { MFD_EXEC_ = 16, MADV_POPULATE = 23 };

/*
 * One address bit between the usual program addresses: 0x5555..., 0x7fff..., 0 to 4 GiB;
 * and the free space next to it.
 */
static const uint64_t ALIAS = 1ull << 44, BESIDE = 1ull << 40;

/*
 * Page 0 and the next pages stay free: a null pointer with an offset must fault. An unprivileged
 * process cannot map there (vm.mmap_min_addr), root can.
 */
static const uint64_t LOWEST = 16 << 20;

/* NULL: in use, or the address is below LOWEST. */
void *reserve_at(uint64_t at, size_t size, int prot)
{
	int64_t data = prot & PROT_WRITE ? (int64_t)size : 0;
	long p;

	if (at < LOWEST)
		return NULL;
	limits_mapped((int64_t)size, data);
	p = sys(__NR_mmap, at, size, prot,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1);
	if ((uint64_t)p != at) { /* before Linux 4.17 the address is only a hint */
		if (p > 0 || p < -4095)
			sys(__NR_munmap, p, size);
		limits_mapped(-(int64_t)size, -data);
		return NULL;
	}
	own_add(at, size);
	sys(__NR_madvise, p, size, MADV_DONTDUMP);
	return (void *)p;
}

/* Release private writable memory from reserve_at(). */
void unreserve_at(uint64_t at, size_t size)
{
	sys(__NR_munmap, at, size);
	own_remove(at);
	limits_mapped(-(int64_t)size, -(int64_t)size);
}

/* Does the kernel refuse a mapping at any address? */
bool memory_is_out(void)
{
	long p = sys(__NR_mmap, 0, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (p == -ENOMEM)
		return true;
	sys(__NR_munmap, p, PAGE);
	return false;
}

/* Rounds up to whole MiB. */
static size_t rounded(size_t size)
{
	return (size + 0xfffff) & ~0xfffffull;
}

/* Release private memory from reserve(). */
void unreserve(void *p, size_t size)
{
	size = rounded(size);
	sys(__NR_munmap, p, size);
	own_remove((uint64_t)p);
	limits_mapped(-(int64_t)size, -(int64_t)size);
}

void *reserve(size_t size)
{
	size = rounded(size);
	for (int tries = 0; tries < 64; tries++) {
		uint64_t at = eng.next_place;
		void *p = reserve_at(at, size, PROT_READ | PROT_WRITE);

		eng.next_place += size + 0x100000;
		if (p)
			return p;
		eng.next_place += 0x1000000000ull;
	}
	if (memory_is_out())
		refuse("the kernel gives the exact engine no memory (limits on mappings, vm.max_map_count, or on memory?), bytes wanted",
		       size);
	refuse("no address space is left for the exact engine (ulimit -v?), bytes wanted", size);
}

/* All of the memory, or nearly all, will be written: avoids page faults. */
void populate(void *p, size_t size)
{
	sys(__NR_madvise, p, size, MADV_POPULATE);
}

/* Map the same pages twice: executable at `at`, and writable. Returns the writable address. */
static void *map_twice(uint64_t at, size_t size)
{
	uint64_t to = at ^ eng.alias;
	long fd = -1, x;

	if (at < LOWEST)
		return NULL;
	limits_mapped(2 * (int64_t)size, 0);
	x = sys(__NR_mmap, at, size, PROT_READ | PROT_EXEC,
		MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1);
	if (x == -EACCES || x == -EPERM) { /* anonymous memory is refused: use a file */
		fd = sys(__NR_memfd_create, "tare", MFD_CLOEXEC | MFD_EXEC_);
		if (fd == -EINVAL)
			fd = sys(__NR_memfd_create, "tare", MFD_CLOEXEC);
		if (fd < 0 || sys(__NR_ftruncate, fd, size) < 0)
			refuse("the kernel gives no memory for translated code", at);
		x = sys(__NR_mmap, at, size, PROT_READ | PROT_EXEC,
			MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd);
		sys(__NR_close, fd);
	}
	if (x == -EACCES || x == -EPERM)
		refuse("the kernel gives no memory that may be executed for translated code", at);
	if ((uint64_t)x != at ||
	    (uint64_t)sys(__NR_mmap, to, size, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
			  -1) != to) {
		if (x > 0 || x < -4095)
			sys(__NR_munmap, x, size);
		limits_mapped(-2 * (int64_t)size, 0);
		return NULL;
	}
	/*
	 * For shared memory, mremap with size 0 makes a second mapping. Source: mremap(2),
	 * old_size.
	 */
	if ((uint64_t)sys(__NR_mremap, at, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to ||
	    sys(__NR_mprotect, to, size, PROT_READ | PROT_WRITE) < 0)
		refuse("the kernel does not map translated code twice, at", at);
	own_add(at, size);
	own_add(to, size);
	sys(__NR_madvise, at, size, MADV_DONTDUMP);
	sys(__NR_madvise, to, size, MADV_DONTDUMP);
	return (void *)to;
}

/* Reserve memory for code at `at`. Returns its writable address, NULL if there is no room. */
void *code_reserve(uint64_t at, size_t size)
{
	return eng.alias ? map_twice(at, size)
			 : reserve_at(at, size, PROT_READ | PROT_WRITE | PROT_EXEC);
}

/* The same, at any address. The first call, which finds out how code can be mapped. */
void *code_memory(size_t size)
{
	void *p = reserve(size);

	if (!sys(__NR_mprotect, p, size, PROT_READ | PROT_WRITE | PROT_EXEC))
		return p;
	unreserve(p, size);
	eng.alias = ALIAS;
	p = code_reserve((uint64_t)p + BESIDE, size);
	if (!p)
		refuse("no room for translated code", 0);
	return p;
}

void futex_wait(volatile uint32_t *word, uint32_t value, int ms)
{
	struct {
		long s, ns;
	} t = { ms / 1000, ms % 1000 * 1000000L };

	sys(__NR_futex, word, FUTEX_WAIT, value, &t);
}

void futex_wake(volatile uint32_t *word)
{
	sys(__NR_futex, word, FUTEX_WAKE, 0x7fffffff);
}

/* 0 free, 1 locked, 2 locked with waiters. */
void lock(void)
{
	uint32_t seen = 0;

	if (__atomic_compare_exchange_n(&eng.lock, &seen, 1, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&eng.lock, 2, __ATOMIC_ACQUIRE) != 0)
		futex_wait(&eng.lock, 2, 1000);
}

void unlock(void)
{
	if (__atomic_exchange_n(&eng.lock, 0, __ATOMIC_RELEASE) == 2)
		futex_wake(&eng.lock);
}

/* Many reasons end in "at" or ", at", before the address. */
static void drop_at(char *reason, unsigned n)
{
	if (n < 3 || reason[n - 3] != ' ' || reason[n - 2] != 'a' || reason[n - 1] != 't')
		return;
	n -= 3;
	reason[n - (reason[n - 1] == ',')] = 0;
}

static unsigned append(char *to, unsigned at, const char *s)
{
	for (; *s && at < REASON_MAX - 1; s++)
		to[at++] = *s;
	to[at] = 0;
	return at;
}

/* The supervisor reads `reason` once `refused` is set, and prints it. */
static void note_why(struct process *p, enum refused how, const char *why, uint64_t at)
{
	char hex[20] = " 0x";
	unsigned n, digits = 1;

	if (!p || p->refused)
		return;
	n = append(p->reason, 0, why);
	if (at) {
		while (digits < 16 && at >> (4 * digits))
			digits++;
		for (unsigned i = 0; i < digits; i++)
			hex[3 + i] = "0123456789abcdef"[at >> (4 * (digits - 1 - i)) & 15];
		hex[3 + digits] = 0;
		append(p->reason, n, hex);
	} else {
		drop_at(p->reason, n);
	}
	p->refused = how;
}

static void give_up(void) __attribute__((noreturn));

static void give_up(void)
{
	sys(__NR_kill, sys(__NR_getpid), SIGKILL);
	for (;;)
		sys(__NR_exit_group, 255);
}

/* The process's counts may be wrong. */
void note_wrong(struct process *p, const char *why, uint64_t at)
{
	note_why(p, REFUSED_WRONG, why, at);
}

/* The process is about to execute a program that runs without the engine. */
void note_uncounted(struct process *p, const char *why)
{
	note_why(p, REFUSED_EXEC, why, 0);
}

/*
 * The program cannot be counted from here on: end it rather than count it wrong. Its counts up to
 * here are right.
 */
void refuse(const char *why, uint64_t at)
{
	note_why(eng.process, REFUSED_ENDED, why, at);
	give_up();
}

/* The same, but its counts may be wrong. */
void refuse_wrong(const char *why, uint64_t at)
{
	note_wrong(eng.process, why, at);
	give_up();
}

/* The shared state has a value that neither the engine nor its supervisor writes. */
void refuse_overwritten(void)
{
	refuse_wrong("a program overwrote the memory that contains its counts", 0);
}
