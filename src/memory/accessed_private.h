/* SPDX-License-Identifier: MIT */
/* What the files of accessed.h share. */
#ifndef MEMORY_ACCESSED_PRIVATE_H
#define MEMORY_ACCESSED_PRIVATE_H

#include "memory/accessed.h"
#include "symbols/history.h"

enum { CODE_BITS = 13, DATA_BITS = 13 };

struct code_cached {
	uint64_t ip, from, until;
	uint32_t pid, set;
	struct accessed_code code;
};

struct data_cached {
	uint64_t low, high, from, until, base; /* base: the address of the object's first byte */
	uint32_t pid, object;
	bool set;
};

struct shared_cached { /* the last mapping that was asked for */
	struct history_place at;
	uint32_t pid;
	bool set;
};

/* Where a module's file would be in memory, by its own addresses. */
struct image {
	int state; /* 0: not looked at, 1: known, -1: no such file */
	uint64_t low, high;
	struct elf_head head; /* its segments */
	struct symbol_data *data; /* its variables; names are words */
	uint32_t *name;
	size_t n;
	bool data_read;
};

/* Inodes are not given anew while something of them is mapped: whoever maps one at a time maps the same file. */
struct shared_file {
	uint32_t major, minor, inode[2];
};

struct accessed_private {
	struct tare_accesses *reader;
	struct history *history;
	struct set tasks;   /* struct accessed_task by tid and pid */
	struct set process_of; /* the same by tid alone */
	struct set objects; /* struct object */
	struct set shared; /* struct shared_file */
	struct image **image; /* by module */
	size_t images;
	uint32_t kernel_module, unknown_module;
	int *node_of_cpu;
	size_t cpus;
	struct code_cached code[1 << CODE_BITS];
	struct data_cached data[1 << DATA_BITS];
	struct shared_cached mapped;
	struct history *blocks; /* NULL: none were written down; `module` of a map is the number of an object */
	uint64_t blocks_until;
	struct set widths; /* by instruction */
	struct disasm *disasm;
	uint16_t disasm_of; /* which machine's code it reads */
	uint8_t *whose; /* by module, whose code it is; NULL: the recorder of blocks was not there */
	enum { FAR_UNKNOWN, FAR_ONLY, FAR_AND_NEAR } slow_loads; /* of IBS with a least latency: must they have missed L3? */
	int input; /* the copy of standard input; -1: none */
};

/* An `until` of UINT64_MAX is for ever. */
static inline bool during(uint64_t from, uint64_t until, uint64_t time)
{
	return time >= from && (time < until || until == UINT64_MAX);
}

/* What a sample tells of how its event chooses. */
void accessed_note_sample(struct accessed *c, const struct perfdata_record *rec);
/* NULL: out of memory. */
struct image *accessed_image(struct accessed *c, uint32_t module);
/* The blocks written down beside the recording, if any. After the history is finished. */
int accessed_read_blocks(struct accessed *c, const char *path, struct tare_error *err);
/* Is the address in a block? *out holds for the answer either way; it is not written where no blocks are known at all. */
bool accessed_find_block(const struct accessed *c, uint32_t pid, uint64_t time_ns, uint64_t address, struct history_place *out);
/* The words of one instruction; its module stays open. False: out of memory. */
bool accessed_name_one(struct accessed *c, const struct accessed_code *code, struct accessed_name *out);
/*
 * The same of who took a block: where code of C++'s library is inlined (std::make_unique), the line that asked for it. `library`: the whole
 * function is the library's.
 */
bool accessed_name_caller(struct accessed *c, const struct accessed_code *code, struct accessed_name *out, bool *library);
void accessed_forget_unnamed(struct accessed *c);
void accessed_objects_free(struct accessed *c);
void accessed_widths_free(struct accessed *c);
int accessed_add_note(struct accessed *c, struct tare_error *err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* How its events choose accesses. */
int accessed_note_selection(struct accessed *c, struct tare_error *err);

#endif
