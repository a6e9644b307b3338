/* SPDX-License-Identifier: MIT */
/*
 * Vendor events in JSON, by jansson. Layouts:
 *
 *   intel/perfmon: { "Header": ..., "Events": [ { "EventName", "EventCode", "UMask", "Counter", ... } ] }
 *   Linux, tools/perf/pmu-events/arch: the array alone; an absent field is 0; { "ArchStdEvent": NAME }
 *                  refers to another file
 *   Arm telemetry: { "events": { "CPU_CYCLES": { "code": "0x0011", "title", "description" } } }
 *   Arm pmu:       { "events": [ { "name", "code": 17, "description" } ] }
 *
 * Only the row that cannot be read is lost: its name and the reason are kept.
 * Sources: github.com/intel/perfmon, README.md, "Event List Field Definitions"; Linux, jevents.py;
 * Arm telemetry solution, schema of "PMU specification"; github.com/ARM-software/data, pmu.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/library.h"
#include "base/text.h"
#include "output/reader/json_value.h"
#include "pmu/vendor.h"

/* jansson's functions; those that its loop macros call are also called through the pointers. */
/* clang-format off */
#define FUNCTIONS(F) \
	F(json_array_get) F(json_array_size) F(json_delete) F(json_integer_value) \
	F(json_loadb) F(json_object_get) F(json_object_iter) F(json_object_iter_key) \
	F(json_object_iter_next) F(json_object_iter_value) F(json_object_key_to_iter) F(json_string_value)
/* clang-format on */
LIBRARY(jansson, "libjansson.so.4", FUNCTIONS)

#define json_array_get          jansson.json_array_get
#define json_array_size         jansson.json_array_size
#define json_object_get         jansson.json_object_get
#define json_object_iter        jansson.json_object_iter
#define json_object_iter_key    jansson.json_object_iter_key
#define json_object_iter_next   jansson.json_object_iter_next
#define json_object_iter_value  jansson.json_object_iter_value
#define json_object_key_to_iter jansson.json_object_key_to_iter

struct reader {
	const char *text, *path;
	struct vendor_file *out;
	struct tare_error *err;
	const char
		*list; /* the key of the list being read, "" if it is the whole file; NULL: none */
	/* Where the current element starts, and its line; then the scanner's state. */
	const char *element;
	unsigned line;
	unsigned depth, list_depth; /* list_depth: inside the list, once it is found */
	bool key, first;            /* the list's key was passed; an element may start here */
	struct vendor_file *std;    /* standard events of the architecture */
	size_t n_std;
};

enum { REFUSED = 1 }; /* a row, by bad() */

/* Skip the string that starts at p. */
static const char *string_end(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : p;
}

/*
 * Advance to the next element of the list. jansson has validated the text, but keeps no positions.
 */
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

/* The line of an event: of its quoted name, or of its start. 0 if unknown. */
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

/* REFUSED, or -ENOMEM. */
static int bad(const struct reader *r, const char *name, const char *field, const char *why)
{
	unsigned line = line_of(r, name);
	const char *what = name ? name : "an event";
	char words[400];
	int ret;

	if (line)
		snprintf(words, sizeof(words), "%.150s:%u: %.60s: %.40s %s", r->path, line, what,
			 field, why);
	else
		snprintf(words, sizeof(words), "%.150s: %.60s: %.40s %s", r->path, what, field,
			 why);
	ret = vendor_refuse(r->out, name ? name : "", words, r->err);
	return ret < 0 ? ret : REFUSED;
}

/*
 * Does the name only contain characters used in vendor files? Others would not survive perf's
 * grammar or a terminal.
 */
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
 * The number in a field: a JSON integer, or a string in decimal or 0x hex; of a list, the first
 * one. 1: present; 0: absent or empty; -EINVAL.
 */
