/* SPDX-License-Identifier: MIT */
/*
 * The exact engine: run a command so that every instruction it retires in user mode is counted,
 *exactly, with all its children. Needs no PMU and no privilege. x86-64 only; elsewhere
 *exact_launch() says so.
 *
 *	struct exact *x;
 *	if (exact_launch(&x, argv, environ, &(struct exact_options){ 0 }, &err) == 0) {
 *		exact_wait(x, -1, &end, &err);
 *		exact_counts(x, counts, &err);
 *	}
 *	exact_close(x);
 */
#ifndef EXACT_EXACT_H
#define EXACT_EXACT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include "base/error.h"
#include "exact/classes.h"

/* All zero: every class, the layout of memory fixed so that counts repeat. */
struct exact_options {
	bool aslr;       /* leave address space layout random, as it runs elsewhere */
	bool total_only; /* instructions alone: a little faster, and no taken branches */
	bool running;    /* keep a running count that the program can read: tare_exact_now(); about half as fast */
	bool profile;    /* also where they were executed: exact_profile() */
};

struct exact_end {
	int status;          /* as wait(2) gives it */
	struct rusage usage; /* of the command and its children; includes translation */
};

struct exact_process {
	pid_t pid, parent;
	uint32_t serial; /* never used twice in a run, as a pid may be */
	char name[24];
	bool live;
	int64_t counts[EXACT_CLASSES];
};

struct exact_thread {
	uint32_t serial; /* its process */
	uint32_t born;   /* order of creation */
	pid_t tid;
	int64_t instructions;
};

enum exact_module_kind {
	EXACT_FILE,
	EXACT_VDSO,   /* code of the kernel's, mapped into every program */
	EXACT_MEMORY, /* written at run time: its code has no place that outlives the program */
	EXACT_UNKNOWN, /* could not be found out */
};

/* Where code came from. */
struct exact_module {
	enum exact_module_kind kind;
	bool elsewhere; /* `path` is in another root or mount namespace, or gone */
	int64_t size, mtime_s, mtime_ns; /* of the file, when it was mapped */
	char *path; /* as /proc/PID/maps names it */
};

/* A straight run of instructions, and how often it was executed: below 0 for one that was left early. */
struct exact_code {
	uint64_t offset; /* in the file; of the vdso, from its start */
	int64_t executions;
	uint32_t module;
	uint16_t size, instructions; /* in bytes; of one execution */
};

struct exact_profile {
	struct exact_module *module;
	size_t n_modules;
	struct exact_code *code; /* in no order; the same code may come more than once */
	size_t n_code;
	int64_t unplaced; /* instructions that found no room in it */
};

struct exact;

/* As events are named: "instructions", "conditional-branches", ... */
extern const char *const exact_class_names[EXACT_CLASSES];

/* 0 when commands can be counted here; else why not. */
int exact_probe(struct tare_error *err);

/*
 * Start argv[0], found along PATH, with all counting in place before its first instruction. `o` may
 * be NULL. -ENOENT, -EACCES, ... when it cannot be executed; -ENOTSUP when it cannot be counted.
 */
int exact_launch(struct exact **out, char *const argv[], char *const envp[],
		 const struct exact_options *o, struct tare_error *err);

/* The command's pid. */
pid_t exact_pid(const struct exact *x);

/* A descriptor that becomes readable when the command has ended, for poll(2). Owned by x. */
int exact_fd(const struct exact *x);

/* Wait up to timeout_ms (-1: for ever) for the command's end: 1 ended, 0 not yet, or an error. */
int exact_wait(struct exact *x, int timeout_ms, struct exact_end *end, struct tare_error *err);

/*
 * The counts so far, of the command and everything it started. In a run with total_only, all but
 * EXACT_INSTRUCTIONS are 0 and mean nothing. -ENOTSUP with the reason when some part of the program
 * could not be counted; `out` is then what could.
 */
int exact_counts(struct exact *x, int64_t out[EXACT_CLASSES], struct tare_error *err);

/* The same per process, in the order they ended, the live ones last; at most `n`. How many there
 * are. */
size_t exact_processes(struct exact *x, struct exact_process *out, size_t n);

/* Its threads, ended ones first; at most `n`. How many there are. */
size_t exact_threads(struct exact *x, struct exact_thread *out, size_t n);

/*
 * Where the instructions were executed, until now; `o->profile` must have been set. With `unplaced` they
 * are as many as exact_counts() says. exact_profile_free() after use, also after an error.
 */
int exact_profile(struct exact *x, struct exact_profile *out, struct tare_error *err);
void exact_profile_free(struct exact_profile *p);

/*
 * The lengths of the instructions in `size` bytes of code, which they must fill: how many, or 0 when they
 * do not, or are more than `n`.
 */
size_t exact_lengths(const uint8_t *code, size_t size, uint8_t *length, size_t n);

/* Let go of it; a command that still runs goes on uncounted. NULL is fine. */
void exact_close(struct exact *x);

#endif
