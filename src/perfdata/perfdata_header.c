/* SPDX-License-Identifier: MIT */
/*
 * The head of a perf.data, in the byte order of the recording machine.
 *
 *   offset  size  meaning
 *        0     8  magic: "PERFILE2" version 2, little-endian; "2ELIFREP" version 2, big-endian;
 *                 "PERFFILE" version 1, whose byte order shows in the next word; "ELIFFREP" too
 *        8     8  size of this head: 16 pipe layout, the records follow at once;
 *                 104 file layout; 72 the oldest file layout, without feature bits
 *       16     8  attr_size: bytes of one entry of the attrs section
 *       24    16  attrs section      {u64 offset, size}
 *       40    16  data section       {u64 offset, size}; size 0: the recorder was killed, read to
 *                 the end
 *       56    16  event_types section, of version 1
 *       72    32  feature bits, 4 u64
 *
 * The attrs section has entries of perf_event_attr (attr_size - 16 bytes) and a section {u64
 * offset, size} of u64 ids. After the data section: one section {u64 offset, size} for each feature
 * bit, lowest first.
 *
 * Source: perf.data-file-format.txt, "The perf header format".
 */
#include <stdlib.h>
#include "perfdata/perfdata_private.h"

enum {
	HEAD_PIPE = 16,
	HEAD_OLD = 72,
	HEAD_FILE = 104,
	ATTR_ENTRY_MIN = 64 + 16,
	ATTR_ENTRY_MAX = 65536, /* one kernel page is the limit today; pages grow to 64 KiB */
	EVENTS_MAX = 65536,
};

#define SECTIONS_MAX (256ull << 20) /* bytes of feature sections kept in memory */

struct head {
	uint64_t size, attr_size;
	struct perfdata_section attrs, data;
};

static const char *path_of(const struct perfdata *r)
{
	return r->streams[0].in.path;
}

static bool size_is_known(uint64_t size)
{
	return size == HEAD_PIPE || size == HEAD_OLD || size == HEAD_FILE;
}

static int magic(struct perfdata *r, const unsigned char *p, size_t n, struct tare_error *err)
{
	static const struct {
		const char *magic;
		int version;
		bool mirrored;
	} rows[] = { { "PERFILE2", 2, false },
		     { "2ELIFREP", 2, true },
		     { "PERFFILE", 1, false },
		     { "ELIFFREP", 1, true } };

	for (size_t i = 0; i < ARRAY_SIZE(rows) && n >= HEAD_PIPE; i++) {
		if (memcmp(p, rows[i].magic, 8))
			continue;
		r->file.version = rows[i].version;
		r->swap = rows[i].mirrored;
		if (rows[i].version == 1 && !size_is_known(load64(p + 8, r->swap)) &&
		    size_is_known(load64(p + 8, !r->swap)))
			r->swap = !r->swap;
		r->file.swapped = r->swap;
		return 0;
	}
	tare_fail(err, EBADMSG, "%s: byte 0: not a perf.data file: %s", path_of(r),
		  n < HEAD_PIPE ? "it has fewer than 16 bytes" : "it does not begin with PERFILE2");
	return -EBADMSG;
}

static int in_file(const struct perfdata *r, struct perfdata_section s)
{
	uint64_t end;

	return !__builtin_add_overflow(s.offset, s.size, &end) && end <= r->streams[0].in.size;
}

static int read_ids(struct perfdata *r, const struct perfdata_attr *attr, uint64_t entry,
		    struct perfdata_section at, struct tare_error *err)
{
	const struct input *in = &r->streams[0].in;
	unsigned char *ids;
	int ret = 0;

	if (!in_file(r, at) || at.size % 8)
		return tare_fail(err, EBADMSG,
				 "%s: byte %llu: the ids of event %zu have %llu bytes at "
				 "byte %llu, but the file has %llu",
				 in->path, (unsigned long long)entry, r->n_events,
				 (unsigned long long)at.size, (unsigned long long)at.offset,
				 (unsigned long long)in->size);
	/* Valid sections do not overlap, so all ids together fit in the file. */
	if (at.size / 8 + r->n_event_ids > in->size / 8)
		return tare_fail(err, EBADMSG,
				 "%s: byte %llu: the events have more ids than fit in the file",
				 in->path, (unsigned long long)entry);
	ids = malloc(at.size ? at.size : 1);
	if (!ids)
		return tare_fail_nomem(err);
	if (at.size)
		ret = input_at(in, at.offset, ids, at.size, err);
	if (ret == 0 && !event_add(r, attr, ids, at.size / 8, err))
		ret = -ENOMEM;
	free(ids);
	return ret;
}

