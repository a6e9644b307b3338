/* SPDX-License-Identifier: MIT */
/* instructions-minus-irqs:u of tare stat: instructions:u and, in the same group, the event that
 * counts this CPU's interrupts. */
#ifndef CLI_STAT_STAT_IRQS_H
#define CLI_STAT_STAT_IRQS_H

#include "count/summary.h"
#include "pmu/machine.h"

struct stat_irqs {
	struct summary_less *less;
	size_t n;
};

/* Whether it is requested, with any modifiers. */
bool stat_irqs_is(const struct event *e);
/*
 * Called before the events are encoded: each instructions-minus-irqs:u becomes the pair. -EINVAL
 * if it has modifiers other than u, or is in a group; -ENOMEM.
 */
int stat_irqs_expand(struct event_list *events, struct machine *m, struct tare_error *err);
/*
 * Called after encoding: which event is subtracted from which. Pairs that cannot be counted here
 * (no PMU, event unknown or only guessed) are marked as unavailable, with a remedy. -ENOMEM.
 */
int stat_irqs_find(struct stat_irqs *out, struct encoding_list *list, struct machine *m,
		   struct tare_error *err);
/* Called after the engine is chosen: pairs that the exact engine counts become unavailable. */
void stat_irqs_settle(struct stat_irqs *s, struct encoding_list *list);
void stat_irqs_free(struct stat_irqs *s);

#endif
