/* SPDX-License-Identifier: MIT */
/*
 * The text format, and code shared by all formats.
 *
 *   # pmu: uncore_imc                      (left out, or "cpu", or "armv8": the core PMUs)
 *   # name   event  umask  flags  meaning  (umask and flags may be "-"; flags: precise, or terms
 * such as cmask=1,inv)
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/file.h"
#include "base/num.h"
#include "base/text.h"
#include "base/arena.h"
#include "event/event.h"
#include "pmu/table.h"
#include "pmu/vendor.h"

enum { FILE_MAX = 64 << 20, EVENTS_MAX = 200000 };

void vendor_file_free(struct vendor_file *f)
{
	free(f->event);
	free(f->refused);
	free(f->own_path);
	arena_free(&f->memory);
	*f = (struct vendor_file){ 0 };
}

static int copy(struct vendor_file *f, const char **s, struct tare_error *err)
{
	*s = *s && **s ? arena_string(&f->memory, *s, strlen(*s)) : "";
	return *s ? 0 : tare_fail_nomem(err);
}

int vendor_add(struct vendor_file *f, const struct vendor_event *ev, struct tare_error *err)
{
	struct vendor_event kept = *ev;
	int ret;

	if (f->n == EVENTS_MAX)
		return tare_fail(err, EFBIG, "%s has over %d events", f->path, EVENTS_MAX);
	if (!array_reserve(&f->event, &f->room, f->n + 1, sizeof(*f->event)))
		return tare_fail_nomem(err);
	ret = copy(f, &kept.name, err);
	if (ret == 0)
		ret = copy(f, &kept.compat, err);
	if (ret == 0)
		ret = copy(f, &kept.pmu, err);
	if (ret == 0)
		ret = copy(f, &kept.terms, err);
	if (ret == 0)
		ret = copy(f, &kept.about, err);
	for (char *c = (char *)kept.about; ret == 0 && *c;
	     c++) /* our copy, without control characters */
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	if (ret == 0)
		f->event[f->n++] = kept;
	return ret;
}

int vendor_refuse(struct vendor_file *f, const char *name, const char *why, struct tare_error *err)
{
	struct vendor_refused kept = { .name = name, .why = why };
	int ret;

	if (f->n_refused == EVENTS_MAX)
		return tare_fail(err, EFBIG, "%s has over %d rows that cannot be read", f->path,
				 EVENTS_MAX);
	if (!array_reserve(&f->refused, &f->refused_room, f->n_refused + 1, sizeof(*f->refused)))
		return tare_fail_nomem(err);
	ret = copy(f, &kept.name, err);
	if (ret == 0)
		ret = copy(f, &kept.why, err);
	for (char *c = (char *)kept.why; ret == 0 && *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	if (ret == 0)
		f->refused[f->n_refused++] = kept;
	return ret;
}

static char folded(char c)
{
	return strchr(".:-", c) && c ? '_' : (char)tolower((unsigned char)c);
}

bool vendor_same_name(const char *a, const char *b)
{
	for (; *a && *b && folded(*a) == folded(*b); a++, b++)
		;
	return !*a && !*b;
}

const struct vendor_event *vendor_find(const struct vendor_file *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcasecmp(f->event[i].name, name))
			return &f->event[i];
	for (size_t i = 0; i < f->n; i++)
		if (vendor_same_name(f->event[i].name, name))
			return &f->event[i];
	return NULL;
}

/* ---- the text form ---- */

/* The name in "# pmu: NAME"; "" for the core's, or if the file has no such line. */
static void pmu_of_text(const char *text, char *out, size_t room)
{
	const char *at = strstr(text, "# pmu:");

	out[0] = '\0';
	if (!at || (at != text && at[-1] != '\n'))
		return;
	at += strlen("# pmu:");
	at += strspn(at, " \t");
	snprintf(out, room, "%.*s", (int)strcspn(at, " \t\r\n"), at);
	if (!strcmp(out, "cpu") || !strncmp(out, "armv8", 5))
		out[0] = '\0';
}

static bool is_name(const char *s)
{
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("_.-:", *s))
			return false;
	return true;
}

/* Check that the terms are well-formed: event=1,cmask=1 and not event=1,=,. */
bool vendor_is_terms(const char *terms)
{
	struct event_list list = { 0 };
	char whole[300];
	bool ok = snprintf(whole, sizeof(whole), "x/%s/", terms) < (int)sizeof(whole) &&
		event_list_parse(whole, &list, NULL) == 0 && list.n == 1 && list.event[0].n_terms &&
		!list.event[0].label;

	event_list_free(&list);
	return ok;
}

