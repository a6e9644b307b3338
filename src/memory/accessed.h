/* SPDX-License-Identifier: MIT */
/*
 * The accesses of a recording, each with what it was made by and what it was made to: code, and an object in memory - a
 * variable, a stack, a block. The file is read twice: for what was mapped when, then for the accesses; so it does not
 * matter in which order the recorder wrote them.
 */
#ifndef MEMORY_ACCESSED_H
#define MEMORY_ACCESSED_H

#include "symbols/mapped.h"
#include "profile/samples.h"
#include "base/text.h"
#include "perfdata/alloc.h"
#include "tare/access.h"

enum object_kind {
	OBJECT_NONE,	/* the access has no address */
	OBJECT_SYMBOL,	/* a variable of a program or library */
	OBJECT_FILE,	/* some other part of a mapped file */
	OBJECT_STACK,	/* of a process's first thread */
	OBJECT_HEAP,	/* that grows by brk(2) */
	OBJECT_MEMORY,	/* a mapping of no file: large blocks, other threads' stacks */
	OBJECT_BLOCK,	/* all blocks that were taken at one source line (or in one function) for one caller's, where that was recorded */
	OBJECT_KERNEL,
	OBJECT_UNKNOWN, /* nothing was recorded to be mapped there */
};

struct object {
	uint32_t kind, pid;    /* pid: of STACK, HEAP, MEMORY, UNKNOWN */
	uint32_t module, name; /* name: word, of a SYMBOL */
	uint64_t start;	       /* SYMBOL: the file's own address; MEMORY: of the mapping; STACK: tid, or 0; BLOCK: offset of a call in `module` */
	uint64_t caller;       /* BLOCK: offset in `caller_module` of what called the code that called; 0: not recorded */
	uint32_t caller_module, unused; /* one key without padding */
	uint64_t size;	       /* bytes; 0: not known */
};

/* An instruction: where it is in its module. */
struct accessed_code {
	uint32_t module, kernel;
	uint64_t offset;
};

struct accessed_name { /* words of modules.words; 0 where not known */
	uint32_t function, module, file, line;
};

struct accessed_task {
	uint32_t tid, pid, comm;
	uint64_t comm_time; /* the records of several CPUs are not in order */
};

struct alloc_event;

/*
 * Called for each event of the recording's file of blocks, in order of time. site: of an allocation, the number of its object
 * (OBJECT_BLOCK); of other events, SET_NONE. Returns 0 or a negative errno.
 */
typedef int accessed_block(void *with, const struct alloc_event *ev, uint32_t site, struct tare_error *err);

struct accessed_options {
	struct modules_options modules;
	struct samples_filter filter;
	accessed_block *block; /* gets all events of blocks, which are then kept for no access; NULL: nothing does */
	void *with;
};

struct accessed {
	struct accessed_options opts;
	struct modules modules;
	struct perfdata *file; /* its head and features; its records are used up */
	struct tare_access_loss loss;
	uint64_t samples, undecodable, throttled;
	uint64_t recorders; /* accesses of libtare-alloc.so itself, which accessed_next() passes over */
	uint64_t clocks;    /* where that was there: accesses in the vDSO, for it or the program; not passed over */
	char damage[384];     /* what ended the reading early, or "" */
	bool tells_accesses;  /* an event of it is one whose samples are of accesses, whether there are any or none */
	bool every;	      /* each access is a sample: of the exact engine, with a period of 1 */
	uint64_t blocks_lost; /* records of blocks that found no room */
	struct alloc_loss blocks_lacking; /* what of the file of blocks was not decoded */
	bool blocks_damaged;  /* of the blocks beside it some cannot be read, or none; a note says so */
	char **note;	      /* how the accesses were chosen, one line each */
	size_t n_notes;
	struct samples_unnamed *unnamed; /* of the last accessed_name() */
	size_t n_unnamed;
	struct accessed_private *p;
};

/* `path` "-": standard input, which is copied. Free with accessed_close(), on failure too. */
int accessed_open(struct accessed *c, const char *path, const struct accessed_options *opts, struct tare_error *err);
/* The next access that passes the filter and is not of the recorder of blocks: 1, 0 at the end or where the file is damaged, or a negative errno. */
int accessed_next(struct accessed *c, struct tare_access *a, struct tare_error *err);
void accessed_close(struct accessed *c);
/* After the last access: what could not be decoded, by perfdata_undecoded(). */
const struct perfdata *accessed_read(const struct accessed *c);

struct accessed_code accessed_code(struct accessed *c, const struct tare_access *a);
/*
 * Bytes that a load, store or update accesses, by its instruction in the file that ran; 0 where the access does not name the very
 * instruction, or its bytes or their meaning are not known. Costs a look-up, and some microseconds for each different instruction.
 */
uint32_t accessed_width(struct accessed *c, const struct tare_access *a);
/*
 * The file of a mapping that processes share (MAP_SHARED), by a number, and *offset of the access in it; 0: the recording tells of none there.
 * Two processes that access one byte of it have the same of both, whatever its addresses.
 */
uint32_t accessed_shared(struct accessed *c, const struct tare_access *a, uint64_t *offset);
/* Number of the object at an address as a task saw it; *offset (may be NULL) into it. SET_NONE: out of memory. */
uint32_t accessed_object(struct accessed *c, uint32_t pid, uint64_t time_ns, uint64_t address, uint64_t *offset);
const struct object *accessed_object_at(const struct accessed *c, uint32_t number);
/* "counters", "heap of 4711", "memory at 0x7f.. (2097152 bytes)": for people; names are not escaped. */
void accessed_object_name(struct accessed *c, const struct object *o, struct text *out);
/* "" when the recording does not say. */
const char *accessed_comm(const struct accessed *c, uint32_t pid, uint32_t tid);
/* -1 when the recording does not say. */
int accessed_node_of_cpu(const struct accessed *c, int32_t cpu);
int accessed_node_of_memory(const struct accessed *c, uint64_t physical);

/* Names of n instructions, each once; `samples` of each are for what is said of those without. */
int accessed_name(struct accessed *c, const struct accessed_code *code, const uint64_t *samples, size_t n,
		  struct accessed_name *out, struct tare_error *err);

#endif
