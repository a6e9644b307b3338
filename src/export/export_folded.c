/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks, for flame graphs: "program;outer;inner 123", a line for each stack with a self
 * cost. Names are escaped as in other folded stacks (escape_frame()).
 */
#include "base/text.h"
#include "output/escape.h"
#include "export/export.h"

static void name(struct out *o, const char *s)
{
	struct text t = { 0 };

	escape_frame(&t, s);
	out_put(o, t.s, t.len);
	if (t.failed && o->error == 0)
		o->error = -ENOMEM;
	text_free(&t);
}

static int begin_folded(struct export *x, struct tare_error *err)
{
	(void)x;
	(void)err;
	return 0;
}

static void stack(struct export *x, const struct export_stack *s)
{
	uint64_t self = s->self[x->of->counter];

	if (self == 0)
		return;
	name(x->out, x->of->program);
	for (size_t i = 0; i < s->n; i++) {
		out_text(x->out, ";");
		name(x->out, export_label(x, s->label[i])->name);
	}
	out_text(x->out, " ");
	out_u64(x->out, self);
	out_text(x->out, "\n");
}

static void end(struct export *x)
{
	(void)x;
}

const struct exporter export_folded = {
	.name = "folded",
	.about = "folded stacks (text): flamegraph.pl, inferno, speedscope",
	.ending = ".folded",
	.begin = begin_folded,
	.stack = stack,
	.end = end,
};
