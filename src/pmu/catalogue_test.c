/* SPDX-License-Identifier: MIT */
#include "pmu/catalogue.h"
#include "pmu/machine.h"
#include "pmu/trees.h"
#include "tap.h"

struct seen {
	const char *wanted; /* "group|name|terms|available" */
	unsigned times, all;
};

static int look(void *arg, const struct known_event *ev)
{
	struct seen *s = arg;
	char drawn[600];

	snprintf(drawn, sizeof(drawn), "%s|%s|%s|%d", ev->group, ev->name, ev->terms,
		 ev->available);
	s->times += !strcmp(drawn, s->wanted);
	s->all++;
	return 0;
}

TEST(what_is_listed)
{
	static const struct {
		int line;
		const char *tree, *wanted;
		unsigned times;
	} rows[] = {
		{ __LINE__, "intel-server", "software|task-clock||1", 1 },
		{ __LINE__, "intel-server", "hardware|cycles||1", 1 },
		{ __LINE__, "vm-no-pmu", "hardware|cycles||0", 1 },
		{ __LINE__, "vm-no-pmu", "clock|user_time||1", 1 },
		{ __LINE__, "intel-server", "hardware cache|LLC-loads||1", 1 },
		{ __LINE__, "intel-server", "cpu|cpu/mem-loads/|event=0xcd,umask=0x1,ldlat=3|1",
		  1 },
		{ __LINE__, "intel-server",
		  "uncore_imc|uncore_imc/cas_count_read/|event=0x04,umask=0x0f|1", 1 },
		{ __LINE__, "intel-server",
		  "uncore_imc_0|uncore_imc_0/cas_count_read/|event=0x04,umask=0x0f|1", 0 },
		{ __LINE__, "intel-server", "power|power/energy-pkg/|event=0x02|1", 1 },
		{ __LINE__, "intel-server",
		  "power|power/energy-pkg.scale/|2.3283064365386962890625e-10|1", 0 },
		{ __LINE__, "intel-server", "sched|sched:sched_switch||1", 1 },
		{ __LINE__, "hybrid", "cpu_atom|cpu_atom/topdown-retiring/|event=0xc2,umask=0x0|1",
		  1 },
		{ __LINE__, "arm64-neoverse-n1",
		  "armv8_pmuv3_0|armv8_pmuv3_0/stall_backend/|event=0x0024|1", 1 },
		{ __LINE__, "arm64-neoverse-n1", "Arm architecture|op_spec|event=0x3b|1", 1 },
		{ __LINE__, "hostile", "software|cs||1", 0 },
		{ __LINE__, "hostile", "events|events/event_wide/|event=0x100|1", 1 },
	};

	trees_needed();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char root[256];
		struct machine *m = machine_open(tree_root(rows[i].tree, root), NULL);
		struct catalogue_options opt = { .tracepoints = true };
		struct seen s = { .wanted = rows[i].wanted };

		CHECK_EQ(catalogue_walk(m, &opt, look, &s, NULL), 0, "row at line %d",
			 rows[i].line);
		CHECK_EQ(s.times, rows[i].times, "row at line %d", rows[i].line);
		CHECK(s.all > 40, "row at line %d", rows[i].line);
		machine_close(m);
	}
}

static int stop(void *arg, const struct known_event *ev)
{
	(void)ev;
	return ++*(int *)arg == 3 ? 7 : 0;
}

TEST(a_walk_stops_when_told)
{
	struct machine *m = machine_open("/nonexistent", NULL);
	struct catalogue_options opt = { 0 };
	int n = 0;

	CHECK_EQ(catalogue_walk(m, &opt, stop, &n, NULL), 7);
	CHECK_EQ(n, 3);
	machine_close(m);
}

/* Formatting an encoding and parsing it again gives the same encoding. */
TEST(spelling)
{
	static const struct {
		int line;
		const char *tree, *cpu, *text, *spelled;
	} rows[] = {
		{ __LINE__, "intel-server", NULL, "cpu/umask=0x8,event=0xd1/",
		  "event=0xd1,umask=0x8" },
		{ __LINE__, "intel-server", NULL, "cpu/config=0x28408d1/",
		  "event=0xd1,umask=0x8,cmask=0x2,edge=0x1,inv=0x1" },
		{ __LINE__, "intel-server", NULL, "cpu/mem-loads/",
		  "event=0xcd,umask=0x1,config1=0x3" },
		{ __LINE__, "intel-server", NULL, "cpu/config=0x100000000003c,config2=1/",
		  "config=0x100000000003c,config2=0x1" },
		{ __LINE__, "intel-server", NULL, "cpu/config=0/", "event=0" },
		{ __LINE__, "intel-server", NULL, "uncore_cha_0/umask=0x1ff,event=1/",
		  "event=0x1,umask=0x1ff" },
		{ __LINE__, "amd-zen4", NULL, "cpu/config=0x1000003c4/", "event=0x1c4,umask=0x3" },
		{ __LINE__, "arm64-neoverse-n1", NULL, "stall_slot", "event=0x3f" },
		{ __LINE__, "vm-no-pmu", "skl", "cpu/config=0x28408d1/",
		  "event=0xd1,umask=0x8,edge=0x1,inv=0x1,cmask=0x2" },
		{ __LINE__, "intel-server", NULL, "task-clock", "" },
		{ __LINE__, "intel-server", NULL, "cpu/cycles/", "" },
	};

	trees_needed();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct encode_options opt = { .cpu = rows[i].cpu };
		struct event_list events = { 0 };
		struct encoding_list list = { 0 }, again = { 0 };
		struct text spelled = { 0 }, whole = { 0 };
		char root[256];
		struct machine *m = machine_open(tree_root(rows[i].tree, root), NULL);

		CHECK_EQ(event_list_parse(rows[i].text, &events, NULL), 0);
		CHECK_EQ(pmu_encode(m, &events, &opt, &list, NULL), 0, "row at line %d",
			 rows[i].line);
		encoding_spell(m, &list.enc[0], rows[i].cpu, &spelled);
		CHECK_STR(spelled.s ? spelled.s : "", rows[i].spelled, "row at line %d",
			  rows[i].line);
		event_list_free(&events);
		if (spelled.len) {
			text_add(&whole, "%s/%s/", list.enc[0].pmu, spelled.s);
			CHECK_EQ(event_list_parse(whole.s, &events, NULL), 0);
			CHECK_EQ(pmu_encode(m, &events, &opt, &again, NULL), 0, "row at line %d",
				 rows[i].line);
			CHECK(!memcmp(&list.enc[0].attr, &again.enc[0].attr,
				      sizeof(again.enc[0].attr)),
			      "row at line %d", rows[i].line);
		}
		text_free(&spelled);
		text_free(&whole);
		event_list_free(&events);
		encoding_list_free(&list);
		encoding_list_free(&again);
		machine_close(m);
	}
}

TEST_MAIN()
