/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/skid_kept.h"
#include "record/perfdata_features.h"
#include "record/perfdata_format.h"

static const char head[] = "tare skid 1\n";

enum { FIELDS = 11, MOST = 1024 };

/* ---- lines ---- */

static bool printable(const char *s)
{
	for (; *s; s++)
		if (!isprint((unsigned char)*s))
			return false;
	return true;
}

static bool take_text(char *to, size_t room, const char *field)
{
	if (!*field || strlen(field) >= room || !printable(field))
		return false;
	strcpy(to, field);
	return true;
}

static bool take_int(int64_t *to, const char *field)
{
	char *end;

	errno = 0;
	*to = strtoll(field, &end, 10);
	return (*field == '-' || isdigit((unsigned char)*field)) && !*end && !errno;
}

static bool take_count(uint64_t *to, const char *field)
{
	char *end;

	errno = 0;
	*to = strtoull(field, &end, 10);
	return isdigit((unsigned char)*field) && !*end && !errno;
}

static bool take_share(double *to, const char *field)
{
	char *end;

	*to = strtod(field, &end);
	return isdigit((unsigned char)*field) && !*end && *to >= 0 && *to <= 1;
}

static bool take_line(struct skid_kept *k, char *line)
{
	char *field[FIELDS];
	uint64_t type, level;

	*k = (struct skid_kept){ 0 };
	for (size_t i = 0; i < FIELDS; i++) {
		char *tab = line ? strchr(line, '\t') : NULL;

		if (!line)
			return false;
		field[i] = line;
		line = tab ? tab + 1 : NULL;
		if (tab)
			*tab = '\0';
	}
	if (line || !take_text(k->event, sizeof(k->event), field[0]) || !take_count(&type, field[1]) || !take_count(&k->config, field[2]) ||
	    !take_count(&level, field[3]) || !take_text(k->cpu, sizeof(k->cpu), field[4]) || !take_text(k->release, sizeof(k->release), field[5]) ||
	    !take_count(&k->samples, field[6]) || !take_share(&k->exact, field[7]) || !take_int(&k->median, field[8]) ||
	    !take_int(&k->p99, field[9]) || !take_int(&k->time, field[10]) || type > UINT32_MAX || level > 3)
		return false;
	k->type = (uint32_t)type;
	k->level = (unsigned)level;
	return true;
}

int skids_kept_parse(struct skids_kept *out, const char *text, size_t len, struct tare_error *err)
{
	size_t number = 1, at = sizeof(head) - 1;
	char line[512];

	*out = (struct skids_kept){ 0 };
	if (len < at || memcmp(text, head, at))
		return tare_fail(err, EBADMSG, "line 1 is not '%.*s'", (int)at - 1, head);
	while (at < len) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		struct skid_kept one;
		int ret;

		number++;
		if (!end || n >= sizeof(line) || memchr(text + at, '\0', n))
			return tare_fail(err, EBADMSG, "line %zu tells of no skid", number);
		memcpy(line, text + at, n);
		line[n] = '\0';
		if (!take_line(&one, line))
			return tare_fail(err, EBADMSG, "line %zu tells of no skid", number);
		ret = skids_kept_put(out, &one, err);
		if (ret < 0)
			return ret;
		at += n + 1;
	}
	return 0;
}

static bool same(const struct skid_kept *a, const struct skid_kept *b)
{
	return a->type == b->type && a->config == b->config && a->level == b->level && !strcmp(a->cpu, b->cpu) && !strcmp(a->release, b->release);
}

int skids_kept_put(struct skids_kept *k, const struct skid_kept *one, struct tare_error *err)
{
	struct skid_kept *more;

	if (!one->event[0] || !one->cpu[0] || !one->release[0] || !printable(one->event) || !printable(one->cpu) || !printable(one->release))
		return tare_fail(err, EINVAL, "a name that fits in no line");
	for (size_t i = 0; i < k->n; i++)
		if (same(&k->row[i], one)) {
			k->row[i] = *one;
			return 0;
		}
	if (k->n == MOST) /* the oldest goes */
		memmove(k->row, k->row + 1, --k->n * sizeof(*k->row));
	more = realloc(k->row, (k->n + 1) * sizeof(*more));
	if (!more)
		return tare_fail_nomem(err);
	k->row = more;
	more[k->n++] = *one;
	return 0;
}

void skids_kept_write(struct text *out, const struct skids_kept *k)
{
	text_add(out, "%s", head);
	for (size_t i = 0; i < k->n; i++) {
		const struct skid_kept *r = &k->row[i];

		text_add(out, "%s\t%" PRIu32 "\t%" PRIu64 "\t%u\t%s\t%s\t%" PRIu64 "\t%.6f\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", r->event, r->type,
			 r->config, r->level, r->cpu, r->release, r->samples, r->exact, r->median, r->p99, r->time);
	}
}

void skids_kept_free(struct skids_kept *k)
{
	free(k->row);
	*k = (struct skids_kept){ 0 };
}

/* ---- of a recording ---- */

static const struct perfdata_event *named(const struct perfdata *file, const char *event)
{
	for (size_t i = 0; i < perfdata_event_count(file); i++)
		if (!strcmp(perfdata_event_at(file, i)->name, event))
			return perfdata_event_at(file, i);
	return NULL;
}

static bool of_software(uint32_t type)
{
	return type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT;
}

const struct skid_kept *skids_kept_of(const struct skids_kept *k, const struct perfdata *file, const char *event, bool *other)
{
	const struct perfdata_features *f = perfdata_features(file);
	const struct perfdata_event *ev = named(file, event);
	const struct skid_kept *near = NULL;

	if (!ev || !f->cpuid || !f->os_release)
		return NULL;
	for (size_t i = 0; i < k->n; i++) {
		const struct skid_kept *r = &k->row[i];

		if (r->level != (ev->attr.flags >> PD_ATTR_PRECISE_SHIFT & 3) || strcmp(r->cpu, f->cpuid) || strcmp(r->release, f->os_release))
			continue;
		if (r->type == ev->attr.type && r->config == ev->attr.config) {
			*other = false;
			return r;
		}
		if (!of_software(r->type) && !of_software(ev->attr.type) && (!near || r->p99 > near->p99))
			near = r;
	}
	*other = true;
	return near;
}
