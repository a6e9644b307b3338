/* SPDX-License-Identifier: MIT */
/*
 * Proposes what an event select counts, from its counts of work of known size (scan/scan.h). Pure.
 *
 * It first tries to express the counts exactly, as a sum of a few classes of work, interrupts and
 * a constant per reading. Then it tries a sum of other events. Finally it looks for the class or
 * event with the highest correlation over the kinds of work.
 */
#ifndef SCAN_FINDING_H
#define SCAN_FINDING_H

#include "base/text.h"
#include "scan/scan.h"

enum scan_meaning {
	SCAN_UNKNOWN,  /* none of these */
	SCAN_CONSTANT, /* each reading adds the same; the work adds nothing */
	SCAN_COUNTS,   /* exactly the terms */
	SCAN_SUM,      /* exactly the terms, which are other events; all of them repeat */
	SCAN_FOLLOWS,  /* approximately the single term */
	SCAN_BROKEN,   /* it went backwards: it has fewer bits than the kernel assumes */
	SCAN_MEANINGS,
};

enum scan_confidence { SCAN_NO_IDEA, SCAN_PERHAPS, SCAN_LIKELY, SCAN_CERTAIN, SCAN_SURES };

enum scan_what { TERM_CLASS, TERM_INTERRUPTS, TERM_KNOWN, TERM_EVENT };

struct scan_term {
	enum scan_what what;
	size_t which; /* enum work_class; index of a known event; of an event of the scan */
	double factor;
};

enum { SCAN_TERMS_MOST = 4, SCAN_TOP = 3 };

struct scan_finding {
	enum scan_meaning meaning;
	enum scan_confidence sure;
	struct scan_term term[SCAN_TERMS_MOST];
	size_t n;
	int64_t fixed;      /* added by each reading */
	uint32_t except;    /* bit mask of the kinds of work for which the terms are wrong */
	unsigned also;      /* number of other explanations that fit equally well */
	double explained;   /* SCAN_COUNTS: share of the samples that match exactly */
	double correlation; /* SCAN_FOLLOWS: over the kinds of work */
	bool repeats;       /* the same each time, apart from interrupts */
	unsigned top
		/* the kinds of work with the largest counts per turn, and these counts */
		[SCAN_TOP];
	double per_turn[SCAN_TOP];
};

/* A documented event, counted on the same work. */
struct scan_known {
	const char *name;
	const struct scan_event *event;
};

/* One finding for each event of the scan; events that are not SCAN_LIVE get SCAN_UNKNOWN. */
int scan_explain(const struct scan *s, const struct scan_known *known, size_t n_known,
		 struct scan_finding *out, struct tare_error *err);

/* How similar two events are. */
struct scan_near {
	double equal;       /* of the pieces of work that either counts, the share for which both
			     * counts are equal up to a constant */
	double correlation; /* over the kinds of work */
	double factor;      /* ratio of a to b */
};
struct scan_near scan_nearness(const struct scan *s, const struct scan_event *a,
			       const struct scan_event *b);

extern const char
	*const scan_confidence_names[SCAN_SURES]; /* "no idea", "perhaps", "likely", "certain" */

/* "loads + interrupts", "cycles": what it counts or follows; otherwise empty. */
void scan_terms(struct text *out, const struct scan *s, const struct scan_known *known,
		const struct scan_finding *f);
/* As a sentence. */
void scan_words(struct text *out, const struct scan *s, const struct scan_known *known,
		const struct scan_finding *f);

#endif
