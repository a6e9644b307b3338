/* SPDX-License-Identifier: MIT */
/*
 * Attributes from options; a command recorded into memory; the state before recording, from a
 * synthetic /proc.
 */
#include <linux/perf_event.h>
#include <sys/stat.h>
#include "base/error.h"
#include "sample/sample.h"
#include "sample/sample_state.h"
#include "tap.h"

/* ---- attributes ---- */

static struct encoding two[2] = {
	{ .name = "cycles:u",
	  .group = 0,
	  .attr = { .type = PERF_TYPE_HARDWARE, .exclude_kernel = 1, .pinned = 1 } },
	{ .name = "faults",
	  .group = 1,
	  .attr = { .type = PERF_TYPE_SOFTWARE, .config = 2, .pinned = 1 } },
};

static void make(struct sampled out[2], struct sample_how how, bool group, bool reads)
{
	two[0].group = 0;
	two[1].group = !group;
	two[0].sample_read = two[1].sample_read = reads;
	sample_attrs(out, &(struct encoding_list){ two, 2, group ? 1 : 2 }, &how, 0);
}

TEST(a_fixed_period_is_not_written_and_a_frequency_is)
{
	struct sampled e[2];

	make(e, (struct sample_how){ .period = 1000, .clockid = -1 }, false, false);
	CHECK(!e[0].attr.freq && e[0].attr.sample_period == 1000 &&
	      !(e[0].attr.sample_type & PERF_SAMPLE_PERIOD));
	CHECK_EQ(sample_period_at(&e[0].attr), 0);
	CHECK(!e[0].attr.use_clockid && e[0].attr.disabled && e[1].attr.disabled);
	CHECK(e[0].attr.exclude_kernel && !e[1].attr.exclude_kernel, "the encoding's modes stay");
	make(e, (struct sample_how){ .frequency = 4000, .clockid = 1 }, false, false);
	CHECK(e[0].attr.freq && e[0].attr.sample_freq == 4000 && e[0].attr.use_clockid &&
	      e[0].attr.clockid == 1);
	CHECK_EQ(sample_period_at(&e[0].attr), 48);
	make(e, (struct sample_how){ .frequency = 4000, .addresses = true }, false, false);
	CHECK_EQ(sample_period_at(&e[0].attr), 56);
}

