/* SPDX-License-Identifier: MIT */
/*
 * Any text as a file of operations, and as words of the command line: an error in words, or
 * operations that are written as they read. What the list allows sets no bit that is out for good.
 */
#include "fuzz.h"
#include "msr/batch.h"

static void allowed(const struct tare_msr_op *op, unsigned maker)
{
	struct tare_error err = TARE_ERROR_INIT;
	const struct msr_row *row = msr_row_of(op->msr, maker);

	if (msr_op_check(op, maker, &err) < 0) {
		must(err.what[0]);
		return;
	}
	if (op->kind == TARE_MSR_WRITE)
		must(row && (op->value & ~row->write) == 0);
	if (op->kind == TARE_MSR_WRITE && op->msr >= 0x186 && op->msr <= 0x18d)
		must(!(op->value & (1 << 19 | 1 << 20 | 1 << 21)));
}

static void batch(const char *text, unsigned maker)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct msr_batch b, again;
	struct text t = { 0 };

	if (msr_batch_parse(&b, text, maker, &err) < 0) {
		must(err.what[0]);
		return;
	}
	must(b.n > 0 && b.n <= TARE_MSR_OPS_MAX);
	for (size_t i = 0; i < b.n; i++) {
		allowed(&b.op[i], maker);
		msr_op_text(&t, &b.op[i], maker);
		text_add(&t, "\n");
	}
	must(msr_batch_parse(&again, t.s, maker, NULL) == 0);
	must(again.n == b.n && !memcmp(again.op, b.op, b.n * sizeof(b.op[0])));
	text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = fuzz_text(bytes, n);

	for (unsigned maker = TARE_MSR_INTEL; maker <= TARE_MSR_AMD; maker++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct msr_word w;

		batch(text, maker);
		if (msr_word_parse(&w, text, maker, &err) < 0)
			must(err.what[0]);
		else if (w.one_field)
			must(w.field.bits && w.field.low + w.field.bits <= 64 &&
			     (!w.has_value || w.field.bits == 64 || !(w.value >> w.field.bits)));
	}
	free(text);
	return 0;
}
