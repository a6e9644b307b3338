/* SPDX-License-Identifier: MIT */
/*
 * Writes a perf.data file, version 2, for perf, hotspot, samply and tare itself. It is a sink of a
 * sampling session: the kernel's records are written unchanged.
 *
 *	0	header: magic, sizes, offsets of attrs and data, feature bits	104 bytes
 *	104	ids of all events; then attrs, each followed by the offset of its ids
 *		data: records, FINISHED_ROUND after each pass over all rings
 *		features: a table of { u64 offset, u64 size }, then their bytes
 *
 * After each round the header gets the size of the complete data, so the file of a killed writer
 * can be read up to the last round; it has no features. In a pipe the same data is in records:
 * HEADER_ATTR, HEADER_FEATURE.
 * Source: perf.data-file-format.txt of the kernel's tools.
 */
#ifndef SAMPLE_PERFDATA_WRITE_H
#define SAMPLE_PERFDATA_WRITE_H

#include "sample/sample.h"

struct perfdata_writer;

struct perfdata_write_options {
	const char *path;  /* "-": as a pipe, to `pipe` */
	int pipe;          /* a descriptor, which is not closed; 0: standard output */
	const char *root;  /* of the machine, as in machine_root() */
	char *const *argv; /* the command line to record; NULL-terminated */
	int compress;      /* zstd level; 0: none */
	bool build_ids;
	int clockid; /* as in the session's plan */
	/* the CPU model that the command sees; NULL or "": this machine's */
	const char *cpu_model;
	void (*made)(const char *
			     /*
			 * called with FILE.part as soon as it exists, with all signals blocked;
			 * NULL: not called
			 */
			     part);
};

/*
 * -ENOSYS: compression was requested, and this build has none. The file is created as FILE.part
 * when recording begins. At the end it is renamed to FILE, and an existing FILE to FILE.old.
 */
int perfdata_writer_open(struct perfdata_writer **out, const struct perfdata_write_options *o,
			 struct tare_error *err);
struct sample_sink *perfdata_writer_sink(struct perfdata_writer *w);
/*
 * Writes the features and the header that lists them, then renames the file, even if the features
 * did not fit.
 */
int perfdata_writer_finish(struct perfdata_writer *w, const struct sample_outcome *outcome,
			   struct tare_error *err);
/*
 * Why the file lacks the formats of its tracepoints; NULL: it has them, or there are none. Call
 * after finish.
 */
const char *perfdata_writer_no_fields(const struct perfdata_writer *w);
/*
 * Files left by killed recorders of the same name: the newest of *n (may be NULL); NULL: none. Call
 * after finish.
 */
const char *perfdata_writer_left(const struct perfdata_writer *w, size_t *n);
/*
 * A file that has the name of an allocation file (FILE.alloc, FILE.old.alloc) and was left in
 * place, because it belongs to another user or to no recording; NULL: none. Call after finish.
 */
const char *perfdata_writer_other_alloc(const struct perfdata_writer *w);
/*
 * Whether there is a recording: one that ended before its first sample is not kept. Call after
 * finish.
 */
bool perfdata_writer_kept(const struct perfdata_writer *w);
/* The file's current name: FILE.part if it could not be renamed. NULL: standard output. */
const char *perfdata_writer_path(const struct perfdata_writer *w);
/* Its name until it is renamed; NULL: no temporary name. */
const char *perfdata_writer_part(const struct perfdata_writer *w);
/* Bytes in the file. */
uint64_t perfdata_writer_size(const struct perfdata_writer *w);
/* Without finish: renames the file as of the last round. */
void perfdata_writer_close(struct perfdata_writer *w);

#endif