static int field_number(const json_t *event, const char *field, uint64_t *out)
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
 * "0,1,2,3", "Fixed counter 1", 32 and up for fixed counters, as in PEBScounters. *mask is 0 if not
 * given: absent, "FIXED" (an uncore's own), "NA". Source: intel/perfmon README, "Event List Field
 * Definitions".
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

/*
 * Fields that become perf terms, except EventCode and UMask. Source: Linux, jevents.py,
 * event_fields.
 */
static const struct {
	const char *field, *term;
} terms_of[] = {
	{ "CounterMask", "cmask" },     { "Invert", "inv" },
	{ "AnyThread", "any" },         { "EdgeDetect", "edge" },
	{ "FCMask", "fc_mask" },        { "PortMask", "ch_mask" },
	{ "NodeType", "type" },         { "RdWrMask", "rdwrmask" },
	{ "EnAllCores", "enallcores" }, { "EnAllSlices", "enallslices" },
	{ "SliceId", "sliceid" },       { "ThreadMask", "threadmask" },
};

/* Fields that intel_terms() and intel_event() read, or that do not affect the count. */
static const char *const known_fields[] = {
	"EventName",    "EventCode",
	"UMask",        "UMaskExt",
	"ExtSel",       "ConfigCode",
	"EventidCode",  "Counter",
	"Filter",       "FILTER_VALUE",
	"MSRIndex",     "MSRValue",
	"CounterType",  "Unit",
	"Compat",       "PEBS",
	"PEBScounters", "CollectPEBSRecord",
	"TakenAlone",   "PDISTCounter",
	"Speculative",  "L1_Hit_Indication",
	"ELLC",         "Offcore",
	"PerPkg",       "Experimental",
	"Deprecated",   "SampleAfterValue",
	"Data_LA",      "EventStatus",
	"CounterHTOff", "Errata",
	"Precise",      "Internal",
};

/*
 * Events on fixed counters for which the kernel uses another code than the files. Source: Intel SDM
 * vol. 3B, "Pre-defined Architectural Performance Events"; Linux, intel_pmu's fixed constraints;
 * jevents.py, real_event().
 */
static const struct {
	const char *name, *terms;
} fixed[] = {
	{ "inst_retired.any", "event=0xc0" },
	{ "inst_retired.any_p", "event=0xc0" },
	{ "cpu_clk_unhalted.thread", "event=0x3c" },
	{ "cpu_clk_unhalted.thread_any", "event=0x3c,any=0x1" },
	{ "cpu_clk_unhalted.core", "event=0x3c" },
	{ "cpu_clk_unhalted.ref", "event=0x0,umask=0x3" },
	{ "cpu_clk_unhalted.ref_tsc", "event=0x0,umask=0x3" },
	{ "topdown.slots", "event=0x0,umask=0x4" },
};

/*
 * Model-specific registers that an event needs, and the format for their value. Source:
 * intel/perfmon README.
 */
static const struct {
	uint64_t msr;
	const char *term;
} registers[] = {
	{ 0x1a6, "offcore_rsp" },
	{ 0x1a7, "offcore_rsp" },
	{ 0x3f6, "ldlat" },
	{ 0x3f7, "frontend" },
};

/* Units with other names than uncore_UNIT. Source: Linux, jevents.py, unit_to_pmu(). */
static const struct {
	const char *unit, *pmu;
} units[] = {
	{ "cpu", "" },
	{ "core", "" },
	{ "cpu_core", "cpu_core" },
	{ "cpu_atom", "cpu_atom" },
	{ "CBO", "uncore_cbox" },
	{ "SBO", "uncore_sbox" },
	{ "iMPH-U", "uncore_arb" },
	{ "QPI LL", "uncore_qpi" },
	{ "UPI LL", "uncore_upi" },
	{ "L3PMC", "amd_l3" },
	{ "DFPMC", "amd_df" },
	{ "UMCPMC", "amd_umc" },
	{ "CPU-M-CF", "cpum_cf" },
	{ "CPU-M-SF", "cpum_sf" },
	{ "PAI-CRYPTO", "pai_crypto" },
	{ "PAI-EXT", "pai_ext" },
	{ "hisi_sicl,cpa", "hisi_sicl,cpa" },
	{ "hisi_sccl,ddrc", "hisi_sccl,ddrc" },
	{ "hisi_sccl,hha", "hisi_sccl,hha" },
	{ "hisi_sccl,l3c", "hisi_sccl,l3c" },
	{ "imx8_ddr", "imx8_ddr" },
	{ "imx9_ddr", "imx9_ddr" },
	{ "ali_drw", "ali_drw" },
	{ "arm_cmn", "arm_cmn" },
};

/* "" for the core. */
static void pmu_of_unit(const char *unit, char *out, size_t room)
{
	out[0] = '\0';
	if (!unit || !*unit)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcasecmp(unit, units[i].unit)) {
			snprintf(out, room, "%s", units[i].pmu);
			return;
		}
	snprintf(out, room, "uncore_%s", unit);
	for (char *c = out; *c; c++)
		*c = *c == ' ' ? '_' : (char)tolower((unsigned char)*c);
}

