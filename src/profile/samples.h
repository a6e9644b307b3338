/* SPDX-License-Identifier: MIT */
/*
 * Reads a recording of samples into a profile (profile/call_tree.h): each sample's stack with
 * names, by the mappings at the time of the sample. Samples are added up while they are read and
 * each distinct address is looked up once, so memory grows with the number of distinct stacks and
 * addresses, not with the number of samples.
 */
#ifndef PROFILE_SAMPLES_H
#define PROFILE_SAMPLES_H

#include "symbols/modules.h"
#include "profile/call_tree.h"
#include "perfdata/perfdata.h"

enum samples_detail {
	SAMPLES_FUNCTION, /* frames differ by function only */
	SAMPLES_LINE,     /* and by source line, if known */
	SAMPLES_ADDRESS,  /* and by address */
};

/* Which samples to use. Patterns as for fnmatch(3), NULL: any. */
struct samples_filter {
	const char *comm;
	uint64_t from_ns, to_ns; /* by the recording's clock; 0, 0: all */
	int64_t pid, tid, cpu;   /* -1: any */
};

struct samples_options {
	enum samples_detail detail;
	bool lines;   /* look up lines; implied by SAMPLES_LINE */
	bool offsets; /* code in a file without a name is its own function, named file+address */
	bool inlined; /* inlined functions get frames of their own */
	/* without `inlined`: find those that are a large part of the function around them */
	bool large_inlined;
	bool flat;       /* without callers */
	bool sample_log; /* keep each sample's time */
	/* with sample_log: use `counted`, too; the amounts of the log are then estimates */
	bool log_with_counts;
	/*
	 * Use the exact engine's counts per instruction, if the recording has them, instead of the
	 * amounts of samples. Not with a filter, moments or fields of tracepoints. `apart`: rows
	 * will be split by command or thread, which only samples know.
	 */
	bool counted, comms_apart, threads_apart;
	bool places; /* with `counted`: keep the first event's count of each instruction */
	struct samples_filter filter;
	const char *const *trace; /* which fields of tracepoints: profile/traced.h; NULL: none */
	size_t n_trace;
	bool trace_if_any;                   /* a recording without them is no error */
	const char *symfs, *kallsyms, *home; /* struct modules_options */
	bool force_names;
	/*
	 * limit on tree nodes and on distinct addresses; 0: 256 Ki plus 8 for each byte read, up to
	 * 64 M (1 GiB)
	 */
	uint32_t nodes_max;
};

#define SAMPLES_ALL                                                                                \
	{                                                                                          \
		.pid = -1, .tid = -1, .cpu = -1                                                    \
	}

/* A module with code without names, and the reason. */
struct samples_unnamed {
	char *module, *why, *remedy;
	uint64_t samples; /* samples in its code */
	/* a file of that name exists, but nothing proves that it is the one that ran */
	bool doubted;
};

/* A file that is used although the recording has no build id for it. */
struct samples_by_name {
	char *module;
	/* the running kernel, with the release, machine and address of the recording's */
	bool kernel;
	/*
	 * same inode as the file that ran, and not modified since; otherwise host and path, or the
	 * user, vouch for it
	 */
	bool same_inode;
	/* newer than the recording, and forced: another file ran, or it was copied since */
	bool newer;
	/*
	 * another inode than the file that ran, and forced: it was replaced since, or this is
	 * another machine
	 */
	bool other;
};

/* A function with many samples in code that was inlined into it. */
struct samples_inlined {
	char *function, *into;
};

struct samples_quality {
	uint64_t samples; /* SAMPLE records */
	uint64_t used;    /* passed the filter and are in the profile */
	uint64_t undecodable, unattributed;
	uint64_t lost;         /* records that the kernel dropped, of any kind */
	uint64_t lost_samples; /* samples among them, where the kernel says so */
	bool broke_off;        /* the recording was cut short: its last records may be missing */
	uint64_t throttled;    /* times an event was stopped because it came too often */
	uint64_t disordered;
	uint64_t cut;         /* stacks that probably end before their outermost caller */
	uint64_t cut_by_size; /* ... because too little of the stack was copied */
	uint64_t chains;      /* recorded call chains that the kernel followed in user code */
	/*
	 * ... that end outside mapped code: the kernel followed a register that was no frame
	 * pointer
	 */
	uint64_t broken;
	uint64_t unkept;    /* stacks that were shortened: nodes_max */
	uint64_t deferred;  /* deferred user stacks that never came */
	uint64_t backwards; /* group counters that went backwards */
	uint64_t first_ns, last_ns;
	/* weightless: amounts are numbers of samples, as the file has no periods */
	bool with_stacks, weightless;
	/* a clock's samples have periods shorter than the kernel can deliver */
	bool short_clock;
	bool unverified;        /* some modules have no build id in the recording */
	char damage[384];       /* the damage that stopped the reading, or "" */
	char no_unwinding[384]; /* why recorded stacks were not unwound, or "" */
};

/* Are amounts exact counts? */
struct samples_counted {
	bool there;      /* the recording has counts per instruction */
	bool used;       /* requested, and amounts are counts */
	const char *why; /* reason for not using them, if there; NULL: not requested */
	size_t comms;    /* names of threads */
};

struct samples_place {
	uint32_t frame; /* of the call tree */
	uint32_t module;
	uint64_t offset, amount;
};

struct samples {
	struct call_tree *call_tree;
	struct samples_place *place; /* with samples_options.places */
	size_t places;
	struct samples_counted counted;
	struct samples_quality quality;
	struct samples_unnamed *unnamed; /* most samples first */
	size_t n_unnamed;
	struct samples_by_name *by_name;
	size_t n_by_name;
	struct samples_inlined *inlined; /* with large_inlined: of `into`, the largest one */
	size_t n_inlined;
	uint32_t *field; /* names of the requested fields of tracepoints, as columns of a report */
	size_t n_fields;
	struct perfdata *file; /* its head and features */
	/* with SAMPLES_ADDRESS or places: `code` of a frame and `module` of a place are indexes */
	struct modules *modules;
};

/*
 * Returns 0, or a negative errno if the file cannot be used at all. Damage later in the file ends
 * the reading; the samples before it are kept.
 */
int samples_read(struct samples *out, const char *path, const struct samples_options *opts,
		 struct tare_error *err);
void samples_free(struct samples *s);

/* The module's row, or NULL if its build id matches what ran. */
const struct samples_by_name *samples_by_name(const struct samples *s, const char *module);

#endif
