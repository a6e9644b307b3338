/* SPDX-License-Identifier: MIT */
/* Prints a scan, for people and for programs. */
#ifndef SCAN_SCAN_VIEW_H
#define SCAN_SCAN_VIEW_H

#include "scan/finding.h"
#include "output/json.h"
#include "output/style.h"

struct scan_shown {
	const struct scan *scan;
	const struct scan_finding *finding; /* of each event */
	const struct scan_known *known;
	size_t n_known;
	bool kernel;
	/* The documented name of an event, or "". */
	const char *(*name)(const void *with, uint32_t select, uint32_t umask);
	const void *with;
	char *const *command; /* NULL: none was counted */
	const uint64_t *
		/* its retired instructions per class, from the exact engine; NULL: unknown */
		classes;
	const char *like; /* NULL: not requested */
	const struct scan_event *like_event;
};

void scan_view_text(struct text *out, const struct scan_shown *v, const struct style *style);
void scan_view_document(struct text *out, enum output_format format, const struct scan_shown *v);

/* A table of the findings in the format of data/: for `tare events` and --event-file. */
void scan_view_table(struct text *out, const struct scan_shown *v);

#endif
