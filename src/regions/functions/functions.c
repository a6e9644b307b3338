/* SPDX-License-Identifier: MIT */
/*
 * Record every function as a region without changing the source: compile with
 * -finstrument-functions (gcc, clang) and link with -ltare-functions -ltare. The compiler then
 * calls the two functions below at the begin and end of each function with its address. The first
 * call creates the label. Names of static functions come from the symbol table of the file
 * (names.c). A function without a name is named by its place, "program+0x1139".
 *
 * TARE_FUNCTIONS selects functions by name: globs separated by commas. The last glob that matches
 * decides; '!' excludes; unset means all. A C++ function matches by its mangled and by its
 * demangled name, _ZN3foo3barEi and foo::bar(int); a template also without its return type. Commas
 * within () and <> are part of a glob.
 *
 * The table uses open addressing by address and is read without a lock: the address is the last
 * field written. After dlclose(), another library may be mapped at the same addresses. The loader
 * resolves the hooks (indirect functions) once per library, so this code learns of each new library
 * before its first function runs. If any library was closed, the table is then checked. C libraries
 * other than glibc never unload.
 *
 * In a child process the lock is free even if another thread held it at fork, because the lock is
 * in a page with MADV_WIPEONFORK. The child then rebuilds what that thread was changing. Before
 * Linux 4.14 the child would block forever.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <link.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/pages.h"
#include "regions/functions/names.h"
#include "regions/functions/readable.h"
#include "tare/region.h"

#define UNSEEN __attribute__((no_instrument_function))

#ifdef HOOKS_OF_GLIBC /* in libtare-functions.so; see the end of the file */
#define HOOKS TARE_API
#else /* code linked with libtare-functions.a calls these, not glibc's */
#define HOOKS __attribute__((visibility("protected")))
#endif

void UNSEEN HOOKS __cyg_profile_func_enter(void *function, void *call_site);
void UNSEEN HOOKS __cyg_profile_func_exit(void *function, void *call_site);

enum { SLOTS = 1 << 20, NAME_ROOM = 1024, STALE = 1 };

struct slot {
	uintptr_t function;
	tare_label label; /* 0: not recorded */
	unsigned generation;
};

static struct slot *slots; /* SLOTS entries, allocated by the first call */
static uint32_t *taken;    /* indices of used slots, in the order of insertion */
/*
 * `slots`; or STALE plus the number of libraries loaded since: then the next call checks for closed
 * libraries
 */
static uintptr_t current = STALE;
static unsigned long long closed; /* number of closed libraries at the last check */
static size_t used;
static unsigned *lock_page; /* 0: free, 1: held, 2: and waited for */
static bool busy;           /* the lock is held, or was held when this process was forked */
static __thread int inside; /* naming a function calls functions */
static const char *filter;
static int looked;
static unsigned measured; /* the recording that has the measured overhead of a function */

extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

