/* SPDX-License-Identifier: MIT */
/*
 * What is made the same each time a command is started, so that its counts repeat: named items, each of which can be
 * left out. A set of them is wanted, and the launcher says which could not be had, and why.
 */
#ifndef LAUNCH_FIXED_H
#define LAUNCH_FIXED_H

#include <stdbool.h>
#include "base/error.h"
#include "base/text.h"

enum fixed_item {
	FIXED_ASLR,	   /* where memory lies */
	FIXED_ENVIRONMENT, /* how much stands on its first stack */
	FIXED_ORDER,	   /* of the variables there */
	FIXED_RANDOM,	   /* what getrandom, /dev/urandom and AT_RANDOM give */
	FIXED_SEEDS,	   /* of hash tables, where a variable sets them */
	FIXED_MALLOC,	   /* no timers in allocators */
	FIXED_VDSO,	   /* clocks by system call: no retries in user mode */
	FIXED_PID,	   /* process ids, from 1000 on */
	FIXED_CPU,	   /* one of those it may use */
	FIXED_LOCALE,	   /* and time zone */
	FIXED_CWD,	   /* how long the name of the working directory is */
	FIXED_BINDING,	   /* symbols at the start, not by whoever calls first */
	FIXED_READDIR,	   /* in which order a directory gives its entries */
	FIXED_ENV,	   /* which variables there are */
	FIXED_ITEMS,
};

enum {
	FIXED_CWD_BYTES = 256, /* length of the fixed working directory's name */
	FIXED_KEPT_BYTES = 256,
};

#define FIXED(item) (1u << FIXED_##item)

struct fixed_row {
	const char *name;  /* as it is typed and stored */
	const char *about; /* one line */
	bool usual;	   /* part of --deterministic without a list */
	const char *leaves; /* what stays as it is where the item is had in part; NULL: it never is */
};

extern const struct fixed_row fixed_rows[FIXED_ITEMS];

struct fixed {
	unsigned set;	 /* wanted; FIXED(...) */
	unsigned missed; /* of those: what could not be had */
	unsigned lost;	 /* of these: had at first, and gone in a program that was executed later; tried again at the next start */
	unsigned partly; /* of those that are had: in part, see fixed_rows[].leaves */
	char why[FIXED_ITEMS][120];
	char stripped[200]; /* the first program that was seen to run without the rights that its file gives, and why; "": none was */
	int first_pid; /* with PID; 0: PIDSPACE_FIRST */
	bool turned; /* with READDIR: from the last name to the first */
	char kept[FIXED_KEPT_BYTES]; /* with ENV: further variables that the command has, "LANG:CI" */
	bool env_open; /* set by fixed_parse(): the items say neither env nor -env, nor are they a list of just some */
	char cwd[FIXED_CWD_BYTES + 1]; /* with CWD: the working directory by its long name, by pidspace_enter(); "": not had */
	int cwd_lock; /* with cwd: held on the folder before cwd_from as long as it is used */
	size_t cwd_from; /* behind so many bytes of it stands its own name */
};

/* What the exact engine has always had: the same layout of memory. */
#define FIXED_LAYOUT (FIXED(ASLR) | FIXED(ENVIRONMENT))

/*
 * Sets `set`, `kept` and `env_open`. NULL: the usual ones. "+cpu,-vdso": these, more or less; "aslr,pid": just those; "all",
 * "none". "env=LANG:CI": env, and these variables are kept.
 */
int fixed_parse(const char *text, struct fixed *f, struct tare_error *err);
/* Whether the command has this variable, "NAME=value" or "NAME", where ENV is fixed: PATH, HOME, tare's own, and those of `kept`. */
bool fixed_keeps(const char *kept, const char *variable);
/* "aslr, environment, order"; "nothing". */
void fixed_names(struct text *out, unsigned set);
void fixed_miss(struct fixed *f, enum fixed_item item, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Likewise, of what was had at first. */
void fixed_lose(struct fixed *f, enum fixed_item item, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A program, by its path, that is setuid, setgid or has file capabilities, and ran without: by those of the items `takers` that are tried. The first one stays. */
void fixed_strip(struct fixed *f, const char *program, const char *rights, unsigned takers);
/* Why an item (enum fixed_item) that may matter is not fixed: it failed, or env was left open. NULL: it is fixed, or was not wanted. */
const char *fixed_open(const struct fixed *f, unsigned item);
/* What there is to say of a launch, a line at a time, for i from 0 on: "Not fixed: pid: ...", "Fixed in part: ...", "Ran without its rights: ...". False: nothing at this i. */
enum { FIXED_REMARKS = FIXED_ITEMS + 1 };
bool fixed_remark(struct text *out, const struct fixed *f, unsigned i);
/* What a launcher is to do: all but what could not be had from the start. */
unsigned fixed_tried(const struct fixed *f);
/* What is in effect; and what of that in part. */
unsigned fixed_had(const struct fixed *f);
unsigned fixed_partly(const struct fixed *f);

#endif