static int read_attrs(struct perfdata *r, const struct head *h, struct tare_error *err)
{
	const struct input *in = &r->streams[0].in;
	unsigned char *entry;
	uint64_t n;
	int ret = 0;

	if (h->attr_size < ATTR_ENTRY_MIN || h->attr_size > ATTR_ENTRY_MAX)
		return tare_fail(err, EBADMSG, "%s: byte 16: events of %llu bytes each", in->path,
				 (unsigned long long)h->attr_size);
	if (!in_file(r, h->attrs))
		return tare_fail(err, EBADMSG,
				 "%s: byte 24: the events have %llu bytes at byte %llu, but "
				 "the file has %llu",
				 in->path, (unsigned long long)h->attrs.size,
				 (unsigned long long)h->attrs.offset, (unsigned long long)in->size);
	n = h->attrs.size / h->attr_size;
	if (n > EVENTS_MAX)
		return tare_fail(err, EFBIG, "%s: byte 24: %llu events, more than %d", in->path,
				 (unsigned long long)n, EVENTS_MAX);
	if (h->attrs.size % h->attr_size)
		note(r,
		     "%s: byte 24: the size of the attrs section is not a multiple of the event size",
		     in->path);
	entry = malloc(h->attr_size);
	if (!entry)
		return tare_fail_nomem(err);
	for (uint64_t i = 0; i < n && ret == 0; i++) {
		uint64_t at = h->attrs.offset + i * h->attr_size;
		const unsigned char *ids = entry + h->attr_size - 16;
		struct perfdata_attr attr;

		ret = input_at(in, at, entry, h->attr_size, err);
		if (ret < 0)
			break;
		attr_read(&attr, entry, h->attr_size - 16, r->swap);
		ret = read_ids(
			r, &attr, at,
			(struct perfdata_section){ load64(ids, r->swap), load64(ids + 8, r->swap) },
			err);
	}
	free(entry);
	return ret;
}

static bool is_decoded(unsigned feature)
{
	return (feature >= PD_FEAT_TRACING_DATA && feature <= PD_FEAT_PMU_CAPS) ||
		feature == PD_FEAT_SIMPLEPERF_META_INFO || feature == PD_FEAT_TARE_EXACT ||
		feature == PD_FEAT_TARE_PLACES || feature == PD_FEAT_TARE_PARTIAL;
}

/* Reads the complete rows of a truncated list. */
static void read_start(struct perfdata *r, unsigned feature, struct perfdata_section at)
{
	struct perfdata_features *f = &r->features;
	uint64_t size = r->streams[0].in.size, there = at.offset < size ? size - at.offset : 0;
	unsigned char *bytes = NULL;

	if (there && there < at.size && there <= SECTIONS_MAX - f->loaded)
		bytes = features_keep(r, there, 1);
	if (!bytes || input_at(&r->streams[0].in, at.offset, bytes, there, NULL) < 0)
		return;
	f->loaded += there;
	feature_decode(r, feature, bytes, there, NULL);
}

/* A damaged feature is reported but does not prevent reading the records. */
static void read_feature(struct perfdata *r, unsigned feature, struct perfdata_section at)
{
	struct perfdata_features *f = &r->features;
	const char *name = perfdata_feature_name(feature);
	struct tare_error why = TARE_ERROR_INIT;
	unsigned char *bytes = NULL;

	f->raw[feature].at = at;
	if (!in_file(r, at)) {
		tare_fail(&why, EBADMSG, "its %llu bytes are outside the file",
			  (unsigned long long)at.size);
		if (feature == PD_FEAT_BUILD_ID)
			read_start(r, feature, at);
	} else if (!is_decoded(feature))
		return;
	else if (at.size > SECTIONS_MAX - f->loaded || at.size > r->streams[0].in.size - f->loaded)
		tare_fail(&why, EFBIG, "its %llu bytes exceed the space left for features",
			  (unsigned long long)at.size);
	else if (!(bytes = features_keep(r, at.size, 1)))
		tare_fail_nomem(&why);
	else if (at.size == 0 ||
		 input_at(&r->streams[0].in, at.offset, bytes, at.size, &why) == 0) {
		f->loaded += at.size;
		f->raw[feature].bytes = bytes;
		if ((feature == PD_FEAT_BRANCH_STACK || feature == PD_FEAT_STAT) ||
		    feature_decode(r, feature, bytes, at.size, &why) == 0)
			return;
	}
	f->damaged[feature / 64] |= 1ull << feature % 64;
	note(r, "%s: byte %llu: feature %u%s%s: %s", path_of(r), (unsigned long long)at.offset,
	     feature, name ? " " : "", name ? name : "", why.what);
}

