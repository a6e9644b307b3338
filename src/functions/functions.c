/* SPDX-License-Identifier: MIT */
/*
 * Every function a region, without touching the source: link with -ltare-functions -ltare what was compiled by
 * -finstrument-functions (gcc, clang). The compiler calls the two functions below at the begin and end of each function
 * with its address, which has a label from its first call on. Names of static functions are looked up in the symbol table
 * of the file that the function is in (names.c); a function that has none is named by its place, "program+0x1139".
 *
 * TARE_FUNCTIONS chooses by name: globs separated by commas, the last that matches decides, '!' leaves out; unset: all.
 *
 * The table is open addressing by address, read without a lock: an address is entered last.
 */
#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "functions/names.h"
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

static UNSEEN int wanted(const char *name)
{
	char glob[256];
	const char *p = filter;
	int yes = !p || *p == '!';

	while (p && *p) {
		size_t n = strcspn(p, ",");
		int out = *p == '!';

		if (n - out < sizeof(glob)) {
			memcpy(glob, p + out, n - out);
			glob[n - out] = '\0';
			if (!fnmatch(glob, name, 0))
				yes = !out;
		}
		p += n + (p[n] == ',');
	}
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

/* A function that is called for the first time since recording began. */
static UNSEEN __attribute__((noinline)) tare_label first_call(uintptr_t function, unsigned generation)
{
	char name[NAME_ROOM];
	tare_label label = 0;
	struct slot *s;

	if (inside)
		return 0;
	inside = 1;
	pthread_mutex_lock(&lock);
	if (!looked) {
		looked = 1;
		filter = secure_getenv("TARE_FUNCTIONS");
	}
	/* At three quarters it takes no more: looking up would become slow. */
	if (make_slots() && used < SLOTS / 4 * 3) {
		s = find(function);
		if (generation & 1) {
			functions_name((void *)function, name, sizeof(name));
			label = wanted(name) ? tare_label_new(name, NULL, 0) : 0;
		}
		used += !s->function;
		__atomic_store_n(&s->label, label, __ATOMIC_RELAXED);
		__atomic_store_n(&s->generation, generation, __ATOMIC_RELEASE);
		__atomic_store_n(&s->function, function, __ATOMIC_RELEASE);
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
