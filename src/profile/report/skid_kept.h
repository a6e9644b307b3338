/* SPDX-License-Identifier: MIT */
/*
 * Results of `tare verify skid`, stored for reports of recordings from the same machine. A file of
 * lines:
 *
 *	tare skid 1
 *	EVENT \t TYPE \t CONFIG \t LEVEL \t CPU \t RELEASE \t samples \t exact \t median \t p99 \t time
 *
 * TYPE and CONFIG are those of perf_event_open(2), LEVEL is precise_ip, CPU and RELEASE are as in a
 * recording's head; `exact` is the share of samples at the instruction that caused the event,
 * median and p99 are in instructions after it (below 0: before it). Any other line is an error,
 * reported with its number.
 */
#ifndef PROFILE_REPORT_SKID_KEPT_H
#define PROFILE_REPORT_SKID_KEPT_H

#include "profile/samples.h"
#include "base/text.h"

enum { SKIDS_MOST_BYTES = 1 << 20 };

struct skid_kept {
	char event[48], cpu[64], release[96];
	uint32_t type;
	uint64_t config, samples;
	unsigned level;
	double exact;
	int64_t median, p99; /* instructions */
	int64_t time;        /* seconds since 1970 */
};

struct skids_kept {
	struct skid_kept *row;
	size_t n;
};

/*
 * Parses a file's text. Call skids_kept_free() after use, also after an error. -EBADMSG names the
 * line.
 */
int skids_kept_parse(struct skids_kept *out, const char *text, size_t len, struct tare_error *err);
/*
 * Replaces an older entry of the same event, level, CPU and release. -ENOMEM; -EINVAL: a name
 * cannot be written in a line.
 */
int skids_kept_put(struct skids_kept *k, const struct skid_kept *one, struct tare_error *err);
void skids_kept_write(struct text *out, const struct skids_kept *k);
void skids_kept_free(struct skids_kept *k);

/*
 * The entry for an event of a recording: its own, else that of another event at the same precise
 * level on the same CPU and kernel (*other; hardware events only, as skid differs between software
 * events). NULL: none.
 */
const struct skid_kept *skids_kept_of(const struct skids_kept *k, const struct perfdata *file,
				      const char *event, bool *other);

#endif