static int text_row(struct vendor_file *f, const struct column *c, size_t n, const char *pmu,
		    unsigned line, struct tare_error *err)
{
	char name[96], event[24], umask[24] = "-", flags[96] = "-", about[512] = "", terms[256];
	uint64_t number;
	int len;

	if (n < 2)
		return tare_fail(err, EINVAL, "%s:%u: a name and an event number are expected",
				 f->path, line);
	if (c[0].n >= sizeof(name) || c[1].n >= sizeof(event) ||
	    (n > 2 && c[2].n >= sizeof(umask)) || (n > 3 && c[3].n >= sizeof(flags)))
		return tare_fail(err, EINVAL, "%s:%u: a column is too long", f->path, line);
	column_copy(&c[0], name, sizeof(name));
	column_copy(&c[1], event, sizeof(event));
	if (n > 2)
		column_copy(&c[2], umask, sizeof(umask));
	if (n > 3)
		column_copy(&c[3], flags, sizeof(flags));
	if (n > 4)
		column_copy(&c[4], about, sizeof(about));
	if (!is_name(name))
		return tare_fail(err, EINVAL, "%s:%u: a name has letters, digits and _ . - : only",
				 f->path, line);
	if (num_parse(event, &number, NULL) < 0)
		return tare_fail(err, EINVAL, "%s:%u: the event of %s is no number", f->path, line,
				 name);
	len = snprintf(terms, sizeof(terms), "event=%#llx", (unsigned long long)number);
	if (strcmp(umask, "-")) {
		if (num_parse(umask, &number, NULL) < 0)
			return tare_fail(err, EINVAL, "%s:%u: the umask of %s is no number",
					 f->path, line, name);
		len += snprintf(terms + len, sizeof(terms) - (size_t)len, ",umask=%#llx",
				(unsigned long long)number);
	}
	if (strcmp(flags, "-") && strcmp(flags, "precise")) {
		snprintf(terms + len, sizeof(terms) - (size_t)len, ",%s",
			 strncmp(flags, "precise,", 8) ? flags : flags + 8);
	}
	if (!vendor_is_terms(terms))
		return tare_fail(err, EINVAL,
				 "%s:%u: the flags of %s are no terms such as cmask=1,inv", f->path,
				 line, name);
	return vendor_add(
		f,
		&(struct vendor_event){
			.name = name, .pmu = pmu, .terms = terms, .about = about, .line = line },
		err);
}

int vendor_text_parse(const char *text, const char *path, struct vendor_file *out,
		      struct tare_error *err)
{
	struct column c[5];
	char pmu[64];
	unsigned line = 0;
	size_t n;
	int ret = 0;

	out->path = path;
	pmu_of_text(text, pmu, sizeof(pmu));
	if (!is_name(pmu))
		ret = tare_fail(err, EINVAL, "%s: '# pmu:' names no PMU", path);
	for (const char *p = text; ret == 0 && (n = table_next(&p, &line, c, 5));)
		ret = text_row(out, c, n, pmu, line, err);
	if (ret < 0)
		vendor_file_free(out);
	return ret;
}

int vendor_file_read(const char *path, struct vendor_file *out, struct tare_error *err)
{
	*out = (struct vendor_file){ 0 };
	return vendor_file_read_as(path, out, err);
}

int vendor_file_read_as(const char *path, struct vendor_file *out, struct tare_error *err)
{
	bool in_folder = out->in_folder;
	char *text;
	size_t n;
	int ret = file_read(NULL, path, FILE_MAX, &text, &n, err);

	if (ret < 0)
		return ret;

	const char *first = text +
		strspn(text, " \t\r\n\xef\xbb\xbf"); /* a byte order mark is not JSON */

	if (strlen(text) != n)
		ret = tare_fail(err, EINVAL, "%s: a NUL byte at offset %zu: this is no text", path,
				strlen(text));
	else if (*first == '{' || *first == '[')
		ret = vendor_json_parse(first, n - (size_t)(first - text), path, out, err);
	else
		ret = vendor_text_parse(text, path, out, err);
	free(text);
	if (ret == 0 && !out->n && out->n_refused && !in_folder) {
		ret = tare_fail(err, EINVAL, "%s", out->refused[0].why);
		vendor_file_free(out);
	} else if (ret == 0 && !out->n && !out->n_refused) {
		vendor_file_free(out);
		ret = tare_fail(err, ENODATA, "%s has no event", path);
		tare_hint(err,
			  "expected: intel/perfmon or Arm telemetry JSON, or lines 'name "
			  "event umask flags meaning'");
	}
	return ret;
}
