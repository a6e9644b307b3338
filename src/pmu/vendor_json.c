/* SPDX-License-Identifier: MIT */
/*
 * Vendor events in JSON, by jansson. Layouts:
 *   intel/perfmon: { "Header": ..., "Events": [ { "EventName", "EventCode", "UMask", "Counter", ...
 * } ] }, or the array alone (as in Linux, tools/perf/pmu-events/arch/x86) Arm telemetry: {
 * "events": { "CPU_CYCLES": { "code": "0x0011", "title", "description" } } } Arm pmu:       {
 * "events": [ { "name", "code": 17, "description" } ] } Sources: github.com/intel/perfmon,
 * README.md, "Event List Field Definitions"; Arm telemetry solution, schema of "PMU specification";
 * github.com/ARM-software/data, pmu.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/library.h"
#include "base/text.h"
#include "pmu/vendor.h"

/* jansson's functions; what its macros of loops call, too, is called by the pointers. */
#define FUNCTIONS(F)                                                                               \
	F(json_array_get) F(json_array_size) F(json_delete) F(json_integer_value) F(json_loadb)    \
	F(json_object_get) F(json_object_iter) F(json_object_iter_key) F(json_object_iter_next)    \
	F(json_object_iter_value) F(json_object_key_to_iter) F(json_string_value)
LIBRARY(jansson, "libjansson.so.4", FUNCTIONS)

#define json_array_get jansson.json_array_get
#define json_array_size jansson.json_array_size
#define json_object_get jansson.json_object_get
#define json_object_iter jansson.json_object_iter
#define json_object_iter_key jansson.json_object_iter_key
#define json_object_iter_next jansson.json_object_iter_next
#define json_object_iter_value jansson.json_object_iter_value
#define json_object_key_to_iter jansson.json_object_key_to_iter

struct reader {
	const char *text, *path;
	struct vendor_file *out;
	struct tare_error *err;
	const char
	    *list; /* the key of the list being read, "" when it is the whole file; NULL: no list */
	/* Where the element being read begins, and its line; then how the text was walked so far.
	 */
	const char *element;
	unsigned line;
	unsigned depth, list_depth; /* list_depth: within the list, once it is found */
	bool key, first;            /* the list's key was passed; an element may begin here */
};

/* Past the string that begins at p. */
static const char *string_end(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : p;
}

/* Walk on to the next element of the list: jansson has read it well, and keeps no positions. */
static void next_element(struct reader *r)
{
	size_t n = strlen(r->list);

	for (const char *p = r->element; *p; p++) {
		bool here = r->list_depth && r->depth == r->list_depth && r->first;

		r->line += *p == '\n';
		if (strchr(" \t\r\n", *p))
			continue;
		if (here && *p != ']') {
			r->first = false;
			r->element = p;
			return;
		}
		if (*p == '"') {
			const char *end = string_end(p);

			r->key = r->depth == 1 && (size_t)(end - p) == n + 2 &&
				 !strncmp(p + 1, r->list, n);
			p = end - 1;
		} else if (*p == '[' || *p == '{') {
			r->depth++;
			if (*p == '[' && !r->list_depth &&
			    (n ? r->key && r->depth == 2 : r->depth == 1)) {
				r->list_depth = r->depth;
				r->first = true;
			}
		} else if (*p == ']' || *p == '}') {
			r->depth--;
		} else if (*p == ',') {
			r->first = r->list_depth && r->depth == r->list_depth;
			r->key = false;
		}
	}
}

/* The line of an event: of its quoted name, or where it begins. 0 if not known. */
static unsigned line_of(const struct reader *r, const char *name)
{
	size_t n = name ? strlen(name) : 0;
	unsigned line = r->line;

	for (const char *p = r->element; n && *p; p++) {
		line += *p == '\n' && p != r->element;
		if (*p == '"' && !strncmp(p + 1, name, n) && p[1 + n] == '"')
			return line;
	}
	return r->list ? r->line : 0;
}

