/* SPDX-License-Identifier: MIT */
/* The counts of parts: regions, from tare summarize, and tests, from tare bench. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gate/gate.h"
#include "output/reader/json_value.h"

#define EVENT "instructions:u"

static int not_understood(const char *what, struct tare_error *err)
{
	return tare_fail(err, EINVAL,
			 "unexpected output of another tare command: %s is missing or wrong", what);
}

static int add(struct gate_record *r, const char *event, const char *part, uint64_t count,
	       struct tare_error *err)
{
	struct gate_value *v = &r->value[r->n];
	size_t len;

	if (r->n == GATE_EVENTS_MAX) {
		tare_fail(err, E2BIG, "more than %d events and regions", GATE_EVENTS_MAX);
		tare_hint(err, "list the labels that matter in \"regions\"");
		return -E2BIG;
	}
	len = (size_t)snprintf(v->event, sizeof(v->event), "%s" GATE_IN "%s", event, part);
	if (len >= sizeof(v->event)) {
		tare_fail(err, E2BIG, "the name %.40s... is %zu bytes too long", part,
			  len + 1 - sizeof(v->event));
		tare_hint(err, "use a shorter label");
		return -E2BIG;
	}
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->value[i].event, v->event))
			return tare_fail(err, EEXIST, "two tests have the name %.100s", part);
	v->count = count;
	r->n++;
	return 0;
}

/* ---- regions ---- */

static bool is_chosen(const struct gate_benchmark *b, const char *label)
{
	for (char **s = b->regions; s && *s; s++)
		if (!strcmp(*s, label))
			return true;
	return b->all_regions;
}

/* The counts of an incomplete recording are not exact. */
static int check_whole(const struct json_t *document, struct tare_error *err)
{
	const struct json_t *recordings = json_member(document, "recordings"), *damage;
	uint64_t lost = 0, unmatched = 0;

	for (size_t i = 0; i < json_length(recordings); i++) {
		damage = json_member(json_element(recordings, i), "damage");
		if (json_text(damage))
			return tare_fail(err, EIO,
					 "the recording of its regions is damaged: %.200s",
					 json_text(damage));
	}
	if (!json_whole(json_member(document, "lost"), &lost) ||
	    !json_whole(json_member(document, "unmatched"), &unmatched))
		return not_understood("\"lost\"", err);
	if (lost || unmatched || json_is_set(json_member(document, "lost_unknown")))
		return tare_fail(err, EIO, "the recording of its regions is not complete");
	return 0;
}

static int by_event(const void *a, const void *b)
{
	return strcmp(((const struct gate_value *)a)->event, ((const struct gate_value *)b)->event);
}

static int no_such_region(const char *label, size_t labels, const struct json_t *list,
			  struct tare_error *err)
{
	const char *first = json_member_text(json_element(list, 0), "label");

	tare_fail(err, ENOENT, "it has no region %.100s", label);
	if (labels && first)
		tare_hint(err, "its regions: %.100s%s", first, labels > 1 ? ", ..." : "");
	else
		tare_hint(err, "it has no regions at all: see tare-regions(1)");
	return -ENOENT;
}

static int check_all_found(const struct gate_record *r, size_t from, const struct gate_benchmark *b,
			   const struct json_t *list, struct tare_error *err)
{
	char event[GATE_EVENT_BYTES];

	if (b->all_regions && r->n == from)
		return no_such_region("that could be counted", 0, NULL, err);
	for (char **s = b->regions; s && *s; s++) {
		bool found = false;

		snprintf(event, sizeof(event), EVENT GATE_IN "%.80s", *s);
		for (size_t i = from; i < r->n; i++)
			found |= !strcmp(r->value[i].event, event);
		if (!found)
			return no_such_region(*s, json_length(list), list, err);
	}
	return 0;
}

