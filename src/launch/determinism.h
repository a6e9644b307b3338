/* SPDX-License-Identifier: MIT */
/*
 * Properties that are the same each time a command is started, so that its counts repeat: named
 * items, each of which can be excluded. The user selects a set, and the launcher reports the items
 * that failed, and why.
 */
#ifndef LAUNCH_DETERMINISM_H
#define LAUNCH_DETERMINISM_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "base/text.h"

enum determinism_item {
	FIXED_ASLR,        /* addresses of memory */
	FIXED_ENVIRONMENT, /* size of the initial stack contents */
	FIXED_ORDER,       /* of the environment variables */
	FIXED_RANDOM,      /* the bytes of getrandom, /dev/urandom and AT_RANDOM */
	FIXED_SEEDS,       /* of hash tables, if a variable sets them */
	FIXED_MALLOC,      /* no timers in allocators */
	FIXED_VDSO,        /* clocks by system call: no retries in user mode */
	FIXED_PID,         /* process ids, from 1000 on */
	FIXED_CPU,         /* one of the allowed CPUs */
	FIXED_LOCALE,      /* and time zone */
	FIXED_CWD,         /* length of the working directory's name */
	FIXED_BINDING,     /* symbols bound at the start, not at the first call */
	FIXED_READDIR,     /* order of directory entries */
	FIXED_ENV,         /* set of environment variables */
	FIXED_ISA,         /* the CPU that the command sees: what cpuid answers */
	FIXED_CPUS,        /* the number of CPUs that the command sees */
	FIXED_TERMINAL,    /* the size of a terminal */
	FIXED_CLOCK,       /* virtual time, by instructions */
	FIXED_TURNS,       /* one thread at a time, in the same order; includes CPU */
	FIXED_ITEMS,
};

enum {
	FIXED_CWD_BYTES = 256, /* length of the fixed working directory's name */
	FIXED_KEPT_BYTES = 256,
	FIXED_ISA_BYTES = 256,
	FIXED_LEAVES_BYTES = 120,
	FIXED_CPUS_MAX = 64,
};

#define FIXED(item) (1u << FIXED_##item)

struct determinism_row {
	const char *name;  /* as typed and stored */
	const char *about; /* one line */
	bool usual;        /* included in --deterministic without a list */
	/* the part that is not fixed if the item succeeds only in part; NULL: it has no parts */
	const char *leaves;
	bool engine; /* only the exact engine can */
};

extern const struct determinism_row determinism_rows[FIXED_ITEMS];

struct determinism {
	unsigned set;    /* requested items; FIXED(...) */
	unsigned missed; /* requested items that failed */
	/*
	 * missed items that succeeded at first, and were lost in a program executed later; tried
	 * again at the next start
	 */
	unsigned lost;
	unsigned partly; /* items fixed only in part, see determinism_rows[].leaves */
	char why[FIXED_ITEMS][120];
	/* the first program that ran without the rights of its file, and why; "": none */
	char stripped[200];
	int first_pid;               /* with PID; 0: PIDSPACE_FIRST */
	bool turned;                 /* with READDIR: in reverse order */
	char kept[FIXED_KEPT_BYTES]; /* with ENV: further variables to keep, "LANG:CI" */
	/* with ISA: the CPU model by name or file; "": the usual one */
	char isa[FIXED_ISA_BYTES];
	char isa_model[64]; /* the CPU model in effect; "": none */
	unsigned cpus;      /* with CPUS: their number */
	/*
	 * set by determinism_parse(): items that were requested by name, not only by default
	 */
	unsigned named;
	int64_t clock_start; /* with CLOCK: its time at the start, s since 1970; 0: the usual one */
	char clock[24];      /* the start in effect, "2030-01-01T00:00:00Z"; "": real clocks */
	char clock_leaves[FIXED_LEAVES_BYTES]; /* what of it was real, if CLOCK is in `partly` */
	char turns_leaves[FIXED_LEAVES_BYTES]; /* what has no fixed order: TURNS in `partly` */
	/*
	 * set by determinism_parse(): the items include neither env nor -env, and are not a list of
	 * only some
	 */
	bool env_open;
	/* with CWD: the long name of the working directory, from pidspace_enter(); "": failed */
	char cwd[FIXED_CWD_BYTES + 1];
	int cwd_lock;    /* with cwd: a lock on the folder before cwd_from while it is used */
	size_t cwd_from; /* offset in it of the directory's own name */
};

/* What the exact engine always fixes: the memory layout. */
#define FIXED_LAYOUT (FIXED(ASLR) | FIXED(ENVIRONMENT))

/*
 * Sets `set`, `kept` and `env_open`. NULL: the usual items. "+cpu,-vdso": the usual items with
 * changes; "aslr,pid": only these; "all", "none". "env=LANG:CI": env, and these variables are kept.
 * "isa=x86-64-v2": isa, with this CPU model. "cpus=4": cpus, with this number of them.
 * "clock=2026-01-01": clock, with this start; "clock=real": as "-clock".
 */
int determinism_parse(const char *text, struct determinism *f, struct tare_error *err);
/*
 * Does the command get this variable, "NAME=value" or "NAME", if ENV is fixed? PATH, HOME, tare's
 * own, and those in `kept`.
 */
bool determinism_keeps(const char *kept, const char *variable);
/* Sets `clock`, and `clock_start` if it is 0. */
void determinism_clock(struct determinism *f);
/* "aslr, environment, order"; "nothing". */
void determinism_names(struct text *out, unsigned set);
/* The same of the items in effect, with their values: "aslr, isa=x86-64-v3, cpus=1". */
void determinism_names_had(struct text *out, const struct determinism *f);
void determinism_miss(struct determinism *f, enum determinism_item item, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same, for items that succeeded at first. */
void determinism_lose(struct determinism *f, enum determinism_item item, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Record a program, by its path, that is setuid, setgid or has file capabilities, and ran without
 * these rights because of the items of `takers` that are tried. Keeps the first one.
 */
void determinism_strip(struct determinism *f, const char *program, const char *rights,
		       unsigned takers);
/*
 * Why an item (enum determinism_item) is not fixed: it failed, or env was left open. NULL: it is
 * fixed, or was not requested.
 */
const char *determinism_open(const struct determinism *f, unsigned item);
/* The part that is not fixed of an item that is fixed in part. */
const char *determinism_leaves(const struct determinism *f, unsigned item);
/*
 * Remarks on a launch, one line for each i from 0 on: "Not fixed: pid: ...", "Fixed in part: ...",
 * "Ran without its rights: ...". False: none at this i.
 */
enum { FIXED_REMARKS = FIXED_ITEMS + 1 };
bool determinism_remark(struct text *out, const struct determinism *f, unsigned i);
/*
 * For a run without the exact engine: mark the items that only it can fix as missed. Those that
 * were not requested by name are dropped without a note.
 */
void determinism_without_engine(struct determinism *f);
/* What a launcher must try: everything that has not failed from the start. */
unsigned determinism_tried(const struct determinism *f);
/* The items in effect; and those of them in effect only in part. */
unsigned determinism_had(const struct determinism *f);
unsigned determinism_partly(const struct determinism *f);

#endif
