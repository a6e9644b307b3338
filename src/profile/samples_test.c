/* SPDX-License-Identifier: MIT */
/*
 * Small recordings made by the test: the code that a sample belongs to as mappings change, its
 * stack, and its amount. None of the files exists, so frames are known by module and address.
 */
#include "profile/samples.h"
#include "base/text.h"
#include "perfdata/perfdata_maker.h"

static struct maker m;
static struct samples s;
static char line[4096]; /* all rows, as text */

enum { KERNEL = 1, USER = 2 };

static const struct perfdata_attr call_tree_attr = {
	.type = 1,
	.size = 64,
	.period = 100,
	.sample_type = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_CPU | PD_SAMPLE_CALLCHAIN,
};

static const struct perfdata_attr plain_attr = {
	.type = 0,
	.size = 64,
	.period = 7,
	/* without times: in the order of the file */
	.sample_type = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_CPU,
};

static const struct perfdata_attr timed_attr = {
	.type = 0,
	.size = 64,
	.period = 7,
	.sample_type = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME,
};

static void begin_recording(const struct perfdata_attr *a)
{
	m = (struct maker){ 0 };
	put_magic(&m, 16);
	put_event(&m, a, 0);
}

static void mapping(uint32_t pid, uint64_t at, uint64_t len, uint64_t offset, const char *file,
		    uint16_t misc)
{
	begin_record(&m, PD_RECORD_MMAP, misc);
	put32(&m, pid), put32(&m, pid), put64(&m, at), put64(&m, len), put64(&m, offset);
	put_name(&m, file);
	end_record(&m);
}

static void comm(uint32_t pid, uint32_t tid, const char *name, bool exec)
{
	begin_record(&m, PD_RECORD_COMM, exec ? PD_MISC_13 : 0);
	put32(&m, pid), put32(&m, tid), put_name(&m, name);
	end_record(&m);
}

static void fork_of(uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid)
{
	begin_record(&m, PD_RECORD_FORK, 0);
	put32(&m, pid), put32(&m, ppid), put32(&m, tid), put32(&m, ptid), put64(&m, 0);
	end_record(&m);
}

static void sample(uint32_t pid, uint32_t tid, uint64_t ip, uint16_t misc)
{
	begin_record(&m, PD_RECORD_SAMPLE, misc);
	put64(&m, ip), put32(&m, pid), put32(&m, tid), put64(&m, 5);
	end_record(&m);
}

/* One word after the thread: 5, the time or the CPU. */
static void chain(uint16_t misc, uint64_t ip, const uint64_t *at, size_t n)
{
	begin_record(&m, PD_RECORD_SAMPLE, misc);
	put64(&m, ip), put32(&m, 1), put32(&m, 1), put64(&m, 5), put64(&m, n);
	for (size_t i = 0; i < n; i++)
		put64(&m, at[i]);
	end_record(&m);
}

