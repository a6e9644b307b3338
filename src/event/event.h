/* SPDX-License-Identifier: MIT */
/*
 * The events that the user requested, in perf's event grammar, parsed only. Takes text, gives a
 * list of events in groups; independent of the machine. src/pmu knows which names exist.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

enum event_kind {
	EVENT_NAME, /* cycles, L1-dcache-load-misses, inst_retired.any, vendor names, PAPI_TOT_INS
		     */
	EVENT_PMU,  /* pmu/term=1,flag,name=x/ */
	EVENT_RAW,  /* r1a8 */
	EVENT_BREAKPOINT, /* mem:0x1000/8:rw */
	EVENT_TRACEPOINT, /* sched:sched_switch */
	EVENT_NUMBERS,    /* 4:0x1a8: attr.type and attr.config by number */
};

struct event_mods {
	bool given; /* any of u, k, h was written: the others are then excluded */
	bool user, kernel, hypervisor;
	bool guest, host; /* G, H */
	bool no_idle;     /* I */
	unsigned precise; /* number of p: 0..3 */
	bool precise_max; /* P */
	bool sample_read; /* S */
	bool pinned;      /* D */
	bool weak;        /* W */
	bool exclusive;   /* e */
};

struct event_term {
	const char *name;
	const char *value; /* NULL: a flag, with value 1 */
	uint64_t number;   /* valid if is_number; 1 for a flag */
	bool is_number;
	int at; /* byte offset of the term in the text */
};

struct event {
	enum event_kind kind;
	const char *text; /* this event as the user wrote it, modifiers included */
	int at;           /* its byte offset in the text, for messages */
	/*
	 * EVENT_PMU: before the slash: a PMU, a glob, an uncore_ name without its prefix, or a name
	 * such as cycles in cycles/period=1000/
	 */
	const char *pmu;
	const char *name;   /* EVENT_NAME: the name; EVENT_TRACEPOINT: after the colon */
	const char *system; /* EVENT_TRACEPOINT: before the colon */
	const char *label;  /* from the name= term, else NULL: the displayed name */
	struct event_term *term;
	size_t n_terms;
	uint64_t raw;  /* EVENT_RAW, EVENT_NUMBERS: the config */
	uint32_t type; /* EVENT_NUMBERS: perf's PERF_TYPE_* */
	struct {
		uint64_t addr, len;
		bool r, w, x;
	} bp;
	struct event_mods mods; /* merged with those of the group */
	unsigned
		/* events with the same number are one group, counted together or not at all */
		group;
};

struct event_list {
	struct event *event;
	size_t n;
	unsigned groups; /* group numbers are 0..groups-1 */
	void *memory;    /* memory of everything the pointers above point to */
};

/*
 * Parse a comma-separated list with {groups}. On failure returns -EINVAL, with the offset in `text`
 * in err->at, and *out freed and empty. Cost: linear; refuses texts over 1 MiB. May be called again
 * to append: the caller zero-initialises `out` before the first call (-e a -e b). Offsets are
 * relative to the text of each call: a command with several lists should join them with commas and
 * parse once, so that carets are right.
 */
int event_list_parse(const char *text, struct event_list *out, struct tare_error *err);
void event_list_free(struct event_list *list);

#endif
