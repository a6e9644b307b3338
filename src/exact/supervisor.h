/* SPDX-License-Identifier: MIT */
/* Shared by exact.c (in tare), the supervisor process, and the code that injects the engine. */
#ifndef EXACT_SUPERVISOR_H
#define EXACT_SUPERVISOR_H

#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>
#include "base/auxv.h"
#include "exact/shared_state.h"
#include "exact/exact.h"
#include "exact/once.h"

/*
 * Messages of the supervisor process on its pipe: one when the command runs, one when it ended, and
 * one each time samples wait.
 */
struct report {
	int error; /* errno: the command could not be started */
	int pid;
	int ended;
	int samples;     /* samples wait to be read: nothing else has happened */
	int never_began; /* see struct exact_end */
	int alone;       /* no process of the command is left: the supervisor ends, too */
	int damaged;     /* the shared state is damaged */
	int status;
	uint32_t n_past,
		/*
		 * the shared state must have the same numbers, or larger ones while processes still
		 * run
		 */
		n_uncounted;
	uint64_t uncounted_hash;          /* uncounted_hash() of the list of these processes */
	uint32_t stops_over, stops_found; /* stops that ended; stops that were found */
	char layout_lost[24];             /* see exact_layout_lost() */
	struct exact_left left;
	struct rusage usage;
	char reason[REASON_MAX];
};

struct launch {
	struct shared_state *shared;
	int shared_fd, image_fd, report_fd;
	pid_t tare;
	const sigset_t *mask; /* the command's; the supervisor starts with every signal blocked */
	char *const *argv, *const *envp;
	bool aslr;
	struct auxv_change auxv; /* of each program */
	uint32_t mode;
};

/* The engine's image, from engine.S; its file has room after it for zero-initialised data. */
extern const uint8_t exact_image[], exact_image_end[];

#define IMAGE_MAX 0x100000

/*
 * Addresses for the shared state; image and tables are right below. They are above the heap of a
 * program at a fixed address, in ranges that the kernel's largest gaps leave free, and where
 * sanitizers expect programs only: 0x550000000000 to 0x568000000000 for TSan, 0x510000000000 to
 * 0x600000000000 for MSan. Both abort if they find a foreign mapping elsewhere. With random
 * addresses the program may occupy one of these: then the next is used. Source: compiler-rt,
 * tsan_platform.h, MappingX86_64; msan.h, kMemoryLayout.
 */
static const uint64_t shared_places[] = { 0x559000000000, 0x550500000000, 0x520000000000,
					  0x200000000000, 0x180000000000 };

enum { IMAGE_BELOW = 0x10000000 };

static inline uint64_t clock_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

static inline struct process *shared_process(struct shared_state *b, uint32_t i)
{
	return (struct process *)((uint8_t *)b + SHARED_PROCESSES) + (i < PROCESSES ? i : 0);
}

static inline uint8_t *shared_thread(struct shared_state *b, uint32_t i)
{
	return (uint8_t *)b + SHARED_THREADS + (i < THREADS ? i : 0) * THREAD_STRIDE;
}

/*
 * Are there no counts at all because of this process? So if they may be wrong, or if the engine
 * ended the command itself.
 */
static inline bool refused_all(const struct shared_state *b, const struct process *p)
{
	return p->refused == REFUSED_WRONG || (p->refused == REFUSED_ENDED && p->pid == b->command);
}

/*
 * collect.c: the name of its program, or of the one that it executed without the engine; why it was
 * not counted to its end.
 */
void process_name(const struct process *p, char to[24]);
void uncounted_of(const struct process *p, struct uncounted *to);

/* damage.c: did a program overwrite the shared state's contents? */
bool shared_damaged(struct shared_state *b);
/* A hash of the first `n` entries in the list of uncounted processes. */
uint64_t uncounted_hash(struct shared_state *b, uint32_t n);
/* The hash with one more entry; of no entry it is 0. */
uint64_t uncounted_hash_add(uint64_t hash, const struct uncounted *u);

uint32_t thread_process(struct shared_state *b, uint32_t i); /* the process of thread slot i */
struct exact_thread thread_facts(struct shared_state *b, uint32_t i);

/*
 * The facts of counter i of the lineage, which has `n` kinds; NULL: the kind of counter i is out of
 * range.
 */
static inline const struct block_facts *shared_facts(struct shared_state *b, uint32_t lineage,
						     uint32_t i, uint32_t n)
{
	const uint8_t *at = (const uint8_t *)b + SHARED_BLOCKS +
		(lineage < LINEAGES ? lineage : 0) * LINEAGE_STRIDE;
	uint32_t kind = ((const volatile uint32_t *)(at +
						     LINEAGE_KINDS))[i < COUNTERS_MAX ? i : 0] &
		~COUNTER_APART;

	return kind < n && kind < COUNTERS_MAX ? (const struct block_facts *)at + kind : NULL;
}

