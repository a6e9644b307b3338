/* SPDX-License-Identifier: MIT */
/*
 * perf's event grammar: text -> struct event_list. No side effects; every error has its offset.
 *
 *   list   = item { "," item }
 *   item   = [ name ] "{" event { "," event } "}" [ ":" mods ]  |  event
 *   event  = name [ ":" mods ] | name "/" terms "/" [ mods ] | "r" hex | number ":" number
 *          | "mem:" addr [ "/" len ] [ ":" rwx ] | system ":" name
 *   terms  = [ term { "," term } ],  term = name [ "=" value ]
 *
 * White space and newlines are allowed around items. The text after a colon is modifiers if every
 * letter up to the next delimiter is one; otherwise it is part of the name. So tracepoints
 * (sched:sched_switch) and libpfm4's names (INST_RETIRED:ANY_P, skl::INST_RETIRED:ANY_P:u) are
 * parsed the same way. Source: perf-list(1), "EVENT MODIFIERS" and "PARAMETERIZED EVENTS";
 * perf-record(1), option -e.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/array.h"
#include "event/event.h"
#include "event/mods.h"

enum { TEXT_MAX = 1 << 20 };

struct parser {
	const char *text, *p;
	struct event_list *out;
	size_t room;
	struct tare_error *err;
};

static int at(const struct parser *ps, const char *where)
{
	return (int)(where - ps->text);
}

/* The character at a position, as text for a message. */
static const char *seen(const char *where, char room[8])
{
	if (!*where)
		return "the end";
	if (isprint((unsigned char)*where)) {
		room[0] = room[2] = '\'';
		room[1] = *where;
		room[3] = '\0';
		return room;
	}
	return *where == '\n' || *where == '\t' ? "white space" : "an unprintable byte";
}

static void skip_space(struct parser *ps)
{
	ps->p += strspn(ps->p, " \t\r\n");
}

/* Length of a name: [A-Za-z0-9_*?[]] first, then also . - ! @ */
static size_t name_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || (s[n] && strchr("_*?[]", s[n])) ||
	       (n && s[n] && strchr(".-!@", s[n])))
		n++;
	return n;
}

/* A decimal or 0x number of exactly `n` bytes. 0, -EINVAL (not a number), -ERANGE. */
static int parse_number(const char *s, size_t n, uint64_t *out)
{
	unsigned base = n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ? 16 : 10;
	uint64_t value = 0;

	if (!n)
		return -EINVAL;
	for (size_t i = base == 16 ? 2 : 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (base == 16 ? !isxdigit(c) : !isdigit(c))
			return -EINVAL;
		if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(
			    value, isdigit(c) ? c - '0' : (unsigned)tolower(c) - 'a' + 10, &value))
			return -ERANGE;
	}
	*out = value;
	return 0;
}

/* A required number; moves past it. */
static int take_number(struct parser *ps, const char *what, uint64_t *out)
{
	size_t n = 0;
	char c[8];

	while (isalnum((unsigned char)ps->p[n]))
		n++;

	int ret = parse_number(ps->p, n, out);

	if (ret == -ERANGE)
		return tare_fail_at(ps->err, at(ps, ps->p), EINVAL, "%s is over 64 bits", what);
	if (ret < 0)
		return tare_fail_at(ps->err, at(ps, ps->p), EINVAL,
				    "%s is expected (decimal or 0x hex), not %s", what,
				    seen(ps->p, c));
	ps->p += n;
	return 0;
}

static int copy(struct parser *ps, const char *from, size_t n, const char **out)
{
	*out = arena_string(&ps->out->memory, from, n);
	return *out ? 0 : tare_fail_nomem(ps->err);
}

/* "r" and up to 16 hex digits, or "r0x" and as many. */
static bool is_raw(const char *s, size_t n, uint64_t *config)
{
	char hex[2 + 16] = "0x";

	if (n < 2 || s[0] != 'r')
		return false;
	s++, n--;
	if (n > 2 && s[0] == '0' && s[1] == 'x')
		s += 2, n -= 2;
	if (n > 16)
		return false;
	memcpy(hex + 2, s, n);
	return parse_number(hex, n + 2, config) == 0;
}

/*
 * In LIKWID the counter follows the event: INSTR_RETIRED_ANY:FIXC0. Source: LIKWID wiki,
 * "TutorialGroups".
 */
static bool is_likwid_counter(const char *s, size_t n)
{
	size_t letters = !strncmp(s, "PMC", 3) ? 3 : !strncmp(s, "FIXC", 4) ? 4 : 0;

	return letters && n > letters && strspn(s + letters, "0123456789") == n - letters;
}

