/* SPDX-License-Identifier: MIT */
/* Finds the records of a perf.data with data of precise sampling hardware, and decodes them. */
#ifndef PERFDATA_PERFDATA_PRECISE_H
#define PERFDATA_PERFDATA_PRECISE_H

#include "perfdata/ibs.h"
#include "perfdata/perfdata.h"

/*
 * 1 and *out for a sample with registers of AMD's IBS, 0 for any other record, -EINVAL if the
 * registers should be there but are not. Events of ibs_op and ibs_fetch are found by PMU_MAPPINGS;
 * precise cycles and micro-ops of an AMD processor use ibs_op, whatever their type.
 */
struct ibs_event { /* kind of data in an event's samples */
	bool is_ibs;
	enum ibs_kind kind;
	struct ibs_rules rules;
};

struct ibs_event perfdata_ibs_event(const struct perfdata *r, const struct perfdata_event *ev);
/* The same, for an event that was classified before. */
int perfdata_ibs_of(const struct ibs_event *ev, const struct perfdata_record *rec, struct ibs *out,
		    struct tare_error *err);
int perfdata_ibs(const struct perfdata *r, const struct perfdata_record *rec, struct ibs *out,
		 struct tare_error *err);

/* The kind of AUX data from AUXTRACE_INFO. Source: Linux, tools/lib/perf/include/perf/event.h */
enum { PD_AUXTRACE_ARM_SPE = 4 };

#endif
