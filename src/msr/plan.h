/* SPDX-License-Identifier: MIT */
/*
 * Events + CPU -> the register operations that count them, in their order. No side effects: nothing
 * is read or written here, so every value can be compared with the manuals.
 *
 * Sources: Intel SDM vol. 3B, "Architectural Performance Monitoring"; AMD64 APM vol. 2, 13.2,
 * "Performance Monitoring Counters"; PPR for family 19h model 11h, "Performance Monitor Counters".
 */
#ifndef MSR_PLAN_H
#define MSR_PLAN_H

#include "msr/table.h"

enum { MSR_EVENTS_MAX = 12, MSR_STEPS_MAX = 160, MSR_PROGRAMMABLE_MAX = 8, MSR_FIXED_MAX = 4 };

/*
 * Source: AMD64 APM vol. 2, "Performance Event-Select Registers", HG_ONLY. Counting only the host
 * requires EFER.SVME.
 */
#define MSR_AMD_GUEST_ONLY (UINT64_C(1) << 40)
#define MSR_AMD_HOST_ONLY  (UINT64_C(1) << 41)

struct msr_cpu {
	unsigned maker; /* TARE_MSR_INTEL, TARE_MSR_AMD */
	/*
	 * Intel: version of architectural performance monitoring, 1 to 5. AMD: 0 the four counters
	 * of family 10h, 1 the six of families 15h to 19h, 2 those with a global control (Zen 4).
	 */
	unsigned version;
	unsigned programmable, fixed;
	unsigned width, fixed_width; /* bits */
	bool full_width;             /* a counter can be set to more than 32 bits, by IA32_A_PMCx */
	char name[64];
	/* msr_extras_of(); NULL: unknown, or AMD's, which have none */
	const struct msr_extra *extras;
};

/* An event that needs a second register. */
struct msr_extra {
	uint32_t code; /* umask and event */
	uint32_t msr;  /* 0: needs something that this planner does not support */
	uint64_t mask; /* the register's valid bits; another bit faults */
	const char *term;
};

/*
 * By the fields of data/cpus.txt. NULL: unknown. The CPU may have none: then the table is empty.
 * Static.
 */
const struct msr_extra *msr_extras_of(const char *bound, const char *libpfm);
/*
 * The entry for an event by its event and umask; NULL: it needs no second register. `extras` may be
 * NULL.
 */
const struct msr_extra *msr_extra_find(const struct msr_extra *extras, uint64_t config);
/* Another event with the same term and a register of its own; or NULL. */
const struct msr_extra *msr_extra_beside(const struct msr_extra *extras,
					 const struct msr_extra *one);
/* Does this event need a second register on any CPU? */
bool msr_extra_anywhere(uint64_t config);

/* A CPU that may be absent, by its fields in data/cpus.txt. -ENODATA: unknown. */
int msr_cpu_of(struct msr_cpu *out, const char *bound, const char *libpfm, const char *name,
	       unsigned programmable, unsigned fixed, struct tare_error *err);

struct msr_event {
	const char *name;
	/*
	 * in perf's format: event, umask, edge, inv, cmask; 0x0300 is Intel's fixed reference
	 * cycles
	 */
	uint64_t config;
	uint64_t extra; /* value of the second register, for events such as offcore responses */
	bool user, kernel;
	/* allowed counters: bits 0-31 programmable, 32-63 fixed; 0: any that supports it */
	uint64_t legal;
	uint64_t period; /* starts at -period, and interrupts after that; 0: starts at 0 */
};

struct msr_place {
	bool fixed;
	unsigned index;
	uint32_t counter; /* its register */
	uint32_t select;  /* 0: fixed */
	uint64_t value;   /* of select, or its bits of IA32_FIXED_CTR_CTRL */
};

enum msr_phase {
	MSR_SAVE,      /* save every register that is written later */
	MSR_QUIET,     /* stop all counting */
	MSR_CONFIGURE, /* select the events */
	MSR_ZERO,      /* set the initial values */
	MSR_START,
	MSR_STOP,
	MSR_READ,
	MSR_CHECK, /* read which counters overflowed; clear that */
	MSR_RESTORE,
	MSR_PHASES
};
const char *msr_phase_name(enum msr_phase phase);

struct msr_step {
	enum msr_phase phase;
	struct tare_msr_op op; /* MSR_RESTORE: the value that MSR_SAVE read replaces op.value */
	unsigned event;        /* MSR_READ: the event that is read */
};

struct msr_plan {
	struct msr_place place[MSR_EVENTS_MAX]; /* of each event */
	size_t n_events;
	struct msr_step step[MSR_STEPS_MAX];
	size_t n;
	uint64_t enable;     /* its counters: bits 0-31 programmable, 32-63 fixed */
	uint64_t fixed_ctrl; /* its bits of IA32_FIXED_CTR_CTRL */
	uint64_t wrap;       /* added to a programmable counter that overflowed: 2^width */
	bool status;         /* MSR_CHECK can detect overflows */
};

/*
 * `taken`: counters that other plans use on the same CPU, as in msr_plan.enable. -ENOSPC: they do
 * not all fit at the same time; -EINVAL: this CPU cannot count an event that way; -ERANGE: a period
 * does not fit a counter. The error names the event.
 */
int msr_plan_make(struct msr_plan *out, const struct msr_cpu *cpu, const struct msr_event *ev,
		  size_t n, uint64_t taken, struct tare_error *err);

/* The operations of phases first..last, in order; at most `room`. */
size_t msr_plan_ops(const struct msr_plan *p, enum msr_phase first, enum msr_phase last,
		    struct tare_msr_op *out, size_t room);

/* State of other plans on the same CPU, which this one must not change. */
struct msr_beside {
	uint64_t enabled; /* as msr_plan.enable */
	uint64_t fixed_ctrl;
};
void msr_plan_beside(struct tare_msr_op *op, size_t n, const struct msr_cpu *cpu,
		     const struct msr_beside *others);

/* MSR_RESTORE, with what MSR_SAVE read: both as msr_plan_ops gives them. */
void msr_plan_saved(struct tare_msr_op *restore, size_t n, const struct tare_msr_op *saved,
		    size_t n_saved);

/*
 * Does a step of MSR_RESTORE restore a saved value? All do, except the first, which disables the
 * global control.
 */
bool msr_step_is_saved(const struct msr_plan *p, size_t step);

/*
 * The trace of register reads and writes that the kernel would show (events/msr): by the module,
 * which reads each register before its first write and restores it on close, or in the order of the
 * plan. "?": a value unknown in advance; "saved": the value read there first.
 */
void msr_plan_trace(struct text *out, const struct msr_plan *p, const struct msr_cpu *cpu,
		    bool module);

#endif