TEST(a_clock_is_not_asked_for_what_its_timer_cannot)
{
	static const struct {
		int line;
		uint32_t type;
		uint64_t config, own, period, frequency, got;
		bool freq;
	} rows[] = {
		{ __LINE__, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, 1000, 0, 10000, false },
		{ __LINE__, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0, 9999, 0, 10000,
		  false },
		{ __LINE__, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0, 10000, 0, 10000,
		  false },
		{ __LINE__, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, 10001, 0, 10001,
		  false },
		{ __LINE__, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1, 0, 4000, 10000, false },
		{ __LINE__, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, 0, 100000, 100000,
		  true },
		{ __LINE__, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, 0, 100011, 10000,
		  false },
		{ __LINE__, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, 1, 0, 1, false },
		{ __LINE__, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 1000, 0, 1000, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct encoding e = { .name = "e",
				      .attr = { .type = rows[i].type, .config = rows[i].config } };
		struct sample_how how = { .period = rows[i].period,
					  .frequency = rows[i].frequency };
		struct sampled s;

		e.attr.sample_period = rows[i].own;
		sample_attrs(&s, &(struct encoding_list){ &e, 1, 1 }, &how, 0);
		CHECK(s.attr.sample_period == rows[i].got && s.attr.freq == rows[i].freq,
		      "line %d: %llu", rows[i].line, (unsigned long long)s.attr.sample_period);
		CHECK(!(s.attr.sample_type & PERF_SAMPLE_PERIOD) == !rows[i].freq, "line %d",
		      rows[i].line);
	}
}

TEST(only_the_first_event_tells_of_mappings)
{
	struct sampled e[2];

	make(e, (struct sample_how){ .period = 1, .track = true, .on_exec = true, .inherit = true },
	     false, false);
	CHECK(e[0].attr.mmap2 && e[0].attr.comm && e[0].attr.task && !e[1].attr.mmap &&
	      !e[1].attr.comm);
	CHECK(e[0].attr.enable_on_exec && e[1].attr.enable_on_exec && e[0].attr.inherit &&
	      e[1].attr.inherit);
	CHECK(e[0].attr.sample_id_all && e[1].attr.sample_id_all);
	CHECK(e[0].attr.sample_type & e[1].attr.sample_type & PERF_SAMPLE_IDENTIFIER);
}

TEST(members_that_are_read_do_not_overflow)
{
	struct sampled e[2];

	make(e, (struct sample_how){ .period = 500, .inherit = true, .on_exec = true }, true, true);
	CHECK(e[0].leader == 0 && e[1].leader == 0);
	CHECK(e[0].attr.sample_period == 500 && e[1].attr.sample_period == 0);
	CHECK(e[0].attr.sample_type & PERF_SAMPLE_READ &&
	      e[0].attr.read_format & PERF_FORMAT_GROUP);
	CHECK(e[1].attr.read_format == e[0].attr.read_format && !e[1].attr.disabled &&
	      !e[1].attr.pinned);
	CHECK(e[0].attr.pinned, "the leader's speaks for the group");
	CHECK(!e[1].attr.enable_on_exec && !e[0].attr.inherit,
	      "this kernel cannot read groups in children");
	make(e, (struct sample_how){ .period = 500, .inherit = true, .reads_inherited = true },
	     true, true);
	CHECK(e[0].attr.inherit && e[1].attr.inherit);
	make(e, (struct sample_how){ .period = 500 }, true, false);
	CHECK(e[1].attr.sample_period == 500 && !(e[0].attr.sample_type & PERF_SAMPLE_READ));
}

TEST(each_tracepoint_is_a_sample_with_its_fields)
{
	static struct encoding both[2] = {
		{ .name = "sched:sched_switch",
		  .attr = { .type = PERF_TYPE_TRACEPOINT, .config = 300 } },
		{ .name = "cycles", .group = 1, .attr = { .type = PERF_TYPE_HARDWARE } }
	};
	const struct encoding_list list = { both, 2, 2 };
	struct sample_how how = { .frequency = 4000, .fields = true };
	struct sampled e[2];

	sample_attrs(e, &list, &how, 0);
	CHECK(e[0].attr.sample_period == 1 && !e[0].attr.freq);
	CHECK(e[0].attr.sample_type & PERF_SAMPLE_RAW &&
	      e[0].attr.sample_type & PERF_SAMPLE_PERIOD);
	CHECK(e[1].attr.sample_period == 4000 && e[1].attr.freq &&
	      !(e[1].attr.sample_type & PERF_SAMPLE_RAW));
	how.rate_given = true;
	sample_attrs(e, &list, &how, 0);
	CHECK(e[0].attr.sample_period == 4000 && e[0].attr.freq &&
	      e[0].attr.sample_type & PERF_SAMPLE_RAW);
	how.fields = false;
	sample_attrs(e, &list, &how, 0);
	CHECK(!(e[0].attr.sample_type & PERF_SAMPLE_RAW));
}

TEST(what_precise_hardware_tells)
{
	enum { WEIGHTS = 1 << 24 };
	static struct encoding loads[2] = {
		{ .name = "cpu/mem-loads-aux/", .attr = { .type = 4, .config = 0x8203 } },
		{ .name = "cpu/mem-loads,ldlat=3/P", .attr = { .type = 4, .config = 0x1cd } }
	};
	const struct sample_how how = { .frequency = 4000, .addresses = true, .weights = true };
	struct sampled e[2];

	sample_attrs(e, &(struct encoding_list){ loads, 2, 1 }, &how, 0);
	CHECK(e[0].leader == 0 && e[1].leader == 0);
	CHECK(!e[0].attr.sample_period && !e[0].attr.freq, "the companion has no samples");
	CHECK(e[1].attr.freq && e[1].attr.sample_freq == 4000);
	CHECK(e[1].attr.sample_type & WEIGHTS &&
	      !(e[1].attr.sample_type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_RAW)));
	make(e, (struct sample_how){ .period = 16, .hardware = true }, false, false);
	CHECK(e[0].attr.sample_type & PERF_SAMPLE_RAW && !(e[0].attr.sample_type & WEIGHTS));
}

TEST(aux_has_physical_addresses_alone)
{
	static struct encoding spe = { .name = "arm_spe_0/pa_enable=1/",
				       .pmu = "arm_spe_0",
				       .attr = { .type = 11, .config = 2 } };
	struct sample_how how = {
		.period = 4096, .addresses = true, .calls = CALLS_FRAME_POINTERS, .physical = true
	};
	const uint64_t of_samples = PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_CALLCHAIN;
	struct sampled e[1];

	sample_attrs(e, &(struct encoding_list){ &spe, 1, 1 }, &how, 0);
	CHECK(e[0].aux && e[0].attr.config == 2 && e[0].attr.sample_period == 4096);
	CHECK(e[0].attr.sample_type & PERF_SAMPLE_PHYS_ADDR &&
	      !(e[0].attr.sample_type & of_samples));
	how.physical = false;
	sample_attrs(e, &(struct encoding_list){ &spe, 1, 1 }, &how, 0);
	CHECK(!(e[0].attr.sample_type & (PERF_SAMPLE_PHYS_ADDR | of_samples)));
}

