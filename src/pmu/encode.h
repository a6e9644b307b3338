/* SPDX-License-Identifier: MIT */
/* What the files of the encoder share: one event on its way to one or more encodings. */
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
	size_t index;           /* its place in the list */
	struct tare_error *err;
	struct vendor_file *file; /* the user's, read when a name is looked for in them */
	size_t n_files;
	struct vendor_file arm; /* data/armv8-pmuv3.txt, likewise */
	enum counter_kind kind; /* of opt->cpu, whose formats are built in */
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

/* terms.c: apply terms that a file gives, in perf's words; `from` names it in messages. */
int encoder_text(struct encoder *e, const struct pmu *pmu, const char *terms, const char *from,
		 struct encoding *enc);

/* After the terms: P, and modifiers that this counter cannot take. */
int encoder_finish(struct encoder *e, const struct pmu *pmu, struct encoding *enc);

/* "cpu_core/instructions/u": one of several PMUs. */
void name_with_pmu(const struct event *ev, const struct pmu *pmu, struct encoding *enc);

/* As perf: exactly; by glob; without its uncore_ prefix; and without the number of its instance. */
bool pmu_matches(const char *pattern, const char *name);

/* Unavailable because the machine shows no core PMU. */
int encoder_no_core(struct encoder *e, struct encoding *enc);

/* No such name: says so, with the nearest ones, or with the CPU that has it. Returns -ENOENT. */
int encoder_unknown(struct encoder *e, const char *name);

/* exact_events.c: exact/NAME/ */
int encode_exact(struct encoder *e);

/* encode_trace.c */
int encode_tracepoint(struct encoder *e);
int encode_breakpoint(struct encoder *e);

/* encode_vendor.c: a name in the user's files; in vendor tables. -ENOENT without a message if there
 * is none. */
int encode_from_files(struct encoder *e, const char *name);
int encode_from_tables(struct encoder *e, const char *name);
/* The same for PMU/NAME/: a name in the user's files that has a row for this PMU. */
bool encoder_file_has(struct encoder *e, const struct pmu *pmu, const char *name);
int encoder_file_event(struct encoder *e, const struct pmu *pmu, const char *name, struct encoding *enc);
/* Whether there is a table of vendor names of the CPU. */
bool encoder_has_table(struct encoder *e);
/* Read the user's files: all, also where no event needs them, so that a wrong path is noticed. */
int encoder_open_files(struct encoder *e);
void encoder_close(struct encoder *e);

/* Formats of the core PMU of a CPU that is not here. */
int builtin_format(enum counter_kind kind, const char *name, struct format *out);
const char *builtin_format_nth(enum counter_kind kind, size_t i);
enum counter_kind cpu_kind(const char *cpu);

/* regroup.c: groups of the user that spread over several PMUs become one group per PMU. */
int encoder_regroup(const struct event_list *events, struct encoding_list *out,
		    struct tare_error *err);

/* nearest.c: the hint of an unknown name. */
void encoder_nearest(struct encoder *e, const char *name);

#endif
