/* SPDX-License-Identifier: MIT */
/*
 * Applies what records say about the file: in a pipe, the events, their names and the features
 * arrive as records; and losses are counted from all records that report them.
 */
#include <stdlib.h>
#include "perfdata/perfdata_private.h"

/* A pipe has no size to check its counts against. The limit allows 65536 events on 64 CPUs each. */
enum { EVENTS_MAX = 65536, IDS_MAX = 4 << 20 };

static int apply_attr(struct perfdata *r, struct perfdata_record *rec, struct tare_error *err)
{
	const unsigned char *p = rec->bytes + RECORD_HEADER;
	size_t n = rec->size - RECORD_HEADER;
	struct perfdata_attr attr;
	size_t size;

	rec->attr = NULL;
	if (!r->file.pipe) /* the file's head has them */
		return 0;
	size = n >= 64 ? load32(p + 4, r->swap) : 0;
	size = size ? size : 64;
	if (n < 64 || size < 64 || size > n || (n - size) % 8) {
		rec->bad = "the event it describes does not fit";
		return 0;
	}
	if (r->n_events >= EVENTS_MAX || r->n_event_ids + (n - size) / 8 > IDS_MAX)
		return tare_fail(err, EFBIG, "%s: byte %llu: more than %d events or %d ids",
				 r->file.path, (unsigned long long)rec->offset, EVENTS_MAX,
				 IDS_MAX);
	attr_read(&attr, p, size, r->swap);
	rec->attr = event_add(r, &attr, p + size, (n - size) / 8, err);
	return rec->attr ? 0 : -ENOMEM;
}

static int replace(char **to, const char *text, struct tare_error *err)
{
	char *copy = strdup(text);

	if (!copy)
		return tare_fail_nomem(err);
	free(*to);
	*to = copy;
	return 0;
}

static int apply_update(struct perfdata *r, const struct perfdata_record *rec,
			struct tare_error *err)
{
	struct perfdata_event *ev = event_of(r, rec->event_update.id);

	if (!ev)
		return 0;
	switch (rec->event_update.type) {
	case 0:
		return replace(&ev->unit, rec->event_update.text, err);
	case 1:
		ev->scale = rec->event_update.scale;
		return 0;
	case 2:
		return event_rename(ev, rec->event_update.text, err);
	case 3:
		return replace(&ev->cpus, rec->event_update.text, err);
	}
	return 0;
}

static int apply_feature(struct perfdata *r, const struct perfdata_record *rec,
			 struct tare_error *err)
{
	struct perfdata_features *f = &r->features;
	struct tare_error why = TARE_ERROR_INIT;
	unsigned feature = (unsigned)rec->feature.id;
	unsigned char *bytes;

	if (rec->feature.id >= PD_FEAT_BITS || perfdata_has_feature(r, feature))
		return 0;
	bytes = features_keep(r, rec->feature.n, 1);
	if (!bytes)
		return tare_fail_nomem(err);
	memcpy(bytes, rec->feature.bytes, rec->feature.n);
	f->raw[feature].at.size = rec->feature.n;
	f->raw[feature].bytes = bytes;
	f->present[feature / 64] |= 1ull << feature % 64;
	if (feature_decode(r, feature, bytes, rec->feature.n, &why) < 0)
		note(r, "%s: byte %llu: feature %u: %s", r->file.path,
		     (unsigned long long)rec->offset, feature, why.what);
	return 0;
}

int record_apply(struct perfdata *r, struct perfdata_record *rec, struct tare_error *err)
{
	int ret = 0;

	if (!rec->bad)
		switch (rec->type) {
		case PD_RECORD_ATTR:
			ret = apply_attr(r, rec, err);
			break;
		case PD_RECORD_EVENT_UPDATE:
			ret = apply_update(r, rec, err);
			break;
		case PD_RECORD_FEATURE:
			ret = apply_feature(r, rec, err);
			break;
		case PD_RECORD_LOST:
			r->loss.lost += rec->lost.lost;
			break;
		case PD_RECORD_LOST_SAMPLES:
			r->loss.lost_samples += rec->lost.lost;
			break;
		case PD_RECORD_THROTTLE:
			r->loss.throttled++;
			break;
		case PD_RECORD_AUX:
			r->loss.truncated_aux += rec->aux.flags & 13
				? 1
				: 0; /* truncated, partial, collision */
			break;
		}
	if (__builtin_expect(rec->type != PD_RECORD_SAMPLE || rec->bad || !rec->event ||
				     rec->has & PD_SAMPLE_AUX,
			     0))
		undecoded_note(r, rec);
	if (rec->bad)
		r->loss.undecodable++;
	else if (rec->type == PD_RECORD_SAMPLE && !rec->event)
		r->loss.unattributed++;
	return ret;
}
