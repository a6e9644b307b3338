/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "perfdata/perfdata_features.h"
#include "perfdata/perfdata_precise.h"

enum {
	TYPE_HARDWARE = 0,
	TYPE_RAW = 4,
	HARDWARE_CYCLES = 0,
	RAW_CYCLES = 0x76, /* both use ibs_op if precise */
	RAW_MICRO_OPS = 0xc1,
	PRECISE_SHIFT = 15,
};

static const char *pmu_name(const struct perfdata_features *f, uint32_t type)
{
	for (size_t i = 0; i < f->n_pmus; i++)
		if (f->pmus[i].type == type)
			return f->pmus[i].name;
	return "";
}

static bool zen4_said(const struct perfdata_features *f)
{
	for (size_t i = 0; i < f->n_pmu_caps; i++)
		for (size_t j = 0; j < f->pmu_caps[i].n; j++)
			if (!strcmp(f->pmu_caps[i].pmu, "ibs_op") &&
			    !strcmp(f->pmu_caps[i].cap[j].name, "zen4_ibs_extensions"))
				return !strcmp(f->pmu_caps[i].cap[j].value, "1");
	return false;
}

/* Precise cycles or micro-ops of an AMD core's own PMU. */
static bool forwarded(const struct perfdata_attr *a, const char *cpuid)
{
	bool cycles = (a->type == TYPE_HARDWARE && a->config == HARDWARE_CYCLES) ||
		(a->type == TYPE_RAW && (a->config == RAW_CYCLES || a->config == RAW_MICRO_OPS));

	return cycles && (a->flags >> PRECISE_SHIFT & 3) && cpuid &&
		!strncmp(cpuid, "AuthenticAMD", 12);
}

struct ibs_event perfdata_ibs_event(const struct perfdata *r, const struct perfdata_event *ev)
{
	const struct perfdata_features *f = perfdata_features(r);
	const char *pmu = pmu_name(f, ev->attr.type);
	struct ibs_event out = { 0 };

	if (!strcmp(pmu, "ibs_fetch"))
		out = (struct ibs_event){ .is_ibs = true, .kind = IBS_FETCH };
	else if (!strcmp(pmu, "ibs_op") || forwarded(&ev->attr, f->cpuid))
		out = (struct ibs_event){ .is_ibs = true, .kind = IBS_OP };
	if (out.is_ibs)
		out.rules = ibs_rules_of(f->cpuid, zen4_said(f));
	return out;
}

int perfdata_ibs_of(const struct ibs_event *ev, const struct perfdata_record *rec, struct ibs *out,
		    struct tare_error *err)
{
	struct ibs_rules rules = ev->rules;
	uint32_t caps;
	int ret;

	if (!ev->is_ibs || !(rec->has & PD_SAMPLE_RAW))
		return 0;
	if (rec->sample.raw_size >= sizeof(caps)) {
		memcpy(&caps, rec->sample.raw, sizeof(caps));
		rules.zen4 |= (caps & IBS_CAP_ZEN4) != 0;
	}
	ret = ibs_read(ev->kind, &rules, rec->sample.raw, rec->sample.raw_size, out, err);
	return ret < 0 ? ret : 1;
}

int perfdata_ibs(const struct perfdata *r, const struct perfdata_record *rec, struct ibs *out,
		 struct tare_error *err)
{
	struct ibs_event ev;

	if (rec->type != PD_RECORD_SAMPLE || rec->bad || !rec->event)
		return 0;
	ev = perfdata_ibs_event(r, rec->event);
	return perfdata_ibs_of(&ev, rec, out, err);
}
