/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "output/json.h"
#include "verify/verify_skid_view.h"

static const char *const shapes[] = {
	[SKID_TOO_FEW] = "too few samples",
	[SKID_EXACT] = "the instruction itself",
	[SKID_NEXT] = "the next instruction",
	[SKID_CONSTANT] = "always the same",
	[SKID_SPREAD] = "spread",
};

static void put_row(struct text *out, const struct skid_row *r, const struct style *s)
{
	const struct skid_result *k = &r->result;

	text_add(out, " %-20s %u ", r->event, r->level);
	if (!r->measured || !r->samples) {
		text_add(out, " %s\n", r->measured ? "no samples" : r->why);
		return;
	}
	text_add(out,
		 "%8" PRIu64 " %7.1f %% %7.1f %% %7" PRId64 " %7" PRId64 " %7" PRId64 " %9" PRId64
		 "  ",
		 r->samples, 100 * k->exact, 100 * k->next, k->median.instructions,
		 k->p99.instructions, k->most.instructions, k->p99.bytes);
	text_add(out, "%s%s%s", ink_on(s, k->kept ? INK_PLAIN : INK_BAD), shapes[k->shape],
		 ink_off(s));
	if (!k->kept)
		text_add(out, ": worse than level %u allows", r->level);
	if (k->off >= 0.01)
		text_add(out, "; %.1f %% outside the loop", 100 * k->off);
	text_add(out, "\n");
}

void verify_skid_text(struct text *out, const struct skid_report *r, const struct style *s)
{
	bool hardware = false;

	text_add(
		out,
		"\n The distance of an event's samples from the one instruction of a loop that causes the event,\n"
		" by precise level (:p is 1), in instructions; the 99th percentile also in bytes.\n\n");
	text_add(out, " %-20s %s %8s %9s %9s %7s %7s %7s %9s\n", "event", "level", "samples",
		 "at it", "next", "median", "99 %", "most", "bytes");
	for (size_t i = 0; i < r->n; i++) {
		put_row(out, &r->row[i], s);
		hardware |= r->row[i].hardware && r->row[i].measured;
	}
	if (r->clock)
		text_add(
			out,
			"\n cpu-clock: a timer; no instruction causes its samples, they show where time is spent. Of %" PRIu64
			", one requested every %" PRIu64 " ns,\n half came within %" PRIu64
			" ns of the previous one, 99 %% within %" PRIu64
			" ns, the latest after %" PRIu64 " ns.\n",
			r->clock_samples, r->clock_period, r->clock_median, r->clock_p99,
			r->clock_most);
	if (!hardware)
		text_add(out,
			 "\n No hardware event could be sampled: their skid is unknown here.\n");
	text_add(out, "\n");
}

static void place(struct json *j, const char *key, const struct skid_place *p)
{
	json_object(j, key);
	json_int(j, "instructions", p->instructions);
	json_int(j, "bytes", p->bytes);
	json_end(j);
}

static void put_json_row(struct json *j, const struct skid_row *r)
{
	static const char *const words[] = { "too-few", "exact", "next", "constant", "spread" };

	json_object(j, NULL);
	json_string(j, "event", r->event);
	json_uint(j, "level", r->level);
	json_bool(j, "hardware", r->hardware);
	json_string(j, "reason", r->measured ? NULL : r->why);
	if (r->measured) {
		json_uint(j, "samples", r->samples);
		json_string(j, "shape", words[r->result.shape]);
		json_bool(j, "kept", r->result.kept);
	}
	if (r->measured && r->samples) {
		json_real(j, "exact", r->result.exact);
		json_real(j, "next", r->result.next);
		json_real(j, "outside", r->result.off);
		place(j, "least", &r->result.least);
		place(j, "median", &r->result.median);
		place(j, "p99", &r->result.p99);
		place(j, "most", &r->result.most);
	}
	json_end(j);
}

void verify_skid_json(struct text *out, const struct skid_report *r)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/verify-skid/1");
	json_array(&j, "events");
	for (size_t i = 0; i < r->n; i++)
		put_json_row(&j, &r->row[i]);
	json_end(&j);
	if (r->clock) {
		json_object(&j, "clock");
		json_uint(&j, "samples", r->clock_samples);
		json_uint(&j, "period_ns", r->clock_period);
		json_uint(&j, "interval_median_ns", r->clock_median);
		json_uint(&j, "interval_p99_ns", r->clock_p99);
		json_uint(&j, "interval_most_ns", r->clock_most);
		json_end(&j);
	} else
		json_null(&j, "clock");
	json_end(&j);
	json_into(out, &j);
}
