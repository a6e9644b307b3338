/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "output/csv.h"
#include "cli/events/events_view.h"

/* ---- the list ---- */

void events_list_begin(struct events_list *l, const char *cpu)
{
	static const struct table_layout rows = { .rows = "events",
						  .columns = "name,group,terms,available,about" };

	if (l->format == FORMAT_TEXT)
		return;
	l->json = document_as(l->format, &rows);
	json_object(&l->json, NULL);
	json_string(&l->json, "schema", "tare/events/1");
	json_string(&l->json, "cpu", cpu[0] ? cpu : NULL);
	json_array(&l->json, "events");
}

static void add_text(struct events_list *l, const struct known_event *ev)
{
	enum { NAME = 34 };
	const struct style *s = &l->style;
	const char *say = ev->about[0] ? ev->about : ev->terms;
	size_t n = strlen(ev->name), width = s->width > 60 ? (size_t)s->width : 60;

	if (strncmp(l->group, ev->group, sizeof(l->group) - 1))
		text_add(&l->text, "%s%s%s%s%s\n", l->shown ? "\n" : "", ink_on(s, INK_STRONG),
			 ev->group, ink_off(s),
			 ev->available ? "" : " (not on this machine; 'tare doctor' says why)");
	text_add(&l->text, "  %s%s%s", ink_on(s, ev->available ? INK_PLAIN : INK_FAINT), ev->name,
		 ink_off(s));
	if (!say[0]) {
		text_put(&l->text, "\n", 1);
		return;
	}
	if (n > NAME - 1)
		text_add(&l->text, "\n  %*s", NAME, "");
	else
		text_add(&l->text, "%*s", (int)(NAME - n), "");
	put_wrapped(&l->text, say, 2 + NAME, 2 + NAME, width);
}

static void add_json(struct json *j, const struct known_event *ev)
{
	json_object(j, NULL);
	json_string(j, "name", ev->name);
	json_string(j, "group", ev->group);
	json_string(j, "terms", ev->terms[0] ? ev->terms : NULL);
	json_string(j, "pmu", ev->pmu && ev->pmu[0] ? ev->pmu : NULL);
	json_bool(j, "available", ev->available);
	json_string(j, "about", ev->about[0] ? ev->about : NULL);
	json_end(j);
}

void events_list_add(struct events_list *l, const struct known_event *ev)
{
	if (l->format == FORMAT_TEXT)
		add_text(l, ev);
	else
		add_json(&l->json, ev);
	snprintf(l->group, sizeof(l->group), "%s", ev->group);
	l->shown++;
}

void events_list_refused(struct events_list *l, const char *why)
{
	if (l->format == FORMAT_JSON)
		text_put(&l->refused, why, strlen(why) + 1);
	l->n_refused++;
}

char *events_list_end(struct events_list *l)
{
	if (l->format == FORMAT_TEXT)
		return text_take(&l->text);
	json_end(&l->json);
	json_array(&l->json, "refused");
	for (const char *at = l->refused.s; at && *at; at += strlen(at) + 1)
		json_string(&l->json, NULL, at);
	json_end(&l->json);
	json_end(&l->json);
	text_free(&l->refused);
	json_into(&l->text, &l->json);
	return text_take(&l->text);
}

/* ---- one event ---- */

static const char *type_name(uint32_t type)
{
	static const char *const names[] = { "PERF_TYPE_HARDWARE",   "PERF_TYPE_SOFTWARE",
					     "PERF_TYPE_TRACEPOINT", "PERF_TYPE_HW_CACHE",
					     "PERF_TYPE_RAW",        "PERF_TYPE_BREAKPOINT" };

	return type < ARRAY_SIZE(names) ? names[type] : NULL;
}

static void bits(struct text *out, uint32_t mask)
{
	bool first = true;

	for (unsigned i = 0; i < 32; i++) {
		unsigned from = i;

		if (!(mask >> i & 1))
			continue;
		while (i < 31 && mask >> (i + 1) & 1)
			i++;
		text_add(out, "%s%u", first ? "" : ",", from);
		if (i > from)
			text_add(out, "-%u", i);
		first = false;
	}
}

void counters_in_words(struct text *out, const struct counter_facts *f, uint64_t counters)
{
	static const char *const intel[] = { "instructions", "cycles", "reference cycles",
					     "slots" };
	uint32_t low = (uint32_t)counters, high = (uint32_t)(counters >> 32);

	if (low) {
		text_add(out, "programmable ");
		bits(out, low);
	}
	if (high) {
		text_add(out, "%sfixed ", low ? ", " : "");
		bits(out, high);
		if (f->kind == COUNTERS_INTEL && high < 16 && !(high & (high - 1)))
			text_add(out, " (%s)", intel[__builtin_ctz(high)]);
		if (f->kind == COUNTERS_ARM && high == 1)
			text_add(out, " (the cycle counter)");
	}
}

