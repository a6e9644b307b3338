/* SPDX-License-Identifier: MIT */
/*
 * Shared by the encoder's files: the state while one event is converted to one or more encodings.
 */
#ifndef PMU_ENCODE_H
#define PMU_ENCODE_H

#include "base/text.h"
#include "pmu/machine.h"
#include "pmu/fit.h"
#include "pmu/names.h"
#include "pmu/vendor.h"

struct encoder {
	struct machine *m;
	const struct encode_options *opt;
	struct encoding_list *out;
	size_t room;
	const struct event *ev; /* the one being encoded */
	size_t index;           /* its index in the list */
	struct tare_error *err;
	struct vendor_file *file; /* the user's files, read at the first lookup */
	size_t n_files;
	struct vendor_file arm; /* data/armv8-pmuv3.txt, read at the first lookup */
	enum counter_kind kind; /* of opt->cpu, with built-in formats */
};

/*
 * Append an encoding of e->ev with its modifiers; pmu NULL for events without a PMU in sysfs. NULL:
 * error set.
 */
struct encoding *encoder_add(struct encoder *e, const struct pmu *pmu, uint32_t type,
			     uint64_t config);

/*
 * Set the attr bits for u, k, h, G, H, p, I, D, e. `core`: the PMU distinguishes guests from the
 * host.
 */
void encoder_mods(const struct event_mods *mods, bool core, struct perf_event_attr *attr);

/* Mark as unavailable if the options allow it, else fail with the same message. */
int encoder_unavailable(struct encoder *e, struct encoding *enc, int code, const char *why,
			const char *remedy);

/*
 * terms.c: apply the user's terms of e->ev to `enc` on `pmu` (NULL: only config and sampling terms
 * are valid).
 */
int encoder_terms(struct encoder *e, const struct pmu *pmu, struct encoding *enc);

/*
 * terms.c: the event `name` in the PMU's own events folder. -ENOENT without a message if there is
 * none.
 */
int encoder_pmu_event(struct encoder *e, const struct pmu *pmu, const char *name,
		      struct encoding *enc);

/* terms.c: apply terms from a file, in perf's syntax; `from` names it in messages. */
int encoder_text(struct encoder *e, const struct pmu *pmu, const char *terms, const char *from,
		 struct encoding *enc);

/* After the terms: P, and a check of the modifiers that this counter does not support. */
int encoder_finish(struct encoder *e, const struct pmu *pmu, struct encoding *enc);

/* "cpu_core/instructions/u": one of several PMUs. */
void name_with_pmu(const struct event *ev, const struct pmu *pmu, struct encoding *enc);

/* As in perf: exact match; glob; without the uncore_ prefix; and without the instance number. */
bool pmu_matches(const char *pattern, const char *name);

/* Unavailable because the machine has no core PMU. */
int encoder_no_core(struct encoder *e, struct encoding *enc);

/* Unknown name: reports it with the nearest names, or with the CPU that has it. Returns -ENOENT. */
int encoder_unknown(struct encoder *e, const char *name);

/* exact_events.c: exact/NAME/ */
int encode_exact(struct encoder *e);

/* encode_trace.c */
int encode_tracepoint(struct encoder *e);
int encode_breakpoint(struct encoder *e);

/*
 * encode_vendor.c: a name in the user's files; in vendor tables. -ENOENT without a message if there
 * is none.
 */
int encode_from_files(struct encoder *e, const char *name);
int encode_from_tables(struct encoder *e, const char *name);
/* The same for PMU/NAME/: is the name in the user's files, with a row for this PMU? */
bool encoder_file_has(struct encoder *e, const struct pmu *pmu, const char *name);
int encoder_file_event(struct encoder *e, const struct pmu *pmu, const char *name,
		       struct encoding *enc);
/* Is there a table of vendor names for the CPU? */
bool encoder_has_table(struct encoder *e);
/* Read all of the user's files, even if no event needs them, so that a wrong path is reported. */
int encoder_open_files(struct encoder *e);
void encoder_close(struct encoder *e);

/* Formats of the core PMU of a CPU other than this one. */
int builtin_format(enum counter_kind kind, const char *name, struct format *out);
const char *builtin_format_nth(enum counter_kind kind, size_t i);
enum counter_kind cpu_kind(const char *cpu);

/* regroup.c: a group of the user that spans several PMUs becomes one group per PMU. */
int encoder_regroup(const struct event_list *events, struct encoding_list *out,
		    struct tare_error *err);

/* nearest.c: the hint of an unknown name. */
void encoder_nearest(struct encoder *e, const char *name);

#endif
