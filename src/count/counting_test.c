/* SPDX-License-Identifier: MIT */
#include "count/counting.h"
#include "source/perf_why.h"
#include "scripted.h"
#include "tap.h"

static struct encoding_list encode(const char *root, const char *text)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct encode_options opt = { .keep_unavailable = true };
	struct event_list events = { 0 };
	struct encoding_list out = { 0 };
	struct machine *m = machine_open(root, &err);

	if (event_list_parse(text, &events, &err) < 0 ||
	    pmu_encode(m, &events, &opt, &out, &err) < 0)
		printf("# %s: %s\n", text, err.what);
	event_list_free(&events);
	machine_close(m);
	return out;
}

static const char server[] = TREES_DIR "/intel-server", hybrid[] = TREES_DIR "/hybrid",
		  vm[] = TREES_DIR "/vm-no-pmu";

struct setup {
	struct encoding_list list;
	struct count_target target;
	struct places tasks;
	struct cpus online;
	struct counting c;
	struct tare_error err;
	struct place task;
};

static int open_all(struct setup *s, const char *root, const char *events, bool system_wide)
{
	struct counting_options opt = { .target = &s->target,
					.tasks = &s->tasks,
					.online = &s->online,
					.on_exec = !system_wide,
					.source = &source_scripted };

	s->err = (struct tare_error)TARE_ERROR_INIT;
	s->list = encode(root, events);
	s->task = (struct place){ .pid = 77, .cpu = -1, .shown = { .cpu = -1 } };
	s->tasks = (struct places){ &s->task, system_wide ? 0 : 1 };
	s->target.inherit = true;
	s->target.all_cpus = system_wide;
	cpus_online(root, &s->online, NULL);
	return counting_open(&s->c, &s->list, &opt, &s->err);
}

static void close_all(struct setup *s)
{
	counting_close(&s->c);
	CHECK_EQ(scripted_open_now, 0);
	encoding_list_free(&s->list);
	cpus_free(&s->online);
	scripted_open = NULL;
	scripted_read = NULL;
}

