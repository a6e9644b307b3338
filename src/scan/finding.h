/* SPDX-License-Identifier: MIT */
/*
 * What an event select counts, proposed from what it said of work of known size (scan/scan.h). Pure.
 *
 * First it is tried to state its counts exactly, as a sum of few classes of work, interrupts and a constant of each reading; then as
 * a sum of other events; then which class or event goes along with it most closely from kind to kind of work.
 */
#ifndef SCAN_FINDING_H
#define SCAN_FINDING_H

#include "base/text.h"
#include "scan/scan.h"

enum scan_meaning {
	SCAN_UNKNOWN,  /* none of these */
	SCAN_CONSTANT, /* each reading adds the same; no work does */
	SCAN_COUNTS,   /* exactly the terms */
	SCAN_SUM,      /* exactly the terms, which are other events; each repeats */
	SCAN_FOLLOWS,  /* about the one term */
	SCAN_BROKEN,   /* it went backwards: fewer bits than the kernel takes it for */
	SCAN_MEANINGS,
};

enum scan_sure { SCAN_NO_IDEA, SCAN_PERHAPS, SCAN_LIKELY, SCAN_CERTAIN, SCAN_SURES };

enum scan_what { TERM_CLASS, TERM_INTERRUPTS, TERM_KNOWN, TERM_EVENT };

struct scan_term {
	enum scan_what what;
	size_t which; /* enum work_class; index of a known event; of an event of the scan */
	double factor;
};

enum { SCAN_TERMS_MOST = 4, SCAN_TOP = 3 };

struct scan_finding {
	enum scan_meaning meaning;
	enum scan_sure sure;
	struct scan_term term[SCAN_TERMS_MOST];
	size_t n;
	int64_t fixed;	     /* each reading adds */
	uint32_t except;     /* kinds of work, a bit each, for which the terms do not hold */
	unsigned also;	     /* other explanations that hold as well */
	double explained;    /* SCAN_COUNTS: share of the samples that are so to the last one */
	double correlation;  /* SCAN_FOLLOWS: over the kinds of work */
	bool repeats;	     /* the same each time, interrupts aside */
	unsigned top[SCAN_TOP]; /* the kinds of work of whose turns it counted most, and how many a turn */
	double per_turn[SCAN_TOP];
};

/* A documented event that counted the same work. */
struct scan_known {
	const char *name;
	const struct scan_event *event;
};

/* One finding for each event of the scan; those that are not SCAN_LIVE get SCAN_UNKNOWN. */
int scan_explain(const struct scan *s, const struct scan_known *known, size_t n_known, struct scan_finding *out, struct tare_error *err);

/* How near two events are. */
struct scan_near {
	double equal;	    /* share of the pieces of work that either counts, of which both counted the same but for a constant */
	double correlation; /* over the kinds of work */
	double factor;	    /* a is so many times b */
};
struct scan_near scan_nearness(const struct scan *s, const struct scan_event *a, const struct scan_event *b);

extern const char *const scan_sure_names[SCAN_SURES]; /* "no idea", "perhaps", "likely", "certain" */

/* "loads + interrupts", "cycles": what it counts or follows; empty for others. */
void scan_terms(struct text *out, const struct scan *s, const struct scan_known *known, const struct scan_finding *f);
/* In a sentence. */
void scan_words(struct text *out, const struct scan *s, const struct scan_known *known, const struct scan_finding *f);

#endif
