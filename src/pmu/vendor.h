/* SPDX-License-Identifier: MIT */
/*
 * Events of vendor files: the text tables of data/, and the user's files (the same text format,
 * intel/perfmon's JSON, Arm's telemetry JSON). A file's definition of an event is stored in perf's
 * syntax: a PMU and its terms.
 */
#ifndef PMU_VENDOR_H
#define PMU_VENDOR_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vendor_event {
	const char *name;
	const char
		*pmu; /* "" for the core PMUs; else "cpu_atom", "uncore_imc" (all its instances) */
	const char *terms; /* "event=0xd1,umask=0x8" */
	const char *about; /* "" if the file has no description */
	const char
		*compat; /* a regular expression for the PMU's `identifier` in sysfs; "" for any */
	uint64_t counters; /* as in struct encoding; 0: not given */
	unsigned line;     /* in its file; 0: unknown */
};

/* A row that was not read. */
struct vendor_refused {
	const char *name; /* "" if it has none */
	const char *why;  /* includes the file, the line and the name */
};

struct vendor_file {
	const char *path;
	struct vendor_event *event;
	size_t n, room;
	struct vendor_refused *refused;
	size_t n_refused, refused_room;
	void *memory;
	char *own_path;  /* path, if it came from a folder */
	size_t argument; /* index of the argument of vendor_files_read() */
	bool standard;   /* events that others refer to; its own ArchStdEvent are not followed */
	bool in_folder;  /* rows that cannot be read are no error, even if there are no others */
};

/*
 * Read a file in any of the three formats, at most 64 MiB. Errors name the file and the line;
 * -ENODATA: it has no event.
 */
int vendor_file_read(const char *path, struct vendor_file *out, struct tare_error *err);
/* The same, with the flags that are set in *out. */
int vendor_file_read_as(const char *path, struct vendor_file *out, struct tare_error *err);
void vendor_file_free(struct vendor_file *f);

/*
 * Read files, and the JSON files of folders (with their subfolders "events" and "sys"), in order of
 * their names. Files of a folder without events, such as metrics, are skipped. paths is
 * NULL-terminated, or NULL. Free *out with vendor_files_free().
 */
int vendor_files_read(const char *const *paths, struct vendor_file **out, size_t *n,
		      struct tare_error *err);
void vendor_files_free(struct vendor_file *files, size_t n);

/*
 * Parsers of the formats. `path` is for messages. *out is zeroed by the caller, and freed on
 * failure.
 */
int vendor_text_parse(const char *text, const char *path, struct vendor_file *out,
		      struct tare_error *err);
int vendor_json_parse(const char *text, size_t n, const char *path, struct vendor_file *out,
		      struct tare_error *err);

/*
 * By name, ignoring case; '.', ':', '-' and '_' are equivalent, as LIKWID and libpfm4 write them
 * differently.
 */
const struct vendor_event *vendor_find(const struct vendor_file *f, const char *name);
/* Are the two names equal in that sense? */
bool vendor_same_name(const char *a, const char *b);

/* Are these terms well-formed in perf's grammar? */
bool vendor_is_terms(const char *terms);

/*
 * Terms of a standard event of the architecture (ArchStdEvent), from the JSON files in the folder
 * of the mapfile.csv above `path`, or from the built-in table of armv8. `std` caches the files
 * read. NULL: none.
 */
const struct vendor_event *vendor_standard(const char *path, const char *name,
					   struct vendor_file **std, size_t *n_std);

/* For the parsers: append an event, or a row that cannot be read; the strings are copied. */
int vendor_refuse(struct vendor_file *f, const char *name, const char *why, struct tare_error *err);
int vendor_add(struct vendor_file *f, const struct vendor_event *ev, struct tare_error *err);

#endif
