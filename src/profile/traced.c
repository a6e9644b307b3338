/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "profile/traced.h"
#include "perfdata/tracing_fields.h"

enum { ALL_IN_ONE = UINT32_MAX }; /* a selection of "trace" */

struct traced_pick {
	uint32_t name,
		field; /* name: a word of the samples' stacks; field: its index in the tracepoint */
	size_t key;
};

static bool is_word_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '_';
}

/* Without "/raw". */
static size_t plain_length(const char *key, size_t n)
{
	return n > 4 && !memcmp(key + n - 4, "/raw", 4) ? n - 4 : n;
}

bool traced_is_key(const char *word, size_t n)
{
	n = plain_length(word, n);
	for (size_t i = 0; i < n; i++)
		if (!is_word_byte(word[i]) && word[i] != '.' && word[i] != ':' && word[i] != '-')
			return false;
	return n > 0;
}

static bool is(const char *key, const char *word)
{
	return !strcmp(key, word);
}

/* "sched:sched_switch" and "sched_switch" name the same event. */
static bool names_event(const char *s, size_t n, const struct tracing_event *ev)
{
	const char *colon = strchr(ev->name, ':');

	return (strlen(ev->name) == n && !memcmp(s, ev->name, n)) ||
		(colon && strlen(colon + 1) == n && !memcmp(s, colon + 1, n));
}

static bool names_field(const char *key, const struct tracing_event *ev,
			const struct tracing_field *f)
{
	size_t n = plain_length(key, strlen(key)), name = strlen(f->name);
	const char *dot = memrchr(key, '.', n), *field = dot ? dot + 1 : key;

	return n - (size_t)(field - key) == name && !memcmp(field, f->name, name) &&
		(!dot || names_event(key, (size_t)(dot - key), ev));
}

static int add_pick(struct traced *t, struct traced_event *to, const char *name, uint32_t field,
		    size_t key)
{
	struct traced_pick pick = { call_tree_add_name(t->call_tree, name), field, key };

	for (size_t i = 0; i < to->n; i++)
		if (to->pick[i].name == pick.name)
			return 0;
	if (to->n == CALL_TREE_TRACE_MOST)
		return 0;
	if (pick.name == WORDS_NONE || !array_one_more(&to->pick, to->n, sizeof(*to->pick)))
		return -ENOMEM;
	to->pick[to->n++] = pick;
	return 0;
}

static int pick_fields(struct traced *t, struct traced_event *to, const struct tracing_event *ev)
{
	int ret = 0;

	for (size_t k = 0; k < t->n_keys; k++) {
		const char *key = t->key[k];
		bool every = is(key, "trace_fields");

		if (is(key, "trace"))
			ret = add_pick(t, to, key, ALL_IN_ONE, k);
		for (size_t i = 0; ret == 0 && !is(key, "trace") && i < ev->n; i++)
			if (every || names_field(key, ev, &ev->field[i]))
				ret = add_pick(t, to, every ? ev->field[i].name : key, (uint32_t)i,
					       k);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static struct traced_event *event_of(struct traced *t, const struct perfdata *file,
				     const struct perfdata_event *ev)
{
	const struct tracing_event *of = perfdata_tracepoint(file, ev);

	if (!array_reserve_zeroed(&t->event, &t->n_events, ev->index + 1, sizeof(*t->event)))
		return NULL;
	if (of && !t->event[ev->index].known) {
		t->event[ev->index].known = true;
		if (pick_fields(t, &t->event[ev->index], of) < 0)
			return NULL;
	}
	return &t->event[ev->index];
}

/* "prev_comm=sh prev_pid=7", as in perf report --raw-trace. */
static enum tracing_value all_in_one(struct text *out, const struct tracing_event *ev,
				     const struct perfdata_record *rec, bool swap)
{
	const struct perfdata_sample *s = &rec->sample;
	size_t left = tracing_room(s->raw_size);

	for (size_t i = 0; i < ev->n; i++) {
		text_add(out, "%s%s=", i ? " " : "", ev->field[i].name);
		tracing_field_value(out, &ev->field[i], s->raw, s->raw_size, swap, &left);
	}
	return TRACING_TEXT;
}

static enum tracing_value value_of(struct text *out, const struct tracing_event *ev, uint32_t field,
				   const struct perfdata_record *rec, bool swap, size_t *left)
{
	if (!(rec->has & PD_SAMPLE_RAW)) {
		text_add(out, "(no raw data)");
		return TRACING_ABSENT;
	}
	if (field == ALL_IN_ONE)
		return all_in_one(out, ev, rec, swap);
	return tracing_field_value(out, &ev->field[field], rec->sample.raw, rec->sample.raw_size,
				   swap, left);
}

int traced_sample(struct traced *t, const struct perfdata *file, const struct perfdata_record *rec,
		  uint32_t most, uint32_t *trace)
{
	static const uint32_t kinds[] = {
		[TRACING_NUMBER] = CALL_TREE_TRACE_NUMBER,
		[TRACING_TEXT] = CALL_TREE_TRACE_TEXT,
		[TRACING_HEX] = CALL_TREE_TRACE_HEX,
		[TRACING_ABSENT] = CALL_TREE_TRACE_ABSENT,
	};
	const bool swap = perfdata_file(file)->swapped;
	const struct tracing_event *of = t->n_keys ? perfdata_tracepoint(file, rec->event) : NULL;
	struct traced_event *ev;
	struct text value = { 0 };
	size_t left = tracing_room(rec->sample.raw_size);

	*trace = 0;
	if (!of)
		return 0;
	ev = event_of(t, file, rec->event);
	if (!ev)
		return -ENOMEM;
	for (size_t i = 0; i < ev->n; i++) {
		bool full = t->call_tree->trace_set.n >= most;
		struct call_tree_trace one = { .parent = full ? 0 : *trace,
					       .name = ev->pick[full ? 0 : i].name };

		value.len = 0;
		if (full)
			text_add(&value, "(not kept: too many different values)");
		one.kind = full ? CALL_TREE_TRACE_ABSENT
				: kinds[value_of(&value, of, ev->pick[i].field, rec, swap, &left)];
		one.value = words_add(&t->call_tree->names, value.s ? value.s : "", value.len);
		*trace = value.failed || one.value == WORDS_NONE
			? SET_NONE
			: call_tree_add_trace(t->call_tree, &one);
		if (*trace == SET_NONE)
			break;
		if (full)
			break;
	}
	text_free(&value);
	return *trace == SET_NONE ? -ENOMEM : 0;
}

struct columns {
	uint32_t *word;
	size_t n;
};

/* In the order of the keys; each name once. */
static int add_column(struct columns *c, uint32_t word, struct tare_error *err)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->word[i] == word)
			return 0;
	if (c->n == TRACED_COLUMNS_MOST) {
		tare_fail(err, E2BIG,
			  "trace_fields: the tracepoints have more than %d different fields",
			  TRACED_COLUMNS_MOST);
		tare_hint(err, "name those wanted: --sort FIELD,FIELD");
		return -E2BIG;
	}
	if (word == WORDS_NONE || !array_one_more(&c->word, c->n, sizeof(*c->word)))
		return tare_fail_nomem(err);
	c->word[c->n++] = word;
	return 0;
}