TEST(a_cell_per_group_and_place)
{
	static const struct {
		int line;
		const char *root, *events;
		bool wide;
		size_t cells;
	} rows[] = {
		{ __LINE__, server, "cycles,instructions", false, 2 },
		{ __LINE__, server, "{cycles,instructions}", false, 1 },
		{ __LINE__, server, "{cycles,instructions}", true, 8 },
		{ __LINE__, server, "cycles,page-faults", true, 16 },
		/* 4 controllers, each on the 2 CPUs that represent the sockets, for any target */
		{ __LINE__, server, "uncore_imc/cas_count_read/", false, 8 },
		{ __LINE__, server, "uncore_imc/cas_count_read/", true, 8 },
		/*
		 * both core types follow a task everywhere; system-wide, each is opened only on its
		 * own CPUs
		 */
		{ __LINE__, hybrid, "instructions", false, 2 },
		{ __LINE__, hybrid, "instructions", true, 8 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct setup s = { 0 };

		CHECK_EQ(open_all(&s, rows[i].root, rows[i].events, rows[i].wide), 0, "%s",
			 s.err.what);
		CHECK_EQ(s.c.n, rows[i].cells, "row at line %d", rows[i].line);
		for (size_t k = 0; k < s.c.n; k++)
			CHECK_EQ(s.c.cell[k].on_exec, !rows[i].wide && s.c.cell[k].at.pid == 77,
				 "row at line %d, cell %zu", rows[i].line, k);
		close_all(&s);
	}
}

static int no_branches(const struct scripted_call *call, struct tare_error *err)
{
	if (strncmp(call->enc->name, "branches", 8))
		return 0;
	tare_fail(err, ENOENT, "branches: no such event");
	tare_hint(err, "buy another CPU");
	return -ENOENT;
}

TEST(what_cannot_be_opened_is_marked_with_its_group)
{
	struct setup s = { 0 };

	scripted_open = no_branches;
	CHECK_EQ(open_all(&s, server, "cycles,{instructions,branches},page-faults", false), 0);
	CHECK_EQ(s.c.n, 2, "cycles and page-faults");
	CHECK(!s.c.enc[0].unavailable && !s.c.enc[3].unavailable);
	CHECK_EQ(s.c.enc[1].unavailable, ENOENT);
	CHECK_STR(s.c.enc[1].why, "its group cannot be counted: branches: no such event");
	CHECK_STR(s.c.enc[2].why, "branches: no such event");
	CHECK_STR(s.c.enc[2].remedy, "buy another CPU");
	CHECK(s.c.any_open);
	close_all(&s);
}

static int not_on_cpu_3(const struct scripted_call *call, struct tare_error *err)
{
	(void)err;
	return call->on.cpu == 3 && !strcmp(call->enc->name, "cycles") ? -ENODEV : 0;
}

TEST(half_a_sum_is_none)
{
	struct setup s = { 0 };

	scripted_open = not_on_cpu_3;
	CHECK_EQ(open_all(&s, server, "cycles,page-faults", true), 0);
	CHECK_EQ(s.c.n, 8, "only page-faults");
	CHECK_EQ(s.c.enc[0].unavailable, ENODEV);
	close_all(&s);
}

static int only_user(const struct scripted_call *call, struct tare_error *err)
{
	const struct perf_ask ask = { call->enc, &call->enc->attr, &call->on, 0, 1 };

	return call->enc->attr.exclude_kernel ? perf_modes_fail(&ask, err) : -EACCES;
}

TEST(the_kernel_is_left_out_where_it_must_be)
{
	static const struct {
		int line;
		const char *event, *name;
		int unavailable;
	} rows[] = {
		{ __LINE__, "cycles", "cycles:u", 0 },
		{ __LINE__, "cycles:u", "cycles:u", 0 },
		{ __LINE__, "cycles:p", "cycles:pu", 0 },
		{ __LINE__, "page-faults", "page-faults:u", 0 },
		{ __LINE__, "cpu/event=0x3c/", "cpu/event=0x3c/u", 0 },
		{ __LINE__, "cpu/event=0x3c/pH", "cpu/event=0x3c/pHu", 0 },
		{ __LINE__, "cycles:ukp", "cycles:pu", 0 },
		{ __LINE__, "mem:0x1000/8:rw", "mem:0x1000/8:rw:u", 0 },
		{ __LINE__, "mem:0x1000:r:I", "mem:0x1000:r:Iu", 0 },
		{ __LINE__, "cycles:k", "cycles:k", EACCES },
		/* counted in the kernel only: with the kernel excluded it would always be 0 */
		{ __LINE__, "context-switches", "context-switches:u", EINVAL },
		{ __LINE__, "context-switches:u", "context-switches:u", EINVAL },
		{ __LINE__, "cpu-migrations", "cpu-migrations:u", EINVAL },
		{ __LINE__, "sched:sched_switch", "sched:sched_switch:u", EINVAL },
		{ __LINE__, "syscalls:sys_enter_openat", "syscalls:sys_enter_openat:u", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct setup s = { 0 };

		scripted_open = only_user;
		CHECK_EQ(open_all(&s, server, rows[i].event, false), 0);
		CHECK_STR(s.c.enc[0].name, rows[i].name, "row at line %d", rows[i].line);
		CHECK_EQ(s.c.enc[0].unavailable, rows[i].unavailable, "row at line %d",
			 rows[i].line);
		CHECK_EQ(s.c.any_open, !rows[i].unavailable, "row at line %d", rows[i].line);
		if (rows[i].unavailable == EINVAL)
			CHECK(!strncmp(s.c.enc[0].why, "it happens in the kernel", 24),
			      "row at line %d: %s", rows[i].line, s.c.enc[0].why);
		if (rows[i].unavailable)
			CHECK(s.c.enc[0].why[0], "row at line %d", rows[i].line);
		close_all(&s);
	}
}

static int fits_alone(const struct scripted_call *call, struct tare_error *err)
{
	(void)err;
	return call->of_group > 1 ? -EINVAL : 0;
}

TEST(weak_groups_may_break)
{
	struct setup s = { 0 };

	scripted_open = fits_alone;
	CHECK_EQ(open_all(&s, server, "{cycles,instructions}:W", false), 0);
	CHECK_EQ(s.c.n, 2);
	CHECK(!s.c.enc[0].unavailable && !s.c.enc[1].unavailable);
	close_all(&s);
	scripted_open = fits_alone;
	CHECK_EQ(open_all(&s, server, "{cycles,instructions}", false), 0);
	CHECK_EQ(s.c.n, 0);
	CHECK_EQ(s.c.enc[0].unavailable, EINVAL);
	close_all(&s);
}

static int gone(const struct scripted_call *call, struct tare_error *err)
{
	(void)call;
	(void)err;
	return -ESRCH;
}

TEST(a_process_that_is_gone)
{
	struct setup s = { 0 };

	scripted_open = gone;
	CHECK_EQ(open_all(&s, server, "cycles", false), -ESRCH);
	CHECK_STR(s.err.what, "the process to be counted is gone");
	close_all(&s);
}

TEST(without_a_pmu)
{
	struct setup s = { 0 };

	CHECK_EQ(open_all(&s, vm, "cycles,{instructions,page-faults},task-clock,duration_time",
			  false),
		 0);
	CHECK_EQ(s.c.n, 1, "task-clock; the clock belongs to the session");
	CHECK(s.c.enc[0].unavailable && s.c.enc[1].unavailable);
	CHECK(s.c.enc[2].unavailable, "in the group of instructions");
	CHECK(!s.c.enc[3].unavailable && !s.c.enc[4].unavailable);
	CHECK(s.c.enc[0].remedy[0] && s.c.enc[2].remedy[0], "with a remedy");
	close_all(&s);
}

TEST(start_and_stop_by_event)
{
	struct setup s = { 0 };

	scripted_log[0] = '\0';
	CHECK_EQ(open_all(&s, server, "{cycles,instructions},page-faults", true), 0);
	CHECK_EQ(counting_start(&s.c, 1, NULL), 0);
	CHECK_EQ(counting_start(&s.c, 1, NULL), 0);
	CHECK_EQ(strlen(scripted_log), 8 * strlen("start cycles\n"), "the group once per CPU: %s",
		 scripted_log);
	CHECK_EQ(counting_stop(&s.c, 0, NULL), 0);
	scripted_log[0] = '\0';
	CHECK_EQ(counting_start(&s.c, 0, NULL), 0);
	CHECK_EQ(strlen(scripted_log), 8 * strlen("start cycles\n"),
		 "event 0 is one event, not all: %s", scripted_log);
	scripted_log[0] = '\0';
	CHECK_EQ(counting_stop(&s.c, -1, NULL), 0);
	CHECK_EQ(strlen(scripted_log), 8 * strlen("stop cycles\n"),
		 "cells that never started are not stopped");
	close_all(&s);
}

struct memory {
	struct sink sink;
	struct fact_reading r[32];
	size_t n;
};

static int keep(struct sink *self, const struct fact *f, struct tare_error *err)
{
	struct memory *m = (struct memory *)self;

	(void)err;
	if (f->kind == FACT_READING)
		m->r[m->n++] = f->reading;
	return 0;
}

static int broken_cycles(const struct scripted_call *call, struct tare_reading *out)
{
	if (!strcmp(call->enc->name, "cycles"))
		return -EIO;
	out->raw = 7 + call->in_group;
	return 0;
}

TEST(readings_become_facts)
{
	struct memory m = { .sink.put = keep };
	struct setup s = { 0 };

	scripted_read = broken_cycles;
	open_all(&s, server, "cycles,{instructions,branches}", false);
	CHECK_EQ(counting_read(&s.c, 0, 5, &m.sink, NULL), 0);
	CHECK_EQ(m.n, 3);
	CHECK_EQ(m.r[0].value.quality, TARE_UNAVAILABLE);
	CHECK(m.r[0].why, "a failed reading has a reason");
	CHECK_EQ(m.r[1].event, 1);
	CHECK_EQ(m.r[1].value.raw, 7);
	CHECK_EQ(m.r[2].event, 2);
	CHECK_EQ(m.r[2].value.raw, 8);
	CHECK_EQ(m.r[2].place.cpu, -1);
	close_all(&s);
}

TEST_MAIN()
