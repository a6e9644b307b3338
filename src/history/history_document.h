/* SPDX-License-Identifier: MIT */
/* Documents that can be added to a history. */
#ifndef HISTORY_HISTORY_DOCUMENT_H
#define HISTORY_HISTORY_DOCUMENT_H

#include "gate/gate.h"
#include "history/history.h"

enum { HISTORY_NAME_MAX = 1000 }; /* bytes of a benchmark's or event's name */

struct history_about {
	const char *benchmark; /* of documents of tare stat; NULL: their command */
	const char *machine;   /* where they were measured */
};

/*
 * Untrusted input: a document tare/stat/1 or tare/gate/1. Adds its measurements; the commit of each
 * has only a name: the one in the document, or "". `name` is for messages.
 */
int history_document_parse(struct history_batch *to, const char *text, size_t n, const char *name,
			   const struct history_about *about, struct tare_error *err);
/* Results of the gate, a run for each. Accepted changes are no measurements. */
int history_add_records(struct history_batch *to, const struct gate_records *records,
			const struct history_commit *commit, struct tare_error *err);
/* The commit is part of what a run is identified by; called once it is known. */
void history_seal(struct history_run *r);

#endif