static int bad(const struct reader *r, const char *name, const char *field, const char *why)
{
	unsigned line = line_of(r, name);
	const char *what = name ? name : "an event";

	return line ? tare_fail(r->err, EINVAL, "%s:%u: %.60s: %.40s %s", r->path, line, what,
				field, why)
		    : tare_fail(r->err, EINVAL, "%s: %.60s: %.40s %s", r->path, what, field, why);
}

/* A name as files have them; what else a string may hold would not survive perf's grammar or a
 * terminal. */
static bool plain(const char *s, const char *also)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("_.-:", *s) && !strchr(also, *s))
			return false;
	return true;
}

/*
 * A number of a field: a JSON integer, or a string in decimal or 0x hex, of which a list gives its
 * first. 1: there; 0: absent or empty; -EINVAL.
 */
static int number(const json_t *event, const char *field, uint64_t *out)
{
	const json_t *v = json_object_get(event, field);
	const char *s;
	char *end;

	*out = 0;
	if (!v || json_is_null(v))
		return 0;
	if (json_is_integer(v)) {
		*out = (uint64_t)jansson.json_integer_value(v);
		return jansson.json_integer_value(v) < 0 ? -EINVAL : 1;
	}
	s = jansson.json_string_value(v);
	if (!s)
		return -EINVAL;
	s += strspn(s, " ");
	if (!*s)
		return 0;
	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	errno = 0;
	*out = strtoull(s, &end, s[0] == '0' && tolower((unsigned char)s[1]) == 'x' ? 16 : 10);
	end += strspn(end, " ");
	return errno || (*end && *end != ',') ? -EINVAL : 1;
}

/*
 * "0,1,2,3", "Fixed counter 1", 32 and up for fixed counters, as in PEBScounters. *mask is 0 when
 * the file does not say: absent, "FIXED" (an uncore's own), "NA". Source: intel/perfmon README,
 * "Event List Field Definitions".
 */
static int counters(const json_t *event, uint64_t *mask)
{
	const json_t *v = json_object_get(event, "Counter");
	const char *s = jansson.json_string_value(v);
	unsigned long base = 0;

	*mask = 0;
	if (!v || json_is_null(v) ||
	    (s && (!*s || !strcasecmp(s, "fixed") || !strcasecmp(s, "na"))))
		return 0;
	if (!s)
		return -EINVAL;
	if (!strncasecmp(s, "Fixed counter ", 14)) {
		base = 32;
		s += 14;
	}
	while (isdigit((unsigned char)*s)) {
		char *end;
		unsigned long n = strtoul(s, &end, 10);

		/* 16 fixed counters at most: SDM vol. 3B, "Fixed-Function Performance Counters" */
		if (n >= 48 || base + n >= 48)
			return -EINVAL;
		*mask |= UINT64_C(1) << (base + n);
		s = end + strspn(end, ", ");
	}
	return *s ? -EINVAL : 0;
}

/* Fields that become terms of perf's, beside EventCode and UMask. */
static const struct {
	const char *field, *term;
} terms_of[] = {
	{ "CounterMask", "cmask" }, { "Invert", "inv" },     { "AnyThread", "any" },
	{ "EdgeDetect", "edge" },   { "FCMask", "fc_mask" }, { "PortMask", "ch_mask" },
};

/*
 * Events on fixed counters whose code in the files is not the one the kernel takes.
 * Source: Intel SDM vol. 3B, "Pre-defined Architectural Performance Events"; Linux, intel_pmu's
 * fixed constraints.
 */
static const struct {
	const char *name, *terms;
} fixed[] = {
	{ "inst_retired.any", "event=0xc0" },
	{ "cpu_clk_unhalted.thread", "event=0x3c" },
	{ "cpu_clk_unhalted.core", "event=0x3c" },
	{ "cpu_clk_unhalted.ref_tsc", "event=0x0,umask=0x3" },
	{ "topdown.slots", "event=0x0,umask=0x4" },
};

/* Model-specific registers that an event needs, and the format that carries their value. Source:
 * intel/perfmon README. */
