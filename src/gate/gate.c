/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "gate/gate.h"

void gate_config_free(struct gate_config *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct gate_benchmark *b = &c->benchmark[i];

		for (char **s = b->argv; s && *s; s++)
			free(*s);
		for (char **s = b->environment; s && *s; s++)
			free(*s);
		for (char **s = b->regions; s && *s; s++)
			free(*s);
		free(b->regions);
		for (size_t l = 0; l < b->limits; l++)
			free(b->limit[l].event);
		free(b->argv);
		free(b->environment);
		free(b->name);
		free(b->setup);
		free(b->directory);
		free(b->events);
		free(b->isa);
	}
	free(c->benchmark);
	free(c->build);
	*c = (struct gate_config){ 0 };
}

/* ---- records ---- */

int gate_records_add(struct gate_records *to, const struct gate_record *r, struct tare_error *err)
{
	if (to->n == GATE_RECORDS_MAX)
		return tare_fail(err, E2BIG, "there are more than %d results", GATE_RECORDS_MAX);
	if (!array_reserve(&to->record, &to->room, to->n + 1, sizeof(*to->record)))
		return tare_fail_nomem(err);
	to->record[to->n++] = *r;
	return 0;
}

bool gate_record_alike(const struct gate_record *a, const struct gate_record *b)
{
	return !strcmp(a->command, b->command) && !strcmp(a->tare, b->tare) &&
		!strcmp(a->fixed, b->fixed) && !strcmp(a->isa, b->isa);
}

const struct gate_record *gate_records_find(const struct gate_records *in,
					    const struct gate_record *like)
{
	const struct gate_record *found = NULL;

	for (size_t i = 0; i < in->n; i++) {
		const struct gate_record *r = &in->record[i];

		if (!r->accept[0] && !strcmp(r->benchmark, like->benchmark) &&
		    (!found || gate_record_alike(r, like) || !gate_record_alike(found, like)))
			found = r;
	}
	return found;
}

void gate_records_free(struct gate_records *r)
{
	free(r->record);
	*r = (struct gate_records){ 0 };
}

const char *gate_count_text(char out[GATE_COUNT_BYTES], uint64_t n)
{
	char digits[GATE_COUNT_BYTES];
	int left = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *to = out;

	for (const char *p = digits; *p; p++) {
		*to++ = *p;
		if (--left > 0 && left % 3 == 0)
			*to++ = ',';
	}
	*to = '\0';
	return out;
}

void gate_remark(struct gate_outcome *o, const char *fmt, ...)
{
	va_list args;

	if (o->remarks == GATE_REMARKS_MAX)
		return;
	va_start(args, fmt);
	vsnprintf(o->remark[o->remarks++], GATE_REMARK_BYTES, fmt, args);
	va_end(args);
}

/* ---- verdicts ---- */

const char *gate_verdict_word(enum gate_verdict v)
{
	static const char *const words[] = {
		[GATE_SAME] = "same",
		[GATE_FASTER] = "faster",
		[GATE_WITHIN] = "within limit",
		[GATE_NEW] = "new",
		[GATE_GONE] = "not run",
		[GATE_ACCEPTED] = "accepted",
		[GATE_UNCLEAR] = "cannot tell",
		[GATE_SLOWER] = "slower",
		[GATE_UNLIKE] = "not comparable",
		[GATE_VARIES] = "does not repeat",
		[GATE_FAILED] = "failed",
	};

	return words[v];
}

bool gate_verdict_is_error(enum gate_verdict v)
{
	return v == GATE_UNLIKE || v == GATE_VARIES || v == GATE_FAILED;
}

void gate_fail(struct gate_outcome *o, enum gate_verdict v, const struct tare_error *err)
{
	o->verdict = v;
	o->head.n = 0;
	snprintf(o->why, sizeof(o->why), "%.500s", err->what);
	snprintf(o->hint, sizeof(o->hint), "%.500s", err->hint);
}

