/* SPDX-License-Identifier: MIT */
/*
 * What was mapped: files, the kernel, the vdso, memory that a JIT compiler filled; and where their
 * names come from. A file is used only when it is the one that ran: by its build id, where the
 * recording has it; else by host, path, inode and time. What cannot be used says why.
 */
#ifndef SYMBOLS_MODULES_H
#define SYMBOLS_MODULES_H

#include "symbols/elf_head.h"
#include "symbols/symbols.h"
#include "symbols/symlist.h"
#include "base/set.h"
#include "base/words.h"

enum module_kind {
	MODULE_FILE,
	MODULE_VDSO,
	MODULE_KERNEL, /* and its own modules: offsets are addresses in memory */
	MODULE_MEMORY, /* anonymous, of one process: offsets are addresses in memory */
	MODULE_SYMBOL, /* one function of its own, as a BPF program is */
	MODULE_UNKNOWN,
};

struct module {
	enum module_kind kind;
	uint32_t path; /* word; of a MODULE_SYMBOL the function's name */
	uint32_t id;   /* word: build id in hexadecimal; 0: not recorded with the mapping */
	uint32_t pid;  /* of MODULE_MEMORY */
	uint64_t inode; /* of the file that ran; 0: not recorded, UINT64_MAX: several were mapped under that name */

	bool opened;
	bool verified; /* its build id is that of what ran */
	bool same_inode; /* not verified, and its inode is that of what ran */
	bool other_inode, newer; /* not verified: another inode than what ran had; changed after the recording ended */
	bool doubted; /* there is a file, and nothing shows that it is the one that ran: it is not used */
	int fd;	       /* of the ELF file; -1: none */
	struct elf_head head;
	struct symbols *symbols;
	struct symlist list;
	bool stripped;
	char why[320], remedy[320]; /* of code without a name */
};

struct modules_options {
	const char *symfs;    /* where the recorded machine's files are; NULL: "" */
	const char *kallsyms; /* a file to take for the kernel's; NULL: what suits */
	const char *home;     /* for perf's cache of files, ~/.debug; NULL: not looked at */
	bool force_names;     /* use a file that may not be the one that ran; one of another build id never */
};

struct modules {
	struct modules_options opts;
	struct words words;
	struct set key;	       /* private */
	struct module *module; /* as many as keys */
	size_t room;
	struct set path_id; /* private: build ids by path */
	bool ids_cut; /* the recording's list of them is: no file is taken by its name alone, but for one of symfs */
	int64_t ended_s; /* when the recording was written, since 1970; 0: not known */
	uint32_t release, host; /* words: of the recording's kernel, and of its machine; 0: it does not say */
	bool kernel_by_place; /* names come from the kernel that runs here, which has that release, host and place: no build id says so */
	uint64_t kernel_text; /* where the recording has _text; 0: it does not say */
	uint64_t kernel_begins; /* by kallsyms; 0: it does not say */
	int64_t kernel_moved; /* kallsyms' addresses minus the recording's */
	struct symlist kernel;
	int kernel_state; /* 0: not looked for, 1: there, -1: none */
	struct module kernel_why; /* why, remedy */
};

/* The module's number, or SET_NONE. build_id may be NULL. The kind follows from kernel and path. */
uint32_t modules_add(struct modules *m, enum module_kind kind, const char *path,
		     const uint8_t *build_id, size_t size, uint32_t pid);
/* The recording says which inode was mapped. */
void modules_inode(struct modules *m, uint32_t number, uint64_t inode);
/* What a path names in a process's mapping. */
enum module_kind modules_kind(const char *path);
/* The recording says which build of `path` ran. */
int modules_build_id(struct modules *m, const char *path, const uint8_t *id, size_t size,
		     struct tare_error *err);
/* The build id that the recording has of it, in hexadecimal; "" where it has none. */
const char *modules_recorded_id(const struct modules *m, uint32_t number);
/* Its file's head, for unwinding; false when there is no such file, or not the one that ran. */
bool modules_elf(struct modules *m, uint32_t number, struct module **out);
/* The function at `offset`; false when its name is not known. Names live until modules_close(). */
bool modules_find(struct modules *m, uint32_t number, uint64_t offset, struct symbol *out);
/* Why functions of it have no names, after modules_find() said so. */
const struct module *modules_why(struct modules *m, uint32_t number);
/* Bytes of its code at `offset`: how many of n; 0 where they cannot be had. */
size_t modules_bytes(struct modules *m, uint32_t number, uint64_t offset, void *to, size_t n);
/* Free what names of one module took; it may be asked again. */
void modules_close(struct modules *m, uint32_t number);
void modules_free(struct modules *m);

#endif