#define CHAIN(misc, ip, ...)                                                                       \
	chain(misc, ip, (const uint64_t[]){ __VA_ARGS__ },                                         \
	      sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

static void put_stack(struct text *t, uint32_t node)
{
	size_t n;
	const struct call_tree_node *nodes = call_tree_nodes(s.call_tree, &n);
	const struct call_tree_frame *f;

	if (!node)
		return;
	put_stack(t, nodes[node].parent);
	f = &((const struct call_tree_frame *)call_tree_frames(s.call_tree, &n))[nodes[node].frame];
	if (f->flags & CALL_TREE_MARK)
		text_add(t, " %s", call_tree_name(s.call_tree, f->function));
	else
		text_add(t, " %s%s+%llx", f->flags & CALL_TREE_KERNEL ? "k:" : "",
			 call_tree_name(s.call_tree, f->module), (unsigned long long)f->address);
}

/* Every row as "comm/tid stack samples*amount", separated by "; ", in order of appearance. */
static const char *rows_with(const struct samples_options *opts)
{
	char path[] = "/tmp/tare-samples-XXXXXX";
	struct tare_error err = TARE_ERROR_INIT;
	struct text t = { 0 };
	int fd = mkstemp(path), ret;
	size_t n, tasks;

	close(fd);
	write_file(path, &m);
	samples_free(&s);
	ret = samples_read(&s, path, opts, &err);
	unlink(path);
	if (ret < 0)
		return "cannot be read";

	const struct call_tree_row *row = call_tree_rows(s.call_tree, &n);
	const struct call_tree_task *task = call_tree_tasks(s.call_tree, &tasks);

	for (size_t i = 0; i < n; i++) {
		text_add(&t, "%s%s/%u", i ? "; " : "",
			 call_tree_name(s.call_tree, task[row[i].task].comm),
			 task[row[i].task].tid);
		put_stack(&t, row[i].node);
		text_add(&t, " %llu*%llu", (unsigned long long)row[i].samples,
			 (unsigned long long)row[i].amount);
		if (row[i].column)
			text_add(&t, " of %s",
				 call_tree_name(s.call_tree,
						s.call_tree->column[row[i].column].name));
	}
	snprintf(line, sizeof(line), "%s", t.s ? t.s : "");
	text_free(&t);
	return line;
}

static const char *rows(void)
{
	static const struct samples_options opts = { .detail = SAMPLES_ADDRESS,
						     .filter = SAMPLES_ALL };

	return rows_with(&opts);
}

TEST(code_is_what_is_mapped_at_that_time)
{
	begin_recording(&plain_attr);
	comm(1, 1, "prog", false);
	mapping(1, 0x10000, 0x1000, 0x400, "/a", 0);
	sample(1, 1, 0x10010, USER);
	mapping(1, 0x10000, 0x800, 0, "/b", 0);
	sample(1, 1, 0x10010, USER);
	sample(1, 1, 0x10810, USER);
	sample(1, 1, 0x20000, USER);
	CHECK_STR(
		rows(),
		"prog/1 /a+410 1*7; prog/1 /b+10 1*7; prog/1 /a+c10 1*7; prog/1 [unknown]+20000 1*7",
		"each by its mapping");
	CHECK_EQ(s.quality.samples, 4u, "samples");
	CHECK_EQ(s.n_unnamed, (size_t)3, "modules without names");
}

TEST(lost_records_are_named_where_nothing_was_mapped)
{
	for (int lost = 0; lost < 2; lost++) {
		begin_recording(&plain_attr);
		comm(1, 1, "prog", false);
		if (lost) {
			begin_record(&m, PD_RECORD_LOST, 0);
			put64(&m, 0), put64(&m, 9);
			end_record(&m);
		}
		sample(1, 1, 0x20000, USER);
		mapping(1, 0x10000, 0x1000, 0, "/none/such", 0);
		sample(1, 1, 0x10000, USER);
		rows();
		CHECK(s.call_tree->column[0].lost == (lost ? 9.0 / 11 : 0), "%f",
		      s.call_tree->column[0].lost);
		if (!CHECK(s.n_unnamed == 2, "%zu modules without names", s.n_unnamed))
			return;
		for (size_t i = 0; i < 2; i++) {
			bool nowhere = !strcmp(s.unnamed[i].module, "[unknown]"),
			     blamed = strstr(s.unnamed[i].why, "9 records were lost");

			CHECK(blamed == (lost && nowhere), "%s: %s", s.unnamed[i].module,
			      s.unnamed[i].why);
			CHECK(!blamed || strstr(s.unnamed[i].remedy, "-m"), "%s",
			      s.unnamed[i].remedy);
		}
	}
}

TEST(forks_inherit_and_execs_begin_anew)
{
	begin_recording(&plain_attr);
	comm(1, 1, "sh", false);
	mapping(1, 0x10000, 0x1000, 0, "/bin/x", 0);
	fork_of(2, 1, 2, 1);
	sample(2, 2, 0x10001, USER);
	comm(2, 2, "ls", true);
	sample(2, 2, 0x10001, USER);
	sample(1, 1, 0x10001, USER);
	fork_of(1, 1, 9, 1);
	sample(1, 9, 0x10001, USER);
	comm(1, 9, "worker", false);
	sample(1, 9, 0x10001, USER);
	sample(77, 77, 0x10001, USER);
	CHECK_STR(
		rows(),
		"sh/2 /bin/x+1 1*7; ls/2 [unknown]+10001 1*7; sh/1 /bin/x+1 1*7; sh/9 /bin/x+1 1*7; "
		"worker/9 /bin/x+1 1*7; :77/77 [unknown]+10001 1*7",
		"names and mappings");
}

TEST(the_kernel_is_one_for_all)
{
	begin_recording(&plain_attr);
	mapping(UINT32_MAX, 0xffff0000, 0x10000, 0xffff0000, "[kernel.kallsyms]_text", KERNEL);
	mapping(UINT32_MAX, 0xfffff000, 0x100, 0, "/lib/m.ko", KERNEL);
	sample(1, 1, 0xffff1000, KERNEL);
	sample(2, 2, 0xfffff010, KERNEL);
	sample(2, 2, 0xeeee0000, KERNEL);
	sample(2, 2, 0x1000, 4);
	sample(2, 2, 0x1000, 5);
	CHECK_STR(
		rows(),
		":1/1 k:[kernel.kallsyms]+ffff1000 1*7; :2/2 k:/lib/m.ko+fffff010 1*7; "
		":2/2 k:[kernel.kallsyms]+eeee0000 1*7; :2/2 k:[guest]+1000 1*7; :2/2 [guest]+1000 1*7",
		"by address");
}

TEST(a_symbol_of_the_kernel_comes_and_goes)
{
	begin_recording(&plain_attr);
	for (uint16_t gone = 0; gone < 2; gone++) {
		begin_record(&m, PD_RECORD_KSYMBOL, 0);
		put64(&m, 0xc000), put32(&m, 0x100), put16(&m, 1), put16(&m, gone),
			put_name(&m, "bpf_prog_x");
		end_record(&m);
		sample(0, 0, 0xc010, KERNEL);
	}
	CHECK_STR(rows(), "swapper/0 k:[bpf]+10 1*7; swapper/0 k:[kernel.kallsyms]+c010 1*7",
		  "then it is gone");
}

TEST(memory_that_a_compiler_filled)
{
	begin_recording(&plain_attr);
	mapping(4000000000u, 0x5000, 0x1000, 0, "//anon", 0);
	mapping(4000000000u, 0x6000, 0x1000, 0x600, "/memfd:jit (deleted)", 0);
	sample(4000000000u, 1, 0x5010, USER);
	sample(4000000000u, 1, 0x6010, USER);
	CHECK_STR(rows(), ":1/1 [anonymous memory]+5010 1*7; :1/1 [anonymous memory]+6010 1*7",
		  "by address");
}

static void two_modules(void)
{
	begin_recording(&call_tree_attr);
	mapping(UINT32_MAX, 0xffff0000, 0x1000, 0xffff0000, "[kernel.kallsyms]_text", KERNEL);
	mapping(1, 0x1000, 0x1000, 0, "/u", 0);
}

#define MARK_KERNEL ((uint64_t)-128)
#define MARK_USER   ((uint64_t)-512)

TEST(callers_are_calls_and_the_innermost_is_itself)
{
	two_modules();
	CHAIN(USER, 0x1010, MARK_USER, 0x1010, 0x1020, 0x1030);
	CHAIN(KERNEL, 0xffff0010, MARK_KERNEL, 0xffff0010, 0xffff0020, MARK_USER, 0x1010, 0x1020);
	CHECK_STR(
		rows(),
		":1/1 /u+2f /u+1f /u+10 1*100; "
		":1/1 /u+1f /u+10 k:[kernel.kallsyms]+ffff001f k:[kernel.kallsyms]+ffff0010 1*100",
		"a caller's address is one less; of a system call the user's is exact");
	CHECK(s.quality.with_stacks, "it has stacks");
	CHECK_EQ(s.quality.cut, 0u, "none was cut off");
}

TEST(a_sample_is_where_its_address_says)
{
	two_modules();
	/*
	 * Precise: the event was in user code, but the chain was walked in the kernel afterwards.
	 */
	CHAIN(USER, 0x1012, MARK_KERNEL, 0xffff0010, MARK_USER, 0x1010, 0x1020);
	/* The kernel part was not recorded. */
	CHAIN(KERNEL, 0xffff0010, MARK_USER, 0x1010, 0x1020);
	/* No chain at all. */
	chain(USER, 0x1012, NULL, 0);
	CHAIN(USER, 0x1012, MARK_USER);
	CHECK_STR(
		rows(),
		":1/1 /u+1f /u+12 1*100; :1/1 /u+1f /u+10 k:[kernel.kallsyms]+ffff0010 1*100; :1/1 /u+12 2*200",
		"the innermost frame");
}

TEST(a_stack_that_the_kernel_cut_off_says_so)
{
	struct perfdata_attr a = call_tree_attr;

	a.size = 112;
	a.max_stack = 2;
	begin_recording(&a);
	mapping(1, 0x1000, 0x1000, 0, "/u", 0);
	CHAIN(USER, 0x1010, MARK_USER, 0x1010, 0x1020);
	CHAIN(USER, 0x1010, MARK_USER, 0x1010);
	CHECK_STR(rows(), ":1/1 [stack cut off] /u+1f /u+10 1*100; :1/1 /u+10 1*100",
		  "the outermost frame");
	CHECK_EQ(s.quality.cut, 1u, "counted");
}

/*
 * Code without frame pointers uses that register for other values. The innermost frame is not a
 * caller.
 */
TEST(a_chain_that_ends_where_no_code_is)
{
	two_modules();
	/* counted for each sample, even if the stack is known already */
	for (int i = 0; i < 3; i++)
		CHAIN(USER, 0x1010, MARK_USER, 0x1010, 0x1020, 0x7fff1234);
	CHAIN(KERNEL, 0xffff0010, MARK_KERNEL, 0xffff0010, MARK_USER, 0x1010, 0x2001);
	CHAIN(USER, 0x1010, MARK_USER, 0x1010, 0x2000); /* a call at the very end */
	CHAIN(USER, 0x1010, MARK_USER, 0x1010, 0x7fff1234, 0x1020);
	CHAIN(USER, 0x7fff1234, MARK_USER, 0x7fff1234);
	CHAIN(KERNEL, 0xffff0010, MARK_KERNEL, 0xffff0010, 0x7fff1234);
	CHECK(rows()[0], "read");
	CHECK_EQ(s.quality.chains, 6u, "with callers in user code");
	CHECK_EQ(s.quality.broken, 4u, "that end nowhere");
}

TEST(a_user_stack_that_was_to_come_later)
{
	two_modules();
	CHAIN(KERNEL, 0xffff0010, MARK_KERNEL, 0xffff0010, (uint64_t)-640, 0x1234);
	CHECK_STR(rows(), ":1/1 [user stack not here] k:[kernel.kallsyms]+ffff0010 1*100",
		  "says so");
	CHECK_EQ(s.quality.deferred, 1u, "counted");
}

TEST(the_same_chain_again_is_looked_up_where_things_are_now)
{
	two_modules();
	CHAIN(USER, 0x1010, MARK_USER, 0x1010, 0x1020);
	CHAIN(USER, 0x1010, MARK_USER, 0x1010, 0x1020);
	mapping(1, 0x1000, 0x1000, 0x500, "/other", 0);
	CHAIN(USER, 0x1010, MARK_USER, 0x1010, 0x1020);
	comm(1, 1, "new", true);
	CHAIN(USER, 0x1010, MARK_USER, 0x1010, 0x1020);
	CHECK_STR(
		rows(),
		":1/1 /u+1f /u+10 2*200; :1/1 /other+51f /other+510 1*100; new/1 [unknown]+101f [unknown]+1010 1*100",
		"after a mapping, and after an exec");
}

TEST(what_a_stack_lacks_is_counted_each_time)
{
	two_modules();
	for (int i = 0; i < 3; i++)
		CHAIN(KERNEL, 0xffff0010, MARK_KERNEL, 0xffff0010, (uint64_t)-640, 0x1234);
	rows();
	CHECK_EQ(s.quality.deferred, 3u, "user stacks that are not here");
}

TEST(flat_leaves_callers_out)
{
	struct samples_options o = { .detail = SAMPLES_ADDRESS,
				     .filter = SAMPLES_ALL,
				     .flat = true };

	two_modules();
	CHAIN(USER, 0x1010, MARK_USER, 0x1010, 0x1020, 0x1030);
	CHECK_STR(rows_with(&o), ":1/1 /u+10 1*100", "one frame");
	CHECK(!s.quality.with_stacks, "no stacks");
}

TEST(too_many_different_stacks_keep_their_innermost_frame)
{
	struct samples_options o = { .detail = SAMPLES_ADDRESS,
				     .filter = SAMPLES_ALL,
				     .nodes_max = 3 };

	two_modules();
	CHAIN(USER, 0x1010, MARK_USER, 0x1010, 0x1020);
	CHAIN(USER, 0x1011, MARK_USER, 0x1011, 0x1031, 0x1041);
	CHAIN(USER, 0x1010, MARK_USER, 0x1010, 0x1020);
	CHECK_STR(
		rows_with(&o),
		":1/1 /u+1f /u+10 2*200; :1/1 [stack not kept: too many different ones] /u+11 1*100",
		"earlier data is unchanged");
	CHECK_EQ(s.quality.unkept, 1u, "counted");
}

TEST(branch_records_as_callers)
{
	struct perfdata_attr a = call_tree_attr;
	static const uint64_t from_to[] = { 0x1100, 0x1000, 0, 0x1200, 0x1100, 0, 0, 0, 0 };

	a.size = 80;
	a.sample_type |= PD_SAMPLE_BRANCH_STACK;
	a.branch_sample_type = 1 << 11;
	begin_recording(&a);
	mapping(1, 0x1000, 0x1000, 0, "/u", 0);
	begin_record(&m, PD_RECORD_SAMPLE, USER);
	put64(&m, 0x1010), put32(&m, 1), put32(&m, 1), put64(&m, 5);
	put64(&m, 3), put64(&m, MARK_USER), put64(&m, 0x1010), put64(&m, 0x1999);
	put64(&m, 3);
	for (size_t i = 0; i < ARRAY_SIZE(from_to); i++)
		put64(&m, from_to[i]);
	end_record(&m);
	CHECK_STR(rows(), ":1/1 /u+200 /u+100 /u+10 1*100", "the calls, not the frame pointers");
}

TEST(members_of_a_group_count_what_they_gained)
{
	struct perfdata_attr a = { .type = 0,
				   .size = 64,
				   .sample_type = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME |
					   PD_SAMPLE_ID | PD_SAMPLE_READ,
				   .read_format = PD_READ_GROUP | PD_READ_ID };
	static const uint64_t values[][2] = { { 100, 50 }, { 160, 50 }, { 150, 90 } };

	begin_recording(&a);
	m.n = 16;
	put_event(&m, &a, 11);
	a.config = 1;
	put_event(&m, &a, 12);
	mapping(1, 0x1000, 0x1000, 0, "/u", 0);
	for (size_t i = 0; i < 3; i++) {
		begin_record(&m, PD_RECORD_SAMPLE, USER);
		put64(&m, 0x1000 + i), put32(&m, 1), put32(&m, 1), put64(&m, 5), put64(&m, 11);
		put64(&m, 2), put64(&m, values[i][0]), put64(&m, 11), put64(&m, values[i][1]),
			put64(&m, 12);
		end_record(&m);
	}
	CHECK_STR(
		rows(),
		":1/1 /u+0 1*100; :1/1 /u+0 1*50 of instructions:HG; :1/1 /u+1 1*60; :1/1 /u+2 1*40 of instructions:HG",
		"nothing gained counts nothing");
	CHECK_EQ(s.quality.backwards, 1u, "one went backwards");
	CHECK(!s.call_tree->column[0].read && s.call_tree->column[1].read,
	      "who was sampled and who was read");
}

/*
 * Whichever comes first: otherwise reports of the same events would be sorted by different columns.
 */
TEST(columns_are_in_the_files_order)
{
	struct perfdata_attr a = { .type = 0,
				   .size = 64,
				   .sample_type = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME |
					   PD_SAMPLE_ID };
	static const uint64_t ids[] = { 13, 11, 13 };

	begin_recording(&a);
	m.n = 16;
	for (uint64_t i = 0; i < 3; i++) { /* the second has no samples */
		a.config = i;
		put_event(&m, &a, 11 + i);
	}
	mapping(1, 0x1000, 0x1000, 0, "/u", 0);
	for (size_t i = 0; i < 3; i++) {
		begin_record(&m, PD_RECORD_SAMPLE, USER);
		put64(&m, 0x1000 + i), put32(&m, 1), put32(&m, 1), put64(&m, 5 + i),
			put64(&m, ids[i]);
		end_record(&m);
	}
	rows();
	CHECK_EQ(s.call_tree->columns, 2u);
	CHECK_STR(call_tree_name(s.call_tree, s.call_tree->column[0].name), "cycles:HG");
	CHECK_EQ(s.call_tree->column[0].samples, 1u);
	CHECK_EQ(s.call_tree->column[1].samples, 2u);
}

TEST(periods_that_are_not_known)
{
	struct perfdata_attr a = plain_attr;

	a.flags = PD_ATTR_FREQ;
	begin_recording(&a);
	sample(1, 1, 0x1, USER);
	sample(1, 1, 0x1, USER);
	CHECK_STR(rows(), ":1/1 [unknown]+1 2*2", "count as 1");
	CHECK(s.quality.weightless, "and it is reported");
}

TEST(an_address_that_is_the_events_own_does_not_skid)
{
	begin_recording(&plain_attr);
	sample(1, 1, 0x1, USER | PD_MISC_14);
	rows();
	CHECK(!s.call_tree->column[0].skids, "marked as exact");
	sample(1, 1, 0x1, USER);
	rows();
	CHECK(s.call_tree->column[0].skids, "one that is not");
	begin_recording(&call_tree_attr);
	CHAIN(USER, 0x1010, MARK_USER, 0x1010);
	rows();
	CHECK(!s.call_tree->column[0].skids, "a clock's sample is where the clock rang");
}

TEST(filters)
{
	struct samples_options o = { .detail = SAMPLES_ADDRESS, .filter = SAMPLES_ALL };

	begin_recording(&plain_attr);
	comm(1, 1, "one", false);
	comm(2, 2, "two", false);
	sample(1, 1, 0x1, USER);
	sample(2, 2, 0x1, USER);
	sample(2, 3, 0x1, USER);
	o.filter.pid = 2;
	CHECK_STR(rows_with(&o), "two/2 [unknown]+1 1*7; two/3 [unknown]+1 1*7", "by process");
	CHECK_EQ(s.quality.samples, 3u, "all are known of");
	CHECK_EQ(s.quality.used, 2u, "two are used");
	o.filter.tid = 3;
	CHECK_STR(rows_with(&o), "two/3 [unknown]+1 1*7", "by thread");
	o.filter = (struct samples_filter)SAMPLES_ALL;
	o.filter.comm = "o*";
	CHECK_STR(rows_with(&o), "one/1 [unknown]+1 1*7", "by name");
	o.filter = (struct samples_filter)SAMPLES_ALL;
	o.filter.cpu = 5;
	rows_with(&o);
	CHECK_EQ(s.quality.used, 3u, "by CPU");
	o.filter.cpu = 4;
	CHECK_STR(rows_with(&o), "", "by another one");
	o.filter = (struct samples_filter)SAMPLES_ALL;
	o.filter.to_ns = 100;
	CHECK_STR(rows_with(&o), "", "by time, which was not recorded");
	begin_recording(&timed_attr);
	for (int i = 0; i < 3; i++)
		sample(1, 1, 0x1, USER);
	o.filter.cpu = 5;
	CHECK_STR(rows_with(&o), "", "by CPU, which was not recorded");
	o.filter = (struct samples_filter)SAMPLES_ALL;
	o.filter.from_ns = 6;
	CHECK_STR(rows_with(&o), "", "later");
	o.filter.from_ns = 5;
	o.filter.to_ns = 5;
	rows_with(&o);
	CHECK_EQ(s.quality.used, 3u, "the ends belong to it");
}

TEST(moments_are_kept_when_asked_for)
{
	struct samples_options o = { .filter = SAMPLES_ALL, .sample_log = true };

	two_modules();
	CHAIN(USER, 0x1010, MARK_USER, 0x1010, 0x1020);
	CHAIN(USER, 0x1014, MARK_USER, 0x1014, 0x1020);
	rows_with(&o);
	CHECK_EQ(s.call_tree->sample_log.n, 2u, "both");
	CHECK_EQ(s.call_tree->sample_log.held[1].amount, 100u, "amount");
	CHECK_EQ(s.call_tree->sample_log.held[1].cpu, 5u, "CPU");
	CHECK_EQ(s.call_tree->sample_log.held[0].node, s.call_tree->sample_log.held[1].node,
		 "one function: one node");
}

TEST(moments_have_their_time)
{
	struct samples_options o = { .filter = SAMPLES_ALL, .sample_log = true };

	begin_recording(&timed_attr);
	sample(1, 1, 0x1, USER);
	rows_with(&o);
	CHECK_EQ(s.call_tree->sample_log.held[0].time_ns, 5u, "time");
	CHECK_EQ(s.call_tree->sample_log.held[0].cpu, UINT32_MAX, "no CPU");
	CHECK_EQ(s.quality.first_ns, 5u, "of the recording, too");
}

TEST(what_is_no_recording)
{
	m = (struct maker){ 0 };
	put_bytes(&m, "nonsense", 8);
	CHECK_STR(rows(), "cannot be read", "refused");
	begin_recording(&plain_attr);
	sample(1, 1, 0x1, USER);
	put64(&m, 0x9); /* a record of size 0 */
	CHECK_STR(rows(), ":1/1 [unknown]+1 1*7", "the part before the damage");
	CHECK(s.quality.damage[0], "and the damage");
}

TEST_MAIN()
