/* SPDX-License-Identifier: MIT */
/*
 * Events of vendor files: the text tables of data/, and files the user gives (the same text form,
 * intel/perfmon's JSON, Arm's telemetry JSON). What a file says of an event is kept in perf's own
 * words: a PMU and its terms.
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
	const char *about; /* "" if the file says nothing */
	uint64_t counters; /* as in struct encoding; 0: the file does not say */
	unsigned line;     /* where it stands in its file; 0: not known */
};

struct vendor_file {
	const char *path;
	struct vendor_event *event;
	size_t n, room;
	void *memory;
};

/* Read a file of any of the three forms, at most 64 MiB. Errors name the file and the line. */
int vendor_file_read(const char *path, struct vendor_file *out, struct tare_error *err);
void vendor_file_free(struct vendor_file *f);

/* The forms. `path` is for messages. *out is zeroed by the caller, and freed on failure. */
int vendor_text_parse(const char *text, const char *path, struct vendor_file *out,
		      struct tare_error *err);
int vendor_json_parse(const char *text, size_t n, const char *path, struct vendor_file *out,
		      struct tare_error *err);

/* By name: letter case aside; and '.', ':', '-' and '_' are alike, as LIKWID and libpfm4 write them
 * differently. */
const struct vendor_event *vendor_find(const struct vendor_file *f, const char *name);
/* Whether two names are the same in that sense. */
bool vendor_same_name(const char *a, const char *b);

/* For the parsers: append an event; the strings are copied. */
int vendor_add(struct vendor_file *f, const struct vendor_event *ev, struct tare_error *err);

#endif
