/* SPDX-License-Identifier: MIT */
/* Windows as text, as CSV with a header, and as the document tare/windows/1. */
#ifndef WINDOWS_WINDOWS_VIEW_H
#define WINDOWS_WINDOWS_VIEW_H

#include "windows/windows.h"
#include "output/out.h"
#include "output/style.h"

struct windows_about {
	char *const *argv; /* the command, or NULL */
	const struct source *engine;
	const char *mode; /* "sample" or "poll" */
	uint64_t every;   /* count of the first event, or the interval of poll in ns */
	const struct window_end *end;
	int exit_status;                /* -1: none */
	size_t most_threads, most_rows; /* shown in the text; 0: all */
};

void windows_text(struct text *out, const struct windows_table *t,
		  const struct windows_about *about, const struct style *style);
/* Adds nothing if there is no rest outside the rows. */
void windows_rest(struct text *out, const struct windows_table *t,
		  const struct windows_about *about, const struct style *style);
void windows_csv(struct out *out, const struct windows_table *t, const struct windows_about *about);
void windows_json(struct out *out, const struct windows_table *t,
		  const struct windows_about *about);
/*
 * The same for a page: columns of long threads are compressed, and values that no plot shows are
 * left out.
 */
void windows_page(struct out *out, const struct windows_table *t,
		  const struct windows_about *about);

#endif
