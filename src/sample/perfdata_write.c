/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "base/file.h"
#include "perfdata/alloc.h"
#include "perfdata/perfdata.h"
#include "perfdata/perfdata_deflate.h"
#include "perfdata/perfdata_format.h"
#include "recording/recording_input.h"
#include "sample/perfdata_write.h"
#include "sample/perfdata_write_features.h"

enum {
	PIECE = 48 << 10,
	PIECE_ROOM = RECORD_MOST + 1024,
	PAYLOAD_MOST = 65528 - sizeof(struct perf_event_header)
};

/* The header of the file layout. */
struct head {
	char magic[8];
	uint64_t size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[PD_FEAT_BITS / 64];
};

struct perfdata_writer {
	struct sample_sink sink;
	struct perfdata_write_options o;
	int fd;
	bool pipe, own, began;
	bool unnamed; /* the file still has the name `part` */
	int lock;     /* of the folder, from the renaming to the end; -1: none */
	bool worth;   /* ... and has a round, so that it will be renamed */
	char part[FILE_PART_ROOM], place[PATH_MAX]; /* place: with symbolic links resolved */
	char left[FILE_PART_ROOM]; /* left by a killed recorder: the newest of n_left */
	size_t n_left;
	char other_alloc[PATH_MAX]; /* an allocation file that was left in place; "": none */
	struct head head;
	uint64_t at; /* bytes written, in whole records */
	struct written_event *event;
	size_t n;
	struct mapped mapped;
	struct deflate *deflate;
	/*
	 * why the compressed stream ends here: later data could not be decompressed without the
	 * missing data
	 */
	int broken;
	uint64_t raw, packed; /* bytes before and after compression */
	/* Offsets of the AUXTRACE records, and their sizes without the data */
	struct section *aux;
	size_t n_aux, aux_room;
	struct tare_error no_fields;
	unsigned char piece[PIECE_ROOM];
};

/* ---- bytes ---- */

static int fail_write(const struct perfdata_writer *w, int code, struct tare_error *err)
{
	struct stat st;

	tare_fail(err, code, "cannot write to %.200s: %s",
		  strcmp(w->o.path, "-") ? w->o.path : "standard output", strerror(code));
	if (code != ENOSPC && code != EDQUOT && code != EFBIG)
		return -code;
	if (fstat(w->fd, &st) == 0 && !S_ISREG(st.st_mode))
		tare_hint(err, "it is not a regular file; write elsewhere with -o FILE");
	else
		tare_hint(
			err,
			"samples recorded so far are in the file and can be read; write elsewhere with -o FILE");
	return -code;
}

/* The file ends here: anything after it is incomplete. */
static void end_at(struct perfdata_writer *w, uint64_t at)
{
	w->at = at;
	if (!w->pipe && ftruncate(w->fd, (off_t)at) == 0)
		lseek(w->fd, (off_t)at, SEEK_SET);
}

static int write_bytes(struct perfdata_writer *w, const void *bytes, size_t n,
		       struct tare_error *err)
{
	int ret = file_write_all(w->fd, bytes, n);

	if (ret < 0) {
		end_at(w, w->at);
		return fail_write(w, -ret, err);
	}
	w->at += n;
	return 0;
}

static int write_head(struct perfdata_writer *w, struct tare_error *err)
{
	ssize_t put = pwrite(w->fd, &w->head, sizeof(w->head), 0);

	return put == sizeof(w->head) ? 0 : fail_write(w, put < 0 ? errno : EIO, err);
}

/* ---- records, plain or compressed ---- */

static int write_piece(struct perfdata_writer *w, const unsigned char *bytes, size_t n,
		       struct tare_error *err)
{
	int64_t packed = deflate_piece(w->deflate, bytes, n, w->piece, sizeof(w->piece), err);
	int ret = packed < 0 ? (int)packed : 0;

	if (ret < 0)
		return ret;
	w->raw += n;
	w->packed += (uint64_t)packed;
	/* The size is not padded: a COMPRESSED record is not a multiple of 8, as in perf. */
	for (size_t at = 0; ret == 0 && at < (size_t)packed;) {
		size_t part = (size_t)packed - at < PAYLOAD_MOST ? (size_t)packed - at
								 : PAYLOAD_MOST;
		struct perf_event_header h = { .type = PD_RECORD_COMPRESSED,
					       .size = (uint16_t)(sizeof(h) + part) };

		ret = write_bytes(w, &h, sizeof(h), err);
		if (ret == 0)
			ret = write_bytes(w, w->piece + at, part, err);
		at += part;
	}
	return ret;
}

