/* SPDX-License-Identifier: MIT */
/*
 * A recording of samples, read into a profile (profile/stacks.h): each sample's stack with names, by
 * what was mapped when it was taken. Samples are added up while they are read and each different
 * address is looked up once, so that memory grows with what is different, not with how many there
 * are.
 */
#ifndef PROFILE_SAMPLES_H
#define PROFILE_SAMPLES_H

#include "symbols/modules.h"
#include "profile/stacks.h"
#include "perfdata/perfdata.h"

enum samples_detail {
	SAMPLES_FUNCTION, /* frames that differ by function only */
	SAMPLES_LINE,	  /* and by source line, where it is known */
	SAMPLES_ADDRESS,  /* and by address */
};

/* Which samples. Patterns as for fnmatch(3), NULL: any. */
struct samples_filter {
	const char *comm;
	uint64_t from_ns, to_ns; /* of the recording's clock; 0, 0: all */
	int64_t pid, tid, cpu;	 /* -1: any */
};

struct samples_options {
	enum samples_detail detail;
	bool lines;    /* look lines up; SAMPLES_LINE does */
	bool offsets;  /* code without a name in a file is a function of its own, named file+address */
	bool inlined;  /* functions that were inlined are frames of their own */
	bool flat;     /* without callers */
	bool moments;  /* keep each sample's time */
	/*
	 * What the exact engine counted at each instruction, where the recording has it, in place of what samples stand for. Not with a
	 * filter, moments or tracepoints' fields. `apart`: rows will be by command or thread, which is known of samples alone.
	 */
	bool counted, comms_apart, threads_apart;
	struct samples_filter filter;
	const char *const *trace; /* which fields of tracepoints: profile/traced.h; NULL: none */
	size_t n_trace;
	bool trace_if_any; /* a recording without them is no error */
	const char *symfs, *kallsyms, *home; /* struct modules_options */
	bool force_names;
	uint32_t nodes_max; /* different pieces of stacks to keep, and different addresses; 0: 256 Ki and 8 for each byte read, up to 64 M (1 GiB) */
};

#define SAMPLES_ALL { .pid = -1, .tid = -1, .cpu = -1 }

/* Code of one module that has no names, and why. */
struct samples_unnamed {
	char *module, *why, *remedy;
	uint64_t samples; /* that were taken there */
	bool doubted; /* there is a file of that name, and nothing shows that it is the one that ran */
};

/* A file that is used without a build id of the recording. */
struct samples_by_name {
	char *module;
	bool kernel; /* it is the running one's, of which release, machine and place are the recording's */
	bool same_inode; /* it has the inode of what ran, and was not changed since; else host and path, or the user, vouch for it */
	bool newer; /* than the recording, and forced: what ran was another file, or it was copied since */
	bool other; /* what ran had another inode, and forced: the file was replaced since, or this is another machine */
};

struct samples_quality {
	uint64_t samples;      /* SAMPLE records */
	uint64_t used;	       /* that passed the filter and are in the profile */
	uint64_t undecodable, unattributed;
	uint64_t lost;	       /* records that the kernel dropped, of any kind */
	uint64_t lost_samples; /* samples among them, where the kernel says so */
	bool broke_off;	       /* the recorder did not come to its end: what came last may be missing */
	uint64_t throttled;    /* times an event was stopped because it came too often */
	uint64_t disordered;
	uint64_t cut;	       /* stacks that end before their outermost caller, as far as one can tell */
	uint64_t cut_by_size;  /* ... of them where more of the stack would have had to be copied */
	uint64_t chains;       /* recorded chains of callers that the kernel followed in user code */
	uint64_t broken;       /* ... of them that end where no code was mapped: what was followed there was no frame pointer */
	uint64_t unkept;       /* stacks that were not kept whole: nodes_max */
	uint64_t deferred;     /* user stacks that were to follow and are not here */
	uint64_t backwards;    /* counters of a group that were less than before */
	uint64_t first_ns, last_ns;
	bool with_stacks, weightless; /* weightless: amounts are samples, the file has no periods */
	bool short_clock;      /* samples of a clock say that they stand for less time than the kernel can make them do */
	bool unverified;       /* some modules have no build id in the recording */
	char damage[384];      /* what ended the reading early, or "" */
	char no_unwinding[384]; /* why recorded stacks were not unwound, or "" */
};

/* Are amounts exact counts? */
struct samples_counted {
	bool there;	/* the recording has the counts of each instruction */
	bool used;	/* asked for, and amounts are counts */
	const char *why; /* why not used, if there; NULL: not asked for */
	size_t comms;	/* names that threads have had */
};

struct samples {
	struct stacks *stacks;
	struct samples_counted counted;
	struct samples_quality quality;
	struct samples_unnamed *unnamed; /* most samples first */
	size_t n_unnamed;
	struct samples_by_name *by_name;
	size_t n_by_name;
	uint32_t *field; /* names of the tracepoints' fields that were asked for, as columns of a report */
	size_t n_fields;
	struct perfdata *file; /* its head and features */
	struct modules *modules; /* with SAMPLES_ADDRESS: `code` of its frames are their numbers */
};

/* 0, or a negative errno when nothing can be said of it. Damage further on gives what came before
 * it. */
int samples_read(struct samples *out, const char *path, const struct samples_options *opts,
		 struct tare_error *err);
void samples_free(struct samples *s);

/* The module's row, or NULL: its build id is that of what ran. */
const struct samples_by_name *samples_by_name(const struct samples *s, const char *module);

#endif
