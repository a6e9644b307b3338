/* SPDX-License-Identifier: MIT */
/* A diagnosis as text and as JSON (docs/schema/tare-doctor-1.json). */
#ifndef DOCTOR_DOCTOR_VIEW_H
#define DOCTOR_DOCTOR_VIEW_H

#include "doctor/doctor.h"
#include "base/text.h"

struct doctor_style {
	bool colour;
	unsigned width; /* columns; lines are broken at blanks to fit */
};

void doctor_text(struct text *out, const struct host *h, const struct diagnosis *d,
		 struct doctor_style style);
void doctor_json(struct text *out, const struct host *h, const struct diagnosis *d);

#endif
