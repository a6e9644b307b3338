/* SPDX-License-Identifier: MIT */
/* tare msr plan: prints the operations that would count the given events. Reads and writes no
 * register. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/msr/msr_options.h"
#include "msr/msr_events.h"

struct planning {
	struct msr_cpu cpu;
	struct counter_facts facts;
	struct encoding_list list;
	struct msr_event event[MSR_EVENTS_MAX];
	struct msr_plan plan;
};

static int encode(struct planning *p, const struct msr_options *o, struct tare_error *err)
{
	struct encode_options opt = { .cpu = o->cpu,
				      .event_files = o->events.n_files ? o->events.files : NULL };
	struct machine *m = machine_open(NULL, err);
	int ret = m ? pmu_encode(m, &o->events.list, &opt, &p->list, err) : -ENOMEM;

	machine_close(m);
	return ret;
}

static int make(struct planning *p, const struct msr_options *o, struct tare_error *err)
{
	int ret = msr_cpu_for(&p->cpu, &p->facts, o->cpu, err);

	if (ret == 0)
		ret = encode(p, o, err);
	if (ret < 0)
		return ret;
	if (p->list.n > MSR_EVENTS_MAX)
		return tare_fail(err, ENOSPC,
				 "%zu events: no CPU has counters for more than %d at one time",
				 p->list.n, MSR_EVENTS_MAX);
	for (size_t i = 0; i < p->list.n; i++) {
		ret = msr_event_for(&p->event[i], &p->cpu, &p->facts, &p->list.enc[i], err);
		if (ret < 0)
			return ret;
	}
	return msr_plan_make(&p->plan, &p->cpu, p->event, p->list.n, 0, err);
}

int msr_plan_command(const struct command *self, const struct msr_options *o, char **word, int n)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct planning *p = calloc(1, sizeof(*p));
	struct text out = { 0 };
	struct output to;
	int status;

	if (!p || n || !o->events.given) {
		if (!p)
			tare_fail_nomem(&err);
		else if (n)
			tare_fail(&err, EINVAL,
				  "plan takes no word '%.40s': events are given by -e", word[0]);
		else
			tare_fail(&err, EINVAL, "plan needs events: -e EVENTS");
		if (p && !o->events.given)
			tare_hint(&err,
				  "such as: tare msr plan --cpu skl -e instructions:u,r00c5:u");
		free(p);
		return msr_failed(self, &err);
	}
	/* libpfm4 reads an environment variable that lets it encode for other CPUs. */
	if (o->cpu)
		setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (make(p, o, &err) < 0) {
		complain(self, &err, err.at >= 0 ? o->events.text : NULL);
		status = EXIT_CANNOT_MEASURE;
	} else {
		output_open(&to, "-", OUTPUT_WHOLE, STDOUT_FILENO, NULL);

		struct style style = output_style(&to, WHEN_AUTO);

		if (o->out.format == FORMAT_JSON)
			msr_plan_json(&out, &p->plan, &p->cpu, p->event);
		else if (o->out.format == MSR_TRACE)
			msr_plan_trace(&out, &p->plan, &p->cpu,
				       !o->via || !strcmp(o->via, "module"));
		else
			msr_plan_text(&out, &p->plan, &p->cpu, p->event, &style);
		status = msr_put(self, &out);
	}
	encoding_list_free(&p->list);
	free(p);
	return status;
}
