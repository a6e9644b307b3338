/* SPDX-License-Identifier: MIT */
/* Runs the checks, gives the verdict, sorts by importance. */
#include <string.h>
#include "doctor/doctor_check.h"

static const struct finding *finding_of(const struct diagnosis *d, const char *id)
{
	for (unsigned i = 0; i < d->findings; i++)
		if (!strcmp(d->finding[i].id, id))
			return &d->finding[i];
	return NULL;
}

static void verdict_of(const struct host *h, struct diagnosis *d)
{
	static const char absence[] = "there is no core PMU: ";
	static const char *const what_works[2][2] = {
		/* of the exact engine and of software events */
		{ "Software events count wrongly.", "Software events work." },
		{ "Exact instruction counts work; software events count wrongly.",
		  "Exact instruction counts and software events work." },
	};
	const char *reason = finding_of(d, "pmu")->what;
	unsigned got = h->pmu[0].programmable + h->pmu[0].fixed;
	char pmus[160] = "the core PMU", counters[40] = "";

	if (!strncmp(reason, absence, strlen(absence)))
		reason += strlen(absence);
	if (h->pmus)
		doctor_pmu_names(h, pmus, sizeof(pmus));
	if (got && h->pmus == 1)
		SAY(counters, ", %u counters at once", got);

	if (doctor_barrier(h) != BARRIER_NONE) {
		d->verdict = VERDICT_NOTHING;
		SAY(d->sentence, "This user cannot count anything through the kernel here: %s.%s",
		    finding_of(d, "permission")->what,
		    h->exact_works ? " Exact instruction counts work." : "");
	} else if (!h->live) {
		d->verdict = h->pmus ? VERDICT_HARDWARE : VERDICT_SOFTWARE;
		SAY(d->sentence, "According to the recorded files, this machine %s%s.",
		    h->pmus ? "can count hardware events for this user, but this was not tested"
			    : "has no PMU and can count software events only: ",
		    h->pmus ? "" : reason);
	} else if (doctor_hardware_works(h)) {
		d->verdict = VERDICT_HARDWARE;
		SAY(d->sentence,
		    "This user can count hardware events here (%s%s), in user mode%s%s.", pmus,
		    counters, works(&h->tries[TRY_KERNEL]) ? " and in the kernel" : " only",
		    works(&h->tries[TRY_CPU_WIDE]) ? ", and whole CPUs" : "");
	} else {
		d->verdict = VERDICT_SOFTWARE;
		SAY(d->sentence, "This machine has no PMU that this user can count with: %s. %s",
		    reason, what_works[h->exact_works][finding_of(d, "software")->mark == MARK_OK]);
	}
}

static void walk(const struct host *h, const struct check *checks, struct diagnosis *d)
{
	for (; checks->id && d->findings < FINDINGS_MAX; checks++) {
		struct finding *f = &d->finding[d->findings];

		*f = (struct finding){ .id = checks->id, .mark = MARK_OK };
		d->findings += checks->judge(h, f);
	}
}

/* Worst first; a stable sort. */
static void sort(struct diagnosis *d)
{
	for (unsigned i = 1; i < d->findings; i++) {
		struct finding f = d->finding[i];
		unsigned at = i;

		for (; at > 0 && d->finding[at - 1].mark > f.mark; at--)
			d->finding[at] = d->finding[at - 1];
		d->finding[at] = f;
	}
}

void doctor_judge(const struct host *h, struct diagnosis *out)
{
	memset(out, 0, sizeof(*out));
	walk(h, doctor_counting, out);
	walk(h, doctor_environment_checks, out);
	walk(h, doctor_noise_checks, out);
	out->findings += doctor_faults(h, out->finding + out->findings,
				       FINDINGS_MAX - out->findings);
	verdict_of(h, out);
	sort(out);
}
