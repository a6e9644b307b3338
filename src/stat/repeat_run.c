/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "launch/output_hash.h"
#include "stat/stat.h"
#include "stat/repeat_run.h"

int repeat_run_open(struct repeat_run *t, char *const argv[], const char *names,
		    enum engine_wish wish, struct tare_error *err)
{
	const struct encode_options how = { .keep_unavailable = true };
	struct tare_error cannot = TARE_ERROR_INIT;
	struct engine_question q = { .wish = wish };
	struct event_list events = { 0 };
	int ret;

	*t = (struct repeat_run){ .argv = argv,
				  .launcher = &launch_plain,
				  .machine = machine_open(NULL, err) };
	if (!t->machine)
		return -err->code;
	if (!names)
		return 0;
	ret = event_list_parse(names, &events, err);
	if (ret == 0)
		ret = pmu_encode(t->machine, &events, &how, &t->list, err);
	event_list_free(&events);
	if (ret == 0 && t->list.n > REPEAT_EVENTS_MAX)
		ret = tare_fail(err, E2BIG, "more than %d events", REPEAT_EVENTS_MAX);
	if (ret == 0 && wish == ENGINE_EXACT)
		ret = exact_probe(err);
	else if (wish == ENGINE_AUTO && exact_probe(&cannot) < 0)
		q.cannot = &cannot;
	if (ret == 0)
		ret = engine_choose(&t->list, &q, err);
	if (ret > 0) {
		t->launcher = &launch_exact;
		return 0;
	}
	return ret;
}

struct memory {
	struct sink sink;
	struct repeat_run_result *run;
	bool counted[REPEAT_EVENTS_MAX];
	char why[REPEAT_EVENTS_MAX][256];
};

static int keep(struct sink *self, const struct fact *f, struct tare_error *err)
{
	struct memory *m = (struct memory *)self;

	(void)err;
	if (f->kind == FACT_READING) {
		unsigned i = f->reading.event;

		m->counted[i] = f->reading.value.quality == TARE_EXACT ||
			f->reading.value.quality == TARE_COUNTED;
		m->run->count[i] = f->reading.value.raw;
		m->run->quality[i] = f->reading.value.quality;
		if (!m->counted[i])
			snprintf(m->why[i], sizeof(m->why[i]), "%s",
				 f->reading.why ? f->reading.why : "it shared its counter");
	}
	if (f->kind == FACT_RUN_END) {
		m->run->wait_status = f->end.wait_status;
		m->run->timed_out = f->end.timed_out;
		m->run->never_began = f->end.never_began;
		m->run->wall_ns = f->end.wall_ns;
		m->run->cpu_ns = f->end.user_ns + f->end.system_ns;
	}
	return 0;
}

int repeat_run_once(const struct repeat_run *t, struct determinism *fixed, char *const *envp,
		    struct repeat_run_result *out, struct tare_error *err)
{
	struct memory m = { .sink.put = keep, .run = out };
	struct stat_outcome outcome;
	struct stat_plan plan = {
		.events = &t->list,
		.argv = t->argv,
		.launcher = t->launcher,
		.envp = envp,
		.fixed = fixed,
		.target = { .inherit = true },
		.runs = 1,
		.timeout_ns = t->timeout_ns,
		.kills = true,
	};
	struct output_hash hidden;
	int ret = output_hash_begin(&hidden, err);

	*out = (struct repeat_run_result){ 0 };
	if (ret < 0)
		return ret;
	ret = stat_run(&plan, &m.sink, &outcome, err);
	out->output = output_hash_end(&hidden);
	out->exec_code = outcome.exec_code;
	out->by_signal = outcome.by_signal;
	for (size_t i = 0; ret == 0 && i < t->list.n; i++)
		if (!m.counted[i])
			ret = tare_fail(err, ENOTSUP, "%.100s cannot be counted: %.200s",
					t->list.enc[i].name, m.why[i]);
	return ret;
}

void repeat_run_close(struct repeat_run *t)
{
	encoding_list_free(&t->list);
	machine_close(t->machine);
}
