/* SPDX-License-Identifier: MIT */
/* tare events: lists the events that can be counted, or everything known about one event. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/trust/scan_paths.h"
#include "cli/stat/stat_irqs.h"
#include "exact/exact.h"
#include "pmu/interrupts.h"
#include "pmu/machine.h"
#include "pmu/names.h"
#include "launch/engine.h"
#include "source/source.h"
#include "cli/events/events_view.h"

enum { FILES_MAX = 64 };

struct events_options {
	struct output_options out;
	const char *root, *cpu, *beside;
	const char *files[FILES_MAX + 1];
	size_t n_files;
	bool names;
};

static int set_cpu(void *options, const char *arg, struct tare_error *err)
{
	struct cpu_row row;

	if (!strcmp(arg, "help")) {
		tare_fail(err, EINVAL, "a CPU model is expected");
		tare_hint(err, "models: 'tare events --cpu list'");
		return -EINVAL;
	}
	if (strcmp(arg, "list") && !cpu_row_by_model(arg, &row)) {
		tare_fail(err, ENOENT, "no CPU model '%.60s' is known", arg);
		tare_hint(err, "'tare events --cpu list' shows them");
		return -ENOENT;
	}
	((struct events_options *)options)->cpu = arg;
	return 0;
}

#define OPTIONS struct events_options

static const struct option_row events_opts[] = {
	{ 0, "beside", "LIST", "explain: will it fit on the counters together with these",
	  TEXT(beside, NULL) },
	{ 0, "cpu", "MODEL", "for another CPU, such as skl or 'zen 3'; 'list' shows them",
	  SPECIAL_ALL(set_cpu) },
	{ 0, "event-file", "FILE",
	  "names from a vendor's JSON, a table or a folder; may be repeated",
	  INPUTS(files, n_files, FILES_MAX, "event files") },
	OUTPUT_FORMAT_ROWS(out, "text (default), json or csv", "text", "json", "csv"),
	{ 0, "names", NULL, "only names that begin with WORD, one per line (for completion)",
	  FLAG(names) },
	{ 0, "sysfs-root", "DIR", "a copy of /sys and /proc under DIR, instead of this machine's",
	  DIRECTORY(root) },
	{ 0 },
};

static int failed(const struct command *self, const struct tare_error *err, const char *text)
{
	complain(self, err, text);
	return EXIT_CANNOT_MEASURE;
}

static int put_text(const struct command *self, char *text)
{
	struct text t = { .s = text, .len = text ? strlen(text) : 0 };
	struct tare_error err = TARE_ERROR_INIT;
	struct output out;
	int ret = text ? output_open(&out, "-", OUTPUT_WHOLE, STDOUT_FILENO, &err)
		       : tare_fail_nomem(&err);

	if (ret == 0)
		ret = output_put(&out, &t, &err);
	if (ret == 0)
		ret = output_close(&out, &err);
	text_free(&t);
	return ret == 0 || ret == -EPIPE ? ret == 0 ? 0 : EXIT_CANNOT_MEASURE
					 : failed(self, &err, NULL);
}

static struct style style_here(void)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct output out;

	output_open(&out, "-", OUTPUT_WHOLE, STDOUT_FILENO, &err);
	return output_style(&out, WHEN_AUTO);
}

/* ---- the list ---- */

struct search {
	char **word;
	int n;
	bool names;
	struct events_list list;
	struct text plain, refused;
};

static bool has(const char *text, const char *word)
{
	return strcasestr(text, word) != NULL;
}

/* Every word occurs somewhere in the event; --names: the name starts with the word. */
static int consider(void *arg, const struct known_event *ev)
{
	struct search *s = arg;

	for (int i = 0; i < s->n; i++)
		if (s->names ? strncasecmp(ev->name, s->word[i], strlen(s->word[i])) != 0
			     : !has(ev->name, s->word[i]) && !has(ev->about, s->word[i]) &&
				    !has(ev->group, s->word[i]))
			return 0;
	if (!s->names)
		events_list_add(&s->list, ev);
	else if (!strchr(ev->name, '=') && !strchr(ev->name, '[') && strcmp(ev->name, "rNNN"))
		text_add(&s->plain, "%s\n", ev->name);
	return 0;
}

enum { REFUSED_SHOWN = 20 };

static void note_refused(void *arg, const char *why)
{
	struct search *s = arg;

	if (s->list.n_refused < REFUSED_SHOWN)
		text_add(&s->refused, "  %s\n", why);
	events_list_refused(&s->list, why);
}