bool gate_is_event(const char *configured, const char *event)
{
	const char *part = strstr(configured, GATE_IN);
	size_t n = part ? (size_t)(part - configured) : strlen(configured);

	if (strncmp(configured, event, n) != 0)
		return false;
	event += n;
	if (!strncmp(event, ":u", 2) && (!event[2] || event[2] == ' '))
		event += 2;
	return !strcmp(event, part ? part : "");
}

const struct gate_limit *gate_limit_of(const struct gate_benchmark *b, const char *event)
{
	for (size_t i = 0; i < b->limits; i++)
		if (!b->limit[i].event || gate_is_event(b->limit[i].event, event))
			return &b->limit[i];
	return NULL;
}

const struct gate_limit *gate_time_limit(const struct gate_benchmark *b, enum compare_time t)
{
	for (size_t i = 0; i < b->limits; i++) {
		const struct gate_limit *l = &b->limit[i];

		if (l->relative && (!l->event || !strcmp(l->event, compare_time_names[t])))
			return l;
	}
	return NULL;
}

bool gate_has_times(const struct gate_benchmark *b)
{
	for (int t = 0; t < COMPARE_TIMES; t++)
		if (b->time[t])
			return true;
	return false;
}

static bool within(const struct gate_limit *l, uint64_t base, uint64_t head)
{
	if (!l)
		return false;
	return l->relative ? (double)(head - base) <= (double)base * l->percent / 100
			   : head - base <= l->amount;
}

static enum gate_verdict judge_event(const struct gate_limit *l, uint64_t base, uint64_t head)
{
	return head == base             ? GATE_SAME
		: head < base           ? GATE_FASTER
		: within(l, base, head) ? GATE_WITHIN
					: GATE_SLOWER;
}

static void unlike(struct gate_outcome *o, const char *what, const char *base, const char *head)
{
	o->verdict = GATE_UNLIKE;
	snprintf(o->why, sizeof(o->why), "%s differs: %.200s in the baseline, %.200s now", what,
		 *base ? base : "none", *head ? head : "none");
}

/* Adds the items of a list, "aslr, pid, cpus=1", that another list does not have. */
static void put_only_in(char *out, size_t room, const char *list, const char *other,
			const char *where)
{
	size_t begin = strlen(out), len = begin;

	for (const char *item = list; *item; item += strspn(item, ", ")) {
		size_t n = strcspn(item, ",");
		bool found = false;

		for (const char *at = other; !found && *at; at += strspn(at, ", ")) {
			found = strcspn(at, ",") == n && !strncmp(at, item, n);
			at += strcspn(at, ",");
		}
		if (!found && len < room)
			len += (size_t)snprintf(out + len, room - len, "%s%.*s",
						len > begin   ? ", "
							: len ? "; "
							      : "",
						(int)n, item);
		item += n;
	}
	if (len > begin && len < room)
		snprintf(out + len, room - len, " only in the %s", where);
}

static void unlike_items(struct gate_outcome *o)
{
	const char *base = o->base->fixed, *head = o->head.fixed;
	char words[GATE_TEXT_BYTES / 2] = "";

	put_only_in(words, sizeof(words), base, head, "baseline");
	put_only_in(words, sizeof(words), head, base, "head");
	unlike(o, "the list of fixed items", base, head);
	if (words[0])
		snprintf(o->why, sizeof(o->why), "the fixed items differ: %s", words);
}

static bool check_alike(struct gate_outcome *o)
{
	const struct gate_record *a = o->base, *b = &o->head;

	if (strcmp(a->tare, b->tare) != 0)
		unlike(o, "the version of tare", a->tare, b->tare);
	else if (strcmp(a->isa, b->isa) != 0)
		unlike(o, "the CPU model", a->isa, b->isa);
	else if (strcmp(a->fixed, b->fixed) != 0)
		unlike_items(o);
	else if (strcmp(a->command, b->command) != 0)
		unlike(o, "the command", a->command, b->command);
	else
		return true;
	if (strcmp(a->command, b->command) != 0)
		snprintf(o->hint, sizeof(o->hint),
			 "rename the benchmark; or tare gate accept %.100s --reason TEXT",
			 b->benchmark);
	else
		snprintf(o->hint, sizeof(o->hint),
			 "measure the base under the same conditions: tare gate run --store there, "
			 "or tare gate run --measure-base");
	return false;
}