static void privilege(struct text *out, const struct encoding *enc)
{
	static const char *const levels[] = { "user", "kernel", "hypervisor" };
	const struct perf_event_attr *a = &enc->attr;
	bool shut[] = { a->exclude_user, a->exclude_kernel, a->exclude_hv }, first = true;

	if (encoding_modes(enc) == MODES_CLOCK && (a->exclude_user || a->exclude_kernel))
		text_add(out, "in user and kernel; samples: ");
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (!shut[i]) {
			text_add(out, "%s%s", first ? "" : ", ", levels[i]);
			first = false;
		}
	if (a->exclude_guest != a->exclude_host)
		text_add(out, "; %s", a->exclude_guest ? "not guests" : "guests only");
	if (a->exclude_idle)
		text_add(out, "; not idle tasks");
	if (a->precise_ip)
		text_add(out, "; precise level %u", a->precise_ip);
	if (a->pinned)
		text_add(out, "; pinned");
	if (a->exclusive)
		text_add(out, "; exclusive");
}

static void row(struct text *out, const struct style *s, const char *title, struct text *value)
{
	text_add(out, "  %s%-10s%s", ink_on(s, INK_FAINT), title, ink_off(s));
	put_wrapped(out, value->s ? value->s : "", 12, 12, s->width > 60 ? (size_t)s->width : 60);
	text_free(value);
}

static void say_pmu(struct text *v, const struct encoding *enc)
{
	text_add(v, "%s",
		 enc->pmu[0]                           ? enc->pmu
			 : encoding_source(enc)->clock ? "none: a clock"
			 : enc->attr.type == PERF_TYPE_HARDWARE ||
				 enc->attr.type == PERF_TYPE_HW_CACHE ||
				 enc->attr.type == PERF_TYPE_RAW
			 ? "the core PMU"
			 : "none: the kernel counts it");
	if (enc->cpus.n) {
		text_add(v, ", CPUs ");
		cpus_write(v, &enc->cpus);
	}
	if (enc->place == PLACE_UNCORE)
		text_add(v, "; counts everything there, not one task");
}

static bool is_exact(const struct encoding *enc)
{
	return encoding_source(enc)->exact;
}

static void say_encoding(struct text *v, const struct encoding *enc)
{
	const char *type = type_name(enc->attr.type);

	if (is_exact(enc)) {
		text_add(v, "none: not a kernel event; tare's exact engine counts it");
		return;
	}
	if (enc->asked[0]) {
		text_add(v,
			 "%s; its bits are unknown: they need the format files of %s%s, which "
			 "are missing here",
			 enc->asked, enc->pmu[0] ? "the PMU " : "the core PMU", enc->pmu);
		return;
	}
	if (enc->unencoded && !enc->pmu[0]) {
		text_add(v, "none: it is not a single event");
		return;
	}
	if (enc->unencoded) {
		text_add(v, "unknown: it needs the format files of the PMU %s, which is not here",
			 enc->pmu);
		return;
	}
	text_add(v, "type %u%s%s%s, config %#llx", enc->attr.type, type ? " (" : "",
		 type ? type : "", type ? ")" : "", (unsigned long long)enc->attr.config);
	if (enc->attr.config1)
		text_add(v, ", config1 %#llx", (unsigned long long)enc->attr.config1);
	if (enc->attr.config2)
		text_add(v, ", config2 %#llx", (unsigned long long)enc->attr.config2);
}

/* A guess is not printed as a fact: names what the answer depends on. */
static void say_unsure(struct text *v, const struct explanation *x)
{
	text_add(v, "as far as known, together with %s: ", x->beside);
	if (x->unsure->depends[0])
		text_add(v, "the counters of %s depend on %s", x->unsure_event, x->unsure->depends);
	else
		text_add(v, "the counters that %s may use are unknown for %s", x->unsure_event,
			 x->facts->cpu);
}

static void say_counters(struct text *v, const struct explanation *x)
{
	const struct fit_legal *l = x->legal;

	if (!l->sure && !l->depends[0])
		text_add(v, "unknown for this event; ");
	else if (l->counters) {
		text_add(v, "%s", l->sure ? "" : "at most ");
		counters_in_words(v, x->facts, l->counters);
		text_add(v, "%s%s; ", l->sure ? "" : ", depending on ", l->depends);
	} else {
		text_add(v, "%s%s; ", l->sure ? "none" : "none; it needs ", l->depends);
	}
	text_add(v, "%s has %u programmable and %u fixed (%s)%s", x->facts->cpu,
		 x->facts->programmable, x->facts->fixed, x->facts->from,
		 x->facts->watchdog ? "; the watchdog uses one for cycles" : "");
}

