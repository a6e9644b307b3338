/* SPDX-License-Identifier: MIT */
/*
 * Judges what src/host/host.h found: can this user count here, and for all that stands in the
 * way, why it matters and what to type. Pure.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "host/host.h"

/* Worst first: findings are sorted by it. */
enum mark { MARK_FAIL, MARK_WARN, MARK_OK };

/* Where a remedy is to be applied. */
enum place {
	FIX_HERE,  /* a command for a shell of this machine */
	FIX_START, /* an option or setting for whoever starts this container or service */
	FIX_HOST,  /* on the machine under this container or virtual machine */
};

struct fix {
	char text[224];   /* the command or setting, exactly */
	char effect[128]; /* what it brings, and for how long */
	enum place place;
	bool as_root;
};

enum { FIXES_MAX = 3, FINDINGS_MAX = 64 };

struct finding {
	const char *id;
	enum mark mark;
	char what[256];
	char why[320];             /* "" when all is well */
	struct fix fix[FIXES_MAX]; /* best first */
	unsigned fixes;
};

/* The numbers are tare doctor's exit status. */
enum verdict {
	VERDICT_HARDWARE =
	    0, /* this user's own programs can be counted by hardware, in user mode at least */
	VERDICT_SOFTWARE = 1, /* only software events */
	VERDICT_NOTHING = 2,  /* perf events are refused altogether */
};

struct diagnosis {
	enum verdict verdict;
	char sentence[512];
	struct finding finding[FINDINGS_MAX]; /* most important first */
	unsigned findings;
};

void doctor_judge(const struct host *h, struct diagnosis *out);

#endif