static const char *string_of(const json_t *event, const char *field)
{
	const char *s = jansson.json_string_value(json_object_get(event, field));

	return s ? s : "";
}

/* Refuse an unknown field that may affect the count. */
static int unknown_fields(struct reader *r, const json_t *event, const char *name)
{
	json_t *object = (json_t *)(uintptr_t)event, *value;
	const char *field;

	json_object_foreach(object, field, value)
	{
		uint64_t v;
		bool known = false;

		for (size_t i = 0; i < ARRAY_SIZE(known_fields) && !known; i++)
			known = !strcmp(field, known_fields[i]);
		for (size_t i = 0; i < ARRAY_SIZE(terms_of) && !known; i++)
			known = !strcmp(field, terms_of[i].field);
		if (!known && field_number(event, field, &v) == 1 && v)
			return bad(r, name, field, "is not known, and may change the count");
	}
	return 0;
}

/* perfmon names the filter register, and a value if one must be set; Linux's files give terms. */
static int filter_terms(struct reader *r, const json_t *event, const char *name, struct text *terms)
{
	const char *filter = string_of(event, "Filter");
	uint64_t value;

	filter += strspn(filter, " ");
	if (field_number(event, "FILTER_VALUE", &value) < 0)
		return bad(r, name, "FILTER_VALUE", "is no number");
	if (!*filter || !strcasecmp(filter, "na") || !strcasecmp(filter, "null") ||
	    !strcmp(filter, "0"))
		return value ? bad(r, name, "FILTER_VALUE", "is given without its Filter") : 0;
	if (strchr(filter, '=')) {
		if (value || strlen(filter) > 64 || strpbrk(filter, "/{}") ||
		    !vendor_is_terms(filter))
			return bad(r, name, "Filter",
				   "is no list of terms such as filter_opc=0x182");
		text_add(terms, ",%s", filter);
		return 0;
	}
	if (!value)
		return bad(r, name, "Filter", "needs a value, which the file does not give");
	if (strcasecmp(filter, "Filter1") && strcasecmp(filter, "CHAFilter1") &&
	    strcasecmp(filter, "CBoFilter1"))
		return bad(r, name, "Filter", "is a register that no term of perf sets");
	text_add(terms, ",config1=%#llx", (unsigned long long)value);
	return 0;
}

static int msr_terms(struct reader *r, const json_t *event, const char *name, struct text *terms)
{
	const json_t *given = json_object_get(event, "MSRValue");
	uint64_t value, msr;

	if (field_number(event, "MSRIndex", &msr) < 0 ||
	    field_number(event, "MSRValue", &value) < 0)
		return bad(r, name, "MSRIndex or MSRValue", "is no number");
	for (size_t i = 0; msr && i < ARRAY_SIZE(registers); i++)
		if (registers[i].msr == msr) {
			/* In Linux's files (a list without a name) an absent field is 0. */
			if (!given && !(r->list && !*r->list))
				return bad(r, name, "MSRValue",
					   "is missing, and MSRIndex needs it");
			text_add(terms, ",%s=%#llx", registers[i].term, (unsigned long long)value);
			return 0;
		}
	/* 0x3f1 is PEBS enable; the kernel sets it for precise events */
	if (msr && value && msr != 0x3f1)
		return bad(r, name, "MSRIndex", "is a register that no term of perf sets");
	return 0;
}

/* event=, config= or eventid=. */
static int code_terms(struct reader *r, const json_t *event, const char *name, bool uncore,
		      struct text *terms)
{
	static const char *const whole[][2] = { { "ConfigCode", "config" },
						{ "EventidCode", "eventid" } };
	uint64_t code, ext;