static int note_mapped(struct perfdata_writer *w, const unsigned char *bytes, size_t n,
		       struct tare_error *err)
{
	struct perf_event_header h;
	int ret = 0;

	for (size_t at = 0; ret == 0 && at < n; at += h.size) {
		memcpy(&h, bytes + at, sizeof(h));
		if (h.type == PERF_RECORD_MMAP2 || h.type == PERF_RECORD_MMAP)
			ret = mapped_add(&w->mapped, bytes + at, h.size, err);
	}
	return ret;
}

/*
 * Chunks of whole records, one COMPRESSED record each. Writes all of `bytes` or nothing: the caller
 * counts the bytes in the file.
 */
static int write_compressed(struct perfdata_writer *w, const unsigned char *bytes, size_t n,
			    struct tare_error *err)
{
	uint64_t before = w->at;
	int ret = w->broken ? fail_write(w, w->broken, err) : 0;

	for (size_t from = 0, to = 0; ret == 0 && from < n; from = to) {
		struct perf_event_header h;

		do {
			memcpy(&h, bytes + to, sizeof(h));
			if (to > from && to + h.size - from > PIECE)
				break;
			to += h.size;
		} while (to < n);
		ret = write_piece(w, bytes + from, to - from, err);
	}
	if (ret < 0 && !w->broken) {
		w->broken = -ret;
		end_at(w, before);
	}
	return ret;
}

static int put_records(struct sample_sink *self, const unsigned char *bytes, size_t n,
		       struct tare_error *err)
{
	struct perfdata_writer *w = (struct perfdata_writer *)self;
	int ret = w->o.build_ids ? note_mapped(w, bytes, n, err) : 0;

	if (ret < 0)
		return ret;
	return w->deflate ? write_compressed(w, bytes, n, err) : write_bytes(w, bytes, n, err);
}

/* ---- AUX data: never compressed, as in perf ---- */

enum { AUX_ALIGN = 8, AUXTRACE_ARM_SPE = 4 };

/*
 * The conversion of SPE's clock to the records' time, then the hardware: readers need them in this
 * order. Source: Linux, tools/perf/util/arm-spe.c, arm_spe_info_fill();
 * tools/lib/perf/include/perf/event.h.
 */
static int put_about_aux(struct sample_sink *self, const struct sample_aux *about,
			 struct tare_error *err)
{
	struct perfdata_writer *w = (struct perfdata_writer *)self;
	const struct {
		struct perf_event_header h;
		uint64_t shift, mult, zero, cycles, mask;
		uint8_t has_zero, is_short, pad[6];
	} clock = { { .type = PD_RECORD_TIME_CONV, .size = sizeof(clock) },
		    about->clock.shift,
		    about->clock.mult,
		    about->clock.zero,
		    about->clock.cycles,
		    about->clock.mask,
		    about->has_clock,
		    about->clock.is_short,
		    { 0 } };
	const struct {
		struct perf_event_header h;
		uint32_t type, pad;
		uint64_t pmu_type, per_cpu;
	} info = { { .type = PD_RECORD_AUXTRACE_INFO, .size = sizeof(info) },
		   AUXTRACE_ARM_SPE,
		   0,
		   about->pmu_type,
		   about->per_cpu };
	int ret = about->has_clock ? write_bytes(w, &clock, sizeof(clock), err) : 0;

	return ret < 0 ? ret : write_bytes(w, &info, sizeof(info), err);
}

static int note_aux(struct perfdata_writer *w, uint64_t offset, uint64_t size,
		    struct tare_error *err)
{
	if (!array_reserve(&w->aux, &w->aux_room, w->n_aux + 1, sizeof(*w->aux)))
		return tare_fail_nomem(err);
	w->aux[w->n_aux++] = (struct section){ offset, size };
	return 0;
}

/*
 * The record, then the data, which the record's size does not include; SPE's own padding is zeros,
 * too.
 */