/* The first field names of the file's tracepoints, to help with a misspelt one. */
static void hint_fields(const struct perfdata *file, const char *key, struct tare_error *err)
{
	enum { CLOSEST = 3 };
	const char *name[TRACED_COLUMNS_MOST];
	const struct perfdata_event *ev;
	const char *dot = strrchr(key, '.');
	struct text close = { 0 };
	size_t n = 0;

	for (size_t i = 0; (ev = perfdata_event_at(file, i)); i++) {
		const struct tracing_event *of = perfdata_tracepoint(file, ev);

		for (size_t k = 0; of && k < of->n && n < TRACED_COLUMNS_MOST; k++)
			name[n++] = of->field[k].name;
	}
	if (!n)
		tare_hint(err,
			  "keys: comm, pid, tid, module, function, line, address; fields of "
			  "tracepoints require their formats in the recording");
	else
		text_nearest(&close, dot ? dot + 1 : key, name, n, CLOSEST);
	if (n)
		tare_hint(err, "%s%s%s'tare dump' shows the fields of each sample",
			  close.len ? "close to it: " : "", close.len ? close.s : "",
			  close.len ? "; " : "");
	text_free(&close);
}

static int unknown_key(const struct perfdata *file, const char *key, struct tare_error *err)
{
	if (is(key, "trace") || is(key, "trace_fields"))
		tare_fail(err, ENOENT, "--sort %s: the recording has no tracepoint with a format",
			  key);
	else
		tare_fail(err, ENOENT,
			  "there is no key '%.100s', and no tracepoint of the recording has a "
			  "field of that name",
			  key);
	hint_fields(file, key, err);
	return -ENOENT;
}

int traced_columns(struct traced *t, const struct perfdata *file, struct call_tree *s,
		   uint32_t **column, size_t *n, struct tare_error *err)
{
	const struct perfdata_event *ev;
	struct columns c = { 0 };
	int ret = 0;

	for (size_t i = 0; (ev = perfdata_event_at(file, i)); i++)
		if (!event_of(t, file, ev))
			return tare_fail_nomem(err);
	for (int every = 0; every < 2; every++)
		for (size_t k = 0; ret == 0 && k < t->n_keys; k++) {
			bool any = false;

			if (is(t->key[k], "trace_fields") != (every != 0))
				continue;
			for (size_t i = 0; ret == 0 && i < t->n_events; i++)
				for (size_t p = 0; ret == 0 && p < t->event[i].n; p++)
					if (t->event[i].pick[p].key == k || every) {
						any = true;
						ret = add_column(
							&c,
							call_tree_add_name(
								s,
								call_tree_name(
									t->call_tree,
									t->event[i].pick[p].name)),
							err);
					}
			if (ret == 0 && !any)
				ret = unknown_key(file, t->key[k], err);
		}
	if (ret < 0)
		free(c.word);
	*column = ret < 0 ? NULL : c.word;
	*n = ret < 0 ? 0 : c.n;
	return ret;
}

void traced_free(struct traced *t)
{
	for (size_t i = 0; i < t->n_events; i++)
		free(t->event[i].pick);
	free(t->event);
	t->event = NULL;
	t->n_events = 0;
}