TEST(ways_to_call_chains)
{
	struct sampled e[2];

	make(e, (struct sample_how){ .period = 1, .calls = CALLS_FRAME_POINTERS, .max_stack = 20 },
	     false, false);
	CHECK(e[0].attr.sample_type & PERF_SAMPLE_CALLCHAIN && e[0].attr.sample_max_stack == 20);
	CHECK(!e[0].attr.exclude_callchain_user);
	make(e, (struct sample_how){ .period = 1, .calls = CALLS_DWARF, .stack_bytes = 8192 },
	     false, false);
	CHECK((e[0].attr.sample_type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)) ==
	      (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER));
	CHECK(e[0].attr.sample_stack_user == 8192 && e[0].attr.sample_regs_user &&
	      e[0].attr.exclude_callchain_user);
	make(e, (struct sample_how){ .period = 1, .calls = CALLS_LBR, .track = true }, false,
	     false);
	CHECK(!e[0].attr.mmap_data);
	make(e, (struct sample_how){ .period = 1, .calls = CALLS_DWARF, .track = true }, false,
	     false);
	CHECK(e[0].attr.mmap_data, "unwinders read tables in data");
	make(e, (struct sample_how){ .period = 1, .addresses = true, .track = true }, false, false);
	CHECK(e[0].attr.mmap_data && e[0].attr.sample_type & PERF_SAMPLE_ADDR);
	make(e, (struct sample_how){ .period = 1, .calls = CALLS_LBR }, false, false);
	CHECK(e[0].attr.sample_type & PERF_SAMPLE_BRANCH_STACK &&
	      e[0].attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

/* ---- a command ---- */

struct memory {
	struct sample_sink sink;
	unsigned char *bytes;
	size_t n, rounds, events;
	int fail_after; /* then records() fails */
	int fails_with; /* 0: ENOSPC */
};

static int keep_begin(struct sample_sink *self, const struct sampled *events, size_t n,
		      struct tare_error *err)
{
	struct memory *m = (struct memory *)self;

	(void)err;
	m->events = n;
	CHECK(events[0].n_ids > 0);
	return 0;
}

static int keep(struct sample_sink *self, const unsigned char *bytes, size_t n,
		struct tare_error *err)
{
	struct memory *m = (struct memory *)self;

	if (m->fail_after && !--m->fail_after)
		return tare_fail(err, m->fails_with ? m->fails_with : ENOSPC, "the disk is full");
	m->bytes = realloc(m->bytes, m->n + n);
	memcpy(m->bytes + m->n, bytes, n);
	m->n += n;
	return 0;
}

static int keep_round(struct sample_sink *self, struct tare_error *err)
{
	(void)err;
	((struct memory *)self)->rounds++;
	return 0;
}

static size_t count(const struct memory *m, uint32_t type)
{
	struct perf_event_header h;
	size_t n = 0;

	for (size_t at = 0; at < m->n; at += h.size) {
		memcpy(&h, m->bytes + at, sizeof(h));
		n += h.type == type;
	}
	return n;
}

static struct encoding clock_event = { .name = "task-clock:u",
				       .source = &source_perf,
				       .scale = 1,
				       .attr = { .type = PERF_TYPE_SOFTWARE,
						 .config = PERF_COUNT_SW_TASK_CLOCK,
						 .exclude_kernel = 1,
						 .exclude_hv = 1 } };

static int record(const char *script, struct memory *m, struct sample_outcome *o,
		  struct tare_error *err)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	struct encoding_list list = { &clock_event, 1, 1 };
	const struct sample_plan plan = {
		.events = &list,
		.how = { .period = 1000000, .inherit = true, .clockid = 1 },
		.argv = argv,
		.launcher = &launch_plain,
		.target = { .inherit = true },
		.ring_bytes = 1 << 17,
		.ring_most = 1 << 20,
	};
	struct sampler *probe;
	const struct sampler_options none = { 4096, 4096, -1 };

	*m = (struct memory){ .sink = { keep_begin, keep, keep_round },
			      .fail_after = m->fail_after,
			      .fails_with = m->fails_with };
	*err = (struct tare_error)TARE_ERROR_INIT;
	if (sampler_new(&probe, &none, err) < 0)
		tap_skip("perf", "%s", err->what);
	sampler_close(probe);

	int ret = sample_run(&plan, &m->sink, o, err);

	if (ret == -EACCES || ret == -EPERM || ret == -ENOSYS)
		tap_skip("perf", "%s (%s)", err->what, err->hint);
	return ret;
}

