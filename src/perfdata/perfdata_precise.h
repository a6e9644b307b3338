/* SPDX-License-Identifier: MIT */
/* Which records of a perf.data hold what precise sampling hardware wrote, and that, decoded. */
#ifndef PERFDATA_PERFDATA_PRECISE_H
#define PERFDATA_PERFDATA_PRECISE_H

#include "perfdata/ibs.h"
#include "perfdata/perfdata.h"

/*
 * 1 and *out for a sample with registers of AMD's IBS, 0 for anything else, -EINVAL when it should have them and does
 * not. Events of ibs_op and ibs_fetch are known by PMU_MAPPINGS; precise cycles and micro-ops of an AMD
 * processor are taken by ibs_op, whatever their type.
 */
struct ibs_event { /* what an event's samples hold */
	bool is_ibs;
	enum ibs_kind kind;
	struct ibs_rules rules;
};

struct ibs_event perfdata_ibs_event(const struct perfdata *r, const struct perfdata_event *ev);
/* The same, of an event that was looked at before. */
int perfdata_ibs_of(const struct ibs_event *ev, const struct perfdata_record *rec, struct ibs *out, struct tare_error *err);
int perfdata_ibs(const struct perfdata *r, const struct perfdata_record *rec, struct ibs *out, struct tare_error *err);

/* Kind of AUX data that AUXTRACE_INFO announced. Source: Linux, tools/lib/perf/include/perf/event.h */
enum { PD_AUXTRACE_ARM_SPE = 4 };

#endif
