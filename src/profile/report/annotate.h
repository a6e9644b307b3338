/* SPDX-License-Identifier: MIT */
/*
 * One function, instruction by instruction: the disassembly, source line and counts of each; from
 * the samples of a recording, or from the exact engine's number of executions.
 */
#ifndef PROFILE_REPORT_ANNOTATE_H
#define PROFILE_REPORT_ANNOTATE_H

#include <sys/types.h>
#include "profile/samples.h"
#include "exact/exact.h"

struct annotate_column {
	char *name, *unit;
	bool exact; /* every execution was counted; else by samples */
	bool skids;
	int64_t here, all; /* amounts in the function, and in the whole profile */
	uint64_t samples;  /* in the function */
};

struct annotate_line {
	uint64_t address; /* as in the file; of a JIT and the kernel in memory */
	uint8_t size, bytes[16];
	char *text;   /* "" if it could not be disassembled */
	char *target; /* target of a branch or call: "name" or "name+0x10"; NULL: not known */
	char *file;   /* or NULL */
	unsigned line;
	int64_t *amount; /* per column */
	uint64_t *samples;
};

struct annotation {
	char *function, *module;
	uint64_t start, end;
	bool owned;  /* the module is a file: `owner` is set */
	uid_t owner; /* of that file */
	struct annotate_column *column;
	uint32_t columns;
	struct annotate_line *line; /* by address */
	size_t lines;
	char *no_code;    /* why there are no instructions, or NULL */
	char *others;     /* other functions of that name with counts, as a message, or NULL */
	uint64_t between; /* samples at an address inside an instruction */
	size_t left_out;  /* bytes left out of a huge function */
};

struct annotate_options {
	const char *function; /* a name, or a pattern for fnmatch(3) */
	const char *module;   /* pattern or NULL */
	bool no_patterns;     /* the two are names, whatever characters they contain */
	uint32_t column;      /* the hottest of several functions is shown, by this column */
	bool intel_syntax;
	struct modules_options modules; /* for annotate_exact() */
};

/* s was read with SAMPLES_ADDRESS. -ENOENT if no sample is in such a function. */
int annotate_samples(struct annotation *out, struct samples *s, const struct annotate_options *o,
		     struct tare_error *err);
int annotate_exact(struct annotation *out, const struct exact_profile *p,
		   const struct annotate_options *o, struct tare_error *err);
/*
 * The error for a function without code of its own: it was inlined into `host`, which has most of
 * its `amounts`. -ENOENT.
 */
int annotate_inlined(const char *function, const char *host, const char *amounts,
		     struct tare_error *err);
void annotate_free(struct annotation *a);

#endif