static int parse_term(struct parser *ps, struct event *ev, struct event_term *t)
{
	const char *start = ps->p;
	size_t n = name_length(start + (*start == '@')) + (*start == '@');
	bool label;
	char c[8];
	int ret;

	*t = (struct event_term){ .at = at(ps, start), .number = 1, .is_number = true };
	if (n == (*start == '@'))
		return tare_fail_at(ps->err, at(ps, start), EINVAL,
				    "a term such as event=0xd1 is expected, not %s",
				    seen(start, c));
	ret = copy(ps, start, n, &t->name);
	if (ret < 0)
		return ret;
	label = !strcmp(t->name, "name");
	ps->p += n;
	if (*ps->p != '=') {
		if (label)
			return tare_fail_at(ps->err, at(ps, ps->p), EINVAL,
					    "name needs '=' and a value");
		return 0;
	}

	const char *value = ++ps->p;

	if (*value == '\'') {
		n = strcspn(value + 1, "'");
		if (!value[1 + n])
			return tare_fail_at(ps->err, at(ps, value), EINVAL,
					    "the quote is not closed");
		ret = copy(ps, value + 1, n, &t->value);
		n += 2;
	} else {
		n = strcspn(value, ",/{}' \t\r\n");
		if (!n)
			return tare_fail_at(ps->err, at(ps, value), EINVAL,
					    "a value for %.40s is expected, not %s", t->name,
					    seen(value, c));
		ret = copy(ps, value, n, &t->value);
	}
	if (ret < 0)
		return ret;
	ps->p += n;
	ret = parse_number(t->value, strlen(t->value), &t->number);
	if (ret == -ERANGE && !label)
		return tare_fail_at(ps->err, at(ps, value), EINVAL, "%.40s is over 64 bits",
				    t->value);
	t->is_number = ret == 0;
	if (label && !t->value[0])
		return tare_fail_at(ps->err, at(ps, value), EINVAL,
				    "an empty name cannot be shown");
	if (label)
		ev->label = t->value;
	return 0;
}

/*
 * An upper bound of the number of terms up to the slash that ends them; a quoted value may contain
 * commas and slashes.
 */
static size_t count_terms(const char *s)
{
	size_t n = 1;

	for (; *s && *s != '/'; s++) {
		n += *s == ',';
		if (s[0] == '=' && s[1] == '\'') {
			s += 2 + strcspn(s + 2, "'");
			if (!*s)
				break;
		}
	}
	return n;
}

/* At the slash. name= becomes the label and is not a term. */
static int parse_terms(struct parser *ps, struct event *ev)
{
	int ret;
	char c[8];

	ps->p++;
	ev->term = arena_alloc(&ps->out->memory, count_terms(ps->p) * sizeof(*ev->term));
	if (!ev->term)
		return tare_fail_nomem(ps->err);
	skip_space(ps);
	while (*ps->p != '/' || ev->n_terms) {
		struct event_term *t = &ev->term[ev->n_terms];

		skip_space(ps);
		ret = parse_term(ps, ev, t);
		if (ret < 0)
			return ret;
		ev->n_terms += strcmp(t->name, "name") != 0;
		skip_space(ps);
		if (*ps->p == '/')
			break;
		if (!*ps->p)
			return tare_fail_at(ps->err, at(ps, ps->p), EINVAL,
					    "the '/' that ends the terms of %.40s is missing",
					    ev->pmu ? ev->pmu : "the event");
		if (*ps->p != ',')
			return tare_fail_at(ps->err, at(ps, ps->p), EINVAL,
					    "',' or '/' is expected after the term %.40s, not %s",
					    t->name, seen(ps->p, c));
		ps->p++;
	}
	if (*ps->p != '/')
		return tare_fail_at(ps->err, at(ps, ps->p), EINVAL, "'/' is expected, not %s",
				    seen(ps->p, c));
	ps->p++;
	return 0;
}

static int parse_mods(struct parser *ps, struct event_mods *mods)
{
	size_t n = mods_length(ps->p);
	int ret = mods_parse(ps->p, n, at(ps, ps->p), mods, ps->err);

	ps->p += n;
	return ret;
}

