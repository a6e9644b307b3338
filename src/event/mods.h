/* SPDX-License-Identifier: MIT */
/* The modifiers after an event: which modes and guests to count, the precision, the scheduling. */
#ifndef EVENT_MODS_H
#define EVENT_MODS_H

#include "event/event.h"

#define MODS_HELP                                                                                  \
	"modifiers: u user, k kernel, h hypervisor, G guest, H host, I not idle, p to ppp "        \
	"precise, "                                                                                \
	"P most precise, S read in samples, D pinned, W weak group, e exclusive"

/*
 * Number of bytes at `s` that are modifiers; 0 if the text up to the next delimiter is something
 * else.
 */
size_t mods_length(const char *s);

/* `at` is the offset of s for messages. perf's rules: each letter once, p up to three times. */
int mods_parse(const char *s, size_t n, int at, struct event_mods *out, struct tare_error *err);

/* Add a group's modifiers to those of an event: the union, and the sum of the p. */
int mods_merge(struct event_mods *to, const struct event_mods *group, int at,
	       struct tare_error *err);

#endif
