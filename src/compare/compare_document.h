/* SPDX-License-Identifier: MIT */
/*
 * Two results of `tare stat --format json`, as the events of a comparison. Untrusted input: an
 * error names the file and the field.
 */
#ifndef COMPARE_COMPARE_DOCUMENT_H
#define COMPARE_COMPARE_DOCUMENT_H

#include "compare/compare_run.h"

enum { DOCUMENT_NOTES_MAX = 32, DOCUMENT_WORDS_MAX = 64 };

struct compare_documents {
	struct compare_measured measured;
	char *argv[COMPARE_SIDES][DOCUMENT_WORDS_MAX + 1]; /* the commands, as far as they fit */
	char engine[8];
	char *note[DOCUMENT_NOTES_MAX]; /* differences of the conditions */
	size_t notes;
};

/*
 * Reads the events that both have, and judges them. threshold: percent; negative: the defaults.
 * -EINVAL if they are not comparable: other CPU models, failed commands (unless allow_failure).
 * Free the result in any case.
 */
int compare_documents_read(struct compare_documents *out, const char *const path[COMPARE_SIDES],
			   double threshold, bool allow_failure, struct tare_error *err);
void compare_documents_free(struct compare_documents *d);

#endif