	for (size_t i = 0; i < ARRAY_SIZE(whole); i++) {
		int ret = field_number(event, whole[i][0], &code);

		if (ret < 0)
			return bad(r, name, whole[i][0], "is no number");
		if (ret) {
			text_add(terms, "%s=%#llx", whole[i][1], (unsigned long long)code);
			return 0;
		}
	}
	if (field_number(event, "EventCode", &code) < 0)
		return bad(r, name, "EventCode", "is no number");
	if (field_number(event, "ExtSel", &ext) < 0)
		return bad(r, name, "ExtSel", "is no number");
	/* Source: intel/perfmon; Linux, uncore_fixed: the fixed counter of an uncore PMU is event
	 * 0xff. */
	if (uncore && !strcasecmp(string_of(event, "Counter"), "fixed") && r->list && *r->list)
		code = 0xff;
	text_add(terms, "event=%#llx", (unsigned long long)(code | ext << 8));
	return 0;
}

static int intel_terms(struct reader *r, const json_t *event, const char *name, bool uncore,
		       struct text *terms)
{
	uint64_t umask, ext, value;
	int ret;

	for (size_t i = 0; !uncore && i < ARRAY_SIZE(fixed); i++)
		if (!strcasecmp(name, fixed[i].name)) {
			text_add(terms, "%s", fixed[i].terms);
			return 0;
		}
	if (!strcasecmp(string_of(event, "CounterType"), "FREERUN"))
		return bad(r, name, "CounterType",
			   "FREERUN: the kernel's own events of that PMU count it");
	ret = code_terms(r, event, name, uncore, terms);
	if (ret)
		return ret;
	if (field_number(event, "UMask", &umask) < 0)
		return bad(r, name, "UMask", "is no number");
	if (field_number(event, "UMaskExt", &ext) < 0)
		return bad(r, name, "UMaskExt", "is no number");
	if (umask > 0xff && ext)
		return bad(r, name, "UMask", "is over 8 bits with a UMaskExt");
	if (umask | ext)
		text_add(terms, ",umask=%#llx", (unsigned long long)(umask | ext << 8));
	for (size_t i = 0; i < ARRAY_SIZE(terms_of); i++) {
		if (field_number(event, terms_of[i].field, &value) < 0)
			return bad(r, name, terms_of[i].field, "is no number");
		if (value)
			text_add(terms, ",%s=%#llx", terms_of[i].term, (unsigned long long)value);
	}
	ret = filter_terms(r, event, name, terms);
	if (!ret)
		ret = msr_terms(r, event, name, terms);
	return ret ? ret : unknown_fields(r, event, name);
}

/* Why a row with a standard metric is not read. */
static const char metric[] = "a metric";

/* { "ArchStdEvent": "L1I_CACHE_REFILL" }: the terms are those of the standard event. */
static int standard_event(struct reader *r, const char *standard, struct vendor_event *out)
{
	const struct vendor_event *std;

	if (r->out->standard)
		return bad(r, standard, "ArchStdEvent", "is in a file of standard events");
	std = vendor_standard(r->path, standard, &r->std, &r->n_std);
	for (size_t i = 0; !std && i < r->n_std;
	     i++) /* a standard metric has this name: tare does not read metrics */
		for (size_t k = 0; k < r->std[i].n_refused; k++)
			if (!strcasecmp(r->std[i].refused[k].name, standard) &&
			    !strcmp(r->std[i].refused[k].why, metric))
				return REFUSED;
	if (!std)
		return bad(r, standard, "ArchStdEvent",
			   "is no standard event of the folder that has mapfile.csv, nor of armv8");
	if (!out->name)
		out->name = std->name;
	if (!*out->about)
		out->about = std->about;
	if (!*out->compat)
		out->compat = std->compat;
	out->terms = std->terms;
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (!strcasecmp(out->name, fixed[i].name))
			out->terms = fixed[i].terms;
	return 0;
}

/* perfmon's OFFCORE_RESPONSE:request=A:response=B is OFFCORE_RESPONSE.A.B in Linux. */
static const char *renamed(const char *name, struct text *room)
{
	static const char request[] = "OFFCORE_RESPONSE:request=", response[] = ":response=";
	const char *at = name ? strstr(name, response) : NULL;

	if (!at || strncmp(name, request, sizeof(request) - 1))
		return name;
	name += sizeof(request) - 1;
	text_add(room, "OFFCORE_RESPONSE.%.*s.%s", (int)(at - name), name,
		 at + sizeof(response) - 1);
	return room->s ? room->s : name;
}