static int put_aux(struct sample_sink *self, const struct aux_piece *p, struct tare_error *err)
{
	static const unsigned char zeros[AUX_ALIGN];
	struct perfdata_writer *w = (struct perfdata_writer *)self;
	uint64_t n = p->part[0].n + p->part[1].n, pad = -n % AUX_ALIGN, before = w->at;
	const struct {
		struct perf_event_header h;
		uint64_t size, offset, reference;
		uint32_t index, tid, cpu, pad;
	} rec = { { .type = PD_RECORD_AUXTRACE, .size = sizeof(rec) },
		  n + pad,
		  p->offset,
		  p->reference,
		  p->index,
		  (uint32_t)p->tid,
		  (uint32_t)p->cpu,
		  0 };
	const struct {
		const void *bytes;
		size_t n;
	} rows[] = { { &rec, sizeof(rec) },
		     { p->part[0].bytes, p->part[0].n },
		     { p->part[1].bytes, p->part[1].n },
		     { zeros, pad } };
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < ARRAY_SIZE(rows); i++)
		if (rows[i].n)
			ret = write_bytes(w, rows[i].bytes, rows[i].n, err);
	if (ret == 0 || w->pipe)
		return ret < 0 ? ret : note_aux(w, before, sizeof(rec), err);
	end_at(w, before); /* no record without its data */
	return ret;
}

/*
 * The file is renamed at the end: concurrent recordings to the same name are each complete, and the
 * previous recording is kept if the command cannot be executed or an event cannot be opened.
 */
static int open_file(struct perfdata_writer *w, struct tare_error *err)
{
	sigset_t all, before;
	struct stat st;
	int placed;

	if (w->pipe) {
		w->fd = w->o.pipe ? w->o.pipe : STDOUT_FILENO;
		return 0;
	}
	placed = file_place(w->o.path, w->place);
	if (placed < 0)
		return file_part_failed(w->o.path, -placed, err);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	w->fd = placed ? file_part_open(w->place, 0600, w->part)
		       : open(w->o.path, O_RDWR | O_TRUNC | O_CLOEXEC);
	if (w->fd >= 0 && placed && w->o.made)
		w->o.made(w->part);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (w->fd < 0)
		return placed ? file_part_failed(w->place, -w->fd, err) : fail_write(w, errno, err);
	w->unnamed = placed;
	w->own = true;
	if (fstat(w->fd, &st) == 0 && !S_ISREG(st.st_mode))
		w->pipe = true; /* a FIFO or a device: nothing there can be rewritten */
	return 0;
}

static bool is_other(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && !alloc_is_own(path);
}

/*
 * The recording's allocation file (--alloc) is renamed with it. Any other file of that name stays:
 * it belongs to another user, or to no recording.
 */
static void move_blocks(struct perfdata_writer *w, const char *old)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (!old || !alloc_path(from, sizeof(from), w->place) || !alloc_path(to, sizeof(to), old))
		return;
	if (is_other(from) || is_other(to))
		snprintf(w->other_alloc, sizeof(w->other_alloc), "%s", is_other(from) ? from : to);
	else if (rename(from, to) < 0 && errno == ENOENT)
		unlink(to);
}

/* A recording that did not finish. */
static bool is_broken(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool is = fd >= 0 && perfdata_unfinished(fd);

	if (fd >= 0)
		close(fd);
	return is;
}

/*
 * As in perf: the previous recording is kept as FILE.old, unless it is empty. An incomplete
 * recording does not replace a complete FILE.old.
 */
static int take_name(struct perfdata_writer *w, struct tare_error *err)
{
	struct stat st;
	char room[FILE_PART_ROOM], *old = stat(w->place, &st) < 0 || st.st_size ? room : NULL;
	int ret = 0;

	if (!w->unnamed)
		return 0;
	ret = file_part_check(w->fd, w->part, err);
	if (ret < 0)
		return ret;
	if (w->lock < 0)
		w->lock = file_lock_folder(w->place);
	if (!file_beside(w->place, ".old", room))
		ret = -ENAMETOOLONG;
	else if (old && file_planted(room) && access(w->place, F_OK) == 0)
		ret = -EACCES;
	if (ret == 0 && old && access(room, F_OK) == 0 && is_broken(w->place) && !is_broken(room))
		old = NULL;
	if (ret == 0)
		ret = file_part_place(w->fd, w->part, w->place, old);
	if (ret == 0) {
		move_blocks(w, old);
		w->unnamed = false;
		w->n_left = file_part_left(w->place, perfdata_unfinished, w->left);
	} else if (ret == -EISDIR && old && stat(old, &st) == 0 && S_ISDIR(st.st_mode)) {
		tare_fail(err, EISDIR,
			  "cannot keep the previous recording as %.150s: it is a directory", old);
	} else if (ret == -EACCES && old && file_planted(old)) {
		tare_fail(
			err, EACCES,
			"cannot keep the previous recording as %.150s: that file belongs to another user",
			old);
	} else {
		tare_fail(err, -ret, "cannot rename to %.150s: %s", w->place, strerror(-ret));
	}
	if (ret == 0)
		return 0;
	tare_hint(err, "the recording is %.100s", w->part);
	return ret;
}

