/* SPDX-License-Identifier: MIT */
/* Results of tare gate, from a document or a note. */
#include <string.h>
#include "base/arena.h"
#include "gate/gate_view.h"
#include "history/history_document.h"

void history_seal(struct history_run *r)
{
	history_digest_add(&r->digest, r->commit.name, strlen(r->commit.name) + 1);
	history_digest_add(&r->digest, &r->commit.dirty, sizeof(r->commit.dirty));
}

static const char *copy(struct history_batch *to, const char *s)
{
	return arena_string(&to->strings, s, strlen(s));
}

static bool take_value(struct history_batch *to, struct history_run *run,
		       const struct gate_record *r, const struct gate_value *v)
{
	const struct history_number n = { .whole = true, .count = v->count };
	struct history_result *result = history_add_result(run);

	if (!result)
		return false;
	*result = (struct history_result){
		.series = { copy(to, r->benchmark), copy(to, v->event), "", "" },
		.conditions = { .tare = copy(to, r->tare),
				.engine = "exact",
				.quality = "exact",
				.isa = copy(to, r->isa),
				.fixed = copy(to, r->fixed),
				.command = copy(to, r->command),
				.machine = "" },
		.value = n,
		.least = n,
		.most = n,
		.runs = 2,
	};
	return result->series.benchmark && result->series.event && result->conditions.tare &&
		result->conditions.isa && result->conditions.fixed && result->conditions.command;
}

int history_add_records(struct history_batch *to, const struct gate_records *records,
			const struct history_commit *commit, struct tare_error *err)
{
	for (size_t i = 0; i < records->n; i++) {
		const struct gate_record *r = &records->record[i];
		struct history_run *run;
		struct text line = { 0 };

		if (r->accept[0])
			continue;
		run = history_add_run(to);
		gate_record_line(&line, r);
		if (!run || line.failed) {
			text_free(&line);
			return tare_fail_nomem(err);
		}
		run->commit = *commit;
		history_digest_begin(&run->digest);
		history_digest_add(&run->digest, line.s, line.len);
		text_free(&line);
		for (size_t k = 0; k < r->n; k++)
			if (!take_value(to, run, r, &r->value[k]))
				return tare_fail_nomem(err);
	}
	return 0;
}
