/* SPDX-License-Identifier: MIT */
/*
 * The engine inside a counted program: freestanding, general registers only, no libc, no
 * descriptors. docs/internals/exact-engine.md describes how the parts fit together.
 */
#ifndef EXACT_ENGINE_H
#define EXACT_ENGINE_H

#include <stddef.h>
#include "exact/shared_state.h"
#include "exact/thread.h"
#include "exact/decode/decode.h"

/* One flat image without relocations: no GOT, no PLT. */
#pragma GCC visibility push(hidden)

enum reg { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

enum block_flags {
	B_DEAD = 1,    /* its code was overwritten or unmapped */
	B_CHECKED = 2, /* compare its bytes on every execution */
	B_ONCE = 4,    /* executed once, then discarded */
	B_RCX = 8,   /* ends in an indirect branch: rcx is displaced from the last instruction on */
	B_COPY = 16, /* another copy of a loop's block: not found by pc */
	/* the part up to a sample, or the sampled instruction: returns to the engine */
	B_PART = 32,
	B_FALLS = 64, /* the block before it falls through into it */
	B_FAR = 128,  /* its translation depends on code of another region */
};

/* A translated basic block. */
struct block {
	uint64_t pc;
	uint8_t *code;
	uint8_t *indirect; /* entry for indirect branches, or NULL */
	/* address of the next entry in the same bucket, relative to that: next_of() */
	int32_t next;
	uint32_t map;       /* of its instructions, in map_pool: 3 bytes each, then block_head() */
	uint32_t counter;   /* its number in the shared state */
	uint32_t part_next; /* the next of its kind, when B_PART */
	uint32_t page_next; /* the next block on the same page */
	uint32_t copy;      /* of its bytes, in map_pool, when B_CHECKED */
	uint16_t code_len, src_len;
	uint8_t n;        /* instructions */
	uint8_t count_at; /* the block is counted before this instruction */
	uint8_t flags;
	uint8_t part;          /* number of instructions requested, when B_PART */
	uint32_t fall_counter; /* of its fall-through, or 0 */
	uint32_t incoming;     /* the first edge linked directly to it */
};

_Static_assert(sizeof(struct block) == 64, "a line of the cache, which a search touches");

/*
 * Code is translated to within 2 GiB of its original address, so that RIP-relative operands reach.
 */
struct arena {
	/* blocks are allocated upwards from `start`, stubs downwards from `end` */
	uint8_t *start, *hot, *cold, *end;
	uint32_t *blocks; /* in the order of their addresses */
	uint32_t n_blocks;
	uint32_t generation; /* of its code; 0: empty */
};

/* A direct branch leads to a stub with the number of its edge, or to its block. */
struct edge {
	uint64_t target;
	uint8_t *site; /* its 32-bit displacement */
	uint8_t *stub;
	uint32_t next;          /* the next edge linked to the same block */
	uint32_t hit : 24;      /* the block with the next sample; then this is not an edge */
	uint32_t hit_event : 8; /* the event of the sample; or HIT_TURN, and `hit` is 0 */
};

enum {
	ARENAS_MAX = 1024,
	BLOCK_INSNS = 48,
	ARENA_SIZE = 64 << 20,
	ARENA_LEAST = 4 << 20,
	/* The tables. The current generation of code uses half of each: see retire.c. */
	BLOCKS_HALF = 1 << 22,
	MAP_HALF = 1 << 28,
	EDGES_HALF = 1 << 23,
	NUMBERS = 1 << 16,
	BUCKETS = 3 << 14, /* both are half a MiB */
	MAP_ENTRY = 3,     /* length, length of its code, register displaced into T_SCRATCH */
	MAP_HEAD = 2,      /* bytes of code before the first instruction's: see block_head() */
	DISPLACED = 0x80,  /* flag, or-ed with the register */
	HIT_TURN = 0xff,   /* see turns.c */
};

/* Memory that the program may execute, or could before. */
struct region {
	uint64_t start, end;
	uint8_t exec, writable;
	uint8_t checked;     /* writes to it cannot be detected: see pages.c */
	uint32_t mapping;    /* its number, when COUNT_PROFILE; 0: not requested yet */
	uint64_t file;       /* a number of the file: see files.c; 0: none, or unknown */
	uint64_t written_ns; /* when the file was last written, before it was mapped */
	uint64_t offset;     /* file offset of `start`, when `followed`, or `version` is known */
	uint8_t followed;    /* shared, and all writes to its file are detected: see shared.c */
	uint8_t first;       /* mapped before the program began */
	/*
	 * of the file, if the region is exactly one mapping, of `offset` and on, and has the file's
	 * contents
	 */
	struct file_version version;
};

/* A page from which code was translated. */
struct code_page {
	uint64_t page; /* page number; 0: none */
	uint32_t head; /* its first block */
	uint16_t watched, faults;
	uint32_t unchanged; /* consecutive comparisons that found the code unchanged */
	uint8_t settled;    /* how often it was watched again after that */
};

struct range {
	uint64_t start, end;
};

enum {
	WATCH_FAULTS_MAX = 200,  /* after so many faults its blocks check their bytes instead */
	WATCH_FAULTS_AGAIN = 20, /* the same for a page that is watched again */
	/* after so many comparisons without a change it is watched again; doubles each time */
	UNCHANGED_MIN = 4096,
	SETTLED_MAX = 12,
};

enum { PAGE = 4096, REGIONS_MAX = 4096, TOLD_MAX = 32, OWN_MAX = 4 * ARENAS_MAX };

/* State of the engine, one per process. */
struct engine {
	/* of code that is translated now; first, as dispatch.S reads it */
	volatile uint32_t generation;
	struct shared_state *shared;
	struct process *process;
	uint32_t mode;
	/*
	 * Copies of values of the shared state, made at the program's start. They do not change
	 * during a run, but any process of the command can overwrite the shared state.
	 */
	int32_t supervisor;
	struct every every;
	uint32_t countdowns; /* the sampled events, and that of callback.c once it is used */
	int64_t clock_start, clock_real_start;
	volatile uint32_t lock;