static void say_fit(struct text *v, const struct explanation *x)
{
	if (!x->fit_known)
		text_add(v, "unknown: %s", x->unknown ? x->unknown : "no counters are known");
	else if (x->blocker)
		text_add(v, "no: together with %s, %s has no counter", x->beside, x->blocker);
	else if (x->unsure_event)
		say_unsure(v, x);
	else
		text_add(v, "yes, together with %s", x->beside);
}

void explanation_text(struct text *out, const struct explanation *x, const struct style *s)
{
	const struct encoding *enc = x->enc;
	struct text v = { 0 };

	text_add(out, "%s%s%s\n", ink_on(s, INK_STRONG), enc->name, ink_off(s));
	if (x->about[0]) {
		text_add(&v, "%s", x->about);
		row(out, s, "what", &v);
	}
	say_pmu(&v, enc);
	row(out, s, "PMU", &v);
	if (!encoding_source(enc)->clock) {
		say_encoding(&v, enc);
		row(out, s, "encoding", &v);
		if (enc->asked[0] && enc->pmu[0]) {
			text_add(&v, "%s/%s/", enc->pmu, enc->asked);
			row(out, s, "perf", &v);
		} else if (x->spelled[0] && !enc->unencoded) {
			text_add(&v, "%s/%s/", enc->pmu, x->spelled);
			row(out, s, "perf", &v);
		}
		privilege(&v, enc);
		row(out, s, "counts", &v);
	}
	if (enc->unit[0] || enc->scale != 1) {
		text_add(&v, "%.17g %s", enc->scale, enc->unit);
		row(out, s, "unit", &v);
	}
	if (x->facts && x->legal) {
		say_counters(&v, x);
		row(out, s, "counters", &v);
	} else if (x->unknown) {
		text_add(&v, "not known: %s", x->unknown);
		row(out, s, "counters", &v);
	}
	if (x->beside) {
		say_fit(&v, x);
		row(out, s, "fits", &v);
	}
	if (x->other_cpu)
		return;
	if (x->unavailable)
		text_add(&v, "unavailable: %s", x->unavailable);
	else
		text_add(&v, "%s",
			 encoding_source(enc)->clock ? "can be counted"
				 : is_exact(enc) ? "can be counted, of a command that tare starts"
				 : x->tried      ? "can be counted: it was opened"
						 : "probably, but it was not tested");
	row(out, s, "here", &v);
	if (x->unavailable && x->remedy && x->remedy[0]) {
		text_add(&v, "%s", x->remedy);
		row(out, s, "", &v);
	}
}

static void json_config(struct json *j, const char *key, uint64_t value)
{
	if (value)
		json_hex(j, key, value);
	else
		json_string(j, key, "0");
}

void explanation_json(struct json *j, const struct explanation *x)
{
	static const char *const places[] = { "task", "core", "uncore" };
	const struct encoding *enc = x->enc;
	const struct perf_event_attr *a = &enc->attr;
	struct text cpus = { 0 };

	cpus_write(&cpus, &enc->cpus);
	json_object(j, NULL);
	json_string(j, "event", enc->name);
	json_string(j, "about", x->about[0] ? x->about : NULL);
	json_string(j, "pmu", enc->pmu[0] ? enc->pmu : NULL);
	json_string(j, "source", encoding_source(enc)->name);
	json_string(j, "place", places[enc->place]);
	json_string(j, "cpus", cpus.s);
	if (enc->unencoded || is_exact(enc)) {
		json_null(j, "type");
		json_null(j, "config");
		json_null(j, "config1");
		json_null(j, "config2");
		json_string(j, "terms", enc->asked[0] ? enc->asked : NULL);
	} else {
		json_uint(j, "type", a->type);
		json_config(j, "config", a->config);
		json_config(j, "config1", a->config1);
		json_config(j, "config2", a->config2);
		json_string(j, "terms", x->spelled[0] ? x->spelled : NULL);
	}
	json_bool(j, "user", !a->exclude_user);
	json_bool(j, "kernel", !a->exclude_kernel);
	json_bool(j, "hypervisor", !a->exclude_hv);
	json_uint(j, "precise", a->precise_ip);
	json_string(j, "unit", enc->unit);
	json_real(j, "scale", enc->scale);
	if (x->facts && x->legal && x->legal->counters && x->legal->sure) {
		struct text words = { 0 };

		counters_in_words(&words, x->facts, x->legal->counters);
		json_string(j, "counters", words.s);
		text_free(&words);
	} else {
		json_null(j, "counters");
	}
	json_bool_if(j, "fits", x->beside && x->fit_known && !x->unsure_event, !x->blocker);
	json_string(j, "blocker", x->blocker);
	json_string(j, "unsure", x->beside ? x->unsure_event : NULL);
	json_bool_if(j, "available", !x->other_cpu, !x->unavailable);
	json_string(j, "reason", x->other_cpu ? NULL : x->unavailable);
	json_string(j, "remedy", x->other_cpu || !x->unavailable ? NULL : x->remedy);
	json_end(j);
	text_free(&cpus);
}
