/* SPDX-License-Identifier: MIT */
/*
 * Evaluates the results of src/host/host.h: can this user count here? For every obstacle it gives
 * the importance and the command to type. Pure.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include "host/host.h"

/* Worst first: findings are sorted by it. */
enum mark { MARK_FAIL, MARK_WARN, MARK_OK };

/* Where to apply a remedy. */
enum place {
	FIX_HERE,  /* a command for a shell of this machine */
	FIX_START, /* an option or setting for starting this container or service */
	FIX_HOST,  /* on the host of this container or virtual machine */
};

struct fix {
	char text[224];   /* the command or setting, exactly */
	char effect[128]; /* its effect, and how long it lasts */
	enum place place;
	bool as_root;
};

enum { FIXES_MAX = 3, FINDINGS_MAX = 64 };

struct finding {
	const char *id;
	enum mark mark;
	char what[256];
	char why[320];             /* "" if all is well */
	struct fix fix[FIXES_MAX]; /* best first */
	unsigned fixes;
};

/* The values are tare doctor's exit status. */
enum verdict {
	VERDICT_HARDWARE =
		0, /* hardware can count this user's own programs, in user mode at least */
	VERDICT_SOFTWARE = 1, /* software events only */
	VERDICT_NOTHING = 2,  /* perf events are not permitted at all */
};

struct diagnosis {
	enum verdict verdict;
	char sentence[512];
	struct finding finding[FINDINGS_MAX]; /* most important first */
	unsigned findings;
};

void doctor_judge(const struct host *h, struct diagnosis *out);

#endif
