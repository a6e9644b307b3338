/* SPDX-License-Identifier: MIT */
/* Describes a finding of a scan in words. */
#include <inttypes.h>
#include "scan/finding.h"
#include "verify/verify.h"

const char *const scan_confidence_names[SCAN_SURES] = {
	[SCAN_NO_IDEA] = "no idea",
	[SCAN_PERHAPS] = "perhaps",
	[SCAN_LIKELY] = "likely",
	[SCAN_CERTAIN] = "certain",
};

static void put_term(struct text *out, const struct scan *s, const struct scan_known *known,
		     const struct scan_term *t)
{
	const struct scan_event *e;

	switch (t->what) {
	case TERM_CLASS:
		text_add(out, "%s", work_class_names[t->which]);
		break;
	case TERM_INTERRUPTS:
		text_add(out, "interrupts");
		break;
	case TERM_KNOWN:
		text_add(out, "%s", known[t->which].name);
		break;
	case TERM_EVENT:
		e = &s->event[t->which];
		text_add(out, "0x%02x:0x%02x", e->select, e->umask);
		break;
	}
}

void scan_terms(struct text *out, const struct scan *s, const struct scan_known *known,
		const struct scan_finding *f)
{
	for (size_t i = 0; i < f->n; i++) {
		double factor = f->term[i].factor;

		if (i || factor < 0)
			text_add(out, "%s", factor < 0 ? i ? " - " : "-" : " + ");
		factor = factor < 0 ? -factor : factor;
		if (f->meaning != SCAN_FOLLOWS && factor != 1)
			text_add(out, "%.4g ", factor);
		put_term(out, s, known, &f->term[i]);
	}
}

static void put_top(struct text *out, const struct scan_finding *f)
{
	bool any = false;

	for (size_t i = 0; i < SCAN_TOP && f->per_turn[i] > 0; i++) {
		text_add(out, "%s%s %.3g a turn", any ? ", " : "most in ", work_name(f->top[i]),
			 f->per_turn[i]);
		any = true;
	}
	if (!any)
		text_add(out, "occasionally, independent of the work");
}

void scan_words(struct text *out, const struct scan *s, const struct scan_known *known,
		const struct scan_finding *f)
{
	struct text terms = { 0 }, kinds = { 0 };

	scan_terms(&terms, s, known, f);
	verify_name_kinds(&kinds, f->except);
	switch (f->meaning) {
	case SCAN_CONSTANT:
		text_add(out, "%" PRId64 " each reading, independent of the work", f->fixed);
		break;
	case SCAN_COUNTS:
		text_add(out, "counts %s", terms.s);
		if (f->explained < 1)
			text_add(out, ", in %.4g %% of the pieces of work", 100 * f->explained);
		if (f->except)
			text_add(out, "; not in %s", kinds.s);
		if (f->also)
			text_add(out, "; %u other sums also fit", f->also);
		break;
	case SCAN_SUM:
		text_add(out, "counts what %s count%s", terms.s, f->n == 1 ? "s" : "");
		break;
	case SCAN_FOLLOWS:
		text_add(out, "follows %s: factor %.3g, correlation %.3f", terms.s,
			 f->term[0].factor, f->correlation);
		break;
	case SCAN_BROKEN:
		text_add(out, "goes backwards: tare or the kernel assumes a wrong counter width");
		break;
	default:
		put_top(out, f);
		break;
	}
	text_free(&terms);
	text_free(&kinds);
}
