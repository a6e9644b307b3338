/* SPDX-License-Identifier: MIT */
/*
 * Sampling: a command, processes, threads or CPUs from begin to end. Takes encodings and how to sample them, and
 * states to a sink what was opened and then every record, in the kernel's own layout (linux/perf_event.h).
 */
#ifndef SAMPLE_SAMPLE_H
#define SAMPLE_SAMPLE_H

#include "exact/exact_places.h"
#include "launch/launch.h"
#include "sample/sample_attr.h"
#include "launch/where.h"

/* What a reader of AUX data has to know. */
struct sample_aux {
	uint32_t pmu_type; /* of the hardware that writes it */
	bool per_cpu;	   /* an area holds what a CPU did; else what a thread did */
	bool has_clock;
	struct sampler_clock clock;
};

struct sample_sink {
	/* Once, before any record: what was opened, with its ids. `events` lives until the session ends. */
	int (*begin)(struct sample_sink *self, const struct sampled *events, size_t n, struct tare_error *err);
	/* Whole records, each with its header; as often as there are some. */
	int (*records)(struct sample_sink *self, const unsigned char *bytes, size_t n, struct tare_error *err);
	/* The command runs, and all rings were read: what comes later is not older than what came before the round before. */
	int (*round)(struct sample_sink *self, struct tare_error *err);
	/* Only where an event samples by AUX areas: once, after begin(); then what was in them, after the records that tell of it. */
	int (*about_aux)(struct sample_sink *self, const struct sample_aux *about, struct tare_error *err);
	int (*aux)(struct sample_sink *self, const struct aux_piece *piece, struct tare_error *err);
};

/* What became of one event. */
struct sample_tally {
	char name[160];
	bool member; /* read when its leader overflows; has no samples of its own */
	uint64_t samples, period_sum; /* handed over; the events that they stand for */
	uint64_t period; /* by the exact engine: of this event; 0: it is read */
	struct sampler_total total;   /* what was counted meanwhile */
	bool total_unknown; /* of some threads it was not told */
	bool clock;   /* of all time on a CPU: what it counted is ns that samples should stand for */
	double share; /* of the time that it was on the PMU; 1: all, or not known */
};

struct sample_outcome {
	struct sample_tally *event; /* per opened event; the caller frees it */
	size_t n_events;
	uint64_t records, bytes;
	uint64_t lost;		/* records that found no room, as far as the kernel told */
	uint64_t forks;		/* of processes and threads that were followed */
	uint64_t throttled;	/* times the kernel paused an event for taking too much time */
	uint64_t aux_bytes;	/* that the hardware wrote into AUX areas */
	uint64_t aux_full, aux_gaps, aux_collided; /* times an area was full; had gaps; samples fell on one another, as often as was told */
	bool aux;		/* an event sampled so */
	uint64_t first_ns, last_ns; /* of samples; 0: none */
	uint64_t started_ns;	/* CLOCK_MONOTONIC when tare had started all events; 0: the kernel did, at the command's exec */
	uint64_t wall_ns;	/* that was recorded */
	struct sampler_rings rings;
	bool exact;		/* by the exact engine: the same samples in every run */
	uint64_t period;	/* of its first event */
	bool jitter;		/* ... on average */
	bool accesses;		/* of memory, with their addresses */
	bool broke_off;		/* what came later could not be put down */
	bool went_on;		/* ... and the command came to its own end all the same */
	bool began;		/* the command ran, or the tasks were sampled: there is a recording */
	bool kernel_left_out;	/* this user may not sample the kernel */
	bool kernel_unplaced;	/* the kernel was sampled, and its addresses are hidden */
	bool children_left_out; /* group members are read, and this kernel cannot in children */
	bool groups_of_children; /* read in each sample (:S), in every thread from 0 */
	int exec_code;		/* errno of an exec that failed, else 0 */
	int by_signal;
	bool timed_out, has_status;
	bool never_began; /* by a signal before its first instruction, as the exact engine tells */
	struct exact_partial partial; /* with `uncounted`: the processes that are missing; n is 0 where nothing can be relied on */
	char uncounted[200]; /* what of the command the exact engine did not see, and why; "": nothing */
	struct exact_places places; /* of the exact engine; 0 events: not known */
	bool large_enough; /* as plan->enough said; what came later is missing */
	int wait_status;
};

struct sample_plan {
	struct encoding_list *events; /* names gain a ":u" where the kernel has to be left out */
	struct sample_how how;
	const char *root;
	char *const *argv; /* the command; NULL: none */
	const struct launcher *launcher;
	char *const *envp;
	struct fixed *fixed;
	struct where where;   /* with neither tasks nor CPUs: the command itself */
	bool any_cpu;	      /* one ring per thread, which stays whole when it moves; no children */
	uint64_t timeout_ns, delay_ns;
	/* Asked after each time that records were stated: whether these are enough. It then ends as by timeout_ns. NULL: never. */
	bool (*enough)(void *with);
	void *with;
	size_t ring_bytes, ring_most;
	size_t ring_by_rate; /* rings begin larger, up to this, where samples may come fast; 0: with ring_bytes */
	uint64_t rate_most;  /* samples of an event a second before the kernel pauses it; 0: not known */
	size_t aux_bytes; /* of each AUX area, where there are some */
};

/*
 * 0, or a negative errno: what failed. The outcome holds what was recorded until then. Where the sink fails the command goes on to its end, or to
 * timeout_ns, unrecorded; but for -EPIPE: nobody is there any more to read, and it is asked to end.
 */
int sample_run(const struct sample_plan *plan, struct sample_sink *to, struct sample_outcome *outcome,
	       struct tare_error *err);
/*
 * The same of a command under the exact engine: every event is one that engine_counts(), and is sampled every how.period, or by its own
 * attr.sample_period; up to EXACT_EVENTS_MAX of them. Those of one group with sample_read are read with its first event instead: then
 * that is the only one sampled.
 */
int sample_exact(const struct sample_plan *plan, struct sample_sink *to, struct sample_outcome *outcome,
		 struct tare_error *err);
void sample_outcome_free(struct sample_outcome *o);

#endif
