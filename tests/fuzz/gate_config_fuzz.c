/* SPDX-License-Identifier: MIT */
/* tare.json: a benchmark that is accepted can be run, and an error has a hint. */
#include "fuzz.h"
#include "gate/gate.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct gate_config c;
	char *text = fuzz_text(bytes, n);
	int ret = gate_config_parse(&c, text, n, "F", &err);

	must(ret == 0 || (err.what[0] && err.hint[0]));
	must(ret < 0 || (c.n > 0 && c.n <= GATE_BENCHMARKS_MAX));
	for (size_t i = 0; ret == 0 && i < c.n; i++) {
		const struct gate_benchmark *b = &c.benchmark[i];

		must(b->name[0] && strlen(b->name) < GATE_NAME_BYTES && b->argv[0][0]);
		must(b->runs >= 2 && b->limits <= GATE_LIMITS_MAX);
		for (char **v = b->environment; v && *v; v++)
			must(strchr(*v, '=') > *v);
		for (size_t k = 0; k < b->limits; k++)
			must(!b->limit[k].relative || b->limit[k].percent >= 0);
	}
	gate_config_free(&c);
	free(text);
	return 0;
}
