/* SPDX-License-Identifier: MIT */
/* Events to count: named as in perf, and found on this machine. */
#ifndef TARE_EVENT_H
#define TARE_EVENT_H

#include <stddef.h>
#include "tare/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A list of events that exist on this machine. It is immutable, so threads may share it. */
struct tare_events;

/**
 * Find events by name: "cycles,instructions:u", "{cache-misses,cache-references}", "task-clock",
 * "cpu/event=0xc0/", "r1a8", "sched:sched_switch".
 *
 * @text  one or more events in perf's syntax, separated by commas. The modifier :u counts user
 *        mode only.
 * @err   says what went wrong; err->at is the offset in `text` of the error; may be NULL.
 *
 * Returns the list, which the caller frees with tare_events_free(). Returns NULL with err->code
 * EINVAL (not an event; lists the nearest names), ENOENT (no PMU of this machine counts it),
 * ENOMEM. From any thread. Costs some reads of sysfs.
 *
 * Source: perf-list(1), "EVENT MODIFIERS" and "EVENT GROUPS".
 */
TARE_API struct tare_events *tare_events_new(const char *text, struct tare_error *err);

/** Free a list; NULL does nothing. Groups opened from it are not affected. */
TARE_API void tare_events_free(struct tare_events *events);

/**
 * The number of events: at least the number written, because an event that several PMUs count has
 * one entry for each.
 */
TARE_API size_t tare_events_count(const struct tare_events *events);

/** The name of event i < tare_events_count(), as written; lives as long as the list. */
TARE_API const char *tare_events_name(const struct tare_events *events, size_t i);

/**
 * The unit of event i after multiplication by tare_events_scale(): "MiB", "Joules"; "" for a plain
 * count. Lives as long as the list. Source: sysfs, the PMU's events/NAME.unit.
 */
TARE_API const char *tare_events_unit(const struct tare_events *events, size_t i);

/** The factor that converts a count of event i to its unit; 1.0 for a plain count. */
TARE_API double tare_events_scale(const struct tare_events *events, size_t i);

#ifdef __cplusplus
}
#endif
#endif