/* Rows of files that could not be read: the list does not contain them. */
static void say_refused(const struct command *self, struct search *s)
{
	size_t n = s->list.n_refused;

	if (n)
		fprintf(stderr,
			"tare %s: %zu %s of the files could not be read, and %s not in the list:\n%s",
			self->name, n, n > 1 ? "rows" : "row", n > 1 ? "are" : "is",
			s->refused.s ? s->refused.s : "");
	if (n > REFUSED_SHOWN)
		fprintf(stderr, "  ... and %zu more; --format json has all of them\n",
			n - REFUSED_SHOWN);
	text_free(&s->refused);
}

static int nothing_found(const struct command *self, const struct search *s)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct text words = { 0 };

	for (int i = 0; i < s->n; i++)
		text_add(&words, "%s%s", i ? " " : "", s->word[i]);
	tare_fail(&err, ENOENT, "no event has '%.100s' in its name or description",
		  words.s ? words.s : "");
	tare_hint(&err,
		  "'tare events' lists all; names of another CPU: --cpu MODEL; of a vendor's "
		  "file: --event-file");
	text_free(&words);
	return failed(self, &err, NULL);
}

static int list(const struct command *self, struct machine *m, const struct events_options *o,
		char **words, int n)
{
	struct catalogue_options opt = { .event_files = o->files,
					 .cpu = o->cpu,
					 .refused = o->names ? NULL : note_refused,
					 .tracepoints = n > 0 || o->out.format != FORMAT_TEXT };
	struct search s = { .word = words,
			    .n = n,
			    .names = o->names,
			    .list.format = (enum output_format)o->out.format };
	struct tare_error err = TARE_ERROR_INIT;
	int ret;

	s.list.style = style_here();
	if (!o->names)
		events_list_begin(&s.list, o->cpu ? o->cpu : machine_cpu(m));
	ret = catalogue_walk(m, &opt, consider, &s, &err);
	if (ret == 0 && o->names)
		return put_text(self, text_take(&s.plain));

	char *text = events_list_end(&s.list);

	say_refused(self, &s);

	if (ret == 0 && n && !s.list.shown && o->out.format == FORMAT_TEXT) {
		free(text);
		return nothing_found(self, &s);
	}
	if (ret < 0) {
		free(text);
		return failed(self, &err, NULL);
	}
	return put_text(self, text);
}

static int list_models(const struct command *self)
{
	struct text out = { 0 };
	struct cpu_row row;

	text_add(&out, "%-32s %-24s %s\n", "name", "libpfm4 table", "cpu");
	for (size_t i = 0; cpu_row_nth(i, &row); i++)
		text_add(&out, "%-32s %-24s %s\n", row.name, row.libpfm, row.cpu);
	return put_text(self, text_take(&out));
}

/* ---- one event ---- */

struct about {
	char name[200], text[512];
};

static int find_about(void *arg, const struct known_event *ev)
{
	struct about *a = arg;

	if (!ev->about[0] || strcasecmp(ev->name, a->name))
		return 0;
	snprintf(a->text, sizeof(a->text), "%s", ev->about);
	return 1;
}

/* The tables' description of an event; "" if there is none. Ignores modifiers and case; '.' and
 * ':' are equal for libpfm4. */
static void describe(struct machine *m, const struct events_options *o, const struct event *ev,
		     struct about *a)
{
	struct catalogue_options opt = { .event_files = o->files, .cpu = o->cpu };
	struct generic_name g;
	char room[GENERIC_ROOM], *whole = a->name;

	*a = (struct about){ 0 };
	if (ev->label && !strcmp(ev->label, INSTRUCTIONS_MINUS_IRQS)) {
		snprintf(whole, sizeof(a->name), "%s", ev->label);
		catalogue_walk(m, &opt, find_about, a, NULL);
		return;
	}
	if (ev->kind == EVENT_NAME && generic_find(ev->name, &g, room)) {
		snprintf(a->text, sizeof(a->text), "%s", g.about);
		return;
	}
	if (ev->kind == EVENT_TRACEPOINT)
		snprintf(whole, sizeof(a->name), "%s:%s", ev->system, ev->name);
	else if (ev->kind == EVENT_PMU && !strcmp(ev->pmu, "exact") && ev->n_terms)
		snprintf(whole, sizeof(a->name), "exact/%s/", ev->term[0].name);
	else if (ev->kind == EVENT_NAME)
		snprintf(whole, sizeof(a->name), "%s",
			 strstr(ev->name, "::") ? strstr(ev->name, "::") + 2 : ev->name);
	else
		return;
	if (catalogue_walk(m, &opt, find_about, a, NULL) || ev->kind != EVENT_NAME ||
	    !strchr(whole, '.'))
		return;
	*strchr(whole, '.') = ':';
	catalogue_walk(m, &opt, find_about, a, NULL);
}