/* mem:addr[/len][:access][:mods], after "mem:". */
static int parse_breakpoint(struct parser *ps, struct event *ev)
{
	int ret = take_number(ps, "the address of the breakpoint", &ev->bp.addr);
	size_t n;

	ev->kind = EVENT_BREAKPOINT;
	if (ret < 0)
		return ret;
	if (*ps->p == '/') {
		const char *where = ++ps->p;

		ret = take_number(ps, "the length of the breakpoint", &ev->bp.len);
		if (ret < 0)
			return ret;
		if (ev->bp.len < 1 || ev->bp.len > 8)
			return tare_fail_at(ps->err, at(ps, where), EINVAL,
					    "a breakpoint covers 1 to 8 bytes, not %llu",
					    (unsigned long long)ev->bp.len);
	}
	if (*ps->p == ':' && (n = strspn(ps->p + 1, "rwx")) > 0 &&
	    !isalnum((unsigned char)ps->p[1 + n])) {
		for (const char *s = ps->p + 1; s <= ps->p + n; s++) {
			bool *flag = *s == 'r' ? &ev->bp.r : *s == 'w' ? &ev->bp.w : &ev->bp.x;

			if (*flag)
				return tare_fail_at(ps->err, at(ps, s), EINVAL,
						    "'%c' is given twice", *s);
			*flag = true;
		}
		ps->p += 1 + n;
	}
	if (!ev->bp.r && !ev->bp.w && !ev->bp.x)
		ev->bp.r = ev->bp.w = true;
	/* as in perf: for an instruction the size of a pointer, for data 4 bytes */
	if (!ev->bp.len)
		ev->bp.len = ev->bp.x ? sizeof(long) : 4;
	if (*ps->p == ':') {
		ps->p++;
		if (!mods_length(ps->p))
			return tare_fail_at(
				ps->err, at(ps, ps->p), EINVAL,
				"access (r, w, x) or modifiers (u, k, ...) are expected");
		return parse_mods(ps, &ev->mods);
	}
	return 0;
}

/*
 * After the first word: colons are followed by modifiers, a LIKWID counter, or more of the name.
 * Two parts are a tracepoint (or a libpfm4 name: src/pmu decides); more parts are one name.
 */
static int parse_colons(struct parser *ps, struct event *ev, const char *word)
{
	const char *second = NULL, *end = ps->p;
	unsigned parts = 1;
	char c[8];
	int ret;

	while (*ps->p == ':') {
		const char *part = ps->p + 1;
		size_t n = mods_length(part);

		if (n) {
			ps->p = part;
			ret = parse_mods(ps, &ev->mods);
			if (ret < 0)
				return ret;
			break;
		}
		if (parts == 1 && *part == ':')
			part++;
		n = name_length(part);
		if (!n)
			return tare_fail_at(ps->err, at(ps, part), EINVAL,
					    "modifiers (u, k, ...) or more of a name are expected "
					    "after ':', not %s",
					    seen(part, c));
		ps->p = part + n;
		if (*ps->p == '=') /* libpfm4: :c=1 */
			ps->p += 1 + name_length(ps->p + 1);
		if (parts == 1 && is_likwid_counter(part, n))
			continue;
		end = ps->p;
		if (parts++ == 1)
			second = part;
	}
	if (parts == 2 && second[-2] != ':') {
		ev->kind = EVENT_TRACEPOINT;
		ret = copy(ps, word, (size_t)(second - 1 - word), &ev->system);
		return ret < 0 ? ret : copy(ps, second, (size_t)(end - second), &ev->name);
	}
	ev->kind = EVENT_NAME;
	return copy(ps, word, (size_t)(end - word), &ev->name);
}

/* The word is a number: type:config. */
static int parse_numbers(struct parser *ps, struct event *ev, const char *word)
{
	uint64_t type;
	int ret;

	ev->kind = EVENT_NUMBERS;
	ps->p = word;
	ret = take_number(ps, "a type", &type);
	if (ret < 0)
		return ret;
	if (type > UINT32_MAX)
		return tare_fail_at(ps->err, at(ps, word), EINVAL, "a type is at most 32 bits");
	ev->type = (uint32_t)type;
	ps->p++;
	return take_number(ps, "a config", &ev->raw);
}

/* "/terms/mods" and ":mods" after a complete name. */
static int parse_tail(struct parser *ps, struct event *ev)
{
	int ret;

	if (*ps->p == '/') {
		ret = parse_terms(ps, ev);
		if (ret < 0)
			return ret;
		if (mods_length(ps->p))
			return parse_mods(ps, &ev->mods);
	}
	if (*ps->p != ':')
		return 0;
	ps->p++;
	if (!mods_length(ps->p)) {
		tare_fail_at(ps->err, at(ps, ps->p), EINVAL, "modifiers are expected after ':'");
		tare_hint(ps->err, MODS_HELP);
		return -EINVAL;
	}
	return parse_mods(ps, &ev->mods);
}

