/* SPDX-License-Identifier: MIT */
/* Shared by the files of the perf.data reader. */
#ifndef PERFDATA_PERFDATA_PRIVATE_H
#define PERFDATA_PERFDATA_PRIVATE_H

#include "perfdata/perfdata.h"
#include "perfdata/perfdata_bytes.h"
#include "perfdata/perfdata_features.h"
#include "perfdata/perfdata_inflate.h"
#include "recording/recording_input.h"
#include "perfdata/perfdata_undecoded.h"
#include "perfdata/tracing_fields.h"

enum { RECORD_HEADER = 8, RECORD_MAX = 65535, NOTES_MAX = 32 };

/* One file of records: the whole recording, or one part of a directory. */
struct stream {
	struct input in;
	struct inflate *inflate; /* NULL until the first compressed record */
	bool inflating;          /* the last compressed record has more records */
	uint64_t compressed_at;  /* its offset */
	uint64_t payload;        /* unread bytes after the last record */
	uint64_t payload_at;     /* offset of that record */
	bool tracing;            /* that record is TRACING_DATA */
	unsigned file;
	int broken; /* negative errno once record boundaries are lost */
	struct tare_error why;
};

struct id_slot {
	uint64_t id;
	struct perfdata_event *event; /* NULL: free */
};

struct perfdata {
	struct perfdata_file file;
	struct perfdata_loss loss;
	struct perfdata_undecoded undecoded[PERFDATA_UNDECODED_MAX];
	size_t n_undecoded;
	uint32_t aux_kind; /* from AUXTRACE_INFO */
	struct perfdata_opts opts;
	struct perfdata_features features;
	bool swap;

	struct stream *streams;
	size_t n_streams, current;
	struct stream *lent; /* file of the last returned record; NULL: it is from the queue */

	struct perfdata_event **events;
	size_t n_events;
	size_t n_event_ids; /* total of all files */

	struct id_slot *slots;
	size_t n_slots, used_slots;
	struct id_slot last; /* the id of the last lookup */

	/* Properties common to all events; recomputed when an event is added. */
	/* position in a sample, from the first field; -1: none; -2: they disagree */
	int id_word;
	/* position in other records, from the end (1: the last); -1, -2 as above */
	int id_tail;
	bool one_layout;  /* all events have the same sample layout */
	unsigned time_at; /* with one_layout: the offset of a sample's time; 0: it has none */

	char *notes[NOTES_MAX];
	size_t n_notes;

	uint64_t *scratch; /* RECORD_MAX bytes: arrays converted to this machine's byte order */
	size_t scratch_used;
	struct tare_error unasked; /* sink if the caller wants no words */
	char *text;                /* of the last record that used it */
	struct queue *queue;
	struct tracing_fields tracing;
};

/* perfdata_header.c */
int header_read(struct perfdata *r, struct tare_error *err);

/* perfdata_event.c */
void attr_read(struct perfdata_attr *out, const unsigned char *bytes, size_t n, bool swap);
struct perfdata_event *event_add(struct perfdata *r, const struct perfdata_attr *attr,
				 const unsigned char *ids, size_t n_ids, struct tare_error *err);
int event_rename(struct perfdata_event *ev, const char *name, struct tare_error *err);
struct perfdata_event *event_of(struct perfdata *r, uint64_t id);
void events_free(struct perfdata *r);

/* perfdata_record.c, perfdata_sample.c */
void record_decode(struct perfdata *r, struct perfdata_record *rec);
void sample_decode(struct perfdata *r, struct perfdata_record *rec);
bool read_decode(struct perfdata *r, struct perfdata_read *out, struct bytes *b, uint64_t format);
/* The next n words in this machine's byte order and alignment. */
const uint64_t *words_of(struct perfdata *r, struct bytes *b, uint64_t n);
/* Only the time of a record, if the file has one. */
bool record_time(struct perfdata *r, const struct perfdata_record *rec, uint64_t *time);

/* perfdata_apply.c: applies what a record says about the file: events, names, features, losses */
int record_apply(struct perfdata *r, struct perfdata_record *rec, struct tare_error *err);

/* perfdata_features.c: tracepoints; they name their events if nothing else in the file does */
int tracing_decode(struct perfdata *r, const unsigned char *bytes, size_t n,
		   struct tare_error *err);

/* perfdata_undecoded.c: counts the record if it was not decoded */
void undecoded_note(struct perfdata *r, const struct perfdata_record *rec);

/* perfdata.c */
/* The next record in file order, framed but not decoded: 1, 0 at the end, negative on damage. */
int streams_next(struct perfdata *r, struct perfdata_record *out, struct tare_error *err);
void note(struct perfdata *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Bytes after the record that are not in its size. */
uint64_t record_payload(struct perfdata *r, const struct perfdata_record *rec);

/* perfdata_ahead.c */
/* The caller frees it; NULL if not available: a pipe, a directory, compressed records. */
struct ahead *ahead_look(struct perfdata *r);
/* The earliest time of all unread records. */
uint64_t ahead_least(const struct perfdata *r, const struct ahead *a);

/* perfdata_order.c */
void queue_free(struct queue *q);

/* perfdata_places.c: the feature TARE_PLACES, which comes after TARE_EXACT. */
void places_decode(struct perfdata *r, struct bytes *b);

#endif
