/* SPDX-License-Identifier: MIT */
/* What each event is asked to record at an overflow: encodings + how to sample -> attributes to open. Pure. */
#ifndef SAMPLE_SAMPLE_ATTR_H
#define SAMPLE_SAMPLE_ATTR_H

#include "pmu/pmu.h"
#include "source/sampler.h"

enum call_graph { CALLS_NONE, CALLS_FRAME_POINTERS, CALLS_DWARF, CALLS_LBR };

enum { SAMPLE_CLOCK_LEAST = 10000 };

struct sample_how {
	uint64_t period;    /* events from one sample to the next; 0: by frequency */
	uint64_t frequency; /* samples a second that the kernel steers towards */
	enum call_graph calls;
	uint32_t stack_bytes; /* CALLS_DWARF: of the user stack, copied into each sample */
	uint16_t max_stack;   /* frames; 0: the kernel's limit */
	uint64_t branches;    /* PERF_SAMPLE_BRANCH_ bits; 0: none */
	bool jitter; /* by the exact engine: of every `period` events one, at a place by chance that is the same in each run */
	bool hardware; /* the registers that it sampled by, as they are (IBS) */
	bool weights;  /* several latencies in one word: Linux 5.12 */
	bool addresses, weight, physical, registers, inherit, on_exec, switches;
	bool track;    /* mappings, names, forks and ends from the first event on */
	int clockid;   /* -1: the kernel's own clock */
	bool fields;   /* of tracepoints: each one is a sample, with what it says */
	bool rate_given; /* period and frequency are for tracepoints, too */
	bool lost;     /* ask each event for the records that found no room */
	bool reads_inherited;
	bool no_kernel; /* a clock that is read counts both modes, and keeps its name: open it as who may not count the kernel */
};

/*
 * One attribute per encoding into out[0..n-1]; a group's members name their leader by its index in `out`, which
 * begins at `base` of the array that sampler_add() will be given.
 */
void sample_attrs(struct sampled *out, const struct encoding_list *list, const struct sample_how *how, size_t base);

/* A clock whose count is read, in a group: of both modes, whatever is left out of its samples. */
bool sample_reads_clock(const struct encoding_list *list, size_t i);

/* Arm's SPE: what it samples comes by an AUX area, not as samples; it needs a period, and the kernel's own clock. */
bool sample_by_aux(const struct encoding *e);

/* The event that only tells of mappings, names, forks: for when the others begin later. */
void sample_tracker(struct encoding *enc, struct sampled *out, const struct sample_how *how);

/* Whether mappings of data are told too: where addresses lie, and the tables that stacks are unwound by. */
bool sample_maps_data(const struct sample_how *how);

/*
 * The period in ns that a clock (cpu-clock, task-clock) would be asked for and the kernel cannot make; 0: it can, or `e` is no
 * clock. Its timer goes off every SAMPLE_CLOCK_LEAST ns at most, while its samples would say that they stand for less: sample_attrs()
 * asks for that instead. Source: linux kernel/events/core.c, perf_swevent_start_hrtimer().
 */
uint64_t sample_clock_short(const struct encoding *e, const struct sample_how *how);

/* Bytes in a sample before its period, in the layouts that sample_attrs() makes; 0: it is sample_period each time. */
size_t sample_period_at(const struct perf_event_attr *attr);

#endif
