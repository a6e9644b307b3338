/* SPDX-License-Identifier: MIT */
/*
 * Sampling a command, processes, threads or CPUs from start to end. Takes encodings and sampling
 * options, and passes the opened events and then every record to a sink, in the kernel's own layout
 * (linux/perf_event.h).
 */
#ifndef SAMPLE_SAMPLE_H
#define SAMPLE_SAMPLE_H

#include "exact/exact_places.h"
#include "launch/launch.h"
#include "sample/sample_attr.h"
#include "launch/count_target.h"

/* Parameters that a reader of AUX data needs. */
struct sample_aux {
	uint32_t pmu_type; /* type of the PMU that writes it */
	bool per_cpu;      /* an area has the data of a CPU; else of a thread */
	bool has_clock;
	struct sampler_clock clock;
};

struct sample_sink {
	/*
	 * Called once, before any record, with the opened events and their ids. `events` lives
	 * until the session ends.
	 */
	int (*begin)(struct sample_sink *self, const struct sampled *events, size_t n,
		     struct tare_error *err);
	/* Called with whole records, each with its header, whenever there are some. */
	int (*records)(struct sample_sink *self, const unsigned char *bytes, size_t n,
		       struct tare_error *err);
	/*
	 * Called while the command runs, when all rings were read: later records are not older than
	 * those before the previous round.
	 */
	int (*round)(struct sample_sink *self, struct tare_error *err);
	/*
	 * Only if an event samples by AUX areas: begin once, after begin(); then the data, after
	 * the AUX records that refer to it.
	 */
	int (*about_aux)(struct sample_sink *self, const struct sample_aux *about,
			 struct tare_error *err);
	int (*aux)(struct sample_sink *self, const struct aux_piece *piece, struct tare_error *err);
};

/* The result for one event. */
struct sample_tally {
	char name[160];
	bool member; /* read when its leader overflows; has no samples of its own */
	uint64_t samples, period_sum; /* samples passed to the sink; sum of their periods */
	uint64_t period;              /* exact engine: of this event; 0: it is read */
	struct sampler_total total;   /* counted during the recording */
	bool total_unknown;           /* some threads did not report it */
	bool clock;   /* a clock: its count is the ns that samples should represent */
	double share; /* fraction of the time that it was on the PMU; 1: all, or not known */
};

struct sample_outcome {
	struct sample_tally *event; /* one per opened event; the caller frees it */
	size_t n_events;
	uint64_t records, bytes;
	uint64_t lost;      /* lost records, as reported by the kernel */
	uint64_t forks;     /* number of processes and threads that were followed */
	uint64_t throttled; /* times the kernel throttled an event */
	uint64_t aux_bytes; /* bytes that the hardware wrote into AUX areas */
	uint64_t aux_full, aux_gaps,
		/* times an area was full; had gaps; had sample collisions, as reported */
		aux_collided;
	bool aux;                   /* an event that samples this way */
	uint64_t first_ns, last_ns; /* of samples; 0: none */
	uint64_t
		/*
		 * CLOCK_MONOTONIC when tare had started all events; 0: the kernel started them, at
		 * the command's exec
		 */
		started_ns;
	uint64_t wall_ns; /* that was recorded */
	struct sampler_rings rings;
	bool exact;           /* exact engine: the same samples in every run */
	uint64_t period;      /* of its first event */
	bool jitter;          /* ... on average */
	bool accesses;        /* of memory, with their addresses */
	bool broke_off;       /* later data could not be written */
	bool went_on;         /* ... and the command still ran to its end */
	bool began;           /* the command ran, or the tasks were sampled: there is a recording */
	bool kernel_left_out; /* this user may not sample the kernel */
	bool kernel_unplaced; /* the kernel was sampled, but its addresses are hidden */
	/* Group members are read, which this kernel cannot do in children */
	bool children_left_out;
	bool groups_of_children; /* read in each sample (:S), starting at 0 in every thread */
	int exec_code;           /* errno of an exec that failed, else 0 */
	int by_signal;
	bool timed_out, has_status;
	/* By a signal before its first instruction, as reported by the exact engine */
	bool never_began;
	struct exact_partial
		/* with `uncounted`: the missing processes; n is 0 if the list is unreliable */
		partial;
	char uncounted
		/* parts of the command that the exact engine did not see, and why; "": none */
		[200];
	struct exact_places places; /* from the exact engine; 0 events: not known */
	bool large_enough; /* ended because plan->enough returned true; later data is missing */
	int wait_status;
};

struct sample_plan {
	struct encoding_list *events; /* names gain a ":u" if the kernel has to be left out */
	struct sample_how how;
	const char *root;
	char *const *argv; /* the command; NULL: none */
	const struct launcher *launcher;
	char *const *envp;
	struct determinism *fixed;
	struct count_target target; /* without tasks and CPUs: the command itself */
	/* one ring per thread, which continues when the thread migrates; no children */
	bool any_cpu;
	bool kills; /* as in struct stat_plan; sample_exact() */
	uint64_t timeout_ns, delay_ns;
	/*
	 * Called each time after records were passed on: whether these are enough. Recording then
	 * ends as with timeout_ns. NULL: never.
	 */
	bool (*enough)(void *with);
	void *with;
	size_t ring_bytes, ring_most;
	/* rings start larger, up to this, if samples may come fast; 0: with ring_bytes */
	size_t ring_by_rate;
	uint64_t
		/* samples of an event per second before the kernel throttles it; 0: not known */
		rate_most;
	size_t aux_bytes; /* size of each AUX area, if any */
};

/*
 * Returns 0, or a negative errno of the failure. The outcome has the data recorded until then. If
 * the sink fails, the command runs on to its end, or to timeout_ns, unrecorded. With -EPIPE no
 * reader is left, and the command is asked to end.
 */
int sample_run(const struct sample_plan *plan, struct sample_sink *to,
	       struct sample_outcome *outcome, struct tare_error *err);
/*
 * The same for a command under the exact engine: engine_counts() must be true for every event; each
 * is sampled every how.period, or by its own attr.sample_period; up to EXACT_EVENTS_MAX of them.
 * Events of one group with sample_read are read with its first event instead: then only that one is
 * sampled.
 */
int sample_exact(const struct sample_plan *plan, struct sample_sink *to,
		 struct sample_outcome *outcome, struct tare_error *err);
void sample_outcome_free(struct sample_outcome *o);

#endif
