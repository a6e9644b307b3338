/* SPDX-License-Identifier: MIT */
/*
 * Windows: what all counters of a group counted while the first of them counted N, again and again, per thread.
 * Three ways to them, one sink: by overflow of the first (window_sample), by the exact engine (window_exact), by
 * a timer that reads what it finds (window_poll).
 */
#ifndef WINDOWS_WINDOW_H
#define WINDOWS_WINDOW_H

#include "sample/sample.h"

struct window_thread {
	uint64_t number; /* in order of appearance, from 0; never used twice, as a tid may be */
	uint32_t pid, tid;
	const char *comm; /* as last set */
};

/* One row. `value` is a view. */
struct window {
	uint64_t thread;  /* window_thread.number */
	uint64_t begin;	  /* the first event's count of this thread at the window's begin */
	uint64_t time_ns; /* CLOCK_MONOTONIC at its end */
	uint64_t wall_ns; /* since the thread's window before, or its begin; 0: not known, or its counts did not begin with it */
	int cpu;	  /* at its end; -1: not known */
	bool rest;	  /* ended with its thread, and not by the count */
	bool moved;	  /* the thread was on another CPU in between, whose part is in another window: what is counted here may have begun before wall_ns */
	const uint64_t *value; /* per event: what was counted in this window */
};

struct window_sink {
	int (*thread)(struct window_sink *self, const struct window_thread *t, struct tare_error *err);
	int (*window)(struct window_sink *self, const struct window *w, struct tare_error *err);
};

/* What became of it as a whole. */
struct window_end {
	bool has_status, timed_out, began;
	bool never_began; /* by a signal before its first instruction, as the exact engine tells */
	int wait_status, by_signal, exec_code;
	uint64_t wall_ns, lost; /* windows that found no room */
	uint64_t throttled;
	struct exact_partial partial; /* with `uncounted`: the processes that are missing; n is 0 where nothing can be relied on */
	char uncounted[200]; /* what of the command the exact engine did not see, and why; "": nothing */
	bool kernel_left_out, children_left_out;
	bool cut_off; /* an error ended the counting before the command ended; set by the caller */
	bool rests_unknown; /* what threads did after their last window */
	uint64_t unseen;    /* threads that are counted and have no row, as far as known */
	uint64_t *rest;	    /* per event: what all threads counted after their last windows, in no row; NULL: nothing, or unknown. The caller frees it */
};

struct window_plan {
	struct encoding_list *events; /* one group, the first one makes the windows */
	uint64_t every;
	const char *root;
	char *const *argv;
	const struct launcher *launcher;
	char *const *envp;
	struct fixed *fixed;
	struct where where;
	bool inherit;
	uint64_t timeout_ns, delay_ns;
	uint64_t interval_ns; /* window_poll */
};

int window_poll(const struct window_plan *plan, const struct source *source,
		struct window_sink *to, struct window_end *end, struct tare_error *err);
/* Every event is one that engine_counts(). */
int window_exact(const struct window_plan *plan, struct window_sink *to, struct window_end *end,
		 struct tare_error *err);
int window_sample(const struct window_plan *plan, struct window_sink *to, struct window_end *end,
		  struct tare_error *err);

#endif