static void read_features(struct perfdata *r, const struct head *h)
{
	const struct input *in = &r->streams[0].in;
	uint64_t at = h->data.offset + h->data.size;
	bool cut = false;

	for (unsigned feature = 0; feature < PD_FEAT_BITS; feature++) {
		unsigned char pair[16];

		if (!perfdata_has_feature(r, feature))
			continue;
		if (cut || input_at(in, at, pair, sizeof(pair), NULL) < 0) {
			cut = true;
			r->features.present[feature / 64] &= ~(1ull << feature % 64);
			r->features.damaged[feature / 64] |= 1ull << feature % 64;
			continue;
		}
		read_feature(r, feature,
			     (struct perfdata_section){ load64(pair, r->swap),
							load64(pair + 8, r->swap) });
		at += sizeof(pair);
	}
	if (cut)
		note(r, "%s: byte %llu: the file ends within its list of features", in->path,
		     (unsigned long long)at);
}

static int file_layout(struct perfdata *r, uint64_t size, struct tare_error *err)
{
	struct stream *s = &r->streams[0];
	unsigned char p[HEAD_FILE] = { 0 };
	struct head h;
	uint64_t end;
	int ret = input_at(&s->in, 0, p, (size_t)size, err);

	if (ret < 0)
		return ret;
	h = (struct head){
		.size = size,
		.attr_size = load64(p + 16, r->swap),
		.attrs = { load64(p + 24, r->swap), load64(p + 32, r->swap) },
		.data = { load64(p + 40, r->swap), load64(p + 48, r->swap) },
	};
	for (int i = 0; i < PD_FEAT_BITS / 64; i++)
		r->features.present[i] = load64(p + 72 + 8 * i, r->swap);
	r->file.attr_size = h.attr_size;
	r->file.data_offset = h.data.offset;
	r->file.data_size = h.data.size;
	r->file.unfinished = h.data.size == 0;
	if (h.data.offset > s->in.size || __builtin_add_overflow(h.data.offset, h.data.size, &end))
		return tare_fail(err, EBADMSG,
				 "%s: byte 40: the records have %llu bytes at byte %llu, but "
				 "the file has %llu",
				 s->in.path, (unsigned long long)h.data.size,
				 (unsigned long long)h.data.offset, (unsigned long long)s->in.size);
	ret = read_attrs(r, &h, err);
	if (ret < 0)
		return ret;
	if (r->file.unfinished) {
		note(r,
		     "%s: its recorder did not finish: no features, records to the end of the "
		     "file",
		     s->in.path);
		memset(r->features.present, 0, sizeof(r->features.present));
	}
	r->file.broke_off = true;
	for (int i = 0; i < PD_FEAT_BITS / 64; i++)
		r->file.broke_off &= !r->features.present[i];
	read_features(r, &h);
	input_seek(&s->in, h.data.offset, r->file.unfinished ? UINT64_MAX : h.data.size);
	return 0;
}

int header_read(struct perfdata *r, struct tare_error *err)
{
	struct input *in = &r->streams[0].in;
	const unsigned char *p;
	ssize_t n = input_peek(in, HEAD_PIPE, &p, err);
	uint64_t size;
	int ret;

	if (n < 0)
		return (int)n;
	ret = magic(r, p, (size_t)n, err);
	if (ret < 0)
		return ret;
	size = load64(p + 8, r->swap);
	if (!size_is_known(size))
		return tare_fail(
			err, EBADMSG,
			"%s: byte 8: a header of %llu bytes; known sizes are 16 (pipe), 72 and 104",
			in->path, (unsigned long long)size);
	if (size == HEAD_PIPE) {
		r->file.pipe = true;
		r->file.data_offset = HEAD_PIPE;
		input_take(in, HEAD_PIPE);
		return 0;
	}
	if (!in->seekable) {
		ret = input_spool(in, err);
		if (ret < 0)
			return ret;
	}
	return file_layout(r, size, err);
}
