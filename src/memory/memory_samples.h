/* SPDX-License-Identifier: MIT */
/*
 * The memory accesses of a recording. Each has the code that made it and the object in memory that
 * it accessed: a variable, a stack, a block. The file is read twice, first for the mappings over
 * time, then for the accesses, so the order in which the recorder wrote them does not matter.
 */
#ifndef MEMORY_MEMORY_SAMPLES_H
#define MEMORY_MEMORY_SAMPLES_H

#include "symbols/mapped.h"
#include "profile/samples.h"
#include "base/text.h"
#include "perfdata/alloc.h"
#include "tare/access.h"

enum object_kind {
	OBJECT_NONE,   /* the access has no address */
	OBJECT_SYMBOL, /* a variable of a program or library */
	OBJECT_FILE,   /* some other part of a mapped file */
	OBJECT_STACK,  /* of a process's first thread */
	OBJECT_HEAP,   /* the brk(2) heap */
	OBJECT_MEMORY, /* anonymous mapping: large blocks, stacks of other threads */
	/*
	 * all blocks allocated at one source line (or in one function) for the same caller, if
	 * recorded
	 */
	OBJECT_BLOCK,
	OBJECT_KERNEL,
	OBJECT_UNKNOWN, /* no recorded mapping covers the address */
};

struct object {
	uint32_t kind, pid;    /* pid: of STACK, HEAP, MEMORY, UNKNOWN */
	uint32_t module, name; /* name: word, of a SYMBOL */
	uint64_t
		/*
		 * SYMBOL: address in the file; MEMORY: of the mapping; STACK: tid, or 0; BLOCK:
		 * offset of a call in `module`
		 */
		start;
	uint64_t
		/* BLOCK: offset in `caller_module` of the call to that code; 0: not recorded */
		caller;
	uint32_t caller_module, unused; /* makes the key one without padding */
	uint64_t size;                  /* bytes; 0: not known */
};

/* An instruction: its position in its module. */
struct memory_samples_code {
	uint32_t module, kernel;
	uint64_t offset;
};

struct memory_samples_name { /* words of modules.words; 0 where not known */
	uint32_t function, module, file, line;
};

struct memory_samples_task {
	uint32_t tid, pid, comm;
	uint64_t comm_time; /* records of several CPUs are not in order */
};

struct alloc_event;

/*
 * Called for each event of the allocation file, in order of time. site: for an allocation, the
 * number of its object (OBJECT_BLOCK); for other events, SET_NONE. Returns 0 or a negative errno.
 */
typedef int memory_samples_block(void *with, const struct alloc_event *ev, uint32_t site,
				 struct tare_error *err);

struct memory_samples_options {
	struct modules_options modules;
	struct samples_filter filter;
	memory_samples_block
		*block; /* gets all allocation events; blocks are then not kept; NULL: unused */
	void *with;
};

struct memory_samples {
	struct memory_samples_options opts;
	struct modules modules;
	struct perfdata *file; /* its head and features; its records have been consumed */
	struct tare_access_loss loss;
	uint64_t samples, undecodable, throttled;
	uint64_t
		/* accesses made by libtare-alloc.so itself, which memory_samples_next() skips */
		recorders;
	uint64_t
		/* with libtare-alloc.so: accesses in the vDSO, its or the program's; not skipped */
		clocks;
	char damage[384];     /* why reading ended early, or "" */
	bool tells_accesses;  /* some event samples memory accesses, even if it has no samples */
	bool every;           /* every access is a sample: the exact engine with a period of 1 */
	uint64_t blocks_lost; /* allocation records lost for lack of room */
	struct alloc_loss blocks_lacking; /* parts of the allocation file that were not decoded */
	bool blocks_damaged; /* some or all of the recorded blocks cannot be read; a note says so */
	char **note;         /* how the accesses were sampled, one line each */
	size_t n_notes;
	struct samples_unnamed *unnamed; /* from the last memory_samples_name() */
	size_t n_unnamed;
	struct memory_samples_private *p;
};

/*
 * `path` "-" means standard input, which is copied. Free with memory_samples_close(), also on
 * failure.
 */
int memory_samples_open(struct memory_samples *c, const char *path,
			const struct memory_samples_options *opts, struct tare_error *err);
/*
 * The next access that passes the filter and was not made by the allocation recorder. Returns 1, 0
 * at the end or where the file is damaged, or a negative errno.
 */
int memory_samples_next(struct memory_samples *c, struct tare_access *a, struct tare_error *err);
void memory_samples_close(struct memory_samples *c);
/* Call after the last access: what could not be decoded, from perfdata_undecoded(). */
const struct perfdata *memory_samples_read(const struct memory_samples *c);

struct memory_samples_code memory_samples_code(struct memory_samples *c,
					       const struct tare_access *a);
/*
 * The number of bytes that a load, store or update accesses, from its instruction in the file that
 * ran. 0 if the access does not have the exact instruction, or its size is not known. Costs a
 * look-up, and a few microseconds for each new instruction.
 */
uint32_t memory_samples_width(struct memory_samples *c, const struct tare_access *a);
/*
 * The file of a shared mapping (MAP_SHARED), as a number, and *offset of the access in it; 0: the
 * recording has no shared mapping there. Two processes that access the same byte get the same
 * number and offset, whatever the addresses.
 */
uint32_t memory_samples_shared(struct memory_samples *c, const struct tare_access *a,
			       uint64_t *offset);
/*
 * The number of the object at an address as seen by a task; *offset (may be NULL) is the offset in
 * it. SET_NONE: out of memory.
 */
uint32_t memory_samples_object(struct memory_samples *c, uint32_t pid, uint64_t time_ns,
			       uint64_t address, uint64_t *offset);
const struct object *memory_samples_object_at(const struct memory_samples *c, uint32_t number);
/*
 * "counters", "heap of 4711", "memory at 0x7f.. (2097152 bytes)": for display; names are not
 * escaped.
 */
void memory_samples_object_name(struct memory_samples *c, const struct object *o, struct text *out);
/* "" if the recording does not say. */
const char *memory_samples_comm(const struct memory_samples *c, uint32_t pid, uint32_t tid);
/* -1 if the recording does not say. */
int memory_samples_node_of_cpu(const struct memory_samples *c, int32_t cpu);
int memory_samples_node_of_memory(const struct memory_samples *c, uint64_t physical);

/*
 * Names n instructions, each once. `samples` gives the samples of each, for the note about
 * instructions without a name.
 */
int memory_samples_name(struct memory_samples *c, const struct memory_samples_code *code,
			const uint64_t *samples, size_t n, struct memory_samples_name *out,
			struct tare_error *err);

#endif
