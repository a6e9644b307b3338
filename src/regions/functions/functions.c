/* SPDX-License-Identifier: MIT */
/*
 * Every function a region, without touching the source: link with -ltare-functions -ltare what was compiled by
 * -finstrument-functions (gcc, clang). The compiler calls the two functions below at the begin and end of each function
 * with its address, which has a label from its first call on. Names of static functions are looked up in the symbol table
 * of the file that the function is in (names.c); a function that has none is named by its place, "program+0x1139".
 *
 * TARE_FUNCTIONS chooses by name: globs separated by commas, the last that matches decides, '!' leaves out; unset: all. A
 * C++ function is known by either name, _ZN3foo3barEi and foo::bar(int), a template's without its return type, too; commas within () and <> are part of a glob.
 *
 * The table is open addressing by address, read without a lock: an address is entered last. Where a library is closed
 * and another one lies at its addresses, an address is another function's. The loader asks once per library which function a hook is
 * (an indirect function), so no function of a library is called before we heard of it; the table is then looked through
 * if anything was closed. Other C libraries than glibc close nothing.
 *
 * A child of a thread finds the lock free that another thread held, as it lies in a page that children find empty, and
 * what that thread was changing is made anew. Before Linux 4.14 it waits for ever.
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

#ifdef HOOKS_OF_GLIBC /* in libtare-functions.so; see the end */
#define HOOKS TARE_API
#else /* what has libtare-functions.a in itself calls these, and not others that come first, as glibc's */
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

static struct slot *slots; /* SLOTS of them, made at the first call */
static uint32_t *taken;	   /* which of them, in the order of entering */
static uintptr_t current = STALE; /* `slots`; or STALE and how often a library came above it: the next call looks what was closed */
static unsigned long long closed; /* libraries, when that was last looked at */
static size_t used;
static unsigned *lock_page; /* 0: free, 1: held, 2: and waited for */
static bool busy;	    /* somebody has the lock, or had it when this process was made */
static __thread int inside; /* naming a function calls functions */
static const char *filter;
static int looked;
static unsigned measured; /* the recording that has what a function costs */

extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

static UNSEEN unsigned *make_lock(void)
{
	static unsigned without_memory;
	unsigned *page = pages_new_wiped(sizeof(*page)), *none = NULL;

	if (!page)
		page = &without_memory;
	if (__atomic_compare_exchange_n(&lock_page, &none, page, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return page;
	if (page != &without_memory)
		pages_free(page, sizeof(*page));
	return none;
}

/* After "Futexes Are Tricky" (U. Drepper), the second mutex. */
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
	if (busy) { /* a child's, of what another thread of its parent left */
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

/* The C++ library's; a program that needs so little of it that it is not there has it loaded. NULL: names stay as they are. */
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

/* To the comma that ends it: one in foo::bar(int, int) or map<int, int> does not. */
static UNSEEN size_t glob_length(const char *p)
{
	size_t n = 0;

	for (int depth = 0; p[n] && !(p[n] == ',' && depth <= 0); n++)
		depth += (p[n] == '(' || p[n] == '<') - (p[n] == ')' || p[n] == '>');
	return n;
}

/*
 * A template's readable name begins with its return type: a glob may leave that out, and the arguments. One without
 * arguments, foo::bar or foo::*, is of all functions of that name.
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

/* readable: NULL where it is the same. */
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
	p = mmap(NULL, SLOTS * (sizeof(*slots) + sizeof(*taken)), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return 0;
	slots = p;
	taken = (void *)(slots + SLOTS);
	return 1;
}

struct loaded {
	unsigned long long closed;
	uintptr_t begin, end; /* of the program, which stays */
};

/* Of the first object only: the program. */
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

/* With the lock. Whatever may have been closed is named anew at its next call; a name that it had already gives the label that it had. */
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
					__atomic_store_n(&slots[taken[i]].generation, 0, __ATOMIC_RELEASE);
			closed = l.closed;
		}
		if (__atomic_compare_exchange_n(&current, &was, (uintptr_t)slots, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
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

/* What a function costs that does nothing, to be measured. */
static UNSEEN void empty_functions(tare_label label, unsigned n, void *generation)
{
	void *function = (void *)(uintptr_t)empty_functions;

	enter(label, (uintptr_t)function, *(unsigned *)generation);
	for (unsigned i = 0; i < n; i++) {
		__cyg_profile_func_enter(function, NULL);
		__cyg_profile_func_exit(function, NULL);
	}
}

/* 0 as a label: not wanted. False: there cannot be one now, in a handler that interrupted the recorder. */
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
		*label = tare_label_new_by(TARE_PATH_FUNCTIONS, readable ? readable : name, NULL, 0);
	free(readable);
	return !is_wanted || *label;
}

static inline __attribute__((always_inline)) bool is_known(struct slot *table, uintptr_t function, unsigned generation, tare_label *label)
{
	struct slot *s = find(table, function);

	if (__builtin_expect(!s->function || __atomic_load_n(&s->generation, __ATOMIC_ACQUIRE) != generation, 0))
		return false;
	*label = __atomic_load_n(&s->label, __ATOMIC_RELAXED);
	return true;
}

/* A function that is called for the first time since recording began, or since a library came. */
static UNSEEN __attribute__((noinline)) tare_label first_call(uintptr_t function, unsigned generation)
{
	tare_label label = 0;
	bool named = true;

	if (inside && function != (uintptr_t)empty_functions)
		return TARE_LABEL_UNKNOWN; /* a handler's: counted as lost */
	if (inside) { /* being measured */
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
		/* another thread named it, or it is as it was */
	} else if (used < SLOTS / 4 * 3) { /* no more: looking up would become slow */
		if (generation & 1) {
			if (measured != generation && tare_region_measure(TARE_PATH_FUNCTIONS, empty_functions, &generation) != -EDEADLK)
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
	if (__builtin_expect(!(table & STALE) && is_known((struct slot *)table, (uintptr_t)function, generation, &label), 1))
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

/* The loader calls these, for each library before its first function's hook; nothing else may be called here. */
#define BINDS __attribute__((used, no_instrument_function, no_sanitize("address", "thread", "undefined")))

static inline __attribute__((always_inline)) void library_came(void)
{
	static uintptr_t came;

	__atomic_store_n(&current, __atomic_add_fetch(&came, 2 * STALE, __ATOMIC_RELAXED) | STALE, __ATOMIC_SEQ_CST);
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

#ifdef HOOKS_OF_GLIBC /* functions.map says what the versions are for */
#define HOOK(name, bind, version)                                             \
	void TARE_API name(void *function, void *call_site) __attribute__((ifunc(bind))); \
	__asm__(".symver " #name ", __cyg_profile_func_" version)

HOOK(versioned_enter, "bind_begins", "enter@@TARE_FUNCTIONS_0");
HOOK(versioned_exit, "bind_ends", "exit@@TARE_FUNCTIONS_0");
/* What was linked without this library asks for glibc's, and gets these where this library was preloaded. */
HOOK(preloaded_enter, "bind_begins", "enter@" HOOKS_OF_GLIBC);
HOOK(preloaded_exit, "bind_ends", "exit@" HOOKS_OF_GLIBC);
#else
void __cyg_profile_func_enter(void *function, void *call_site) __attribute__((ifunc("bind_begins")));
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

/* Before main() and before anybody else's constructors: nobody calls begin, which would look. */
__attribute__((constructor(101))) static UNSEEN void look(void)
{
	tare_regions_from_environment(NULL);
}