/*
 * A clock whose counts are read keeps its name if the kernel is left out, and is opened without the
 * kernel anyway.
 */
TEST(clocks_that_are_read_hold_both_modes)
{
	struct encoding e[] = { clock_event, clock_event, clock_event };
	struct encoding_list list = { e, ARRAY_SIZE(e), 2 };
	struct sample_how how = { .period = 1, .clockid = -1 };
	struct sampled out[ARRAY_SIZE(e)];

	for (size_t i = 0; i < ARRAY_SIZE(e); i++) {
		e[i].attr.exclude_kernel = e[i].attr.exclude_hv = 0;
		e[i].sample_read = i < 2;
		e[i].group = i / 2;
	}
	e[1].attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	for (int no_kernel = 0; no_kernel < 2; no_kernel++) {
		how.no_kernel = no_kernel;
		sample_attrs(out, &list, &how, 0);
		CHECK(sample_reads_clock(&list, 0) && !sample_reads_clock(&list, 1) &&
		      !sample_reads_clock(&list, 2));
		CHECK_EQ(out[0].attr.exclude_kernel, no_kernel);
		CHECK(!out[1].attr.exclude_kernel && !out[2].attr.exclude_kernel);
	}
}

#define BUSY "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; "

TEST(a_command_with_its_children)
{
	struct memory m = { 0 };
	struct sample_outcome o;
	struct tare_error err;

	CHECK_EQ(record(BUSY "(" BUSY ") & wait; exit 3", &m, &o, &err), 0, "%s", err.what);
	CHECK(o.has_status && WIFEXITED(o.wait_status) && WEXITSTATUS(o.wait_status) == 3);
	CHECK(count(&m, PERF_RECORD_COMM) >= 1 && count(&m, PERF_RECORD_FORK) >= 1 &&
	      count(&m, PERF_RECORD_MMAP2) >= 1);
	CHECK_EQ(count(&m, PERF_RECORD_EXIT), 2);
	CHECK(m.rounds >= 1 && m.events == 1);
	CHECK_EQ(count(&m, PERF_RECORD_SAMPLE), o.event[0].samples);
	CHECK_EQ(o.event[0].period_sum, o.event[0].samples * 1000000);
	CHECK(o.event[0].total.value >= o.event[0].samples, "counted with it");
	CHECK(o.bytes == m.n && !o.lost && !o.exec_code &&
	      !strcmp(o.event[0].name, "task-clock:u"));
	sample_outcome_free(&o);
	free(m.bytes);
}

TEST(a_command_goes_on_where_its_sink_fails)
{
	struct memory m = { .fail_after = 1 };
	struct sample_outcome o;
	struct tare_error err;

	CHECK_EQ(record(BUSY "sleep 0.4; exit 3", &m, &o, &err), -ENOSPC);
	CHECK(!strcmp(err.what, "the disk is full"), "%s", err.what);
	CHECK(o.went_on && o.has_status && WIFEXITED(o.wait_status) &&
	      WEXITSTATUS(o.wait_status) == 3);
	sample_outcome_free(&o);
}

TEST(a_pipe_that_nobody_reads_ends_the_command)
{
	struct memory m = { .fail_after = 1, .fails_with = EPIPE };
	struct sample_outcome o;
	struct tare_error err;

	CHECK_EQ(record("exec sleep 100", &m, &o, &err), -EPIPE);
	CHECK(!o.went_on && o.has_status && WIFSIGNALED(o.wait_status) &&
	      WTERMSIG(o.wait_status) == SIGTERM);
	sample_outcome_free(&o);
}

TEST(a_command_that_does_not_exist)
{
	char *argv[] = { (char *)"/no/such/command", NULL };
	struct encoding_list list = { &clock_event, 1, 1 };
	struct memory m = { .sink = { keep_begin, keep, keep_round } };
	const struct sample_plan plan = { .events = &list,
					  .how = { .period = 1000000, .clockid = 1 },
					  .argv = argv,
					  .launcher = &launch_plain,
					  .ring_bytes = 1 << 17,
					  .ring_most = 1 << 17 };
	struct tare_error err = TARE_ERROR_INIT;
	struct sample_outcome o;
	int ret = sample_run(&plan, &m.sink, &o, &err);

	if (ret == -EACCES || ret == -EPERM || ret == -ENOSYS)
		tap_skip("perf", "%s (%s)", err.what, err.hint);
	CHECK_EQ(ret, -ENOENT);
	CHECK(o.exec_code == ENOENT && !o.has_status);
	sample_outcome_free(&o);
	free(m.bytes);
}