static int put_round(struct sample_sink *self, struct tare_error *err)
{
	struct perfdata_writer *w = (struct perfdata_writer *)self;
	const struct perf_event_header h = { .type = PD_RECORD_FINISHED_ROUND, .size = sizeof(h) };
	int ret = write_bytes(w, &h, sizeof(h), err);

	if (ret < 0 || w->pipe)
		return ret;
	w->worth = true;
	w->head.data.size = w->at - w->head.data.offset;
	return write_head(w, err);
}

/* ---- before the records ---- */

static struct feature_source source_of(struct perfdata_writer *w)
{
	return (struct feature_source){
		.root = w->o.root,
		.argv = w->o.argv,
		.event = w->event,
		.n_events = w->n,
		.mapped = w->o.build_ids ? &w->mapped : NULL,
		.clockid = w->o.clockid,
		.cpu_model = w->o.cpu_model && w->o.cpu_model[0] ? w->o.cpu_model : NULL,
		.compress = w->o.compress,
		.no_fields = &w->no_fields,
		.aux = w->aux,
		.n_aux = w->n_aux,
		.ratio = w->packed ? (double)w->raw / (double)w->packed : 1,
	};
}

static int copy_events(struct perfdata_writer *w, const struct sampled *events, size_t n,
		       struct tare_error *err)
{
	w->event = calloc(n + 1, sizeof(*w->event));
	if (!w->event)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		struct written_event *e = &w->event[w->n++];

		*e = (struct written_event){ .attr = events[i].attr,
					     .leader = events[i].leader,
					     .n_ids = events[i].n_ids };
		snprintf(e->name, sizeof(e->name), "%s", events[i].enc->name);
		e->ids = malloc((e->n_ids + 1) * sizeof(*e->ids));
		if (!e->ids)
			return tare_fail_nomem(err);
		memcpy(e->ids, events[i].ids, e->n_ids * sizeof(*e->ids));
	}
	return 0;
}

/*
 * A record has a 16-bit size; what does not fit is left out (the file layout has it). Not padded:
 * some readers take any bytes after a feature as part of it.
 */
static int write_record(struct perfdata_writer *w, uint32_t type, const struct text *body,
			struct tare_error *err)
{
	struct perf_event_header h = { .type = type, .size = (uint16_t)(sizeof(h) + body->len) };
	int ret;

	if (body->failed)
		return tare_fail_nomem(err);
	if (sizeof(h) + body->len >= RECORD_MOST)
		return 0;
	ret = write_bytes(w, &h, sizeof(h), err);
	return ret == 0 && body->len ? write_bytes(w, body->s, body->len, err) : ret;
}

/*
 * Its data size does not fit the record's 16 bits: the data follows the record, padded to 8 bytes.
 */
static int write_tracing_data(struct perfdata_writer *w, const struct feature_source *from,
			      struct tare_error *err)
{
	struct {
		struct perf_event_header h;
		uint32_t size;
	} head = { { .type = PD_RECORD_TRACING_DATA, .size = 12 }, 0 };
	struct text body = { 0 };
	int ret = 0;

	if (feature_rows[0].write(&body, from)) {
		text_put(&body, "\0\0\0\0\0\0\0", -body.len % 8);
		head.size = (uint32_t)body.len;
		ret = body.failed ? tare_fail_nomem(err) : write_bytes(w, &head, head.h.size, err);
		if (ret == 0)
			ret = write_bytes(w, body.s, body.len, err);
	}
	text_free(&body);
	return ret;
}

static int write_feature(struct perfdata_writer *w, const struct feature_row *f,
			 const struct feature_source *from, struct tare_error *err)
{
	struct text body = { 0 };
	uint64_t bit = f->bit;
	int ret = 0;

	text_put(&body, (const char *)&bit, sizeof(bit));
	if (f->write(&body, from))
		ret = write_record(w, PD_RECORD_FEATURE, &body, err);
	text_free(&body);
	return ret;
}