/* Opens it with this user's rights, on this thread or on the first of its CPUs, and closes it
 * again. */
static bool opens(const struct encoding *enc, struct tare_error *why)
{
	const struct source *source = encoding_source(enc);
	struct target on = { .cpu = -1, .cgroup_fd = -1 };
	struct counters *c = NULL;

	if (source->needs_engine)
		return exact_probe(why) == 0;
	if (source->clock)
		return true; /* clocks are not opened */
	if (enc->place == PLACE_UNCORE) {
		on.pid = -1;
		on.cpu = enc->cpus.n ? enc->cpus.cpu[0] : 0;
	}
	if (source->open(&c, &enc, 1, &on, NULL, why) < 0)
		return false;
	source->close(c);
	return true;
}

struct asked {
	const struct command *self;
	struct machine *m;
	const struct events_options *o;
	struct encoding_list beside;
	struct style style;
	struct text text;
	struct json json;
};

static bool needs_counter(const struct encoding *enc, const char *pmu)
{
	if (encoding_source(enc)->needs_engine)
		return false;
	switch (enc->attr.type) {
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return false;
	}
	return enc->place != PLACE_UNCORE && fit_concerns(pmu, enc);
}

/* Whether it fits together with the others, and which counters it can use. */
static void explain_fit(struct asked *q, struct explanation *x, struct counter_facts *facts,
			struct tare_error *why, char blocker[160], struct fit_legal *legal,
			struct fit_legal *unsure)
{
	const struct encoding *all[256];
	const char *pmu = x->enc->place == PLACE_CORE ? x->enc->pmu : "";
	size_t n = 0, at;
	int ret;

	if (!needs_counter(x->enc, pmu)) {
		x->fit_known = true;
		return;
	}
	ret = q->o->cpu ? counter_facts_of_model(q->o->cpu, facts, why)
			: counter_facts_of(q->m, pmu, facts, why);
	if (ret < 0) {
		x->unknown = why->what;
		return;
	}
	x->facts = facts;
	fit_legal(facts, x->enc, legal);
	x->legal = legal;
	x->beside = q->o->beside;
	for (size_t i = 0; i < q->beside.n && n < ARRAY_SIZE(all) - 1; i++)
		all[n++] = &q->beside.enc[i];
	all[n++] = x->enc;
	x->fit_known = true;
	at = fit_check(facts, pmu, all, n);
	if (at < n) {
		snprintf(blocker, 160, "%s", all[at]->name);
		x->blocker = blocker;
		return;
	}
	at = fit_unsure(facts, pmu, all, n, unsure);
	if (at < n) {
		x->unsure = unsure;
		x->unsure_event = all[at]->name;
	}
}

static void explain_one(struct asked *q, const struct event *ev, const struct encoding_list *list,
			size_t i)
{
	const struct encoding *enc = &list->enc[i];
	struct tare_error why = TARE_ERROR_INIT, unknown = TARE_ERROR_INIT;
	struct counter_facts facts;
	struct fit_legal legal, unsure;
	struct text spelled = { 0 };
	struct about about;
	char blocker[160];
	struct explanation x = { .enc = enc,
				 .other_cpu = q->o->cpu != NULL,
				 .beside = q->o->beside };

	describe(q->m, q->o, ev, &about);
	x.about = about.text;
	encoding_spell(q->m, enc, q->o->cpu, &spelled);
	x.spelled = spelled.s ? spelled.s : "";
	explain_fit(q, &x, &facts, &unknown, blocker, &legal, &unsure);
	if (enc->unavailable) {
		x.unavailable = enc->why;
		x.remedy = !x.other_cpu && !machine_root(q->m)[0] && engine_could_count(list, i) &&
				exact_probe(NULL) == 0
			? "'tare stat -- COMMAND' counts it here with the exact engine, in user mode"
			: enc->remedy;
	} else if (!x.other_cpu && !machine_root(q->m)[0]) {
		x.tried = opens(enc, &why);
		if (!x.tried) {
			x.unavailable = why.what;
			x.remedy = why.hint;
		}
	}
	if (q->o->out.format == FORMAT_JSON) {
		explanation_json(&q->json, &x);
	} else {
		text_add(&q->text, "%s", q->text.len ? "\n" : "");
		explanation_text(&q->text, &x, &q->style);
	}
	text_free(&spelled);
}

