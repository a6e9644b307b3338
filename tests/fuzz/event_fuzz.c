/* SPDX-License-Identifier: MIT */
/* Any text as a list of events: an error at a byte of the text, or a list that holds together; then
 * encoded. */
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "pmu/pmu.h"

static void check(const char *text, const struct event_list *list)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < list->n; i++) {
		const struct event *e = &list->event[i];
		struct event_list again = { 0 };

		must(e->group < list->groups);
		must(e->at >= 0 && (size_t)e->at + strlen(e->text) <= length);
		must(!memcmp(text + e->at, e->text, strlen(e->text)));
		must(e->mods.precise <= 3);
		for (size_t t = 0; t < e->n_terms; t++)
			must(e->term[t].at >= e->at && (size_t)e->term[t].at < length);
		/* What the user wrote of one event means the same alone. */
		must(event_list_parse(e->text, &again, NULL) == 0);
		must(again.n == 1 && again.event[0].kind == e->kind &&
		     again.event[0].n_terms == e->n_terms);
		event_list_free(&again);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct encode_options opt = { .keep_unavailable = true };
	struct encoding_list encoded = { 0 };
	struct event_list list = { 0 };
	char *text = fuzz_text(bytes, n);
	struct machine *m = machine_open("/nonexistent", NULL);

	if (event_list_parse(text, &list, &err) < 0) {
		must(!list.event && !list.memory && err.what[0]);
		must(err.at < 0 || (size_t)err.at <= strlen(text));
	} else if (m && list.n <= 8) {
		check(text, &list);
		if (pmu_encode(m, &list, &opt, &encoded, &err) < 0)
			must(!encoded.enc && err.what[0]);
		for (size_t i = 0; i < encoded.n; i++)
			must(encoded.enc[i].group < encoded.groups &&
			     encoded.enc[i].event < list.n);
	}
	encoding_list_free(&encoded);
	event_list_free(&list);
	machine_close(m);
	free(text);
	return 0;
}
