/* SPDX-License-Identifier: MIT */
/* The library's lists of events (tare/event.h): parsed from text, and encoded for this machine. */
#include <stdlib.h>
#include "source/events.h"
#include "tare/event.h"

struct tare_events *tare_events_new(const char *text, struct tare_error *err)
{
	static const struct encode_options options = { 0 };
	struct tare_events *events = calloc(1, sizeof(*events));
	struct event_list parsed = { 0 };
	struct machine *machine = NULL;
	int ret;

	if (!events) {
		tare_fail_nomem(err);
		return NULL;
	}
	ret = event_list_parse(text, &parsed, err);
	if (ret < 0)
		goto out;
	machine = machine_open(NULL, err);
	ret = machine ? pmu_encode(machine, &parsed, &options, &events->list, err) : -1;
out:
	machine_close(machine);
	event_list_free(&parsed);
	if (ret == 0) {
		tare_no_error(err);
		return events;
	}
	free(events);
	return NULL;
}

void tare_events_free(struct tare_events *events)
{
	if (!events)
		return;
	encoding_list_free(&events->list);
	free(events);
}

size_t tare_events_count(const struct tare_events *events)
{
	return events->list.n;
}

const char *tare_events_name(const struct tare_events *events, size_t i)
{
	return events->list.enc[i].name;
}

const char *tare_events_unit(const struct tare_events *events, size_t i)
{
	return events->list.enc[i].unit;
}

double tare_events_scale(const struct tare_events *events, size_t i)
{
	return events->list.enc[i].scale;
}
