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
 * The table is open addressing by address, read without a lock: an address is entered last.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "functions/names.h"
#include "functions/readable.h"
#include "tare/region.h"

#define UNSEEN __attribute__((no_instrument_function))

void UNSEEN TARE_API __cyg_profile_func_enter(void *function, void *call_site);
void UNSEEN TARE_API __cyg_profile_func_exit(void *function, void *call_site);

enum { SLOTS = 1 << 20, NAME_ROOM = 1024 };

struct slot {
	uintptr_t function;
	tare_label label; /* 0: not recorded */
	unsigned generation;
};

static struct slot *slots; /* SLOTS of them, made at the first call */
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int inside; /* naming a function calls functions */
static const char *filter;
static int looked;
static unsigned measured; /* the recording that has what a function costs */

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

static UNSEEN struct slot *find(uintptr_t function)
{
	size_t i = (function >> 2) * 0x9e3779b97f4a7c15ull >> 44;

	for (;; i = (i + 1) & (SLOTS - 1)) {
		uintptr_t there = __atomic_load_n(&slots[i].function, __ATOMIC_ACQUIRE);

		if (!there || there == function)
			return &slots[i];
	}
}

static UNSEEN int make_slots(void)
{
	void *p;

	if (slots)
		return 1;
	p = mmap(NULL, SLOTS * sizeof(*slots), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return 0;
	__atomic_store_n(&slots, p, __ATOMIC_RELEASE);
	return 1;
}

static UNSEEN void enter(tare_label label, uintptr_t function, unsigned generation)
{
	struct slot *s = find(function);

	used += !s->function;
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

/* A function that is called for the first time since recording began. */
static UNSEEN __attribute__((noinline)) tare_label first_call(uintptr_t function, unsigned generation)
{
	tare_label label = 0;
	bool named = true;

	if (inside)
		return TARE_LABEL_UNKNOWN; /* a handler's: counted as lost */
	inside = 1;
	pthread_mutex_lock(&lock);
	if (!looked) {
		looked = 1;
		filter = secure_getenv("TARE_FUNCTIONS");
	}
	/* At three quarters it takes no more: looking up would become slow. */
	if (make_slots() && used < SLOTS / 4 * 3) {
		if (generation & 1) {
			if (measured != generation && tare_region_measure(TARE_PATH_FUNCTIONS, empty_functions, &generation) != -EDEADLK)
				measured = generation;
			named = name_it(function, &label);
		}
		if (named)
			enter(label, function, generation);
	}
	pthread_mutex_unlock(&lock);
	inside = 0;
	return label;
}

static inline __attribute__((always_inline)) tare_label label_of(void *function)
{
	unsigned generation = tare_regions_generation();
	struct slot *s;

	if (!(generation & 1))
		return 0;
	if (__builtin_expect(__atomic_load_n(&slots, __ATOMIC_ACQUIRE) != NULL, 1)) {
		s = find((uintptr_t)function);
		if (__builtin_expect(s->function && __atomic_load_n(&s->generation, __ATOMIC_ACQUIRE) == generation, 1))
			return __atomic_load_n(&s->label, __ATOMIC_RELAXED);
	}
	return first_call((uintptr_t)function, generation);
}

void __cyg_profile_func_enter(void *function, void *call_site)
{
	(void)call_site;
	tare_label_begin(label_of(function));
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	(void)call_site;
	tare_label_end(label_of(function));
}

/* Before main() and before anybody else's constructors: nobody calls begin, which would look. */
__attribute__((constructor(101))) static UNSEEN void look(void)
{
	tare_regions_from_environment(NULL);
}
