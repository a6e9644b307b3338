/* SPDX-License-Identifier: MIT */
/* Verdicts beside counts, and corrected counts, for people and in JSON. */
#ifndef VERIFY_TRUST_VIEW_H
#define VERIFY_TRUST_VIEW_H

#include "verify/corrected.h"
#include "host/faults.h"
#include "verify/verdicts.h"
#include "output/json.h"
#include "output/style.h"

struct trust_view {
	const struct verdict **verdict; /* per encoding; NULL: none */
	size_t n;
	const char *boot; /* of now */
	struct corrected *corrected;
	size_t n_corrected;
	char trouble[400]; /* verdicts that could not be read: why; "" */
	const struct fault_finding *fault; /* known faults that show here, where the core's counters were used */
	size_t n_faults;
};

/* NULL: none. */
const struct verdict *trust_of(const struct trust_view *v, unsigned event);
/* It was found dead, and counts: that verdict is wrong. */
bool trust_refuted(const struct verdict *v, const struct stat_row *r);
/* ", verified" behind a quality; nothing where there is no verdict. */
void trust_quality(struct text *out, const struct verdict *v, const struct stat_row *r);
/* Below the table: what verdicts that are not good mean, what was corrected. True: something was said. */
bool trust_notes(struct text *out, const struct trust_view *v, const struct stat_table *t, const struct style *s);
/* As a member "verdict" of an event. */
void trust_json(struct json *j, const struct trust_view *v, const struct stat_row *r);
/* As a member "faults" of the document. */
void trust_json_faults(struct json *j, const struct trust_view *v);
/* As a member "corrected" of the document; nothing where it was not asked for. */
void trust_json_corrected(struct json *j, const struct trust_view *v, const struct stat_table *t);

#endif
