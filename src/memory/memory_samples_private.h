/* SPDX-License-Identifier: MIT */
/* Shared by the files that implement memory_samples.h. */
#ifndef MEMORY_MEMORY_SAMPLES_PRIVATE_H
#define MEMORY_MEMORY_SAMPLES_PRIVATE_H

#include "memory/memory_samples.h"
#include "symbols/mapping_history.h"

enum { CODE_BITS = 13, DATA_BITS = 13 };

struct code_cached {
	uint64_t ip, from, until;
	uint32_t pid, set;
	struct memory_samples_code code;
};

struct data_cached {
	uint64_t low, high, from, until, base; /* base: the address of the object's first byte */
	uint32_t pid, object;
	bool set;
};

struct shared_cached { /* the last mapping looked up */
	struct mapping_history_place at;
	uint32_t pid;
	bool set;
};

/* Where a module's file would be mapped, by its own addresses. */
struct image {
	int state; /* 0: not looked up yet, 1: known, -1: no such file */
	uint64_t low, high;
	struct elf_head head;     /* its segments */
	struct symbol_data *data; /* its variables; names are words */
	uint32_t *name;
	size_t n;
	bool data_read;
};

/*
 * The kernel does not reuse an inode number while the file is mapped, so mappings with the same
 * inode at one time are of the same file.
 */
struct shared_file {
	uint32_t major, minor, inode[2];
};

struct memory_samples_private {
	struct tare_accesses *reader;
	struct mapping_history *history;
	struct set tasks;      /* struct memory_samples_task by tid and pid */
	struct set process_of; /* the same by tid alone */
	struct set objects;    /* struct object */
	struct set shared;     /* struct shared_file */
	struct image **image;  /* by module */
	size_t images;
	uint32_t kernel_module, unknown_module;
	int *node_of_cpu;
	size_t cpus;
	struct code_cached code[1 << CODE_BITS];
	struct data_cached data[1 << DATA_BITS];
	struct shared_cached mapped;
	struct mapping_history *
		/* NULL: no blocks were recorded; `module` of a map is the number of an object */
		blocks;
	uint64_t blocks_until;
	struct set widths; /* by instruction */
	struct disasm *disasm;
	uint16_t disasm_of; /* the machine that the decoder is set up for */
	uint8_t *
		/* by module: who owns the code; NULL: the allocation recorder was not there */
		whose;
	enum {
		FAR_UNKNOWN,
		FAR_ONLY,
		FAR_AND_NEAR
	} slow_loads; /* IBS with a latency threshold: only samples that missed L3? */
	int input;    /* copy of standard input; -1: none */
};

/* `until` of UINT64_MAX means forever. */
static inline bool during(uint64_t from, uint64_t until, uint64_t time)
{
	return time >= from && (time < until || until == UINT64_MAX);
}

/* The fields of a sample that show how its event selects accesses. */
void memory_samples_note_sample(struct memory_samples *c, const struct perfdata_record *rec);
/* NULL: out of memory. */
struct image *memory_samples_image(struct memory_samples *c, uint32_t module);
/* Reads the recorded blocks, if any. Call after the history is finished. */
int memory_samples_read_blocks(struct memory_samples *c, const char *path, struct tare_error *err);
/*
 * Is the address in a block? *out is set for either answer, except if no blocks are known at all.
 */
bool memory_samples_find_block(const struct memory_samples *c, uint32_t pid, uint64_t time_ns,
			       uint64_t address, struct mapping_history_place *out);
/* The names of one instruction; its module stays open. False: out of memory. */
bool memory_samples_name_one(struct memory_samples *c, const struct memory_samples_code *code,
			     struct memory_samples_name *out);
/*
 * The same for the code that allocated a block. Where C++ library code is inlined
 * (std::make_unique), gives the line that called it. `library`: the whole function belongs to the
 * library.
 */
bool memory_samples_name_caller(struct memory_samples *c, const struct memory_samples_code *code,
				struct memory_samples_name *out, bool *library);
void memory_samples_forget_unnamed(struct memory_samples *c);
void memory_samples_objects_free(struct memory_samples *c);
void memory_samples_widths_free(struct memory_samples *c);
int memory_samples_add_note(struct memory_samples *c, struct tare_error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* How its events sample accesses. */
int memory_samples_note_selection(struct memory_samples *c, struct tare_error *err);

#endif
