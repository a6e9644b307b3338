/* SPDX-License-Identifier: MIT */
/*
 * Writing a perf.data, version 2, that perf, hotspot, samply and tare itself read. A sink of a sampling session:
 * the kernel's records go through as they are.
 *
 *	0	head: magic, sizes, where attrs and data are, which features there are	104 bytes
 *	104	ids of all events; then attrs, each followed by where its ids are
 *		data: records, FINISHED_ROUND after each time that all rings were read
 *		features: a table of { u64 offset, u64 size }, then their bytes
 *
 * The head says from round to round how far the data is whole, so a file whose writer was killed can be read up
 * to the last round; features then are missing. To a pipe the same goes as records: HEADER_ATTR, HEADER_FEATURE.
 * Source: perf.data-file-format.txt of the kernel's tools.
 */
#ifndef SAMPLE_PERFDATA_WRITE_H
#define SAMPLE_PERFDATA_WRITE_H

#include "sample/sample.h"

struct perfdata_writer;

struct perfdata_write_options {
	const char *path;   /* "-": as a pipe, to `pipe` */
	int pipe;	    /* a descriptor, which stays open; 0: standard output */
	const char *root;   /* of the machine, as machine_root() */
	char *const *argv;  /* the command line to be written down; NULL-terminated */
	int compress;	    /* zstd level; 0: none */
	bool build_ids;
	int clockid; /* as in the session's plan */
	void (*made)(const char *part); /* told of FILE.part as soon as it is there, with all signals held; NULL: nobody is */
};

/*
 * -ENOSYS: compression was asked for, and this build has none. The file is made when recording begins, as
 * FILE.part; it becomes FILE at the end, and one that is there FILE.old.
 */
int perfdata_writer_open(struct perfdata_writer **out, const struct perfdata_write_options *o,
			 struct tare_error *err);
struct sample_sink *perfdata_writer_sink(struct perfdata_writer *w);
/* The features, and the head that names them; then the file has its name, even where these found no room. */
int perfdata_writer_finish(struct perfdata_writer *w, const struct sample_outcome *outcome, struct tare_error *err);
/* Why the file does not say what the fields of its tracepoints are; NULL: it does, or there are none. After finish. */
const char *perfdata_writer_no_fields(const struct perfdata_writer *w);
/* What recorders of the same name left that were killed: the newest of *n (may be NULL); NULL: nothing. After finish. */
const char *perfdata_writer_left(const struct perfdata_writer *w, size_t *n);
/* Whether there is a recording: of one that broke off before a sample was in it nothing is kept. After finish. */
bool perfdata_writer_kept(const struct perfdata_writer *w);
/* The file as it is called now: without its name where it could not be given. NULL: standard output. */
const char *perfdata_writer_path(const struct perfdata_writer *w);
/* What it is called until it has its name; NULL: it has none of its own. */
const char *perfdata_writer_part(const struct perfdata_writer *w);
/* Bytes in the file. */
uint64_t perfdata_writer_size(const struct perfdata_writer *w);
/* Without finish: what was written up to the last round gets the name. */
void perfdata_writer_close(struct perfdata_writer *w);

#endif
