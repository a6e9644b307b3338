/* SPDX-License-Identifier: MIT */
/*
 * Terms of pmu/.../: a flag that names an event of the PMU is replaced by that event's terms; a
 * format of the PMU takes a value; config, period and the like are perf's own. Source:
 * perf-list(1), "PARAMETERIZED EVENTS"; sysfs-bus-event_source-devices-{events,format}.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pmu/encode.h"

/* perf's terms that control sampling; here they are options of the command. */
static const char *const recording[] = {
	"branch_type", "time",
	"call-graph",  "stack-size",
	"max-stack",   "nr",
	"inherit",     "no-inherit",
	"overwrite",   "no-overwrite",
	"percore",     "aux-output",
	"aux-action",  "aux-sample-size",
	"metric-id",   "driver-config",
};

/* The origin of a term, for messages: the user's text, or a file of sysfs. */
struct origin {
	const char *file; /* NULL: the user's text */
	int at;
};

static int fail(struct encoder *e, const struct origin *from, const struct event_term *t, int code,
		const char *why)
{
	if (from->file)
		return tare_fail_at(e->err, e->ev->at, code, "%.180s: the term %.40s: %.100s",
				    from->file, t->name, why);
	return tare_fail_at(e->err, t->at, code, "%.100s: the term %.40s: %.120s", e->ev->text,
			    t->name, why);
}

static int put_term(struct encoder *e, const struct origin *from, const struct event_term *t,
		    const struct format *f, struct encoding *enc)
{
	struct tare_error why = TARE_ERROR_INIT;

	if (!t->is_number)
		return fail(e, from, t, EINVAL,
			    !strcmp(t->value, "?")
				    ? "needs a value; give it next to the event's name"
				    : "takes a number, decimal or 0x hex");
	if (format_put(f, t->number, &enc->attr, &why) < 0)
		return fail(e, from, t, why.code, why.what);
	return 0;
}

/* config, config1..3, period, freq: the same on every PMU. -ENOENT for another term. */
static int fixed_term(struct encoder *e, const struct origin *from, const struct event_term *t,
		      struct encoding *enc)
{
	struct format whole = { .mask = UINT64_MAX };

	if (!strncmp(t->name, "config", 6) &&
	    (!t->name[6] || (t->name[6] >= '1' && t->name[6] <= '3' && !t->name[7]))) {
		if (!t->value)
			return fail(e, from, t, EINVAL, "needs '=' and a number");
		whole.config = t->name[6] ? (unsigned)(t->name[6] - '0') : 0;
		return put_term(e, from, t, &whole, enc);
	}
	if (!strcmp(t->name, "period") || !strcmp(t->name, "freq")) {
		if (!t->value || !t->is_number || !t->number)
			return fail(e, from, t, EINVAL, "needs '=' and a number above 0");
		enc->attr.freq = t->name[0] == 'f';
		enc->attr.sample_period = t->number;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(recording); i++)
		if (!strcmp(t->name, recording[i]))
			return fail(e, from, t, EOPNOTSUPP,
				    "is about recording, which options of the command say here");
	return -ENOENT;
}

/* A flag that names a raw config or a generic event: cpu/r1a8/, cpu_atom/cycles/, software/cs/. */
static int generic_flag(struct encoder *e, const struct pmu *pmu, const struct event_term *t,
			struct encoding *enc)
{
	struct generic_name g;
	const struct pmu *const *cores;
	char room[GENERIC_ROOM], *end;
	size_t n;

	if (t->name[0] == 'r' &&
	    strspn(t->name + 1, "0123456789abcdefABCDEFx") == strlen(t->name + 1) && t->name[1] &&
	    strlen(t->name) <= 19) {
		errno = 0;
		enc->attr.config = strtoull(t->name + 1, &end, 16);
		if (!*end && !errno)
			return 0;
	}
	if (!generic_find(t->name, &g, room))
		return -ENOENT;
	if (g.type == NAME_SOFTWARE && !strcmp(pmu->name, "software")) {
		enc->attr.config = g.config;
		return 0;
	}
	if (!pmu->core || (g.type != NAME_HARDWARE && g.type != NAME_CACHE))
		return -ENOENT;
	if (machine_cores(e->m, &cores, &n, e->err) < 0)
		return -EINVAL;
	enc->attr.type = g.type == NAME_HARDWARE ? PERF_TYPE_HARDWARE : PERF_TYPE_HW_CACHE;
	enc->attr.config = g.config | (n > 1 ? (uint64_t)pmu->type << 32 : 0);
	return 0;
}

static void no_term(struct encoder *e, const struct pmu *pmu, const struct event_term *t)
{
	struct text near = { 0 }, all = { 0 };
	char **formats = NULL, **events = NULL;
	size_t n = 0, n_events = 0;

	tare_fail_at(e->err, t->at, EINVAL, "%.64s has no term or event '%.60s'", pmu->name,
		     t->name);
	if (machine_names(e->m, pmu, "format", &formats, &n, NULL) == 0)
		text_nearest(&near, t->name, (const char *const *)formats, n, 2);
	if (!near.len && machine_names(e->m, pmu, "events", &events, &n_events, NULL) == 0)
		text_nearest(&near, t->name, (const char *const *)events, n_events, 2);
	for (size_t i = 0; i < n; i++)
		text_add(&all, "%s%s", i ? ", " : "", formats[i]);
	if (near.len)
		tare_hint(e->err, "did you mean %.200s?", near.s);
	else if (all.len)
		tare_hint(e->err, "its terms: %.200s; and config, config1, config2, period, name",
			  all.s);
	else
		tare_hint(e->err, "it takes config, config1, config2, period and name");
	text_free(&near);
	text_free(&all);
	names_free(formats, n);
	names_free(events, n_events);
}

