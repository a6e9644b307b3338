/* SPDX-License-Identifier: MIT */
/* What to count: event names as perf writes them, found on this machine. */
#ifndef TARE_EVENT_H
#define TARE_EVENT_H

#include <stddef.h>
#include "tare/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A list of events, each found on this machine. Never changes: threads may share it. */
struct tare_events;

/**
 * Find events by name: "cycles,instructions:u", "{cache-misses,cache-references}", "task-clock",
 * "cpu/event=0xc0/", "r1a8", "sched:sched_switch".
 *
 * @text  one or more events in perf's own syntax, separated by commas. What counting user code only
 *        takes is the modifier :u.
 * @err   says what went wrong; err->at is the byte of `text` that it is about; may be NULL.
 *
 * Returns the list, which the caller frees by tare_events_free(); NULL with err->code EINVAL (not
 * an event, with the nearest names), ENOENT (this machine has no PMU that counts it), ENOMEM. From
 * any thread. Costs some reads of sysfs.
 *
 * Source: perf-list(1), "EVENT MODIFIERS" and "EVENT GROUPS".
 */
TARE_API struct tare_events *tare_events_new(const char *text, struct tare_error *err);

/** Free a list; NULL does nothing. Groups opened from it stay as they are. */
TARE_API void tare_events_free(struct tare_events *events);

/** How many there are: at least as many as were written, for an event that several PMUs count is
 * one on each. */
TARE_API size_t tare_events_count(const struct tare_events *events);

/** The name of event i < tare_events_count(), as written; lives as long as the list. */
TARE_API const char *tare_events_name(const struct tare_events *events, size_t i);

/** The unit of event i after multiplication by tare_events_scale(): "MiB", "Joules"; "" for a bare
 *  count. Lives as long as the list. Source: sysfs, the PMU's events/NAME.unit. */
TARE_API const char *tare_events_unit(const struct tare_events *events, size_t i);

/** What a count of event i is to be multiplied by to be in its unit; 1.0 for a bare count. */
TARE_API double tare_events_scale(const struct tare_events *events, size_t i);

#ifdef __cplusplus
}
#endif
#endif
