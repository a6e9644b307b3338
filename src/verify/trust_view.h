/* SPDX-License-Identifier: MIT */
/* Shows verdicts next to counts, and corrected counts, as text and in JSON. */
#ifndef VERIFY_TRUST_VIEW_H
#define VERIFY_TRUST_VIEW_H

#include "verify/overcount.h"
#include "host/faults.h"
#include "verify/verdicts.h"
#include "output/json.h"
#include "output/style.h"

struct trust_view {
	const struct verdict **verdict; /* per encoding; NULL: none */
	size_t n;
	const char *boot; /* current */
	struct overcount *corrected;
	size_t n_corrected;
	char trouble[400]; /* why the verdicts could not be read; "" */
	const struct fault_finding
		*fault; /* known faults that apply here, if the core's counters were used */
	size_t n_faults;
};

/* NULL: none. */
const struct verdict *trust_of(const struct trust_view *v, unsigned event);
/* The event was found dead, but counts: that verdict is wrong. */
bool trust_refuted(const struct verdict *v, const struct stat_row *r);
/* ", verified" after a quality; "" if there is no verdict. */
void trust_quality(struct text *out, const struct verdict *v, const struct stat_row *r);
/*
 * Below the table: the meaning of bad verdicts, and the corrections. True: something was printed.
 */
bool trust_notes(struct text *out, const struct trust_view *v, const struct stat_table *t,
		 const struct style *s);
/* The member "verdict" of an event. */
void trust_json(struct json *j, const struct trust_view *v, const struct stat_row *r);
/* The member "faults" of the document. */
void trust_json_faults(struct json *j, const struct trust_view *v);
/* The member "corrected" of the document; nothing if it was not requested. */
void trust_json_corrected(struct json *j, const struct trust_view *v, const struct stat_table *t);

#endif
