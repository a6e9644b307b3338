/* SPDX-License-Identifier: MIT */
/* What the files of the encoder share: one event on its way to one or more encodings. */
#ifndef PMU_ENCODE_H
#define PMU_ENCODE_H

#include "base/text.h"
#include "pmu/machine.h"
#include "pmu/names.h"

struct encoder {
	struct machine *m;
	const struct encode_options *opt;
	struct encoding_list *out;
	size_t room;
	const struct event *ev; /* the one being encoded */
	size_t index;           /* its place in the list */
	struct tare_error *err;
};

/* Append an encoding of e->ev with its modifiers; pmu NULL for events of no PMU in sysfs. NULL:
 * error set. */
struct encoding *encoder_add(struct encoder *e, const struct pmu *pmu, uint32_t type,
			     uint64_t config);

/* The attr bits that u, k, h, G, H, p, I, D, e ask for. `core`: guests are told from the host
 * there. */
void encoder_mods(const struct event_mods *mods, bool core, struct perf_event_attr *attr);

/* Mark as unavailable if the options allow, else fail with the same words. */
int encoder_unavailable(struct encoder *e, struct encoding *enc, int code, const char *why,
			const char *remedy);

/* terms.c: apply the user's terms of e->ev to `enc` on `pmu` (NULL: only config and sampling terms
 * fit). */
int encoder_terms(struct encoder *e, const struct pmu *pmu, struct encoding *enc);

/* terms.c: the event `name` of the PMU's own events folder. -ENOENT without a message if there is
 * none. */
int encoder_pmu_event(struct encoder *e, const struct pmu *pmu, const char *name,
		      struct encoding *enc);

/* regroup.c: groups of the user that spread over several PMUs become one group per PMU. */
int encoder_regroup(const struct event_list *events, struct encoding_list *out,
		    struct tare_error *err);

/* nearest.c: the hint of an unknown name. */
void encoder_nearest(struct encoder *e, const char *name);

#endif
