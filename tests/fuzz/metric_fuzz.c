/* SPDX-License-Identifier: MIT */
/*
 * Any text as a metric's formula: an error at a byte of it, or something that has a value or none.
 */
#include <math.h>
#include "event/metric.h"
#include "fuzz.h"

enum { NAMES_MAX = 4096 }; /* a formula has at most 4 KiB */

/*
 * Whatever the events are worth, the result is a number, or it is refused; and it is the same
 * again.
 */
static void evaluate(const struct formula *f)
{
	static const double worth[] = { 0, 1, -1, 1e300, 3.5 };
	static double value[NAMES_MAX];
	size_t n = formula_names(f);

	must(n <= NAMES_MAX);
	for (size_t w = 0; w < ARRAY_SIZE(worth); w++) {
		double first = 0, second = 0;
		int ret;

		for (size_t i = 0; i < n; i++)
			value[i] = worth[(w + i) % ARRAY_SIZE(worth)];
		ret = formula_eval(f, value, &first);
		must(ret == 0 || ret == -EDOM);
		must(ret || isfinite(first));
		must(formula_eval(f, value, &second) == ret && (ret || first == second));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct tare_error err = TARE_ERROR_INIT;
	char *text = fuzz_text(bytes, n);
	struct formula *f = NULL;

	if (formula_parse(text, &f, &err) < 0) {
		must(err.what[0]);
		must(err.at < 0 || (size_t)err.at <= strlen(text));
		free(text);
		return 0;
	}
	for (size_t i = 0; i < formula_names(f); i++) {
		must(formula_name(f, i)[0]);
		for (size_t k = 0; k < i; k++)
			must(strcmp(formula_name(f, i), formula_name(f, k)));
	}
	evaluate(f);
	formula_free(f);
	free(text);
	return 0;
}
