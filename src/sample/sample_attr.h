/* SPDX-License-Identifier: MIT */
/*
 * What each event records at an overflow: encodings and sampling options -> attributes to open.
 * Pure.
 */
#ifndef SAMPLE_SAMPLE_ATTR_H
#define SAMPLE_SAMPLE_ATTR_H

#include "pmu/pmu.h"
#include "source/sampler.h"

enum call_graph { CALLS_NONE, CALLS_FRAME_POINTERS, CALLS_DWARF, CALLS_LBR };

enum { SAMPLE_CLOCK_LEAST = 10000 };

struct sample_how {
	uint64_t period;    /* events between two samples; 0: by frequency */
	uint64_t frequency; /* samples per second that the kernel aims for */
	enum call_graph calls;
	uint32_t stack_bytes; /* CALLS_DWARF: bytes of the user stack copied into each sample */
	uint16_t max_stack;   /* frames; 0: the kernel's limit */
	uint64_t branches;    /* PERF_SAMPLE_BRANCH_ bits; 0: none */
	/*
	 * exact engine: samples one of every `period` events, at a random place that is the same in
	 * each run
	 */
	bool jitter;
	bool hardware; /* the raw sampling registers (IBS) */
	bool weights;  /* several latencies in one word: Linux 5.12 */
	bool addresses, weight, physical, registers, inherit, on_exec, switches;
	bool track;      /* mappings, names, forks and exits from the first event on */
	int clockid;     /* -1: the kernel's own clock */
	bool fields;     /* for tracepoints: each one is a sample, with its fields */
	bool rate_given; /* period and frequency apply to tracepoints, too */
	bool lost;       /* ask each event for its number of lost records */
	bool reads_inherited;
	/*
	 * a clock that is read counts both modes and keeps its name: for users who may not count
	 * the kernel
	 */
	bool no_kernel;
};

/*
 * Writes one attribute per encoding to out[0..n-1]; a group's members refer to their leader by its
 * index in `out`, which begins at `base` of the array that sampler_add() will get.
 */
void sample_attrs(struct sampled *out, const struct encoding_list *list,
		  const struct sample_how *how, size_t base);

/* A clock in a group whose count is read: it counts both modes, whatever its samples leave out. */
bool sample_reads_clock(const struct encoding_list *list, size_t i);

/*
 * Arm SPE: its samples are in an AUX area, not in sample records; it needs a period, and the
 * kernel's own clock.
 */
bool sample_by_aux(const struct encoding *e);

/* The event that only reports mappings, names and forks: for when the others start later. */
void sample_tracker(struct encoding *enc, struct sampled *out, const struct sample_how *how);

/* Whether mappings of data are reported too: for data addresses, and for the unwind tables. */
bool sample_maps_data(const struct sample_how *how);

/*
 * The period in ns that a clock (cpu-clock, task-clock) would ask for and the kernel cannot
 * provide; 0: it can, or `e` is not a clock. The kernel's timer fires at most every
 * SAMPLE_CLOCK_LEAST ns, but its samples would claim a shorter period: sample_attrs() asks for
 * SAMPLE_CLOCK_LEAST instead. Source: linux kernel/events/core.c, perf_swevent_start_hrtimer().
 */
uint64_t sample_clock_short(const struct encoding *e, const struct sample_how *how);

/*
 * The offset of the period in a sample, in the layouts that sample_attrs() makes; 0: the period is
 * always sample_period.
 */
size_t sample_period_at(const struct perf_event_attr *attr);

#endif