static inline struct past *shared_past(struct shared_state *b, uint32_t i)
{
	return (struct past *)((uint8_t *)b + SHARED_PAST) + (i < PAST_MAX ? i : 0);
}

static inline volatile uint64_t *shared_sums(struct shared_state *b, uint32_t lineage)
{
	return (volatile uint64_t *)((uint8_t *)b + SHARED_BLOCKS +
				     (lineage < LINEAGES ? lineage : 0) * LINEAGE_STRIDE +
				     LINEAGE_SUMS);
}

static inline struct module *shared_module(struct shared_state *b, uint32_t i)
{
	return (struct module *)((uint8_t *)b + SHARED_MODULES) + (i < MODULES_MAX ? i : 0);
}

static inline struct mapping *shared_mapping(struct shared_state *b, uint32_t i)
{
	return (struct mapping *)((uint8_t *)b + SHARED_MAPPINGS) +
		(i < MAPPINGS_MAX ? i : MAPPING_UNKNOWN);
}

static inline struct code_sum *shared_code(struct shared_state *b, uint32_t i)
{
	return (struct code_sum *)((uint8_t *)b + SHARED_CODE) + (i < CODE_MAX ? i : 0);
}

/* members.c: is this a mapping of the shared state at the engine's address? */
struct proc_map;
bool is_shared(const struct proc_map *m);

/* maps.c: start empty; answer a process that asks for a mapping. */
void maps_begin(struct shared_state *b);
void maps_answer(struct shared_state *b, struct question *q);

/*
 * profile.c: add a thread's counts to its lineage, a lineage's to the code of its modules; read the
 * whole profile.
 */
void profile_thread(struct shared_state *b, int fd, uint32_t lineage, uint32_t thread);
void profile_lineage(struct shared_state *b, int fd, uint32_t lineage);
/*
 * -EBADMSG: the shared state was overwritten; -EAGAIN: code refers to a module that was added
 * meanwhile.
 */
int profile_gather(struct shared_state *b, int fd, struct exact_profile *out,
		   struct tare_error *err);

/* exact.c: the coarse clock, which the kernel uses for file times; ns since 1970. */
int64_t file_time_now(void);

/* supervise.c: the supervisor process; never returns. */
void supervise(const struct launch *l) __attribute__((noreturn));

/*
 * sums.c. All but data_from() return false if the shared state's contents are inconsistent:
 * overwritten, or being written by a thread.
 */
/* Add sums with their check to others. */
bool add_sums(int64_t into[EXACT_CLASSES], const int64_t *sums, const uint64_t *check);
/* The counts so far of a live thread of that lineage. `fd`: the shared state's. */
bool add_thread(struct shared_state *b, int fd, uint32_t lineage, uint32_t thread,
		int64_t into[EXACT_CLASSES]);
/*
 * The first of the counters [i, n) at offset `at` of the shared state that is not in a hole of the
 * file, and in *end the start of the next hole; n: there is none. Reading a hole of a shared file
 * allocates memory, and a program can claim that it has counters anywhere.
 */
uint32_t data_from(int fd, uint64_t at, uint32_t i, uint32_t n, uint32_t *end);
/*
 * Bounded, regardless of the shared state's contents: the number of counters of a lineage; the
 * number of kinds that are not in a hole of the file.
 */
uint32_t lineage_counters(const struct shared_state *b, uint32_t lineage);
uint32_t lineage_facts(int fd, uint32_t lineage);

/* no run executes a block more often; this number times what a block adds does not overflow */
enum { EXECUTIONS_BITS = 55 };

/*
 * inject.c: wait for the next stop of a traced thread: the signal, with the event in the higher
 * bits. -ESRCH if it has ended, or was killed in its stop: its exit status is left for the general
 * wait.
 */
int next_stop(pid_t tid);

/*
 * inject.c: `tid` is in its exec stop. Map shared state and engine into it and set its pc to the
 * engine, on behalf of process `p`. 0, a stop signal to deliver, or -errno with the reason in
 * `reason`; then it can still run uncounted. Two errors have no reason, as nothing will be executed
 * that could be counted: -EFAULT, its first instruction is not in executable memory; and -ESRCH, it
 * was killed. Other errors may also be caused by its being killed.
 */
int inject(struct shared_state *b, const struct launch *l, pid_t tid, struct process *p,
	   char reason[REASON_MAX]);

#endif
