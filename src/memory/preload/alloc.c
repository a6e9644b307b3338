/* SPDX-License-Identifier: MIT */
/*
 * libtare-alloc.so, preloaded into a program, records the memory blocks that the program allocates
 * and frees. It writes to the file named in TARE_ALLOC (perfdata/alloc.h). Each thread writes to
 * its own block of the file, without a lock; a block that a thread leaves half full is reused by
 * the next thread. Nothing here allocates, and errno is preserved.
 *
 * The work at each call does not use the program's libraries (bare.h): tare memory leaves out the
 * accesses of this library's own code.
 *
 * C++'s operators new and delete are not replaced: each part of a program chooses its own, and
 * memory must be freed by the matching one. They call malloc, and their caller is found on the
 * stack (perfdata/alloc.h) when the file is read.
 */
#undef _FILE_OFFSET_BITS /* which would rename mmap */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "memory/preload/bare.h"
#include "base/pages.h"
#include "perfdata/alloc.h"

#define HOOK __attribute__((visibility("default")))

/*
 * FIRST_MOST: within this distance of its end there is only the first stack. Source: Linux,
 * arch/x86/mm/mmap.c, SIZE_128M, and arm64's mmap_base().
 */
enum {
	EARLY = 64 << 10,
	IDLE = 64,
	FRAME_MOST = 128 << 10,
	FIRST_MOST = 64 << 20,
	THREAD_MOST = 8 << 20,
	ASKED_AT_ONCE = 32,
	PAGE = 4096
};
enum { UNKNOWN, ON, OFF };

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	int (*munmap)(void *, size_t);
	void *(*mremap)(void *, size_t, size_t, int, ...);
	volatile int found;
} real;

/* For allocations by dlsym(3) while it looks up the functions above. Never freed. */
static char early[EARLY] __attribute__((aligned(16)));
static size_t early_used;
static volatile int resolving;

static volatile int state;
static volatile bool full; /* the file does not grow any more */
static struct alloc_head *head;
static char path[PATH_MAX];
static uint32_t pid;
static uintptr_t main_stack; /* end address */
static volatile bool *same;  /* one per process: reads false in a child, however it was created */
static pthread_key_t at_exit;
static struct alloc_block *idle[IDLE];
static bare_clock *clock_at; /* NULL: a system call */
static uintptr_t unmapped;   /* counts how often a page or more was freed or made unreadable */

static __thread __attribute__((tls_model("initial-exec"))) struct {
	struct alloc_block *block;
	int *error;           /* errno */
	bool inside, at_exit; /* inside the recorder; its exit handler is registered */
	uint32_t tid;
	/*
	 * Readable parts of its stack: pages from `low` to `top`. The page at `gap`, above the
	 * stack that it last used, is not readable. All as of `unmapped`.
	 */
	uintptr_t low, top, gap, unmapped;
} me;

static inline int *error(void)
{
	if (__builtin_expect(!me.error, 0))
		me.error = &errno;
	return me.error;
}