static const struct {
	uint64_t msr;
	const char *term;
} registers[] = {
	{ 0x1a6, "offcore_rsp" },
	{ 0x1a7, "offcore_rsp" },
	{ 0x3f6, "ldlat" },
	{ 0x3f7, "frontend" },
};

/* "iMC" -> "uncore_imc"; "" for the core. Source: Linux, tools/perf/pmu-events/jevents.py. */
static void pmu_of_unit(const char *unit, char *out, size_t room)
{
	out[0] = '\0';
	if (!unit || !*unit || !strcasecmp(unit, "cpu") || !strcasecmp(unit, "core"))
		return;
	if (!strcmp(unit, "cpu_core") || !strcmp(unit, "cpu_atom")) {
		snprintf(out, room, "%s", unit);
		return;
	}
	snprintf(out, room, "uncore_%s", unit);
	for (char *c = out; *c; c++)
		*c = *c == ' ' ? '_' : (char)tolower((unsigned char)*c);
	if (!strcmp(out, "uncore_qpi_ll") || !strcmp(out, "uncore_upi_ll"))
		out[strlen(out) - 3] = '\0';
	if (!strcmp(out, "uncore_cbo"))
		snprintf(out, room, "uncore_cbox");
}

static int intel_terms(struct reader *r, const json_t *event, const char *name, struct text *terms)
{
	uint64_t code, umask, ext, value, msr;
	int ret = number(event, "EventCode", &code);

	if (ret <= 0)
		return bad(r, name, "EventCode", ret < 0 ? "is no number" : "is missing");
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (!strcasecmp(name, fixed[i].name)) {
			text_add(terms, "%s", fixed[i].terms);
			return 0;
		}
	text_add(terms, "event=%#llx", (unsigned long long)code);
	if (number(event, "UMask", &umask) < 0)
		return bad(r, name, "UMask", "is no number");
	if (number(event, "UMaskExt", &ext) < 0)
		return bad(r, name, "UMaskExt", "is no number");
	if (umask > 0xff && ext)
		return bad(r, name, "UMask", "is over 8 bits beside a UMaskExt");
	if (umask | ext)
		text_add(terms, ",umask=%#llx", (unsigned long long)(umask | ext << 8));
	for (size_t i = 0; i < ARRAY_SIZE(terms_of); i++) {
		if (number(event, terms_of[i].field, &value) < 0)
			return bad(r, name, terms_of[i].field, "is no number");
		if (value)
			text_add(terms, ",%s=%#llx", terms_of[i].term, (unsigned long long)value);
	}
	if (number(event, "MSRIndex", &msr) < 0 || number(event, "MSRValue", &value) < 0)
		return bad(r, name, "MSRIndex or MSRValue", "is no number");
	for (size_t i = 0; msr && i < ARRAY_SIZE(registers); i++)
		if (registers[i].msr == msr) {
			text_add(terms, ",%s=%#llx", registers[i].term, (unsigned long long)value);
			return 0;
		}
	/* 0x3f1 is PEBS enable, which the kernel sets for precise events by itself */
	if (msr && value && msr != 0x3f1)
		return bad(r, name, "MSRIndex", "is a register that no term of perf sets");
	return 0;
}

