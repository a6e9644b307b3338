/* SPDX-License-Identifier: MIT */
/*
 * Windows: the counts of all counters in a group while the first of them counts N, repeatedly, per
 * thread. Three sources with a common sink: overflow of the first counter (window_sample), the
 * exact engine (window_exact), and reads by a timer (window_poll).
 */
#ifndef WINDOWS_WINDOW_H
#define WINDOWS_WINDOW_H

#include "sample/sample.h"

struct window_thread {
	uint64_t number; /* in order of appearance, from 0; unique, unlike a tid */
	uint32_t pid, tid;
	const char *comm; /* as last set */
};

/* One row. `value` is a view. */
struct window {
	uint64_t thread;  /* from window_thread.number */
	uint64_t begin;   /* the thread's count of the first event at the beginning of the window */
	uint64_t time_ns; /* CLOCK_MONOTONIC at the end of the window */
	/*
	 * since the thread's previous window, or its begin; 0: not known, or the counts did not
	 * begin at that time
	 */
	uint64_t wall_ns;
	int cpu;   /* at the end of the window; -1: not known */
	bool rest; /* ended with its thread, not by the count */
	/*
	 * the thread was on another CPU meanwhile, and that part is in another window: the counts
	 * may have begun before wall_ns
	 */
	bool moved;
	const uint64_t *value; /* counts per event in this window */
};

struct window_sink {
	int (*thread)(struct window_sink *self, const struct window_thread *t,
		      struct tare_error *err);
	int (*window)(struct window_sink *self, const struct window *w, struct tare_error *err);
};

/* The outcome of the whole session. */
struct window_end {
	bool has_status, timed_out, began;
	/* killed by a signal before its first instruction, as detected by the exact engine */
	bool never_began;
	int wait_status, by_signal, exec_code;
	uint64_t wall_ns, lost; /* lost: windows dropped because of a full buffer */
	uint64_t throttled;
	/* with `uncounted`: the missing processes; n is 0 if the counts are not reliable */
	struct exact_partial partial;
	/* the part of the command that the exact engine did not see, and why; "": none */
	char uncounted[200];
	bool kernel_left_out, children_left_out;
	bool cut_off; /* an error ended the counting before the command ended; set by the caller */
	bool rests_unknown; /* the counts of threads after their last window are not known */
	uint64_t unseen;    /* counted threads without a row, as far as known */
	/*
	 * per event: the counts of all threads after their last windows, which are in no row; NULL:
	 * none, or unknown. The caller frees it
	 */
	uint64_t *rest;
};

struct window_plan {
	struct encoding_list *events; /* one group; the first event defines the windows */
	uint64_t every;
	const char *root;
	char *const *argv;
	const struct launcher *launcher;
	char *const *envp;
	struct determinism *fixed;
	struct count_target target;
	bool inherit;
	uint64_t timeout_ns, delay_ns;
	uint64_t interval_ns; /* for window_poll */
};

int window_poll(const struct window_plan *plan, const struct source *source, struct window_sink *to,
		struct window_end *end, struct tare_error *err);
/* Every event must satisfy engine_counts(). */
int window_exact(const struct window_plan *plan, struct window_sink *to, struct window_end *end,
		 struct tare_error *err);
int window_sample(const struct window_plan *plan, struct window_sink *to, struct window_end *end,
		  struct tare_error *err);

#endif