static int begin_pipe(struct perfdata_writer *w, struct tare_error *err)
{
	const struct {
		char magic[8];
		uint64_t size;
	} head = { "PERFILE2", sizeof(head) };
	const struct feature_source from = source_of(w);
	int ret = write_bytes(w, &head, sizeof(head), err);

	for (size_t i = 0; ret == 0 && i < w->n; i++) {
		const struct written_event *e = &w->event[i];
		struct text body = { 0 };

		text_put(&body, (const char *)&e->attr, sizeof(e->attr));
		text_put(&body, (const char *)e->ids, e->n_ids * sizeof(uint64_t));
		ret = write_record(w, PD_RECORD_ATTR, &body, err);
		text_free(&body);
	}
	for (const struct feature_row *f = feature_rows; ret == 0 && f->bit; f++)
		if (f->early)
			ret = write_feature(w, f, &from, err);
	return ret < 0 ? ret : write_tracing_data(w, &from, err);
}

static int begin_file(struct perfdata_writer *w, struct tare_error *err)
{
	struct text body = { 0 };
	uint64_t ids = sizeof(w->head);
	int ret;

	w->head = (struct head){ .magic = "PERFILE2",
				 .size = sizeof(w->head),
				 .attr_size = sizeof(struct perf_event_attr) +
					 sizeof(struct section) };
	text_put(&body, (const char *)&w->head, sizeof(w->head));
	for (size_t i = 0; i < w->n; i++)
		text_put(&body, (const char *)w->event[i].ids,
			 w->event[i].n_ids * sizeof(uint64_t));
	w->head.attrs = (struct section){ body.len, w->n * w->head.attr_size };
	for (size_t i = 0; i < w->n; i++) {
		struct section at = { ids, w->event[i].n_ids * sizeof(uint64_t) };

		text_put(&body, (const char *)&w->event[i].attr, sizeof(struct perf_event_attr));
		text_put(&body, (const char *)&at, sizeof(at));
		ids += at.size;
	}
	w->head.data.offset = body.len;
	if (!body.failed)
		memcpy(body.s, &w->head, sizeof(w->head));
	ret = body.failed ? tare_fail_nomem(err) : write_bytes(w, body.s, body.len, err);
	text_free(&body);
	return ret;
}

/*
 * The compression parameters, as a record too: perf cannot decompress without them, and the file of
 * a killed writer has no features.
 */
static int write_how_compressed(struct perfdata_writer *w, struct tare_error *err)
{
	const struct feature_source from = source_of(w);
	int ret = 0;

	for (const struct feature_row *f = feature_rows; ret == 0 && f->bit; f++)
		if (f->bit == PD_FEAT_COMPRESSED)
			ret = write_feature(w, f, &from, err);
	return ret;
}

/*
 * The event names as records, too: the file of a killed writer has no features with them. Source:
 * perf.data-file-format.txt, PERF_RECORD_EVENT_UPDATE; 2 is a name.
 */
static int write_names(struct perfdata_writer *w, struct tare_error *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < w->n; i++) {
		const struct written_event *e = &w->event[i];
		const uint64_t what[] = { 2, e->n_ids ? e->ids[0] : 0 };
		struct text body = { 0 };

		text_put(&body, (const char *)what, sizeof(what));
		text_put(&body, e->name, strlen(e->name));
		text_put(&body, "\0\0\0\0\0\0\0", 8 - strlen(e->name) % 8);
		if (e->n_ids)
			ret = write_record(w, PD_RECORD_EVENT_UPDATE, &body, err);
		text_free(&body);
	}
	return ret;
}

static int begin_recording(struct sample_sink *self, const struct sampled *events, size_t n,
			   struct tare_error *err)
{
	struct perfdata_writer *w = (struct perfdata_writer *)self;
	int ret = copy_events(w, events, n, err);

	if (ret == 0)
		ret = open_file(w, err);
	if (ret == 0)
		ret = w->pipe ? begin_pipe(w, err) : begin_file(w, err);
	if (ret == 0)
		ret = write_names(w, err);
	if (ret == 0 && !w->pipe)
		ret = write_how_compressed(w, err);
	w->began = ret == 0;
	return ret;
}

/* ---- open and close ---- */

int perfdata_writer_open(struct perfdata_writer **out, const struct perfdata_write_options *o,
			 struct tare_error *err)
{
	struct perfdata_writer *w = calloc(1, sizeof(*w));
	int ret = 0;