static int intel_event(struct reader *r, const json_t *event)
{
	const char *name = jansson.json_string_value(json_object_get(event, "EventName"));
	const char *about = jansson.json_string_value(json_object_get(event, "BriefDescription"));
	struct text terms = { 0 };
	uint64_t mask;
	char pmu[64];
	int ret;

	next_element(r);
	if (!json_is_object(event))
		return bad(r, NULL, "an element", "of the list is no object");
	if (!name &&
	    (json_object_get(event, "MetricName") || json_object_get(event, "ArchStdEvent")))
		return 0; /* metrics stand among the events of perf's own files; ArchStdEvent refers
			     to another file */
	if (!name || !plain(name, ""))
		return bad(r, name, "EventName",
			   name ? "has bytes that no event name has" : "is missing");
	pmu_of_unit(jansson.json_string_value(json_object_get(event, "Unit")), pmu, sizeof(pmu));
	if (pmu[0] && !plain(pmu, ""))
		return bad(r, name, "Unit", "is no unit");
	if (counters(event, &mask) < 0)
		return bad(r, name, "Counter",
			   "is no list of counters such as 0,1,2,3 or Fixed counter 1");
	ret = intel_terms(r, event, name, &terms);
	if (ret == 0 && terms.failed)
		ret = tare_fail_nomem(r->err);
	if (ret == 0)
		ret = vendor_add(r->out,
				 &(struct vendor_event){ .name = name,
							 .pmu = pmu,
							 .terms = terms.s,
							 .about = about ? about : "",
							 .counters = mask,
							 .line = line_of(r, name) },
				 r->err);
	text_free(&terms);
	return ret;
}

static int arm_event(struct reader *r, const char *name, const json_t *event)
{
	const char *about = jansson.json_string_value(json_object_get(event, "title"));
	char terms[48];
	uint64_t code;
	int ret;

	if (r->list)
		next_element(r);
	if (!json_is_object(event) || !name || !plain(name, ""))
		return bad(r, name, "the event",
			   !name ? "has no name" : "is no object, or its name has strange bytes");
	if (!about)
		about = jansson.json_string_value(json_object_get(event, "description"));
	ret = number(event, "code", &code);
	if (ret <= 0)
		return bad(r, name, "code", ret < 0 ? "is no number" : "is missing");
	snprintf(terms, sizeof(terms), "event=%#llx", (unsigned long long)code);
	return vendor_add(r->out,
			  &(struct vendor_event){ .name = name,
						  .pmu = "",
						  .terms = terms,
						  .about = about ? about : "",
						  .line = r->list ? line_of(r, name) : 0 },
			  r->err);
}

static int events_of(struct reader *r, json_t *root)
{
	json_t *list = json_is_array(root) ? root : json_object_get(root, "Events"), *event;
	const char *name;
	size_t i;
	int ret = 0;

	r->list = json_is_array(root) ? "" : "Events";
	if (json_is_array(list)) {
		json_array_foreach(list, i,
				   event) if ((ret = intel_event(r, event)) < 0) return ret;
		return 0;
	}
	list = json_object_get(root, "events");
	r->list = json_is_array(list) ? "events" : NULL;
	if (json_is_object(list)) {
		json_object_foreach(list, name,
				    event) if ((ret = arm_event(r, name, event)) < 0) return ret;
		return 0;
	}
	if (json_is_array(list)) {
		json_array_foreach(
		    list, i,
		    event) if ((ret =
				    arm_event(r, jansson.json_string_value(json_object_get(event, "name")),
					      event)) < 0) return ret;
		return 0;
	}
	tare_fail(r->err, EINVAL, "%s: neither a list nor an object with \"Events\" or \"events\"",
		  r->path);
	tare_hint(r->err, "expected: the layout of intel/perfmon or of Arm's telemetry solution");
	return -EINVAL;
}

int vendor_json_parse(const char *text, size_t n, const char *path, struct vendor_file *out,
		      struct tare_error *err)
{
	struct reader r = {
		.text = text, .path = path, .out = out, .err = err, .element = text, .line = 1
	};
	json_error_t where;
	json_t *root;
	int ret;

	out->path = path;
	if (!jansson_load()) {
		tare_fail(err, EOPNOTSUPP, "%s is JSON, and libjansson.so.4, which reads it, cannot be loaded", path);
		tare_hint(err, "install it (Debian: libjansson4), or write lines 'name event umask flags meaning'");
		return -EOPNOTSUPP;
	}
	root = jansson.json_loadb(text, n, 0, &where);
	if (root)
		ret = events_of(&r, root);
	else
		ret = tare_fail(err, EINVAL, "%s:%d:%d: %.160s", path, where.line, where.column,
				where.text);
	jansson.json_delete(root);
	if (ret < 0)
		vendor_file_free(out);
	return ret;
}
