/* SPDX-License-Identifier: MIT */
/*
 * Selects the engine that counts an event: the processor's counters, through the kernel, or the
 * exact engine.
 */
#ifndef LAUNCH_ENGINE_H
#define LAUNCH_ENGINE_H

#include <stdbool.h>
#include "source/source.h"

enum engine_wish { ENGINE_AUTO, ENGINE_PERF, ENGINE_EXACT, ENGINE_MSR };

struct engine_question {
	enum engine_wish wish;
	const struct tare_error
		*cannot; /* why the exact engine cannot count this target; NULL: it can */
	bool apart;      /* what it does not count is counted in runs without it */
	const struct source *source; /* in place of each event's own (tests); NULL: none */
};

/*
 * 1 if the command is to run under the exact engine, 0 if not; a negative errno if the request is
 * contradictory. Events become the engine's (instructions as instructions:u, in groups of their
 * own), or unavailable with a reason if the engine would distort them.
 */
int engine_choose(struct encoding_list *list, const struct engine_question *q,
		  struct tare_error *err);

/* The engine cannot run this command after all: its events become unavailable for that reason. */
void engine_give_up(struct encoding_list *list, const struct tare_error *why);

/* Does the exact engine count it? */
bool engine_counts(const struct encoding *e);

/* Would it count the event in a command that tare starts? For event i of the list. */
bool engine_could_count(const struct encoding_list *list, size_t i);

#endif