	struct block *blocks;
	uint32_t n_blocks;
	uint8_t *map_pool;
	uint32_t map_used;
	struct edge *edges;
	uint32_t n_edges;
	uint64_t *hash; /* open addressing by pc */
	uint32_t hash_bits, hash_used;
	/*
	 * Below 2 GiB: the bucket number for the low 16 bits of the target, 0 if none; and code
	 * addresses.
	 */
	uint16_t *numbers;
	uint64_t *buckets;
	uint32_t n_buckets;
	bool retiring; /* threads may still execute the previous generation */
	/* mappings with code from a snapshot that the program has not made yet: snapshot.c */
	uint32_t n_awaited;
	struct range near; /* the region of the block that is being translated */
	bool reaches_far;  /* its translation depends on code elsewhere */
	uint32_t first_block, first_edge, first_map, dead_blocks, used_arenas;
	uint32_t space; /* number of this address space among the processes of a run */
	struct arena arenas[ARENAS_MAX];
	uint32_t n_arenas;
	uint64_t tail; /* the emitted jump through the buckets */
	/*
	 * Where memory cannot be both writable and executable, code is mapped twice; this is the
	 * difference of the addresses. All code pointers are to the writable mapping.
	 */
	uint64_t alias;

	struct region *regions;
	uint32_t n_regions, last_region; /* the one found last */
	struct told {
		uint64_t start, end;
		bool as_stack;
	} told[TOLD_MAX]; /* data mappings reported by mapping_of_data() */
	uint32_t next_told;
	struct code_page *pages; /* open addressing by page number */
	uint32_t page_bits, page_used;
	/* pages that may be write-protected by the engine are in this range */
	uint64_t watch_start, watch_end;
	bool read_implies_exec;
	uint8_t no_gain;    /* set by the program with PR_SET_MDWE */
	bool views_matter;  /* of shared memory that the program created: see shared.c */
	bool later_writes;  /* the kernel may write to memory asynchronously, at no system call */
	bool serves;        /* a userfaultfd has served this process's memory */
	bool memory_opened; /* the program opened a /proc/PID/mem for writing */
	/*
	 * it may have inherited a descriptor of the maps of another process, which may have ended:
	 * see proc_files.c
	 */
	bool maps_inherited;
	bool name_opened; /* the program opened a /proc/PID/task/TID/comm */
	uint64_t image, image_size;
	struct range own[OWN_MAX]; /* the engine's memory, sorted: see own.c */
	uint32_t n_own;
	uint32_t locks_later;    /* set by the program with mlockall(): see locked.c */
	uint64_t next_place;     /* address for its next table */
	uint64_t mapped[LIMITS]; /* by the engine: see limits.c */
	uint32_t lent;           /* another process uses this address space, or did */
	int32_t tid;             /* of the thread that holds the lock in dispatch */
	uint64_t page_there;     /* the page last found readable */
	uint32_t parts
		/* blocks up to samples, by the hash of pc and length; chained by part_next */
		[32768];
	uint32_t corrections[256]; /* counters of single instructions, by the hash of their pc */
};

extern struct engine eng;

/*
 * Bytes of a block's code before those of its first instruction and its count: code for samples and
 * for the path.
 */
static inline unsigned block_head(const struct block *b)
{
	const uint8_t *head = eng.map_pool + b->map + b->n * MAP_ENTRY;

	return head[0] | (unsigned)head[1] << 8;
}

/* dispatch.S */
extern const char engine_dispatch[], engine_miss[], engine_syscall[], engine_leave[],
	engine_signal[];
extern const char leave_begin[], leave_end[], syscall_go[], syscall_insn[], syscall_after[],
	syscall_done[];
extern const char syscall_go_back[], syscall_insn_back[], syscall_after_back[];
extern const char clone_go[], unblock_after[], copy_insn[], copy_after[], signal_restorer[];
extern const char exec_failed_after[], ticks_insn[], ticks_failed[], readable_insn[],
	readable_after[];
extern const char store_begin[], store_end[], store_failed[];
bool store_pair(uint64_t to, int64_t first, int64_t second);
extern const char gate_insn[], gate_failed[];
bool old_gate(uint64_t regs[6]);
int is_readable(uint64_t address);
uint64_t read_ticks(void);
void thread_end(long status, volatile uint32_t *state, uint32_t value, long nr)
	__attribute__((noreturn));
long raw_unblock(long nr, long a, long b, long c, long d);
size_t copy_bytes(void *to, const void *from, size_t n);
void resume_frame(void *frame) __attribute__((noreturn));
void exec_failed(void);

/* memory.c: the engine's system calls, memory that does not move, error reports. */
void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
long sys6(long nr, long a, long b, long c, long d, long e, long f);
#define SYS_(nr, a, b, c, d, e, f, ...)                                                            \
	sys6((long)(nr), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define sys(...) SYS_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
void *reserve(size_t size);
void *reserve_at(uint64_t at, size_t size, int prot);
void unreserve_at(uint64_t at, size_t size);
void unreserve(void *p, size_t size);
void populate(void *p, size_t size);
void *code_reserve(uint64_t at, size_t size);
void *code_memory(size_t size);
bool memory_is_out(void);
void lock(void);
void unlock(void);
void refuse(const char *why, uint64_t at) __attribute__((noreturn));
void refuse_wrong(const char *why, uint64_t at) __attribute__((noreturn));
void refuse_overwritten(void) __attribute__((noreturn));
void note_wrong(struct process *p, const char *why, uint64_t at);
void note_uncounted(struct process *p, const char *why);
void futex_wait(volatile uint32_t *word, uint32_t value, int ms);
void futex_wake(volatile uint32_t *word);

/* own.c: the ranges of the engine's memory. */
void own_show(struct process *p);
void own_add(uint64_t start, uint64_t size);
void own_remove(uint64_t start);
const struct range *own_first(uint64_t start, uint64_t end);
const struct range *own_last(uint64_t start, uint64_t end);

/* regions.c: executable memory. */
void regions_first(const struct process *p);
void region_set(uint64_t start, uint64_t end, int prot, const struct region *what);
void region_changed(uint64_t start, uint64_t end);
void note_bounds(void);
struct region *region_found(uint64_t pc);
struct region *region_any(uint64_t address);
struct region *region_in(uint64_t start, uint64_t end);
size_t room_at_end(uint64_t pc, const struct region *r);
bool code_is(uint64_t pc, const void *bytes, size_t size);
uint32_t mapping_of(uint64_t pc);
void mapping_of_data(uint64_t address, uint64_t sp, uint64_t tsc);

/* pages.c: self-modifying code. */
void pages_first(void);
void pages_without_code(void);
void pages_keep(bool (*keep)(uint64_t address));
bool watch_code(uint64_t start, uint64_t end);
bool page_settles(const struct block *b);
void page_changes(uint64_t pc);
void page_join(struct block *b);
bool watch_fault(uint64_t address);
void unwatch_range(uint64_t start, uint64_t end);
void unwatch_file(uint64_t file, uint64_t offset);
void forget_file(uint64_t file, uint64_t from, uint64_t to);
void forget_code(uint64_t start, uint64_t end);
void code_written(uint64_t start, uint64_t end);
void pin(uint64_t start, uint64_t end, const struct thread *of);
void pin_file(uint64_t file, uint64_t start, uint64_t end, const struct thread *of);
void unpin(const struct thread *of);
void unpin_others(void);

/* locked.c: mlockall() of the program's memory. */
bool lock_calls(struct thread *t);
bool locked_too(uint64_t start, uint64_t end);

/* map_calls.c, kernel_writes.c, files.c: system calls that change or write memory. */
bool map_calls(struct thread *t);
void no_gain_for_exec(void);
void no_gain_for_child(void);
bool kernel_writes(const struct thread *t);
void kernel_writes_for_good(const struct thread *t);
void file_mapped(int fd, int prot, bool shared, struct region *r);
bool memory_shared(uint64_t start, uint64_t end);
bool memory_served(uint64_t start, uint64_t end);
bool each_mapping(void (*each)(uint64_t start, uint64_t end, void *of), void *of);
bool opens_to_write(const struct thread *t);
bool opens(const struct thread *t);
void file_opened(int fd);
uint64_t file_of(uint64_t dev, uint64_t inode);
void files_unchanged(uint64_t start, uint64_t end);
bool writes_memory(struct thread *t);
int64_t proc_file(int fd, const char *name);
const char *fd_path(char to[64], uint64_t pid, uint64_t fd);
bool pokes_memory(struct thread *t);
struct process *counted(int64_t pid);

void distrust(uint64_t file);

/* shared.c: code in a shared mapping that this process writes. */
void shared_made(int fd);
bool shared_mapped(int fd, int prot, bool may_write, const struct region *r);
bool shared_anonymous(int prot, struct region *r);
bool shared_known(uint64_t start, uint64_t end, struct region *what);
void shared_unmapped(uint64_t start, uint64_t end);
bool shared_changes(uint64_t start, uint64_t end);
void shared_protected(uint64_t start, uint64_t end, int prot);
void shared_moves(uint64_t start, uint64_t end);
bool shared_watch(uint64_t file, uint64_t offset);
void shared_unwatch(uint64_t file, uint64_t offset);
bool shared_fault(uint64_t address);
bool shared_kernel_writes(const struct thread *of, uint64_t start, uint64_t size);
bool shared_file_written(const struct thread *t);
void shared_file_written_apart(const struct thread *t);
void shared_call(const struct thread *t);
void shared_passed_on(bool forks);
void shared_forked(void);
void shared_memory_opened(void);

/* proc_files.c, unmapped.c: the engine's memory, in /proc/self/maps and in system calls. */
void proc_file_opened(int fd);
bool proc_call(struct thread *t);
bool unmapped_call(struct thread *t);

/* names.c: thread names. */
bool gives_name(struct thread *t);
void name_born(const struct thread *t);

/* frame.c */
struct call_frame {
	uint64_t slot, to; /* of the return address: its place on the stack; its value */
	uint64_t bp;       /* rbp after the return */
};

bool frame_find(uint64_t pc, uint64_t sp, uint64_t bp, struct call_frame *out);

/* isa.c: answers for the CPU model. */
bool isa_executes(const struct insn *in);
bool isa_instruction(struct thread *t, const struct insn *in);
uint8_t *isa_after(uint8_t *p, const struct insn *in);
const struct insn *isa_lacking(const struct insn *in, unsigned n);
void isa_check(const struct insn *in, unsigned n);

/* cpus.c */
bool cpus_call(struct thread *t);
struct thread *counted_thread(struct thread *t, int32_t tid);

/* turns.c: one thread at a time. */
void turn_first(struct thread *t);
bool turn_counts(const struct insn *last);
void turn_enter(struct thread *t);
void turn_returns(struct thread *t);

/* turn_order.c: which thread runs. */
bool turns_on(const struct thread *t);
void turns_beyond(uint32_t what);
void turn_first_thread(struct thread *t);
void turn_queue(struct thread *t);
bool turn_is_own(const struct thread *t);
void turn_take(struct thread *t);
void turn_yield(struct thread *t);
void turn_wait(struct thread *t, enum turn_state how, int64_t until, bool again);
void turn_out(struct thread *t);
void turn_lend(struct thread *t, struct thread *child);
void turn_lent(struct thread *t, struct thread *child);
void turn_parent_continues(struct thread *t, bool yes);
void turn_ends(struct thread *t, bool process);
void turn_awaits(const struct thread *t);
void turn_killed(const struct thread *t, const struct process *p);
void turn_execs(struct thread *t, bool counted);
void turn_exec_failed(struct thread *t);
int64_t turn_time(struct thread *t);
bool turn_pending(uint64_t set);
bool turn_deliverable(const struct thread *t, uint64_t mask);
char state_of(int32_t pid, int32_t tid);

/* turn_calls.c: calls that wait. */
bool turn_call(struct thread *t);
bool turn_interrupted(struct thread *t, bool waited, bool restarts);

/* turn_futex.c */
bool turn_futex(struct thread *t);

/* terminal.c */
bool terminal_call(struct thread *t);

/* clock.c: the virtual clock. */
bool clock_executes(const struct insn *in);
void clock_instruction(struct thread *t, const struct insn *in);
bool clock_call(struct thread *t);
void clock_waited(struct thread *t, long ret);
void clock_child(const struct thread *parent, struct thread *child);
void clock_ends(struct thread *t);
int64_t clock_now(struct thread *t);
void clock_forward(struct thread *t, int64_t to);
void clock_publish(int64_t now);
int64_t clock_begin(uint64_t clock);
int64_t real_time(int clock);
bool time_read(uint64_t at, int64_t unit, int64_t *out);
void time_write(uint64_t to, int64_t ns, int64_t unit);

/* file_times.c: times of files, by the virtual clock. */
bool file_time_call(struct thread *t);
void file_times_mark(struct thread *t);

/* random.c */
bool is_path(uint64_t path, const char *name);
bool random_call(struct thread *t);

/*
 * directory.c: a directory that was read completely and sorted, and is not yet returned completely.
 */
struct directory {
	int fd;
	uint64_t dev, inode;
	uint8_t *memory; /* the entries from the kernel, without their offsets */
	size_t bytes, used;
	size_t n;
	/*
	 * addresses of the n entries in `memory`, sorted; then n offsets: the offset after the i-th
	 * returned entry
	 */
	uint64_t *entry;
};
bool directory_call(struct thread *t);

/* limits.c: the program's own limits on its memory. */
void limits_first(void);
void limits_mapped(int64_t space, int64_t data);
void limits_of(struct process *p);
void limits_for_real(const struct process *p);
void limits_after_exec(const struct process *p);
bool limit_call(struct thread *t);

/* cache.c: lookup of blocks by pc and by the address of their code. */
void cache_first(void);
void block_expect(uint64_t pc);
struct block *block_find(uint64_t pc);
struct block *block_new(uint64_t pc);
void block_done(struct block *b, struct arena *a);
void block_kill(struct block *b);
void block_dead(struct block *b);
void cache_begin(void);
bool cache_full(void);

/* snapshot.c: translated code of earlier processes of the program. */
bool snapshot_begin(const struct process *p);
void snapshot_region(uint64_t start, uint64_t end, int prot, const struct region *what);
void snapshot_end(const struct thread *t);

/* retire.c: when most of the code is stale, start again. */
void retire_check(struct thread *t);
void retire_all(void);
struct block *block_of_code(uint64_t rip);
/*
 * The program's address of the instruction that the translated code at `rip` belongs to; 0: none.
 */
uint64_t program_address(uint64_t rip);
bool in_cache(uint64_t rip);
struct arena *arena_near(uint64_t pc);
struct arena *arena_with(const uint8_t *code);
void bucket_add(struct block *b);
void bucket_remove(struct block *b);

static inline uint64_t *next_of(const struct block *b)
{
	return (uint64_t *)(b->indirect + b->next);
}

/* translate.c, flags.c, count.c */
struct block *translate(uint64_t pc, bool indirect, bool once);
unsigned flags_live_at(uint64_t pc);
void emit_tail(void);
uint8_t *emit_stub(uint8_t *cold, uint32_t edge);
void add_indirect(struct block *b);
void set_rel32(uint8_t *site, const uint8_t *to);
bool link_edge(uint32_t edge, struct block *b);
void lead(uint32_t edge, struct block *b, const uint8_t *code);

/* dispatch.c */
void dispatch(struct thread *t);
void finish(struct thread *t, long ret);
void undo_syscall(struct thread *t);
void step_natively(struct thread *t); /* defined in step.c */
void system_call(struct thread *t);
void system_call_done(struct thread *t);

/* counters.c */
void counters_first(void);
unsigned counter_for(const struct block_facts *f);
unsigned counter_apart(const struct block_facts *f);
void counter_free(unsigned i);
void counters_meet(void);
uint32_t counters_met(void);
void counters_from(uint32_t met);

/* count.c: what executing a part of a block adds. */
bool kernel_emulates(void);

/* Does the kernel emulate it, so that it never retires? */
static inline bool insn_emulated(const struct insn *in)
{
	return insn_umip(in) && kernel_emulates();
}

void facts_add(struct block_facts *f, const struct insn *in);
void count_special(struct thread *t, const struct insn *in, uint64_t pc, uint64_t next);
void uncount_special(struct thread *t, const struct insn *in, uint64_t pc);
void settle(struct thread *t, const struct block *b, unsigned executed, bool counted);

/* path.c */
void path_add(struct thread *t, const struct insn *in, uint64_t pc);
void path_take_back(struct thread *t, const struct insn *in, uint64_t pc);

struct block *translate_part(uint64_t pc, unsigned n);
bool insn_copied(const struct insn *in);

#define NEVER (INT64_MAX / 4) /* more than will ever be executed before the next sample */

/* sample_period.c, sample.c, address.c: samples every N instructions. */
void period_begin(void);
void period_first(struct thread *t);
void period_check(const struct thread *t);
bool period_counts(const struct block *b);
bool period_run_out(const struct thread *t);
int64_t period_gap(struct thread *t, unsigned event);
uint64_t period_ahead(const struct thread *t, unsigned event, unsigned i);
void period_restart(struct thread *t, unsigned event, int64_t left);
void period_enter(struct thread *t);
struct block *period_block(struct thread *t);
void period_correct(struct thread *t, const struct block_facts *f, int64_t sign);
void period_special(struct thread *t, const struct insn *in, uint64_t pc, uint64_t next);
void sample_draft(struct thread *t, const struct insn *in, uint64_t pc,
		  const int64_t left[COUNTDOWNS]);
void sample_take(struct thread *t, uint64_t next);
uint32_t access_of(const struct thread *t, const struct insn *in, uint64_t pc,
		   enum exact_class class, unsigned which, uint64_t *out);

/* callback.c: calls every N instructions. */
long callback_set(struct thread *t);
bool callback_is_off(const struct thread *t, unsigned event);
void callback_take(struct thread *t);
void callback_send(const struct thread *t);
void callback_return(struct thread *t);

/* noncanonical_branch.c */
bool noncanonical_branch(struct thread *t);

/* sums.c */
void thread_sums(struct thread *t, int64_t out[EXACT_CLASSES]);

/* thread.c */
struct thread *thread_new(struct process *p, uint64_t stable_id);
void ring(void);
bool supervisor_gone(void);
void end_thread(struct thread *t, long status);
/* Wait until no thread of the process adds its counts to it, and let none begin. */
void folds_hold(struct process *p);
bool kill_process(struct thread *t);
void end_killed_thread(struct thread *t) __attribute__((noreturn));
void end_process(struct thread *t, long status);
void fork_like(struct thread *t, long nr);
void clone_done(struct thread *t);
void child_start(struct thread *t);
void exec_like(struct thread *t, long nr);

/* seccomp.c: the program's filters. */
bool seccomp_allows(struct thread *t);
bool seccomp_allows_old(struct thread *t, long *ret);
bool seccomp_call(struct thread *t);
void seccomp_for_real(struct thread *t);
void seccomp_doom(void);

/* locate.c: makes `c` the program's context if it was interrupted at an instruction boundary. */
enum place { AT_BORDER, AT_WORK, IN_ENGINE, OUTSIDE };
struct context;
enum place locate(struct thread *t, struct context *c, bool fault);

/* pending_signals.c */
struct info;
void was_passed_on(struct info *info);
bool keep_unwanted(struct thread *t, int sig, const struct info *info, struct context *c);
void keep(struct thread *t, int sig, const struct info *info);
void hand_over_pending(struct thread *t, uint64_t which);
void look_at_pending(struct thread *t);
bool looks_for_pending(struct thread *t);
void keep_for_exec(struct thread *t, bool watched);
void forget_pending(const struct thread *t, int sig);

/* signal_calls.c, deliver.c */
void signals_first(struct thread *t);
void set_alt_stack(struct thread *t);
uint64_t block_signals(void);
void set_signal_mask(uint64_t mask);
void signals_for_exec(struct thread *t);
void signals_after_exec(struct thread *t);
void signals_cleared(struct thread *t);
void deliver_pending(struct thread *t);
void hear_faults(bool yes);
void set_program_mask(struct thread *t, bool whole);
long signal_action(struct thread *t, long sig, uint64_t act, uint64_t old, uint64_t size);
long signal_mask(struct thread *t, long how, uint64_t set, uint64_t old, uint64_t size);
long signal_stack(struct thread *t, uint64_t ss, uint64_t old);
uint64_t fp_size(uint64_t fpstate);
bool park_others(struct thread *t, int sig);
void park_here(struct thread *t, struct context *c);
void come_out(struct thread *t, const struct info *info, struct context *c);
void come_out_later(struct thread *t, struct context *c);
bool wait_and_park(struct thread *t, struct context *c);
bool leaves_core(void);
void die(struct thread *t, int sig, const struct info *info, struct context *c);
void force_signal(struct thread *t, int sig, const struct info *info, bool fatal);
void signal_return(struct thread *t);

struct cpuid_7 {
	uint32_t a, b, c, d;
};

/*
 * CPUID.(EAX=07H,ECX=0), cached in `k`, as CPUID is slow in a virtual machine. EAX, the highest
 * subleaf, is stored plus 1.
 */
static inline const struct cpuid_7 *cpuid_7(struct cpuid_7 *k)
{
	if (!k->a) {
		__asm__ volatile("cpuid"
				 : "=a"(k->a), "=b"(k->b), "=c"(k->c), "=d"(k->d)
				 : "0"(7), "2"(0));
		k->a++;
	}
	return k;
}

/* The execution address of code that is written at p. */
static inline uint64_t runs_at(const uint8_t *p)
{
	return (uint64_t)p ^ eng.alias;
}

/* The translation depends on the code at `pc`. */
static inline void note_reach(uint64_t pc)
{
	eng.reaches_far |= pc - eng.near.start >= eng.near.end - eng.near.start;
}

/* Can this code change? */
static inline bool can_change(const struct region *r)
{
	return r->writable || r->checked || r->followed;
}

static inline struct region *region_of(uint64_t pc)
{
	struct region *r = &eng.regions[eng.last_region];

	return eng.last_region < eng.n_regions && pc >= r->start && pc < r->end && r->exec
		? r
		: region_found(pc);
}

/*
 * A file may end before its mapping does, and may be truncated while mapped: does the page of `pc`
 * exist, as of this dispatch?
 */
static inline bool page_there(uint64_t pc)
{
	if (pc / PAGE == eng.page_there)
		return true;
	if (!is_readable(pc))
		return false;
	eng.page_there = pc / PAGE;
	return true;
}

/*
 * How many bytes of code are readable at `pc`, at most INSN_ROOM within its page; 0 if it is not
 * executable.
 */
static inline size_t code_room(uint64_t pc)
{
	const struct region *r = region_of(pc);

	if (!r || !page_there(pc))
		return 0;
	return pc % PAGE <= PAGE - INSN_ROOM ? INSN_ROOM : room_at_end(pc, r);
}

/*
 * Entries of the shared state's lists. Any process of the command can overwrite an index that is
 * stored there, so an index that is out of range gives entry 0.
 */
static inline struct process *process_at(uint32_t i)
{
	return (struct process *)((uint8_t *)eng.shared + SHARED_PROCESSES) +
		(i < PROCESSES ? i : 0);
}

static inline struct thread *thread_at(uint32_t i)
{
	return (struct thread *)((uint8_t *)eng.shared + SHARED_THREADS +
				 (i < THREADS ? i : 0) * THREAD_STRIDE);
}

static inline uint8_t *lineage_at(uint32_t i)
{
	return (uint8_t *)eng.shared + SHARED_BLOCKS + (i < LINEAGES ? i : 0) * LINEAGE_STRIDE;
}

static inline volatile uint64_t *lineage_sums(uint32_t lineage)
{
	return (volatile uint64_t *)(lineage_at(lineage) + LINEAGE_SUMS);
}

/* The number of counters of the lineage. */
static inline uint32_t lineage_top(uint32_t lineage)
{
	uint32_t top = eng.shared->lineage_top[lineage < LINEAGES ? lineage : 0];

	return top < COUNTERS_MAX ? top : COUNTERS_MAX;
}

static inline volatile uint64_t *counters_of(const struct thread *t)
{
	return (volatile uint64_t *)((uint8_t *)t + THREAD_COUNTERS);
}

/* The counters at the thread's last reading. */
static inline uint64_t *counters_seen(const struct thread *t)
{
	return (uint64_t *)((uint8_t *)t + THREAD_SEEN);
}

/* Facts, indexed by kind. */
static inline struct block_facts *kinds_of(uint32_t lineage)
{
	return (struct block_facts *)lineage_at(lineage);
}

/* Kinds, indexed by counter. */
static inline uint32_t *kind_numbers(uint32_t lineage)
{
	return (uint32_t *)((uint8_t *)kinds_of(lineage) + LINEAGE_KINDS);
}

static inline const struct block_facts *facts_of(uint32_t lineage, uint32_t counter)
{
	uint32_t kind = __atomic_load_n(&kind_numbers(lineage)[counter], __ATOMIC_RELAXED) &
		~COUNTER_APART;

	return &kinds_of(lineage)[kind < COUNTERS_MAX ? kind : 0];
}

#pragma GCC visibility pop

#endif