int gate_regions_parse(struct gate_record *out, const struct gate_benchmark *b, const char *text,
		       size_t n, struct tare_error *err)
{
	const struct json_t *list, *row, *counter;
	struct json_t *document = NULL;
	size_t from = out->n;
	int ret = json_parse(&document, text, n, "tare summarize", 1, err);

	if (ret == 0)
		ret = check_whole(document, err);
	list = json_member(document, "labels");
	for (size_t i = 0; ret == 0 && i < json_length(list); i++) {
		const char *label;
		uint64_t total;

		row = json_element(list, i);
		label = json_member_text(row, "label");
		counter = json_member(json_member(row, "counters"), EVENT);
		if (!label || !json_whole(json_member(counter, "total"), &total))
			ret = not_understood("a region", err);
		else if (is_chosen(b, label))
			ret = add(out, EVENT, label, total, err);
	}
	if (ret == 0)
		ret = check_all_found(out, from, b, list, err);
	qsort(out->value + from, out->n - from, sizeof(*out->value), by_event);
	json_release(document);
	return ret;
}

/* ---- tests of tare bench ---- */

static void take_conditions(struct gate_outcome *o, const struct json_t *conditions)
{
	const struct json_t *fixed = json_member(conditions, "fixed"),
			    *open = json_member(conditions, "not_fixed");
	struct gate_record *out = &o->head;
	const char *isa = json_member_text(conditions, "isa");
	size_t len = 0;

	for (size_t i = 0; i < json_length(fixed) && len < sizeof(out->fixed); i++) {
		const char *item = json_text(json_element(fixed, i));

		len += (size_t)snprintf(out->fixed + len, sizeof(out->fixed) - len, "%s%.60s",
					i ? "," : "", item ? item : "?");
	}
	snprintf(out->isa, sizeof(out->isa), "%.60s", isa ? isa : "");
	for (size_t i = 0; i < json_length(open); i++) {
		const char *item = json_member_text(json_element(open, i), "item"),
			   *reason = json_member_text(json_element(open, i), "reason");

		gate_remark(o, "Not fixed: %.60s: %.180s", item ? item : "?",
			    reason ? reason : "?");
	}
}

/* The cost of a run: the cost of an operation times their number. */
static int take_result(struct gate_record *out, const struct json_t *result,
		       const struct json_t *variants, struct tare_error *err)
{
	const char *event = json_member_text(result, "event"), *name;
	const struct json_t *variant, *operations;
	uint64_t at, ops = 1;
	double min, max, cost;

	if (!event || !json_whole(json_member(result, "variant"), &at))
		return not_understood("a result", err);
	variant = json_element(variants, at);
	name = json_member_text(variant, "name");
	operations = json_member(variant, "ops"); /* null: a run is one operation */
	if (!name || (json_kind(operations) != JSON_IS_NULL && !json_whole(operations, &ops)))
		return not_understood("a test", err);
	if (!json_double(json_member(result, "min"), &min) ||
	    !json_double(json_member(result, "max"), &max))
		return tare_fail(err, EINVAL, "%.100s in %.100s was not counted", event, name);
	if (min != max) {
		tare_fail(err, EAGAIN,
			  "%.100s in %.100s does not repeat: %g to %g in the runs of one process",
			  event, name, min, max);
		return -EAGAIN;
	}
	cost = round(max * (double)ops);
	if (cost < 0 || cost > 0x1p53)
		return tare_fail(err, ERANGE, "%.100s in %.100s: %g, %s", event, name, cost,
				 cost < 0 ? "less than the measurement overhead" : "too many");
	return add(out, event, name, (uint64_t)cost, err);
}

int gate_bench_parse(struct gate_outcome *out, const char *text, size_t n, struct tare_error *err)
{
	struct json_t *document = NULL;
	int ret = json_parse(&document, text, n, "tare bench", 1, err);
	const struct json_t *results = json_member(document, "results");

	if (ret == 0)
		take_conditions(out, json_member(document, "conditions"));
	for (size_t i = 0; ret == 0 && i < json_length(results); i++)
		ret = take_result(&out->head, json_element(results, i),
				  json_member(document, "variants"), err);
	if (ret == 0 && !out->head.n)
		ret = tare_fail(err, EINVAL, "tare bench measured nothing");
	json_release(document);
	return ret;
}
