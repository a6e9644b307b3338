/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "verify/trust_view.h"

const struct verdict *trust_of(const struct trust_view *v, unsigned event)
{
	return v && event < v->n ? v->verdict[event] : NULL;
}

bool trust_refuted(const struct verdict *v, const struct stat_row *r)
{
	return v->result.verdict == VERIFY_DEAD && r->quality != TARE_UNAVAILABLE && r->spread.max;
}

void trust_quality(struct text *out, const struct verdict *v, const struct stat_row *r)
{
	if (v && !trust_refuted(v, r) && v->result.verdict != VERIFY_UNTESTED)
		text_add(out, ", %s",
			 verify_trusted(&v->result) ? "verified" : verify_names[v->result.verdict]);
}

static bool any_trusted(const struct trust_view *v, const struct stat_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct verdict *of = trust_of(v, t->row[i].event);

		if (of && t->row[i].quality == TARE_COUNTED && !t->row[i].added_work &&
		    verify_trusted(&of->result))
			return true;
	}
	return false;
}

static void put_corrected(struct text *out, const struct overcount *c, const struct stat_table *t,
			  const struct style *s)
{
	const char *sign = c->per_fault < 0 ? "more" : "less", *name = t->enc[c->event].name;
	uint64_t change = c->counted.median > c->corrected.median
		? c->counted.median - c->corrected.median
		: c->corrected.median - c->counted.median;

	if (c->why_not[0]) {
		text_add(out, " %s is not corrected: %s.\n", name, c->why_not);
		return;
	}
	text_add(out, " %s corrected: %s", name, ink_on(s, INK_STRONG));
	put_count(out, s, c->corrected.median);
	text_add(out, "%s (", ink_off(s));
	put_count(out, s, c->corrected.min);
	text_add(out, " %s ", s->utf8 ? "\u2026" : "..");
	put_count(out, s, c->corrected.max);
	text_add(out, "), ");
	put_count(out, s, change);
	text_add(out, " %s than counted", sign);
	if (c->per_fault)
		text_add(out, "; %" PRId64 " for each of %" PRIu64 " page faults", c->per_fault,
			 c->faults);
	if (c->per_interrupt)
		text_add(out, "; %u for each of %" PRIu64 " interrupts", c->per_interrupt,
			 c->interrupts);
	text_add(out, ".\n");
}

bool trust_notes(struct text *out, const struct trust_view *v, const struct stat_table *t,
		 const struct style *s)
{
	size_t before = out->len;

	if (!v)
		return false;
	if (any_trusted(v, t))
		text_add(
			out,
			" verified: tare verify found that it counts correctly on this CPU, microcode and kernel.\n");
	for (size_t i = 0; i < t->n; i++) {
		const struct verdict *of = trust_of(v, t->row[i].event);
		struct text words = { 0 };

		if (!of || verify_trusted(&of->result) || of->result.verdict == VERIFY_UNTESTED ||
		    t->row[i].quality == TARE_EXACT ||
		    (i && t->row[i].event == t->row[i - 1].event))
			continue;
		if (trust_refuted(of, &t->row[i])) {
			text_add(out, " %s: counted ", t->enc[t->row[i].event].name);
			put_count(out, s, t->row[i].spread.max);
			text_add(
				out,
				": the verdict '%s' of tare verify is refuted; tare verify counts -e %s tests it again.\n",
				verify_names[of->result.verdict], t->enc[t->row[i].event].name);
			continue;
		}
		verify_words(&words, &of->result);
		text_add(out, " %s: %s%s%s, by tare verify: %s.\n", t->enc[t->row[i].event].name,
			 ink_on(s, INK_CAREFUL), verify_names[of->result.verdict], ink_off(s),
			 words.s ? words.s : "");
		text_free(&words);
	}
	for (size_t i = 0; i < v->n_corrected; i++)
		put_corrected(out, &v->corrected[i], t, s);
	for (size_t i = 0; i < v->n_faults; i++)
		text_add(out, " Known fault here: %s. %s 'tare doctor' shows the commands.\n",
			 v->fault[i].fault.what, v->fault[i].fault.why);
	if (v->trouble[0])
		text_add(out, " No verdicts: %s.\n", v->trouble);
	return out->len > before;
}

void trust_json(struct json *j, const struct trust_view *v, const struct stat_row *r)
{
	const struct verdict *of = trust_of(v, r->event);
	struct text words = { 0 };

	if (!of) {
		json_null(j, "verdict");
		return;
	}
	verify_words(&words, &of->result);
	json_object(j, "verdict");
	json_string(j, "verdict", verify_names[of->result.verdict]);
	json_bool(j, "trusted", verify_trusted(&of->result));
	json_bool(j, "refuted", trust_refuted(of, r));
	json_string(j, "words", words.s);
	json_int(j, "time", of->time);
	json_bool(j, "same_boot", of->boot[0] && v->boot && !strcmp(of->boot, v->boot));
	json_end(j);
	text_free(&words);
}

void trust_json_faults(struct json *j, const struct trust_view *v)
{
	json_array(j, "faults");
	for (size_t i = 0; v && i < v->n_faults; i++) {
		json_object(j, NULL);
		json_string(j, "id", v->fault[i].fault.id);
		json_string(j, "known", v->fault[i].fault.known);
		json_string(j, "what", v->fault[i].fault.what);
		json_string(j, "why", v->fault[i].fault.why);
		json_end(j);
	}
	json_end(j);
}

void trust_json_corrected(struct json *j, const struct trust_view *v, const struct stat_table *t)
{
	if (!v || !v->corrected)
		return;
	json_array(j, "corrected");
	for (size_t i = 0; i < v->n_corrected; i++) {
		const struct overcount *c = &v->corrected[i];
		bool have = !c->why_not[0];

		json_object(j, NULL);
		json_string(j, "event", t->enc[c->event].name);
		json_string(j, "reason", have ? NULL : c->why_not);
		json_uint(j, "counted", c->counted.median);
		json_int(j, "per_fault", c->per_fault);
		json_uint(j, "per_interrupt", c->per_interrupt);
		if (have) {
			json_uint(j, "value", c->corrected.median);
			json_uint(j, "min", c->corrected.min);
			json_uint(j, "max", c->corrected.max);
			json_uint(j, "page_faults", c->faults);
			json_uint(j, "interrupts", c->interrupts);
		} else {
			json_null(j, "value");
		}
		json_end(j);
	}
	json_end(j);
}
