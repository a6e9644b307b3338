/* SPDX-License-Identifier: MIT */
/*
 * Mapped modules: files, the kernel, the vdso, memory with a JIT compiler's code; and the sources
 * of their names. A file is used only if it is the one that ran: by its build id, if recorded; else
 * by host, path, inode and time. If it cannot be used, the reason is kept.
 */
#ifndef SYMBOLS_MODULES_H
#define SYMBOLS_MODULES_H

#include "symbols/elf_head.h"
#include "symbols/symbols.h"
#include "symbols/text_symbols.h"
#include "base/set.h"
#include "base/words.h"

enum module_kind {
	MODULE_FILE,
	MODULE_VDSO,
	MODULE_KERNEL, /* and its loadable modules: offsets are memory addresses */
	MODULE_MEMORY, /* anonymous, of one process: offsets are memory addresses */
	MODULE_SYMBOL, /* a single function, such as a BPF program */
	MODULE_UNKNOWN,
};

struct module {
	enum module_kind kind;
	uint32_t path; /* word; for MODULE_SYMBOL the function's name */
	uint32_t id;   /* word: build id in hexadecimal; 0: not recorded with the mapping */
	uint32_t pid;  /* of MODULE_MEMORY */
	/* of the file that ran; 0: not recorded, UINT64_MAX: several were mapped with that name */
	uint64_t inode;

	bool opened;
	bool verified;   /* its build id matches what ran */
	bool same_inode; /* not verified, but its inode matches */
	/* not verified: another inode than the file that ran; changed after the recording ended */
	bool other_inode, newer;
	bool doubted; /* the file exists, but nothing shows that it is the one that ran: not used */
	int fd;       /* of the ELF file; -1: none */
	struct elf_head head;
	struct symbols *symbols;
	struct text_symbols list;
	bool stripped;
	char why[320], remedy[320]; /* for code without a name */
};

struct modules_options {
	const char *symfs;    /* root of the recorded machine's files; NULL: "" */
	const char *kallsyms; /* a kernel image to use; NULL: search */
	const char *home;     /* for perf's cache of files, ~/.debug; NULL: not searched */
	/* use a file that may not be the one that ran, but never one with another build id */
	bool force_names;
};

struct modules {
	struct modules_options opts;
	struct words words;
	struct set key;        /* private */
	struct module *module; /* as long as keys */
	size_t room;
	struct set path_id; /* private: build ids by path */
	/*
	 * the recording has a list of build ids: no file is used by its name alone, except one in
	 * symfs
	 */
	bool ids_cut;
	int64_t ended_s; /* when the recording was written, since 1970; 0: not known */
	/* words: release of the recording's kernel, and its machine; 0: not recorded */
	uint32_t release, host;
	/*
	 * names come from the running kernel, by equal release, host and address, not by build id
	 */
	bool kernel_by_place;
	uint64_t kernel_text;   /* the recording's address of _text; 0: not recorded */
	uint64_t kernel_begins; /* by kallsyms; 0: not known */
	int64_t kernel_moved;   /* kallsyms' addresses minus the recording's */
	struct text_symbols kernel;
	int kernel_state;         /* 0: not searched, 1: found, -1: none */
	struct module kernel_why; /* why, remedy */
};

/* The module's index, or SET_NONE. build_id may be NULL. The kind follows from kernel and path. */
uint32_t modules_add(struct modules *m, enum module_kind kind, const char *path,
		     const uint8_t *build_id, size_t size, uint32_t pid);
/* Sets the recorded inode of a mapping. */
void modules_inode(struct modules *m, uint32_t number, uint64_t inode);
/* The kind of a path in a process's mappings. */
enum module_kind modules_kind(const char *path);
/* Sets the recorded build id of `path`. */
int modules_build_id(struct modules *m, const char *path, const uint8_t *id, size_t size,
		     struct tare_error *err);
/* The recorded build id, in hexadecimal; "" if there is none. */
const char *modules_recorded_id(const struct modules *m, uint32_t number);
/* The head of its file, for unwinding; false if there is no such file, or not the one that ran. */
bool modules_elf(struct modules *m, uint32_t number, struct module **out);
/* The function at `offset`; false if its name is not known. Names live until modules_close(). */
bool modules_find(struct modules *m, uint32_t number, uint64_t offset, struct symbol *out);
/* Why its functions have no names, after modules_find() returned false. */
const struct module *modules_why(struct modules *m, uint32_t number);
/* Reads up to n bytes of its code at `offset`; returns how many, 0 if unavailable. */
size_t modules_bytes(struct modules *m, uint32_t number, uint64_t offset, void *to, size_t n);
/* Frees the names of one module; it may be queried again. */
void modules_close(struct modules *m, uint32_t number);
void modules_free(struct modules *m);

#endif