/*
 * Programs, above all the shell, read these variables. If they differ, they may be the cause of an
 * increase, so it is not comparable. Equal counts are comparable in any case.
 */
static void check_variables(struct gate_outcome *o)
{
	const char *base = o->base->variables, *head = o->head.variables;

	if (o->verdict != GATE_SLOWER || !*base || !*head || !strcmp(base, head))
		return;
	o->verdict = GATE_UNLIKE;
	snprintf(o->why, sizeof(o->why),
		 "PATH or HOME differs from the baseline, which can change the counts");
	snprintf(o->hint, sizeof(o->hint),
		 "set both in \"environment\" of the benchmark, or tare gate run --measure-base");
}

/* The worst of its events decides. */
static enum gate_verdict worst(const struct gate_outcome *o)
{
	static const enum gate_verdict order[] = { GATE_SLOWER, GATE_UNCLEAR, GATE_WITHIN,
						   GATE_FASTER, GATE_SAME };

	for (size_t k = 0; k < ARRAY_SIZE(order); k++) {
		for (size_t i = 0; i < o->head.n; i++)
			if (o->event[i] == order[k])
				return order[k];
		for (int t = 0; t < COMPARE_TIMES; t++)
			if (o->time[t].measured && o->time[t].verdict == order[k])
				return order[k];
	}
	return GATE_NEW;
}

/* Not if an exact event already has another verdict than its own: accepted, not comparable. */
void gate_judge_times(struct gate_outcome *o)
{
	static const enum gate_verdict verdicts[] = { [COMPARE_CANNOT_TELL] = GATE_UNCLEAR,
						      [COMPARE_SAME] = GATE_SAME,
						      [COMPARE_LESS] = GATE_FASTER,
						      [COMPARE_MORE] = GATE_SLOWER };
	bool slower = false;

	for (int t = 0; t < COMPARE_TIMES; t++) {
		struct gate_time *time = &o->time[t];

		if (!time->measured)
			continue;
		time->verdict = verdicts[time->numbers.verdict];
		slower |= time->verdict == GATE_SLOWER;
	}
	if (gate_verdict_is_error(o->verdict))
		return;
	if (o->verdict != GATE_ACCEPTED)
		o->verdict = worst(o);
	else if (slower)
		o->verdict = GATE_SLOWER;
}

/* ---- accepted changes ---- */

/* The count of an event that a record has; NULL: it has none. */
static const uint64_t *count_of(const struct gate_record *r, const char *event)
{
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->value[i].event, event))
			return &r->value[i].count;
	return NULL;
}

/* The last change of this benchmark, under these conditions, that was accepted. */
static const struct gate_record *find_accepted(const struct gate_records *in,
					       const struct gate_record *head)
{
	for (size_t i = in->n; i--;) {
		const struct gate_record *r = &in->record[i];

		if (r->accept[0] && !strcmp(r->benchmark, head->benchmark) &&
		    gate_record_alike(r, head))
			return r;
	}
	return NULL;
}

/* A new command may be accepted, other conditions not. */
static bool only_command_differs(const struct gate_record *a, const struct gate_record *b)
{
	struct gate_record same = *a;

	strcpy(same.command, b->command);
	return gate_record_alike(&same, b);
}