/* perf's own files also contain metrics and the numbers of counters. */
static bool is_event(const json_t *event)
{
	return json_object_get(event, "EventName") || json_object_get(event, "ArchStdEvent") ||
		(!json_object_get(event, "MetricName") &&
		 !json_object_get(event, "CountersNumGeneric"));
}

static int row_of(struct reader *r, const json_t *event, const char *name, struct text *terms)
{
	const char *standard = jansson.json_string_value(json_object_get(event, "ArchStdEvent"));
	const char *unit = jansson.json_string_value(json_object_get(event, "Unit"));
	struct vendor_event row = { .name = name,
				    .about = string_of(event, "BriefDescription"),
				    .compat = string_of(event, "Compat") };
	char pmu[64];
	int ret;

	pmu_of_unit(unit, pmu, sizeof(pmu));
	row.pmu = pmu;
	if (pmu[0] && !plain(pmu, ","))
		return bad(r, name, "Unit", "is no unit");
	if (counters(event, &row.counters) < 0)
		return bad(r, name, "Counter",
			   "is no list of counters such as 0,1,2,3 or Fixed counter 1");
	if (standard) {
		ret = standard_event(r, standard, &row);
	} else {
		ret = intel_terms(r, event, name, pmu[0] && strncmp(pmu, "cpu_", 4), terms);
		row.terms = terms->s;
	}
	if (ret)
		return ret;
	if (terms->failed)
		return tare_fail_nomem(r->err);
	row.line = line_of(r, standard && !name ? standard : row.name);
	return vendor_add(r->out, &row, r->err);
}

static int intel_event(struct reader *r, const json_t *event)
{
	const char *given = jansson.json_string_value(json_object_get(event, "EventName")), *name;
	struct text terms = { 0 }, room = { 0 };
	int ret;

	next_element(r);
	if (!json_is_object(event)) {
		ret = bad(r, NULL, "an element", "of the list is no object");
	} else if (!is_event(event)) {
		const char *m = string_of(event, "MetricName");

		ret = r->out->standard && *m ? vendor_refuse(r->out, m, metric, r->err) : 0;
	} else {
		name = renamed(given, &room);
		if (name ? !plain(name, "") : !json_object_get(event, "ArchStdEvent"))
			ret = bad(r, name, "EventName",
				  name ? "has bytes that no event name has" : "is missing");
		else
			ret = row_of(r, event, name, &terms);
	}
	text_free(&terms);
	text_free(&room);
	return ret < 0 ? ret : 0;
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
	ret = field_number(event, "code", &code);
	if (ret <= 0)
		return bad(r, name, "code", ret < 0 ? "is no number" : "is missing");
	snprintf(terms, sizeof(terms), "event=%#llx", (unsigned long long)code);
	return vendor_add(r->out,
			  &(struct vendor_event){ .name = name,
						  .pmu = "",
						  .compat = "",
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
			event) if ((ret = arm_event(r,
						    jansson.json_string_value(
							    json_object_get(event, "name")),
						    event)) < 0) return ret;
		return 0;
	}
	tare_fail(r->err, ENODATA, "%s: neither a list nor an object with \"Events\" or \"events\"",
		  r->path);
	tare_hint(r->err, "expected: the layout of intel/perfmon or of Arm's telemetry solution");
	return -ENODATA;
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
		tare_fail(err, EOPNOTSUPP,
			  "%s is JSON, and libjansson.so.4, which reads it, cannot be loaded",
			  path);
		tare_hint(err,
			  "install it (Debian: libjansson4), or write lines 'name event umask "
			  "flags meaning'");
		return -EOPNOTSUPP;
	}
	if (json_check_memory(text, n, path, err) < 0)
		return -EFBIG;
	root = jansson.json_loadb(text, n, 0, &where);
	if (root)
		ret = events_of(&r, root);
	else
		ret = tare_fail(err, EINVAL, "%s:%d:%d: %.160s", path, where.line, where.column,
				where.text);
	jansson.json_delete(root);
	vendor_files_free(r.std, r.n_std);
	if (ret < 0)
		vendor_file_free(out);
	return ret;
}
