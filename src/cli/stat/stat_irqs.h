/* SPDX-License-Identifier: MIT */
/* instructions-minus-irqs:u of tare stat: instructions:u and, in one group with it, the event that counts this CPU's interrupts. */
#ifndef CLI_STAT_STAT_IRQS_H
#define CLI_STAT_STAT_IRQS_H

#include "count/summary.h"
#include "pmu/machine.h"

struct stat_irqs {
	struct summary_less *less;
	size_t n;
};

/* Whether it is asked for, whatever the modifiers. */
bool stat_irqs_is(const struct event *e);
/*
 * Before the events are encoded: each instructions-minus-irqs:u becomes the pair. -EINVAL where it has other modifiers than u, or stands
 * in a group; -ENOMEM.
 */
int stat_irqs_expand(struct event_list *events, struct machine *m, struct tare_error *err);
/*
 * Behind the encoding: which one is taken off which. Those that cannot be had here (no PMU, no event known or only a guess) are marked as
 * unavailable, with the remedy. -ENOMEM.
 */
int stat_irqs_find(struct stat_irqs *out, struct encoding_list *list, struct machine *m, struct tare_error *err);
/* After the engine was chosen: what the exact engine has taken over is unavailable. */
void stat_irqs_settle(struct stat_irqs *s, struct encoding_list *list);
void stat_irqs_free(struct stat_irqs *s);

#endif