/* ---- state before recording ---- */

static char root[] = "/tmp/tare-proc-XXXXXX";

static void put_file(const char *path, const char *text)
{
	char at[256], *slash;
	FILE *f;

	snprintf(at, sizeof(at), "%s%s", root, path);
	for (slash = strchr(at + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(at, 0700);
		*slash = '/';
	}
	f = fopen(at, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

struct told {
	char line[64][256];
	size_t n;
};

static int tell(void *with, const unsigned char *bytes, size_t n, struct tare_error *err)
{
	struct told *t = with;
	struct perf_event_header h;
	uint64_t word[4];

	(void)err;
	memcpy(&h, bytes, sizeof(h));
	CHECK_EQ(h.size, n);
	CHECK_EQ(n & 7, 0);
	memcpy(word, bytes + 8, sizeof(word));
	if (h.type == PERF_RECORD_COMM)
		snprintf(t->line[t->n++], 256, "comm %d/%d %s", (int)word[0], (int)(word[0] >> 32),
			 bytes + 16);
	else if (h.type == PERF_RECORD_FORK)
		snprintf(t->line[t->n++], 256, "fork %d/%d", (int)word[0], (int)word[1]);
	else if (h.type == PERF_RECORD_MMAP2)
		snprintf(t->line[t->n++], 256, "map %llx+%llx@%llx %s", (unsigned long long)word[1],
			 (unsigned long long)word[2], (unsigned long long)word[3], bytes + 72);
	else if (h.type == PERF_RECORD_MMAP)
		snprintf(t->line[t->n++], 256, "kernel %llx+%llx@%llx %s",
			 (unsigned long long)word[1], (unsigned long long)word[2],
			 (unsigned long long)word[3], bytes + 40);
	return 0;
}

TEST(state_out_of_proc)
{
	static const char *const wanted[] = {
		"comm 42/42 a name",
		"map 400000+1000@0 /usr/bin/a b",
		"map 7f0000+2000@1000 //anon",
		"fork 42/43",
		"comm 42/43 worker",
		"kernel ffff0000+9000@ffff0000 [kernel.kallsyms]_text",
		"kernel ffffa000+3000@0 [ext4]",
	};
	struct told t = { .n = 0 };
	struct tare_error err = TARE_ERROR_INIT;
	const struct sample_state s = { .take = tell,
					.with = &t,
					.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
						PERF_SAMPLE_TIME };
	bool known;
	char clean[64];

	if (!mkdtemp(root))
		abort();
	put_file("/proc/42/task/42/comm", "a name\n");
	put_file("/proc/42/task/43/comm", "worker\n");
	put_file("/proc/42/maps",
		 "00400000-00401000 r-xp 00000000 fe:00 99     /usr/bin/a b\n"
		 "00500000-00501000 rw-p 00000000 fe:00 99     /usr/bin/data\n"
		 "garbage\n007f0000-007f2000 r-xp 00001000 00:00 0 \n");
	put_file("/proc/kallsyms",
		 "ffff0000 T _stext\nffff0000 T _text\nffff9000 T _etext\nffffa000 t f\t[ext4]\n");
	put_file("/proc/modules",
		 "ext4 12288 1 - Live 0xffffa000\nhidden 4096 0 - Live 0x0\nshort\n");
	CHECK_EQ(sample_state_all(&s, root, &err), 0, "%s", err.what);
	CHECK_EQ(sample_state_kernel(&s, root, &known, &err), 0);
	CHECK(known);
	CHECK_EQ(t.n, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < t.n && i < ARRAY_SIZE(wanted); i++)
		CHECK(!strcmp(t.line[i], wanted[i]), "%s, not %s", t.line[i], wanted[i]);
	/* Hidden addresses: all are 0. */
	put_file("/proc/kallsyms", "0 T _stext\n0 T _text\n0 T _etext\n");
	t.n = 0;
	CHECK_EQ(sample_state_kernel(&s, root, &known, &err), 0);
	CHECK(!known && t.n == 0);
	CHECK_EQ(sample_state_process(&s, root, 77, &err), 0, "one that is gone is left out");
	CHECK_EQ(t.n, 0);
	snprintf(clean, sizeof(clean), "rm -r %s", root);
	CHECK_EQ(system(clean), 0);
}

TEST_MAIN()