/* As in perf: a flag, or "=1", that is not a format but an event of the PMU. */
static bool names_event(struct encoder *e, const struct pmu *pmu, const struct event_term *t)
{
	char terms[1024];
	struct format f;

	return pmu && !e->opt->cpu && t->is_number && t->number == 1 &&
		machine_format(e->m, pmu, t->name, &f, NULL) == -ENOENT &&
		(machine_event(e->m, pmu, t->name, terms, sizeof(terms), NULL) != -ENOENT ||
		 (!t->value && encoder_file_has(e, pmu, t->name)));
}

/* Searches the PMU's own events, then the user's files. */
static int named_event(struct encoder *e, const struct pmu *pmu, const struct event_term *t,
		       struct encoding *enc)
{
	char terms[1024];

	if (machine_event(e->m, pmu, t->name, terms, sizeof(terms), NULL) == -ENOENT)
		return encoder_file_event(e, pmu, t->name, enc);
	return encoder_pmu_event(e, pmu, t->name, enc);
}

/*
 * `event_names`: a flag may name an event. Not inside an event's own terms, so nothing can recurse.
 */
static int apply(struct encoder *e, const struct origin *from, const struct pmu *pmu,
		 const struct event_term *t, bool event_names, struct encoding *enc)
{
	struct format f;
	char terms[1024];
	int ret = fixed_term(e, from, t, enc);

	if (ret != -ENOENT)
		return ret;
	if (!pmu) {
		ret = fail(e, from, t, EINVAL,
			   "this event takes only config, config1, config2, period, freq and name");
		if (e->ev->kind == EVENT_RAW)
			tare_hint(
				e->err,
				"a PMU's name takes the others: cpu/event=0x%02llx,umask=0x%02llx,%s=.../",
				(unsigned long long)(e->ev->raw & 0xff),
				(unsigned long long)(e->ev->raw >> 8 & 0xff), t->name);
		return ret;
	}
	if (event_names && names_event(e, pmu, t))
		return named_event(e, pmu, t, enc);
	ret = e->opt->cpu ? builtin_format(e->kind, t->name, &f)
			  : machine_format(e->m, pmu, t->name, &f, e->err);
	if (ret == 0)
		return put_term(e, from, t, &f, enc);
	if (ret != -ENOENT)
		return ret;
	if (!t->value && event_names) {
		ret = generic_flag(e, pmu, t, enc);
		if (ret != -ENOENT)
			return ret;
	}
	if (from->file)
		return fail(e, from, t, EINVAL, "the PMU has no format of that name");
	if (t->value && machine_event(e->m, pmu, t->name, terms, sizeof(terms), NULL) == 0)
		return fail(e, from, t, EINVAL, "is an event of the PMU and takes no value");
	no_term(e, pmu, t);
	return -EINVAL;
}

/* The event's terms first, so that the user's terms override them. */
int encoder_terms(struct encoder *e, const struct pmu *pmu, struct encoding *enc)
{
	const struct event *ev = e->ev;
	struct origin here = { 0 };
	int ret = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; ret == 0 && i < ev->n_terms; i++)
			if (names_event(e, pmu, &ev->term[i]) == (pass == 0))
				ret = apply(e, &here, pmu, &ev->term[i], true, enc);
	return ret;
}

/* A parameter of an event, as in "domain=?": the user's own term supplies it. */
static bool user_gives(const struct event *ev, const char *name)
{
	for (size_t i = 0; i < ev->n_terms; i++)
		if (ev->term[i].value && !strcmp(ev->term[i].name, name))
			return true;
	return false;
}

int encoder_text(struct encoder *e, const struct pmu *pmu, const char *terms, const char *from,
		 struct encoding *enc)
{
	struct event_list list = { 0 };
	struct tare_error inner = TARE_ERROR_INIT;
	struct origin origin = { .file = from };
	struct text whole = { 0 };
	int ret;

	text_add(&whole, "x/%s/", terms);
	if (whole.failed)
		return tare_fail_nomem(e->err);
	ret = event_list_parse(whole.s, &list, &inner);
	text_free(&whole);
	if (ret < 0 || list.n != 1 || !list.event[0].n_terms)
		ret = tare_fail_at(e->err, e->ev->at, EINVAL,
				   "%.180s: '%.60s' is no list of terms: %.80s", from, terms,
				   ret < 0               ? inner.what
					   : list.n == 1 ? "it is empty"
							 : "it says more");
	for (size_t i = 0; ret == 0 && i < list.event[0].n_terms; i++) {
		const struct event_term *t = &list.event[0].term[i];

		if (t->value && !strcmp(t->value, "?") && user_gives(e->ev, t->name))
			continue;
		ret = apply(e, &origin, pmu, t, false, enc);
	}
	event_list_free(&list);
	return ret;
}

int encoder_pmu_event(struct encoder *e, const struct pmu *pmu, const char *name,
		      struct encoding *enc)
{
	char terms[1024], file[256];
	int ret = machine_event(e->m, pmu, name, terms, sizeof(terms), e->err);

	if (ret < 0)
		return ret;
	snprintf(file, sizeof(file), "%.64s" PMU_DEVICES "/%.64s/events/%.64s", machine_root(e->m),
		 pmu->name, name);
	ret = encoder_text(e, pmu, terms, file, enc);
	if (ret == 0)
		ret = machine_event_unit(e->m, pmu, name, &enc->scale, enc->unit, &enc->snapshot,
					 e->err);
	return ret;
}