static int parse_form(struct parser *ps, struct event *ev)
{
	const char *word = ps->p;
	size_t n = name_length(word);
	uint64_t ignored;
	char c[8];
	int ret;

	if (!strncmp(word, "mem:", 4)) {
		ps->p += 4;
		return parse_breakpoint(ps, ev);
	}
	if (!n)
		return tare_fail_at(ps->err, at(ps, word), EINVAL,
				    "an event name is expected, not %s", seen(word, c));
	ps->p += n;
	if (parse_number(word, n, &ignored) == 0 && *ps->p == ':') {
		ret = parse_numbers(ps, ev, word);
		return ret < 0 ? ret : parse_tail(ps, ev);
	}
	if (is_raw(word, n, &ev->raw)) {
		ev->kind = EVENT_RAW;
		return parse_tail(ps, ev);
	}
	if (*ps->p == '/') {
		ev->kind = EVENT_PMU;
		ret = copy(ps, word, n, &ev->pmu);
		return ret < 0 ? ret : parse_tail(ps, ev);
	}
	ret = parse_colons(ps, ev, word);
	if (ret < 0 || *ps->p != '/')
		return ret;
	return parse_tail(ps, ev);
}

static int parse_event(struct parser *ps, unsigned group)
{
	struct event_list *out = ps->out;
	const char *start = ps->p;
	int ret;

	if (!array_reserve(&out->event, &ps->room, out->n + 1, sizeof(*out->event)))
		return tare_fail_nomem(ps->err);

	struct event *ev = &out->event[out->n];

	*ev = (struct event){ .at = at(ps, start), .group = group };
	ret = parse_form(ps, ev);
	if (ret < 0)
		return ret;
	ret = copy(ps, start, (size_t)(ps->p - start), &ev->text);
	if (ret < 0)
		return ret;
	out->n++;
	return 0;
}

/* Check what follows an event or a group. */
static int expect_end(struct parser *ps, bool in_group)
{
	char c[8];

	skip_space(ps);
	if (*ps->p == ',' || *ps->p == (in_group ? '}' : '\0'))
		return 0;
	if (in_group && !*ps->p)
		return tare_fail_at(ps->err, at(ps, ps->p), EINVAL,
				    "the '}' that ends the group is missing");
	return tare_fail_at(ps->err, at(ps, ps->p), EINVAL, "%s is expected after %.60s, not %s",
			    in_group ? "',' or '}'" : "','",
			    ps->out->n ? ps->out->event[ps->out->n - 1].text : "the group",
			    seen(ps->p, c));
}

/* At the brace. */
static int parse_group(struct parser *ps)
{
	unsigned group = ps->out->groups++;
	size_t first = ps->out->n;
	struct event_mods mods = { 0 };
	const char *where;
	int ret;

	do {
		ps->p++;
		skip_space(ps);
		ret = parse_event(ps, group);
		if (ret == 0)
			ret = expect_end(ps, true);
		if (ret < 0)
			return ret;
	} while (*ps->p == ',');
	ps->p++;
	if (*ps->p != ':')
		return 0;
	where = ++ps->p;
	if (!mods_length(ps->p)) {
		tare_fail_at(ps->err, at(ps, ps->p), EINVAL,
			     "modifiers of the group are expected after ':'");
		tare_hint(ps->err, MODS_HELP);
		return -EINVAL;
	}
	ret = parse_mods(ps, &mods);
	for (size_t i = first; ret == 0 && i < ps->out->n; i++)
		ret = mods_merge(&ps->out->event[i].mods, &mods, at(ps, where), ps->err);
	return ret;
}

static int parse_list(struct parser *ps)
{
	for (;;) {
		int ret;

		skip_space(ps);

		size_t word = name_length(ps->p);

		if (ps->p[word] ==
		    '{') { /* perf accepts a name before the brace, but does not show it */
			ps->p += word;
			ret = parse_group(ps);
		} else {
			ret = parse_event(ps, ps->out->groups);
			ps->out->groups++;
		}
		if (ret == 0)
			ret = expect_end(ps, false);
		if (ret < 0)
			return ret;
		if (!*ps->p)
			return 0;
		ps->p++;
	}
}

int event_list_parse(const char *text, struct event_list *out, struct tare_error *err)
{
	struct parser ps = { .text = text, .p = text, .out = out, .room = out->n, .err = err };
	int ret;

	if (strnlen(text, TEXT_MAX + 1) > TEXT_MAX)
		ret = tare_fail(err, EINVAL, "the list of events is over %d bytes", TEXT_MAX);
	else
		ret = parse_list(&ps);
	if (ret < 0)
		event_list_free(out);
	return ret;
}

void event_list_free(struct event_list *list)
{
	free(list->event);
	arena_free(&list->memory);
	*list = (struct event_list){ 0 };
}
