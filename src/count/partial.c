/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "output/escape.h"
#include "count/partial.h"

void partial_without(struct text *out, unsigned n)
{
	text_add(out, "without %u process%s", n, n == 1 ? "" : "es");
}

bool partial_sentence(struct text *out, const struct exact_partial *p, unsigned i)
{
	unsigned listed = p->n < EXACT_UNCOUNTED_MAX ? p->n : EXACT_UNCOUNTED_MAX;
	const struct exact_missing *m = &p->process[i < listed ? i : 0];

	if (i > listed || (i == listed && p->n == listed))
		return false;
	if (i == listed) {
		text_add(out, "Without %u more.", p->n - listed);
		return true;
	}
	text_add(out, "Without ");
	escape(out, m->name, strlen(m->name));
	if (m->pid)
		text_add(out, ", process %d", (int)m->pid);
	text_add(out,
		 m->ended ? ", after the exact engine ended it: "
			  : ", which ran without the exact engine, and all that it started: ");
	escape(out, m->reason, strlen(m->reason));
	text_add(out, ".");
	return true;
}

void partial_json(struct json *j, const struct exact_partial *p)
{
	if (!p->n)
		return;
	json_uint(j, "without_processes", p->n);
	json_array(j, "uncounted_processes");
	for (unsigned i = 0; i < p->n && i < EXACT_UNCOUNTED_MAX; i++) {
		json_object(j, NULL);
		json_string(j, "comm", p->process[i].name);
		json_int(j, "pid", p->process[i].pid);
		json_uint(j, "process_number", p->process[i].serial + 1u);
		json_bool(j, "ended_by_engine", p->process[i].ended);
		json_string(j, "reason", p->process[i].reason);
		json_end(j);
	}
	json_end(j);
}
