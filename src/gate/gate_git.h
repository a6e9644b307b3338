/* SPDX-License-Identifier: MIT */
/*
 * Programs that the gate starts (git, setup commands), without a shell, and the notes of
 * refs/notes/tare: results and accepted changes, a record per line.
 */
#ifndef GATE_GATE_GIT_H
#define GATE_GATE_GIT_H

#include "base/text.h"
#include "compare/revision.h"
#include "gate/gate.h"

struct gate_program {
	char *const *argv;
	const char *dir;          /* NULL: tare's own */
	char *const *environment; /* "NAME=value" to add; or NULL */
	const char *input;        /* its standard input; NULL: /dev/null */
};

/*
 * Runs it to its end. Its outputs are added to the texts (NULL: discarded). Returns its wait
 * status, or -errno: -EINTR if a signal stopped tare.
 */
int gate_program_run(const struct gate_program *p, struct revision_signals *s, struct text *out,
		     struct text *said, struct tare_error *err);

struct gate_git {
	struct revision_signals *signals;
	const char *input; /* its standard input; NULL: empty */
	bool identity;     /* the user has none: use tare's */
	struct text out, said;
};

/*
 * git's exit status; g->out is its output without the last newline. Hooks of the repository do not
 * run.
 */
int gate_git(struct gate_git *g, struct tare_error *err, ...);
/* An error with git's message as its reason. */
int gate_git_failed(const struct gate_git *g, struct tare_error *err, const char *what);
bool gate_git_is_shallow(struct gate_git *g);
void gate_git_end(struct gate_git *g);

/* What to do about missing history. */
#define GATE_DEEPEN                                                                                \
	"this clone is shallow: git fetch --unshallow; fetch-depth: 0 in GitHub's "                \
	"actions/checkout; GIT_DEPTH: 0 in GitLab"

struct gate_base {
	char head[REVISION_COMMIT_BYTES];   /* "": in no git repository, or no commit yet */
	char commit[REVISION_COMMIT_BYTES]; /* the commit with the results; "": none */
	char merge_base[REVISION_COMMIT_BYTES];
	bool shallow; /* the history of this clone is cut off, and the base is not in it */
	bool dirty;   /* tracked files of the checkout differ from head */
	struct gate_records results, accepted;
	char none[GATE_TEXT_BYTES]; /* what to do if there is no baseline */
};

enum gate_source {
	GATE_FROM_NOTES,
	GATE_MEASURED,  /* only the merge base, without its results */
	GATE_FROM_FILE, /* only HEAD, and changes that its note accepts */
};
struct gate_wanted {
	const char *rev;                               /* NULL: the default branch */
	const struct gate_benchmark *const *benchmark; /* to be compared */
	size_t n;
};

/*
 * The results of the merge base of HEAD and `rev`, or of its nearest ancestor that has some. HEAD
 * itself counts only if there are uncommitted changes. A wanted benchmark without a result there,
 * for example because it failed, is searched in older notes. No baseline is not an error.
 */
int gate_base_find(struct gate_base *out, const struct gate_wanted *wanted, enum gate_source from,
		   struct revision_signals *s, struct tare_error *err);
void gate_base_free(struct gate_base *b);
/*
 * Of the files below the working directory that differ between the commit `since` and the checkout,
 * the last one that was modified after `program`; "": none, or git tracks `program` itself.
 */
int gate_newer_source(const char *program, const char *since, struct text *out,
		      struct revision_signals *s, struct tare_error *err);
/* Adds them to the note of HEAD; older ones of the same benchmark and conditions are replaced. */
int gate_notes_add(const struct gate_records *records, struct revision_signals *s,
		   struct tare_error *err);

#endif