	if (!w)
		return tare_fail_nomem(err);
	w->sink = (struct sample_sink){ begin_recording, put_records, put_round, put_about_aux,
					put_aux };
	w->o = *o;
	w->fd = w->lock = -1;
	w->pipe = !strcmp(o->path, "-");
	if (o->compress)
		ret = deflate_new(&w->deflate, o->compress, err);
	if (ret < 0) {
		perfdata_writer_close(w);
		return ret;
	}
	*out = w;
	return 0;
}

struct sample_sink *perfdata_writer_sink(struct perfdata_writer *w)
{
	return &w->sink;
}

static bool has_samples(const struct sample_outcome *o)
{
	for (size_t i = 0; i < o->n_events; i++)
		if (o->event[i].samples)
			return true;
	return o->aux_bytes > 0;
}

int perfdata_writer_finish(struct perfdata_writer *w, const struct sample_outcome *outcome,
			   struct tare_error *err)
{
	struct feature_source from = source_of(w);
	struct text bodies = { 0 }, table = { 0 };
	struct head head = w->head;
	uint64_t lens[PD_FEAT_BITS], n = 0, at;
	int ret = 0;

	from.outcome = outcome;
	if (w->pipe || !w->began)
		return 0;
	from.first_ns = outcome->first_ns;
	from.last_ns = outcome->last_ns;
	head.data.size = w->at - head.data.offset;
	/* Readers see from the missing features that it is incomplete. */
	for (const struct feature_row *f = feature_rows; !outcome->broke_off && f->bit; f++) {
		struct text body = { 0 };

		if (f->write(&body, &from)) {
			head.features[f->bit / 64] |= 1ull << f->bit % 64;
			lens[n++] = body.len;
			text_put(&bodies, body.s ? body.s : "", body.len);
			bodies.failed |= body.failed;
		}
		text_free(&body);
	}
	at = w->at + n * sizeof(struct section);
	for (uint64_t i = 0; i < n; i++) {
		struct section s = { at, lens[i] };

		text_put(&table, (const char *)&s, sizeof(s));
		at += lens[i];
	}
	if (bodies.failed || table.failed)
		ret = tare_fail_nomem(err);
	text_put(&table, bodies.s ? bodies.s : "", bodies.len);
	if (ret == 0 && table.failed)
		ret = tare_fail_nomem(err);

	uint64_t before = w->at;

	if (ret == 0)
		ret = write_bytes(w, table.s, table.len, err);
	if (ret == 0) {
		w->head = head;
		ret = write_head(w, err);
	} else { /* without features, but with every record that fitted */
		w->at = before;
		w->head.data.size = w->at - w->head.data.offset;
		write_head(w, NULL);
	}
	text_free(&bodies);
	text_free(&table);
	w->worth = !outcome->broke_off || has_samples(outcome);

	int named = w->worth ? take_name(w, ret < 0 ? NULL : err) : 0;

	return ret < 0 ? ret : named;
}

const char *perfdata_writer_no_fields(const struct perfdata_writer *w)
{
	return w->no_fields.code ? w->no_fields.what : NULL;
}

const char *perfdata_writer_left(const struct perfdata_writer *w, size_t *n)
{
	if (n)
		*n = w->n_left;
	return w->n_left ? w->left : NULL;
}

const char *perfdata_writer_other_alloc(const struct perfdata_writer *w)
{
	return w->other_alloc[0] ? w->other_alloc : NULL;
}

bool perfdata_writer_kept(const struct perfdata_writer *w)
{
	return w->worth || !w->unnamed;
}

const char *perfdata_writer_path(const struct perfdata_writer *w)
{
	return w->pipe && !w->own ? NULL : w->unnamed ? w->part : w->o.path;
}

const char *perfdata_writer_part(const struct perfdata_writer *w)
{
	return w && w->own && w->unnamed ? w->part : NULL;
}

uint64_t perfdata_writer_size(const struct perfdata_writer *w)
{
	return w->at;
}

void perfdata_writer_close(struct perfdata_writer *w)
{
	if (!w)
		return;
	if (w->unnamed && w->own && w->worth)
		take_name(w, NULL);
	else if (w->unnamed && w->own && file_part_check(w->fd, w->part, NULL) == 0)
		unlink(w->part);
	if (w->own)
		close(w->fd);
	if (w->lock >= 0)
		close(w->lock);
	deflate_free(w->deflate);
	mapped_free(&w->mapped);
	for (size_t i = 0; i < w->n; i++)
		free(w->event[i].ids);
	free(w->event);
	free(w->aux);
	free(w);
}