#define call(number, ...) CALL_OF(number, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_OF(number, a, b, c, d, e, f, ...)                                                     \
	bare_call(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* ---- the file ---- */

/* Growing a file beyond RLIMIT_FSIZE raises a signal. */
static bool allowed(uint64_t end)
{
	struct rlimit64 size;

	return call(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &size) < 0 ||
		size.rlim_cur == RLIM64_INFINITY || end <= size.rlim_cur;
}

static struct alloc_block *new_block(void)
{
	long fd = full ? -1 : call(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0), map = -1;
	struct alloc_block *b;
	uint64_t n, at;

	if (fd < 0)
		return NULL;
	n = __atomic_fetch_add(&head->blocks, 1, __ATOMIC_ACQ_REL);
	at = ALLOC_PAGE + n * ALLOC_BLOCK;
	/* Allocates disk space: writing to a page without any raises SIGBUS. */
	if (n < head->most && allowed(at + ALLOC_BLOCK) &&
	    call(SYS_fallocate, fd, 0, (off_t)at, (off_t)ALLOC_BLOCK) == 0)
		map = call(SYS_mmap, NULL, ALLOC_BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
	else { /* unless another thread has reserved the next block meanwhile */
		full = true;
		n++;
		__atomic_compare_exchange_n(&head->blocks, &n, n - 1, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED);
	}
	call(SYS_close, fd);
	if (map < 0 && map > -4096)
		return NULL;
	b = (struct alloc_block *)map;
	b->pid = pid;
	b->magic = ALLOC_BLOCK_MAGIC;
	return b;
}

static size_t room(const struct alloc_block *b)
{
	return ALLOC_BLOCK - sizeof(*b) - b->used;
}

static void let_go(struct alloc_block *b)
{
	call(SYS_munmap, b, ALLOC_BLOCK);
	__atomic_fetch_add(&unmapped, 1, __ATOMIC_RELAXED);
}

static struct alloc_block *block_with(size_t bytes)
{
	struct alloc_block *b = me.block;

	if (b && room(b) >= bytes)
		return b;
	if (b)
		let_go(b);
	for (unsigned i = 0; i < IDLE; i++) {
		if (!idle[i])
			continue;
		b = __atomic_exchange_n(&idle[i], NULL, __ATOMIC_ACQ_REL);
		if (b && room(b) >= bytes)
			return me.block = b;
		if (b)
			let_go(b);
	}
	me.block = new_block();
	if (me.block && !me.at_exit)
		me.at_exit = pthread_setspecific(at_exit, me.block) == 0;
	return me.block;
}

static void thread_ends(void *block)
{
	struct alloc_block *b = me.block, *none;

	(void)block;
	me.block = NULL;
	me.at_exit = false;
	for (unsigned i = 0; b && i < IDLE; i++) {
		none = NULL;
		if (__atomic_compare_exchange_n(&idle[i], &none, b, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return;
	}
	if (b)
		let_go(b);
}

/* ---- a record ---- */

static uint64_t now_ns(void)
{
	struct timespec t;

	if (!clock_at || clock_at(CLOCK_MONOTONIC, &t) < 0)
		call(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A function that the program called: its frame address, and the stack pointer after its return. */
struct asker {
	const uint64_t *frame;
	uint64_t stack;
};

/*
 * clang has no __builtin_dwarf_cfa() for arm64. There the frame pointer equals the stack pointer in
 * functions with a conventional frame (gcc's functions).
 */
#if defined(__clang__) && defined(__aarch64__)
#define STACK (*(const uint64_t *)__builtin_frame_address(0))
#else
#define STACK ((uint64_t)(uintptr_t)__builtin_dwarf_cfa())
#endif
#define ASKER (&(struct asker){ __builtin_frame_address(0), STACK })

/* The number of readable pages from `first` on, at most n. */
static size_t readable(uintptr_t first, size_t n)
{
	struct iovec page[ASKED_AT_ONCE], into;
	char byte[ASKED_AT_ONCE];
	size_t done = 0;

	while (done < n) {
		size_t asked = n - done < ASKED_AT_ONCE ? n - done : ASKED_AT_ONCE;
		long got;

		for (size_t i = 0; i < asked; i++) {
			page[i].iov_base = (void *)(first + (done + i) * PAGE);
			page[i].iov_len = 1;
		}
		into.iov_base = byte;
		into.iov_len = asked;
		got = call(SYS_process_vm_readv, pid, &into, 1, page, asked, 0);
		done += got > 0 ? (size_t)got : 0;
		if (got != (long)asked)
			break;
	}
	return done;
}

/*
 * How far the stack that `here` is on can be read. A thread's stack ends at the C library's thread
 * data, the first stack at the data from the kernel; the kernel is asked once whether everything up
 * to there is readable. For any other stack (of a coroutine or a signal) only the current page is
 * known.
 */
static uintptr_t stack_end(uintptr_t here)
{
	uintptr_t page = here & -(uintptr_t)PAGE, end = page + PAGE,
		  now = __atomic_load_n(&unmapped, __ATOMIC_RELAXED);
	bool first = here < main_stack && main_stack - here < FIRST_MOST;
	uintptr_t top = first ? main_stack : bare_thread();

	if (here >= top ||
	    (!first &&
	     (me.tid == pid ||
	      top - here >= THREAD_MOST))) /* the thread data of the first thread is elsewhere */
		return end;
	if (me.top != top || me.unmapped != now) {
		me.low = ((top - 1) & -(uintptr_t)PAGE) + PAGE;
		me.top = top;
		me.gap = 0;
		me.unmapped = now;
	}
	if (here < me.gap)
		return end;
	if (page < me.low) {
		size_t n = (me.low - page) / PAGE, good = readable(page, n);

		if (good < n) {
			me.gap = page + good * PAGE;
			return end;
		}
		me.low = page;
	}
	return top & -(uintptr_t)8;
}

/*
 * Copies up to n words of the stack from `at`, which may be anywhere above; returns how many. Up to
 * the known end they are read directly, beyond it through the kernel.
 */
static size_t stack_words(uintptr_t end, uintptr_t at, uint64_t *to, size_t n)
{
	size_t sure = at < end ? (end - at) / 8 : 0;
	struct iovec from, into;

	if (sure > n)
		sure = n;
	for (size_t i = 0; i < sure; i++)
		to[i] = ((const uint64_t *)at)[i];
	if (sure == n)
		return n;
	from = (struct iovec){ (void *)(at + 8 * sure), 8 * (n - sure) };
	into = (struct iovec){ to + sure, from.iov_len };
	return call(SYS_process_vm_readv, pid, &into, 1, &from, 1, 0) == (long)from.iov_len ? n
											    : sure;
}

static char *add_address(char *to, uint64_t address)
{
	__builtin_memcpy(to, &address, ALLOC_ADDRESS);
	return to + ALLOC_ADDRESS;
}

/*
 * Source: Linux, Documentation/arch/x86/x86_64/mm.rst: user addresses have 47 bits, or 56 if the
 * program asks for them. On arm64 they may be signed (pointer authentication).
 */
static bool can_be_address(uint64_t word)
{
#if defined(__x86_64__)
	return word >= ALLOC_PAGE && word >> 56 == 0;
#else
	return word >= ALLOC_PAGE;
#endif
}

/* The data after a record's head; returns its end. */
static char *add_stack(char *to, const struct asker *who, uint8_t *frames)
{
	uintptr_t here = (uintptr_t)who->frame, next, end = stack_end(here);
	uint64_t at[2],
		/* at a frame pointer: the caller's frame pointer, the return address */
		word[ALLOC_WORDS];
	size_t n = stack_words(end, who->stack, word, ALLOC_WORDS);
	uint32_t told = 0;
	char *told_at = add_address(to, who->stack);

	to = told_at + sizeof(told);
	at[0] = who->frame[0];
	at[1] = who->frame[1];
	for (*frames = 0;;) {
		to = add_address(add_address(to, at[1]), at[0]);
		next = at[0];
		if (++*frames == ALLOC_FRAMES || next <= here || next - here > FRAME_MOST ||
		    next & 7 || stack_words(end, next, at, 2) < 2 || at[1] < ALLOC_PAGE)
			break;
		here = next;
	}
	for (unsigned i = 0; i < n; i++)
		if (can_be_address(word[i])) {
			to = add_address(to, word[i]);
			told |= 1u << i;
		}
	__builtin_memcpy(told_at, &told, sizeof(told));
	return to;
}

/*
 * The record is written in place: readers ignore it until `used` covers it. The padding is zero, as
 * a new block is all zeros.
 */
/*
 * No room. From then on the reader attributes no address to a block, since the block may have been
 * freed and its address reused.
 */
static void lose(uint64_t time_ns)
{
	uint64_t first = __atomic_load_n(&head->lost_ns, __ATOMIC_RELAXED);

	while ((!first || time_ns < first) &&
	       !__atomic_compare_exchange_n(&head->lost_ns, &first, time_ns, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	__atomic_fetch_add(&head->lost, 1, __ATOMIC_RELAXED);
}

static void put_event(enum alloc_kind kind, uint64_t time_ns, uint64_t address, uint64_t size,
		      const struct asker *who)
{
	enum { MOST = ALLOC_FRAMES_AT + ALLOC_ADDRESS * (2 * ALLOC_FRAMES + ALLOC_WORDS) + 8 };
	size_t bytes = sizeof(struct alloc_record);
	struct alloc_block *b = block_with(who ? MOST : bytes);
	struct alloc_record *r;
	uint8_t frames = 0;

	if (!me.tid)
		me.tid = (uint32_t)call(SYS_gettid, 0);
	/* The address range may have held another thread's stack. */
	if ((kind == ALLOC_FREED || kind == ALLOC_UNMAPPED) && address % PAGE <= 2 * sizeof(size_t))
		__atomic_fetch_add(&unmapped, 1, __ATOMIC_RELAXED);
	if (!b) {
		lose(time_ns);
		return;
	}
	r = (struct alloc_record *)((char *)(b + 1) + b->used);
	if (who)
		bytes = (size_t)(add_stack((char *)(r + 1), who, &frames) - (char *)r + 7) &
			~(size_t)7;
	r->bytes = (uint16_t)bytes;
	r->kind = (uint8_t)kind;
	r->frames = frames;
	r->tid = me.tid;
	r->time_ns = time_ns;
	r->address = address;
	r->size = size;
	__atomic_store_n(&b->used, b->used + bytes, __ATOMIC_RELEASE);
}

/* ---- a process ---- */

/* A child inherits its parent's memory blocks, but no block of the file. */
static void new_process(void)
{
	uint32_t parent = pid;

	if (me.block)
		let_go(me.block);
	me.block = NULL;
	me.tid = 0;
	for (unsigned i = 0; i < IDLE; i++)
		idle[i] = NULL;
	pid = (uint32_t)call(SYS_getpid, 0);
	*same = true;
	put_event(ALLOC_FORK, now_ns(), parent, 0, NULL);
}

/*
 * Runs at once in a child of fork(3). There is no callback for clone(2) and the like, so enter()
 * checks.
 */
static void forked(void)
{
	int code = *error();

	if (state != ON || me.inside || (*same && (uint32_t)call(SYS_getpid, 0) == pid))
		return;
	me.inside = true;
	new_process();
	me.inside = false;
	*error() = code;
}

static bool open_file(const char *name)
{
	size_t n = 0;
	long fd, map;

	while (name[n])
		n++;
	if (n >= sizeof(path))
		return false;
	bare_copy(path, name, n + 1);
	fd = call(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	map = call(SYS_mmap, NULL, ALLOC_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	call(SYS_close, fd);
	if (map < 0 && map > -4096)
		return false;
	head = (struct alloc_head *)map;
	return *(const uint64_t *)head->magic == *(const uint64_t *)ALLOC_MAGIC &&
		head->version == ALLOC_VERSION;
}

/* `last`: libc is initialized, so the environment is final. */
static void begin_recording(bool last)
{
	const char *name = secure_getenv("TARE_ALLOC");
	int unknown = UNKNOWN;

	if (!name && !last)
		return;
	if (!__atomic_compare_exchange_n(&state, &unknown, OFF, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	pid = (uint32_t)call(SYS_getpid, 0);
	main_stack = (uintptr_t)getauxval(AT_EXECFN);
	clock_at = bare_find_clock();
	if (!name || !open_file(name) || pthread_key_create(&at_exit, thread_ends) != 0 ||
	    !(same = pages_new_wiped(PAGE)))
		return;
	*same = true;
	pthread_atfork(NULL, NULL, forked);
	put_event(ALLOC_PROGRAM, now_ns(), (uint64_t)call(SYS_getppid, 0), 0, NULL);
	__atomic_store_n(&state, ON, __ATOMIC_RELEASE);
}

/* Begins recording a call of the program; if true, call leave() afterwards. */
static bool enter(void)
{
	int code = *error();

	if (me.inside || state == OFF)
		return false;
	me.inside = true;
	if (state == UNKNOWN)
		begin_recording(false);
	if (state == ON && !*same)
		new_process();
	*error() = code;
	me.inside = state == ON;
	return me.inside;
}

static void leave(int code)
{
	*error() = code;
	me.inside = false;
}

/* ---- the hooks ---- */

static void *find(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static void resolve(void)
{
	resolving = 1;
	real.calloc = find("calloc");
	real.malloc = find("malloc");
	real.realloc = find("realloc");
	real.posix_memalign = find("posix_memalign");
	real.aligned_alloc = find("aligned_alloc");
	real.memalign = find("memalign");
	real.valloc = find("valloc");
	real.pvalloc = find("pvalloc");
	real.mmap = find("mmap");
	real.munmap = find("munmap");
	real.mremap = find("mremap");
	real.free = find("free");
	real.found = 1;
	resolving = 0;
}

static bool ready(void)
{
	if (!real.found && !resolving)
		resolve();
	return real.found;
}

static void *early_alloc(size_t size)
{
	size_t at = __atomic_fetch_add(&early_used, (size + 15) & ~(size_t)15, __ATOMIC_RELAXED);

	if (at + size > sizeof(early)) {
		*error() = ENOMEM;
		return NULL;
	}
	return early + at;
}

static bool is_early(const void *p)
{
	return (const char *)p >= early && (const char *)p < early + sizeof(early);
}

__attribute__((constructor)) static void loaded(void)
{
	int code = *error();

	ready();
	me.inside = true;
	if (state == UNKNOWN)
		begin_recording(true);
	me.inside = false;
	*error() = code;
}

static void taken(void *p, size_t size, const struct asker *who)
{
	int code = *error();

	if (p)
		put_event(ALLOC_TAKEN, now_ns(), (uintptr_t)p, size, who);
	leave(code);
}

/* malloc and the like: the call, its size, and the caller. */
#define TAKE(take, size)                                                                           \
	do {                                                                                       \
		bool told = enter();                                                               \
		void *p = take;                                                                    \
                                                                                                   \
		if (told)                                                                          \
			taken(p, size, ASKER);                                                     \
		return p;                                                                          \
	} while (0)

HOOK void *malloc(size_t size)
{
	if (!ready())
		return early_alloc(size);
	TAKE(real.malloc(size), size);
}

HOOK void *calloc(size_t n, size_t size)
{
	if (!ready())
		return size && n > sizeof(early) / size
			? NULL
			: early_alloc(n * size); /* all zeros, since early memory is never reused */
	TAKE(real.calloc(n, size), n * size);
}

HOOK void *aligned_alloc(size_t align, size_t size)
{
	ready();
	TAKE(real.aligned_alloc(align, size), size);
}

HOOK void *memalign(size_t align, size_t size)
{
	ready();
	TAKE(real.memalign(align, size), size);
}

HOOK void *valloc(size_t size)
{
	ready();
	TAKE(real.valloc(size), size);
}

HOOK void *pvalloc(size_t size)
{
	ready();
	TAKE(real.pvalloc(size), size);
}

HOOK int posix_memalign(void **out, size_t align, size_t size)
{
	bool told;
	int ret;

	ready();
	told = enter();
	ret = real.posix_memalign(out, align, size);
	if (told)
		taken(ret == 0 ? *out : NULL, size, ASKER);
	return ret;
}

/* Another thread can get the block at once, so its end is recorded with an earlier time. */
HOOK void free(void *p)
{
	int code = *error();

	if (!p || is_early(p))
		return;
	if (ready() && enter()) {
		put_event(ALLOC_FREED, now_ns(), (uintptr_t)p, 0, NULL);
		leave(code);
	}
	real.free(p);
}

static void *reallocate(void *old, size_t size, const struct asker *who)
{
	bool told;
	uint64_t before;
	void *p;

	if (!ready() || is_early(old)) {
		p = real.found ? real.malloc(size) : early_alloc(size);
		if (p && old) {
			size_t most = (size_t)(early + sizeof(early) - (char *)old);

			bare_copy(p, old, size < most ? size : most);
		}
		return p;
	}
	told = enter();
	before = told ? now_ns() : 0;
	p = real.realloc(old, size);
	if (!told)
		return p;

	int code = *error();

	if (old && (p || !size))
		put_event(ALLOC_FREED, before, (uintptr_t)old, 0, NULL);
	if (p)
		put_event(ALLOC_TAKEN, now_ns(), (uintptr_t)p, size, who);
	leave(code);
	return p;
}

HOOK void *realloc(void *old, size_t size)
{
	return reallocate(old, size, ASKER);
}

HOOK void *reallocarray(void *old, size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all)) {
		*error() = ENOMEM;
		return NULL;
	}
	return reallocate(old, all, ASKER);
}

static void mapped(const void *p, size_t size, const struct asker *who)
{
	int code = *error();

	put_event(ALLOC_MAPPED, now_ns(), (uintptr_t)p, size, who);
	leave(code);
}

HOOK void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	bool told;
	void *p;

	ready();
	told = flags & MAP_ANONYMOUS && enter();
	p = real.mmap(at, size, prot, flags, fd, offset);
	if (told && p != MAP_FAILED)
		mapped(p, size, ASKER);
	else if (told)
		leave(*error());
	return p;
}

HOOK void *mmap64(void *at, size_t size, int prot, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

HOOK int munmap(void *p, size_t size)
{
	int code = *error();

	if (ready() && enter()) {
		put_event(ALLOC_UNMAPPED, now_ns(), (uintptr_t)p, size, NULL);
		leave(code);
	}
	return real.munmap(p, size);
}

/* Not recorded: a page within a stack may become unreadable. */
HOOK int mprotect(void *p, size_t size, int prot)
{
	long ret = call(SYS_mprotect, p, size, prot);

	if (!(prot & PROT_READ))
		__atomic_fetch_add(&unmapped, 1, __ATOMIC_RELAXED);
	if (ret < 0)
		*error() = (int)-ret;
	return ret < 0 ? -1 : 0;
}

HOOK void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	uint64_t before;
	bool told;
	void *p, *to;
	va_list more;

	va_start(more, flags);
	to = flags & MREMAP_FIXED ? va_arg(more, void *) : NULL;
	va_end(more);
	ready();
	told = enter();
	before = told ? now_ns() : 0;
	p = real.mremap(old, old_size, size, flags, to);
	if (told && p != MAP_FAILED) {
		int code = *error();

		put_event(ALLOC_UNMAPPED, before, (uintptr_t)old, old_size, NULL);
		put_event(ALLOC_MAPPED, now_ns(), (uintptr_t)p, size, ASKER);
		leave(code);
	} else if (told)
		leave(*error());
	return p;
}