/* Counts up to the accepted ones, and within their limits, pass. */
static void accept(struct gate_outcome *o, const struct gate_benchmark *b,
		   const struct gate_records *accepted)
{
	const struct gate_record *a = find_accepted(accepted, &o->head);
	char count[GATE_COUNT_BYTES];

	if (!a ||
	    (o->verdict != GATE_SLOWER &&
	     (o->verdict != GATE_UNLIKE || !only_command_differs(o->base, &o->head))))
		return;
	for (size_t i = 0; i < o->head.n; i++) {
		const struct gate_value *v = &o->head.value[i];
		const uint64_t *most = count_of(a, v->event);

		if (o->verdict == GATE_SLOWER && o->event[i] != GATE_SLOWER)
			continue;
		if (most &&
		    (v->count <= *most || within(gate_limit_of(b, v->event), *most, v->count)))
			continue;
		if (most)
			snprintf(o->why, sizeof(o->why), "only %s %.100s were accepted: %.300s",
				 gate_count_text(count, *most), v->event, a->accept);
		return;
	}
	o->verdict = GATE_ACCEPTED;
	o->hint[0] = '\0';
	snprintf(o->why, sizeof(o->why), "accepted: %.400s", a->accept);
}

/* Two clones measured the same commit, and git merged their notes. */
static bool check_agrees(struct gate_outcome *o, const struct gate_records *base)
{
	char first[GATE_COUNT_BYTES], second[GATE_COUNT_BYTES];
	const struct gate_record *a = o->base;

	for (size_t i = 0; i < base->n; i++) {
		const struct gate_record *r = &base->record[i];

		if (r->accept[0] || strcmp(r->benchmark, a->benchmark) != 0 ||
		    !gate_record_alike(r, a))
			continue;
		for (size_t k = 0; k < a->n; k++) {
			const struct gate_value *v = &a->value[k];
			const uint64_t *other = count_of(r, v->event);

			if (!other || *other == v->count)
				continue;
			o->verdict = GATE_UNLIKE;
			o->base = NULL;
			snprintf(o->why, sizeof(o->why),
				 "the baseline has two results that differ: %s and %s %.100s",
				 gate_count_text(first, *other), gate_count_text(second, v->count),
				 v->event);
			snprintf(
				o->hint, sizeof(o->hint),
				"measure the base again: tare gate run --store there replaces both, "
				"or tare gate run --measure-base");
			return false;
		}
	}
	return true;
}

/* Events, regions or tests that only the baseline has. */
static void name_gone(struct gate_outcome *o)
{
	size_t gone = 0;

	for (size_t i = o->base->n; i--;)
		if (!count_of(&o->head, o->base->value[i].event) && ++gone)
			snprintf(o->why, sizeof(o->why), "only in the baseline: %.100s",
				 o->base->value[i].event);
	if (gone > 1)
		snprintf(o->why + strlen(o->why), 40, " and %zu more", gone - 1);
}

void gate_judge(struct gate_outcome *o, const struct gate_benchmark *b,
		const struct gate_records *base, const struct gate_records *accepted)
{
	if (gate_verdict_is_error(o->verdict))
		return;
	o->base = gate_records_find(base, &o->head);
	for (size_t i = 0; i < o->head.n; i++) {
		o->event[i] = GATE_NEW;
		o->in_base[i] = -1;
	}
	o->verdict = GATE_NEW;
	if (!o->base || !check_agrees(o, base))
		return;
	if (o->base->older[0])
		gate_remark(
			o,
			"compared with the note of %.12s: later ones have no result of this benchmark",
			o->base->older);
	if (check_alike(o)) {
		for (size_t i = 0; i < o->head.n; i++)
			for (size_t k = 0; k < o->base->n; k++) {
				const struct gate_value *v = &o->head.value[i];

				if (strcmp(v->event, o->base->value[k].event) != 0)
					continue;
				o->in_base[i] = (int)k;
				o->limit[i] = gate_limit_of(b, v->event);
				o->event[i] = judge_event(o->limit[i], o->base->value[k].count,
							  v->count);
			}
		o->verdict = worst(o);
		name_gone(o);
		check_variables(o);
	}
	accept(o, b, accepted);
}