static UNSEEN unsigned *make_lock(void)
{
	static unsigned without_memory;
	unsigned *page = pages_new_wiped(sizeof(*page)), *none = NULL;

	if (!page)
		page = &without_memory;
	if (__atomic_compare_exchange_n(&lock_page, &none, page, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return page;
	if (page != &without_memory)
		pages_free(page, sizeof(*page));
	return none;
}

/* The second mutex of "Futexes Are Tricky" (U. Drepper). */
static UNSEEN void acquire(void)
{
	unsigned *lock = __atomic_load_n(&lock_page, __ATOMIC_ACQUIRE), is = 0;

	if (!lock)
		lock = make_lock();
	if (!__atomic_compare_exchange_n(lock, &is, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE))
			syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, 2, NULL);
	if (__tsan_acquire)
		__tsan_acquire(lock);
	if (busy) { /* in a forked child: another thread of the parent was in here */
		functions_abandon();
		taken = slots ? (void *)(slots + SLOTS) : NULL;
	}
	busy = true;
}

static UNSEEN void release(void)
{
	busy = false;
	if (__tsan_release)
		__tsan_release(lock_page);
	if (__atomic_exchange_n(lock_page, 0, __ATOMIC_RELEASE) == 2)
		syscall(SYS_futex, lock_page, FUTEX_WAKE_PRIVATE, 1);
}

typedef char *demangler(const char *name, char *out, size_t *room, int *status);

extern demangler __cxa_demangle __attribute__((weak));

/*
 * From the C++ library, which is loaded if the program does not link enough of it. NULL: names stay
 * mangled.
 */
static UNSEEN demangler *find_demangler(void)
{
	static demangler *found;
	static int tried;

	if (!tried && !(found = __cxa_demangle)) {
		void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

		found = library ? (demangler *)dlsym(library, "__cxa_demangle") : NULL;
	}
	tried = 1;
	return found;
}

/* The comma that ends a glob. Commas in foo::bar(int, int) or map<int, int> do not. */
static UNSEEN size_t glob_length(const char *p)
{
	size_t n = 0;

	for (int depth = 0; p[n] && !(p[n] == ',' && depth <= 0); n++)
		depth += (p[n] == '(' || p[n] == '<') - (p[n] == ')' || p[n] == '>');
	return n;
}

/*
 * The demangled name of a template begins with its return type. A glob may omit the return type and
 * the arguments. A glob without arguments, foo::bar or foo::*, matches all functions of that name.
 */
struct names {
	const char *symbol, *readable, *from;
	char *plain, *typed; /* without arguments; with the return type */
};

static UNSEEN void names_of(struct names *n, const char *symbol, const char *readable)
{
	const char *to;

	*n = (struct names){ .symbol = symbol, .readable = readable };
	if (!readable)
		return;
	readable_parts(readable, &n->from, &to);
	n->plain = strndup(n->from, (size_t)(to - n->from));
	n->typed = strndup(readable, (size_t)(to - readable));
}

static UNSEEN int fits(const char *glob, const struct names *n)
{
	const char *const name[] = { n->symbol, n->readable, n->from, n->plain, n->typed };

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (name[i] && !fnmatch(glob, name[i], 0))
			return 1;
	return 0;
}

/* readable: NULL if equal to the name. */
static UNSEEN int wanted(const char *name, const char *readable)
{
	const char *p = filter;
	int yes = !p || *p == '!';
	struct names names;

	if (!p || !*p)
		return yes;
	names_of(&names, name, readable);
	while (*p) {
		size_t n = glob_length(p);
		int out = *p == '!';
		char *glob = strndup(p + out, n - (size_t)out);

		if (glob && fits(glob, &names))
			yes = !out;
		free(glob);
		p += n + (p[n] == ',');
	}
	free(names.plain);
	free(names.typed);
	return yes;
}

static UNSEEN struct slot *find(struct slot *table, uintptr_t function)
{
	size_t i = (function >> 2) * 0x9e3779b97f4a7c15ull >> 44;

	for (;; i = (i + 1) & (SLOTS - 1)) {
		uintptr_t there = __atomic_load_n(&table[i].function, __ATOMIC_ACQUIRE);

		if (!there || there == function)
			return &table[i];
	}
}

static UNSEEN int make_slots(void)
{
	void *p;

	if (slots)
		return 1;
	p = mmap(NULL, SLOTS * (sizeof(*slots) + sizeof(*taken)), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return 0;
	slots = p;
	taken = (void *)(slots + SLOTS);
	return 1;
}

struct loaded {
	unsigned long long closed;
	uintptr_t begin, end; /* the program, which is never unloaded */
};

/* Stops after the first object, which is the program. */
static UNSEEN int look_at(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct loaded *l = arg;

	(void)size;
	l->closed = object->dlpi_subs;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (!l->end)
			l->begin = object->dlpi_addr + p->p_vaddr;
		l->end = object->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	return 1;
}

/*
 * Call with the lock held. Functions of libraries that may have been closed are named again at
 * their next call. A known name gets its previous label.
 */
static UNSEEN void make_current(void)
{
	uintptr_t was = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
	struct loaded l = { 0 };

	while (was & STALE) {
		dl_iterate_phdr(look_at, &l);
		if (l.closed != closed) {
			functions_forget();
			for (size_t i = 0; i < used; i++)
				if (slots[taken[i]].function - l.begin >= l.end - l.begin)
					__atomic_store_n(&slots[taken[i]].generation, 0,
							 __ATOMIC_RELEASE);
			closed = l.closed;
		}
		if (__atomic_compare_exchange_n(&current, &was, (uintptr_t)slots, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return;
	}
}

static UNSEEN void enter(tare_label label, uintptr_t function, unsigned generation)
{
	struct slot *s = find(slots, function);

	if (!s->function)
		taken[used++] = (uint32_t)(s - slots);
	__atomic_store_n(&s->label, label, __ATOMIC_RELAXED);
	__atomic_store_n(&s->generation, generation, __ATOMIC_RELEASE);
	__atomic_store_n(&s->function, function, __ATOMIC_RELEASE);
}

/* An empty function, to measure the overhead. */
static UNSEEN void empty_functions(tare_label label, unsigned n, void *generation)
{
	void *function = (void *)(uintptr_t)empty_functions;

	enter(label, (uintptr_t)function, *(unsigned *)generation);
	for (unsigned i = 0; i < n; i++) {
		__cyg_profile_func_enter(function, NULL);
		__cyg_profile_func_exit(function, NULL);
	}
}

/*
 * A label of 0 means not selected. False: no label can be created now, in a handler that
 * interrupted the recorder.
 */
static UNSEEN bool name_it(uintptr_t function, tare_label *label)
{
	char name[NAME_ROOM], *readable = NULL;
	demangler *demangle;
	bool is_wanted;

	*label = 0;
	functions_name((void *)function, name, sizeof(name));
	demangle = strncmp(name, "_Z", 2) ? NULL : find_demangler();
	if (demangle)
		readable = demangle(name, NULL, NULL, NULL);
	is_wanted = wanted(name, readable);
	if (is_wanted)
		*label = tare_label_new_by(TARE_PATH_FUNCTIONS, readable ? readable : name, NULL,
					   0);
	free(readable);
	return !is_wanted || *label;
}

static inline __attribute__((always_inline)) bool is_known(struct slot *table, uintptr_t function,
							   unsigned generation, tare_label *label)
{
	struct slot *s = find(table, function);

	if (__builtin_expect(
		    !s->function || __atomic_load_n(&s->generation, __ATOMIC_ACQUIRE) != generation,
		    0))
		return false;
	*label = __atomic_load_n(&s->label, __ATOMIC_RELAXED);
	return true;
}

/* The first call of a function since recording began, or since a library was loaded. */
static UNSEEN __attribute__((noinline)) tare_label first_call(uintptr_t function,
							      unsigned generation)
{
	tare_label label = 0;
	bool named = true;

	if (inside && function != (uintptr_t)empty_functions)
		return TARE_LABEL_UNKNOWN; /* in a handler: counted as lost */
	if (inside) {                      /* called by the measurement */
		make_current();
		find(slots, function)->generation = generation;
		return find(slots, function)->label;
	}
	inside = 1;
	acquire();
	if (!looked) {
		filter = secure_getenv("TARE_FUNCTIONS");
		looked = 1;
	}
	if (make_slots())
		make_current();
	if (!slots || is_known(slots, function, generation, &label)) {
		/* another thread named it, or it is unchanged */
	} else if (used < SLOTS / 4 * 3) { /* beyond that, lookups become slow */
		if (generation & 1) {
			if (measured != generation &&
			    tare_region_measure(TARE_PATH_FUNCTIONS, empty_functions,
						&generation) != -EDEADLK)
				measured = generation;
			named = name_it(function, &label);
		}
		if (named)
			enter(label, function, generation);
	}
	release();
	inside = 0;
	return label;
}

static inline __attribute__((always_inline)) tare_label label_of(void *function)
{
	unsigned generation = tare_regions_generation();
	uintptr_t table;
	tare_label label;

	if (!(generation & 1))
		return 0;
	table = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
	if (__builtin_expect(
		    !(table & STALE) &&
			    is_known((struct slot *)table, (uintptr_t)function, generation, &label),
		    1))
		return label;
	return first_call((uintptr_t)function, generation);
}

static UNSEEN void begins(void *function, void *call_site)
{
	(void)call_site;
	tare_label_begin(label_of(function));
}

static UNSEEN void ends(void *function, void *call_site)
{
	(void)call_site;
	tare_label_end(label_of(function));
}

#ifdef __GLIBC__
typedef void hook(void *function, void *call_site);

/*
 * The loader calls these for each library before the library's first hook runs. They must not call
 * anything else.
 */
#define BINDS                                                                                      \
	__attribute__((used, no_instrument_function, no_sanitize("address", "thread", "undefined")))

static inline __attribute__((always_inline)) void library_came(void)
{
	static uintptr_t came;

	__atomic_store_n(&current, __atomic_add_fetch(&came, 2 * STALE, __ATOMIC_RELAXED) | STALE,
			 __ATOMIC_SEQ_CST);
}

static BINDS hook *bind_begins(void)
{
	library_came();
	return begins;
}

static BINDS hook *bind_ends(void)
{
	library_came();
	return ends;
}

#ifdef HOOKS_OF_GLIBC /* functions.map explains the versions */
#define HOOK(name, bind, version)                                                                  \
	void TARE_API name(void *function, void *call_site) __attribute__((ifunc(bind)));          \
	__asm__(".symver " #name ", __cyg_profile_func_" version)

HOOK(versioned_enter, "bind_begins", "enter@@TARE_FUNCTIONS_0");
HOOK(versioned_exit, "bind_ends", "exit@@TARE_FUNCTIONS_0");
/*
 * Programs linked without this library use glibc's symbols. If this library is preloaded, they get
 * these.
 */
HOOK(preloaded_enter, "bind_begins", "enter@" HOOKS_OF_GLIBC);
HOOK(preloaded_exit, "bind_ends", "exit@" HOOKS_OF_GLIBC);
#else
void __cyg_profile_func_enter(void *function, void *call_site)
	__attribute__((ifunc("bind_begins")));
void __cyg_profile_func_exit(void *function, void *call_site) __attribute__((ifunc("bind_ends")));
#endif
#else
void __cyg_profile_func_enter(void *function, void *call_site)
{
	begins(function, call_site);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	ends(function, call_site);
}
#endif

/*
 * Runs before main() and before all other constructors, so no tare_region_begin() has started the
 * recording yet.
 */
__attribute__((constructor(101))) static UNSEEN void look(void)
{
	tare_regions_from_environment(NULL);
}
