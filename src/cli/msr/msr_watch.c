/* SPDX-License-Identifier: MIT */
/* tare msr watch: reads registers repeatedly, all of them at the same time; counters are printed
 * as rates. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "cli/msr/msr_options.h"
#include "msr/msr_events.h"

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static double now_s(void)
{
	return 1e-9 * (double)clock_now_ns();
}

struct watching {
	struct registers *r;
	struct cpus on;
	struct tare_msr_op *op;
	struct msr_bits field[TARE_MSR_OPS_MAX]; /* bits 0: the whole register */
	uint64_t *before;
	size_t n;
	unsigned maker;
	struct style style;
	struct json json;
	bool as_json;
};

static int words(struct watching *w, char **word, int n, struct tare_error *err)
{
	if (n == 0) {
		tare_fail(err, EINVAL, "watch needs registers");
		tare_hint(err, "such as: tare msr watch -a IA32_APERF IA32_MPERF");
		return -EINVAL;
	}
	if (n > TARE_MSR_OPS_MAX)
		return tare_fail(err, E2BIG, "%d registers: at most %d", n, TARE_MSR_OPS_MAX);
	w->n = (size_t)n;
	w->op = calloc(w->n * w->on.n, sizeof(*w->op));
	w->before = calloc(w->n * w->on.n, sizeof(*w->before));
	if (!w->op || !w->before)
		return tare_fail_nomem(err);
	for (int i = 0; i < n; i++) {
		struct msr_word one;
		int ret = msr_word_parse(&one, word[i], w->maker, err);

		if (ret == 0 && one.has_value)
			ret = tare_fail(err, EINVAL, "'%.60s': watch takes no value", word[i]);
		if (ret < 0)
			return ret;
		w->field[i] = one.field;
		for (size_t k = 0; k < w->on.n; k++)
			w->op[k * w->n + (size_t)i] = (struct tare_msr_op){ .msr = one.msr,
									    .kind = TARE_MSR_READ };
	}
	return 0;
}

static void tick(struct watching *w, struct text *out, double at, double seconds, bool first)
{
	for (size_t i = 0; i < w->n * w->on.n; i++) {
		struct msr_tick t = { .time_s = at,
				      .seconds = seconds,
				      .cpu = w->on.cpu[i / w->n],
				      .msr = w->op[i].msr,
				      .field = &w->field[i % w->n],
				      .maker = w->maker,
				      .value = w->op[i].value,
				      .before = w->before[i],
				      .first = first };

		if (w->as_json)
			msr_tick_json(&w->json, &t);
		else
			msr_tick_text(out, &t, &w->style);
		w->before[i] = w->op[i].value;
	}
}

static int watch(const struct command *self, struct watching *w, const struct msr_options *o,
		 struct tare_error *err)
{
	double began = now_s(), last = began, next = began;

	for (uint64_t n = 0; !stopped && (!o->ticks || n <= o->ticks); n++) {
		double at = now_s(), wait;
		struct text out = { 0 };
		int ret = registers_run_all(w->r, &w->on, w->op, w->n, NULL, err);

		if (ret < 0)
			return ret;
		tick(w, &out, at - began, at - last, n == 0);
		last = at;
		if (msr_put(self, &out))
			return 0;
		next += 1e-9 * (double)o->interval_ns;
		wait = next - now_s();
		if (wait > 0 && (!o->ticks || n < o->ticks)) {
			struct timespec t = { (time_t)wait,
					      (long)((wait - (double)(time_t)wait) * 1e9) };

			nanosleep(&t, NULL); /* a signal interrupts it and ends the loop */
		}
	}
	return 0;
}

int msr_watch_command(const struct command *self, const struct msr_options *o, char **word, int n)
{
	struct watching w = { .maker = msr_maker_here(), .as_json = o->out.format == FORMAT_JSON };
	struct sigaction on_stop = { .sa_handler = stop };
	struct tare_error err = TARE_ERROR_INIT;
	struct output to;
	int ret = msr_cpus(o, &w.on, &err), status = 0;

	output_open(&to, "-", OUTPUT_WHOLE, STDOUT_FILENO, NULL);
	w.style = output_style(&to, WHEN_AUTO);
	if (ret == 0)
		ret = words(&w, word, n, &err);
	if (ret == 0)
		ret = msr_open(&w.r, o, false, &err);
	if (ret == 0) {
		sigaction(SIGINT, &on_stop, NULL);
		sigaction(SIGTERM, &on_stop, NULL);
		json_object(&w.json, NULL);
		json_string(&w.json, "schema", "tare/msr-watch/1");
		json_string(&w.json, "via", registers_via(w.r));
		json_array(&w.json, "readings");
		ret = watch(self, &w, o, &err);
		json_end(&w.json);
		json_end(&w.json);
	}
	if (ret < 0)
		status = msr_failed(self, &err);
	else if (w.as_json)
		status = msr_put(self, &w.json.out);
	text_free(&w.json.out);
	registers_close(w.r);
	free(w.op);
	free(w.before);
	cpus_free(&w.on);
	return status;
}