/* Parses and encodes a list; complains and returns false on failure. */
static bool encode(struct asked *q, const char *text, struct event_list *events,
		   struct encoding_list *out)
{
	struct encode_options opt = { .keep_unavailable = true,
				      .event_files = q->o->files,
				      .cpu = q->o->cpu };
	struct tare_error err = TARE_ERROR_INIT;
	struct stat_irqs irqs = { 0 };
	int ret = event_list_parse(text, events, &err);

	for (size_t i = 0; ret == 0 && q->o->cpu && i < events->n; i++)
		if (stat_irqs_is(&events->event[i])) {
			tare_fail_at(&err, events->event[i].at, EINVAL,
				     "%.80s is a pair of events of this machine",
				     events->event[i].text);
			tare_hint(&err, "without --cpu");
			ret = -EINVAL;
		}
	if (ret == 0)
		ret = stat_irqs_expand(events, q->m, &err);
	if (ret == 0)
		ret = pmu_encode(q->m, events, &opt, out, &err);
	if (ret == 0)
		ret = stat_irqs_find(&irqs, out, q->m, &err);
	stat_irqs_free(&irqs);
	if (ret == 0)
		return true;
	failed(q->self, &err, text);
	event_list_free(events);
	return false;
}

static int explain(const struct command *self, struct machine *m, const struct events_options *o,
		   char **names, int n)
{
	struct asked q = { .self = self, .m = m, .o = o, .style = style_here() };
	struct event_list others = { 0 };
	bool ok = true;

	if (o->beside && !encode(&q, o->beside, &others, &q.beside))
		return EXIT_CANNOT_MEASURE;
	event_list_free(&others);
	if (o->out.format == FORMAT_JSON) {
		json_object(&q.json, NULL);
		json_string(&q.json, "schema", "tare/explain/1");
		json_string(&q.json, "cpu", o->cpu ? o->cpu : machine_cpu(m));
		json_string(&q.json, "beside", o->beside);
		json_array(&q.json, "events");
	}
	for (int i = 0; ok && i < n; i++) {
		struct event_list events = { 0 };
		struct encoding_list list = { 0 };

		ok = encode(&q, names[i], &events, &list);
		for (size_t k = 0; ok && k < list.n; k++)
			explain_one(&q, &events.event[list.enc[k].event], &list, k);
		encoding_list_free(&list);
		event_list_free(&events);
	}
	encoding_list_free(&q.beside);
	if (o->out.format == FORMAT_JSON) {
		json_end(&q.json);
		json_end(&q.json);
		q.text = q.json.out;
	}
	if (ok)
		return put_text(self, text_take(&q.text));
	text_free(&q.text);
	return EXIT_CANNOT_MEASURE;
}

static int events_run(const struct command *self, int argc, char **argv)
{
	struct events_options o = { 0 };
	struct tare_error err = TARE_ERROR_INIT;
	struct machine *m;
	char **word;
	int status, at = options_parse(self, argc, argv, &o, &status), n_words = argc - at;
	char scans[SCAN_TABLES_MOST][4096];
	bool explaining;

	if (at < 0)
		return status;
	word = argv + at;
	explaining = n_words && !strcmp(word[0], "explain");
	if (explaining && n_words == 1) {
		tare_fail(&err, EINVAL, "explain needs the name of an event");
		tare_hint(&err, "such as: tare events explain instructions:u");
		return failed(self, &err, NULL);
	}
	if (o.cpu && !strcmp(o.cpu, "list"))
		return list_models(self);
	if (explaining && o.out.format == FORMAT_CSV) {
		tare_fail(&err, EINVAL, "explain has the formats text and json");
		return failed(self, &err, NULL);
	}

	/* libpfm4 reads an environment variable that lets it encode for other CPUs; tare's
	 * children do not inherit it. */
	if (o.cpu || o.root)
		setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	m = machine_open(o.root, &err);
	if (m && !o.cpu && !o.root)
		o.n_files += scan_tables(m, o.files + o.n_files, scans, FILES_MAX - o.n_files);
	if (!m)
		status = failed(self, &err, NULL);
	else if (explaining)
		status = explain(self, m, &o, word + 1, n_words - 1);
	else
		status = list(self, m, &o, word, n_words);
	machine_close(m);
	return status;
}

const struct command cmd_events = {
	.name = "events",
	.about = "list what can be counted, or explain one event",
	.args = "[WORD...] | explain EVENT...",
	.example = "  tare events cache miss\n  tare events explain instructions:u --beside "
		   "cycles,branches\n"
		   "  tare events explain --cpu skl mem_load_retired.l1_miss",
	.topic = TOPIC_MACHINE,
	.words = WORDS_ANYWHERE,
	.options = events_opts,
	.run = events_run,
};
