/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include "count/event_batches.h"
#include "stat/stat.h"
#include "scripted.h"
#include "tap.h"

/* Facts as lines: "begin 0", "read 0 100", "interval", "end 0 status 7". */
struct memory {
	struct sink sink;
	char text[8192];
	struct fact_end end;
	unsigned intervals;
	int fail_after; /* intervals; 0: never */
};

__attribute__((format(printf, 2, 3))) static void print_fact(struct memory *m, const char *fmt, ...)
{
	size_t n = strlen(m->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m->text + n, sizeof(m->text) - n, fmt, ap);
	va_end(ap);
}

static int keep(struct sink *self, const struct fact *f, struct tare_error *err)
{
	struct memory *m = (struct memory *)self;

	switch (f->kind) {
	case FACT_RUN_BEGIN:
		print_fact(m, "begin %u\n", f->run);
		break;
	case FACT_READING:
		print_fact(m, "read %u %llu\n", f->reading.event,
			   (unsigned long long)f->reading.value.raw);
		break;
	case FACT_INTERVAL:
		print_fact(m, "interval\n");
		if (++m->intervals == (unsigned)m->fail_after)
			return tare_fail(err, EPIPE, "no reader");
		break;
	default:
		print_fact(m, "end %u status %#x\n", f->run, f->end.wait_status);
		m->end = f->end;
	}
	return 0;
}

struct setup {
	struct event_list events;
	struct encoding_list list;
	struct stat_plan plan;
	struct stat_outcome outcome;
	struct memory memory;
	struct tare_error err;
};

static void prepare(struct setup *s, const char *events, char *const *argv)
{
	struct encode_options opt = { .keep_unavailable = true };
	struct machine *m = machine_open(NULL, NULL);

	CHECK_EQ(event_list_parse(events, &s->events, NULL), 0);
	CHECK_EQ(pmu_encode(m, &s->events, &opt, &s->list, NULL), 0);
	machine_close(m);
	s->memory = (struct memory){ .sink.put = keep };
	s->err = (struct tare_error)TARE_ERROR_INIT;
	s->plan = (struct stat_plan){ .events = &s->list,
				      .argv = argv,
				      .launcher = &launch_plain,
				      .runs = 1,
				      .target.inherit = true,
				      .source = &source_scripted };
}

static int go(struct setup *s)
{
	return stat_run(&s->plan, &s->memory.sink, &s->outcome, &s->err);
}

static void clean(struct setup *s)
{
	CHECK_EQ(scripted_open_now, 0, "every counter is closed");
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no child is left");
	encoding_list_free(&s->list);
	event_list_free(&s->events);
}

#define SH(script) ((char *[]){ (char[]){ "sh" }, (char[]){ "-c" }, (char[]){ script }, NULL })

TEST(runs_and_their_facts)
{
	struct setup s = { 0 };

	prepare(&s, "page-faults,{task-clock,minor-faults}", SH("exit 7"));
	s.plan.runs = 2;
	s.plan.first_run = 3;
	CHECK_EQ(go(&s), 0, "%s", s.err.what);
	CHECK_EQ(s.outcome.runs, 2);
	CHECK_STR(s.memory.text,
		  "begin 3\nread 0 100\nread 1 100\nread 2 100\nend 3 status 0x700\n"
		  "begin 4\nread 0 100\nread 1 100\nread 2 100\nend 4 status 0x700\n");
	CHECK(s.memory.end.has_status && s.memory.end.wall_ns > 0 &&
	      s.memory.end.wall_ns < 100000000000);
	CHECK(s.memory.end.counted_ns <= s.memory.end.wall_ns);
	clean(&s);
}

TEST(commands_that_cannot_run)
{
	static const struct {
		int line;
		const char *command;
		int code;
	} rows[] = {
		{ __LINE__, "/nonexistent/command", ENOENT },
		{ __LINE__, "no-such-command-anywhere", ENOENT },
		{ __LINE__, "/", EACCES },
		{ __LINE__, "/dev/null", EACCES },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct setup s = { 0 };
		char *argv[] = { (char *)rows[i].command, NULL };

		prepare(&s, "page-faults", argv);
		CHECK_EQ(go(&s), -rows[i].code, "row at line %d", rows[i].line);
		CHECK_EQ(s.outcome.exec_code, rows[i].code, "row at line %d", rows[i].line);
		CHECK(strstr(s.err.what, rows[i].command), "%s", s.err.what);
		clean(&s);
	}
}

static int refuse(void *with, const struct counting *c, struct tare_error *err)
{
	*(size_t *)with = c->n;
	return tare_fail(err, EPERM, "no");
}

TEST(refused_before_the_command_starts)
{
	struct setup s = { 0 };
	size_t cells = 0;

	unlink("stat_test.started");
	prepare(&s, "page-faults", SH("touch stat_test.started"));
	s.plan.opened = refuse;
	s.plan.with = &cells;
	CHECK_EQ(go(&s), -EPERM);
	CHECK_EQ(cells, 1);
	CHECK_EQ(s.outcome.exec_code, 0);
	CHECK(access("stat_test.started", F_OK) < 0, "the command must not run");
	clean(&s);
}

TEST(intervals)
{
	struct setup s = { 0 };

	prepare(&s, "page-faults", SH("exec sleep 30"));
	s.plan.interval_ns = 10000000;
	s.plan.intervals = 3;
	CHECK_EQ(go(&s), 0);
	CHECK_STR(s.memory.text,
		  "begin 0\nread 0 100\ninterval\nread 0 200\ninterval\nread 0 300\ninterval\n"
		  "read 0 400\nend 0 status 0xf\n");
	CHECK(s.memory.end.intervals_done && !s.memory.end.timed_out);
	CHECK(s.memory.end.wall_ns >= 30000000 && s.memory.end.wall_ns < 25000000000, "%llu",
	      (unsigned long long)s.memory.end.wall_ns);
	clean(&s);
}

TEST(a_sink_that_fails_ends_the_command)
{
	struct setup s = { 0 };

	prepare(&s, "page-faults", SH("exec sleep 30"));
	s.plan.interval_ns = 10000000;
	s.memory.fail_after = 2;
	CHECK_EQ(go(&s), -EPIPE);
	clean(&s);
}

TEST(time_limit)
{
	struct setup s = { 0 };

	prepare(&s, "page-faults", SH("exec sleep 30"));
	s.plan.timeout_ns = 30000000;
	CHECK_EQ(go(&s), 0);
	CHECK(s.memory.end.timed_out && WIFSIGNALED(s.memory.end.wait_status));
	CHECK(s.memory.end.wall_ns >= 30000000 && s.memory.end.wall_ns < 25000000000);
	clean(&s);
}

TEST(delay)
{
	struct setup s = { 0 };

	scripted_log[0] = '\0';
	prepare(&s, "page-faults", SH("exec sleep 30"));
	s.plan.delay_ns = 50000000;
	s.plan.timeout_ns = 60000000;
	CHECK_EQ(go(&s), 0);
	CHECK_STR(scripted_log, "start page-faults\nstop page-faults\n");
	CHECK(s.memory.end.counted_ns <= s.memory.end.wall_ns - 50000000, "%llu of %llu",
	      (unsigned long long)s.memory.end.counted_ns,
	      (unsigned long long)s.memory.end.wall_ns);
	clean(&s);
}

TEST(a_delay_longer_than_the_command)
{
	struct setup s = { 0 };

	scripted_log[0] = '\0';
	prepare(&s, "page-faults", SH("true"));
	s.plan.delay_ns = 50000000000;
	CHECK_EQ(go(&s), 0);
	CHECK_STR(scripted_log, "");
	CHECK_EQ(s.memory.end.counted_ns, 0);
	clean(&s);
}

TEST(controlled_by_the_program)
{
	int ctl[2], ack[2];
	char spec[64], script[256];
	struct control control = CONTROL_INIT;
	struct setup s = { 0 };

	CHECK(pipe(ctl) == 0 && pipe(ack) == 0);
	snprintf(spec, sizeof(spec), "fd:%d,%d", ctl[0], ack[1]);
	CHECK_EQ(control_open(&control, spec, NULL), 0);
	snprintf(script, sizeof(script),
		 "for w in enable disable 'enable page-faults' 'disable nothing' nonsense ping; do "
		 "echo $w >&%d; read a <&%d; echo \"$a\"; done; echo stop >&%d; sleep 20",
		 ctl[1], ack[0], ctl[1]);

	char *argv[] = { (char *)"sh", (char *)"-c", script, NULL };
	int out = memfd_create("answers", 0), kept = dup(1);
	char answers[512] = "";

	unlink("stat_test.out");
	scripted_log[0] = '\0';
	prepare(&s, "page-faults,task-clock", argv);
	s.plan.start_disabled = true;
	s.plan.control = &control;
	fflush(stdout);
	dup2(out, 1);
	int ret = go(&s);
	dup2(kept, 1);
	CHECK_EQ(ret, 0);
	CHECK(pread(out, answers, sizeof(answers) - 1, 0) > 0);
	CHECK_STR(answers,
		  "ack\nack\nack\nerror: no such event is counted\n"
		  "error: not one of enable [EVENT], disable [EVENT], ping, stop\nack\n");
	CHECK_STR(scripted_log,
		  "start page-faults\nstart task-clock\nstop page-faults\nstop task-clock\n"
		  "start page-faults\nstop page-faults\n");
	CHECK(WIFSIGNALED(s.memory.end.wait_status) && s.memory.end.stopped,
	      "stop ends the command");
	control_close(&control);
	clean(&s);
}

TEST(times_counted_add_up)
{
	int ctl[2], ack[2];
	char spec[64], script[256];
	struct control control = CONTROL_INIT;
	struct setup s = { 0 };

	CHECK(pipe(ctl) == 0 && pipe(ack) == 0);
	snprintf(spec, sizeof(spec), "fd:%d,%d", ctl[0], ack[1]);
	CHECK_EQ(control_open(&control, spec, NULL), 0);
	snprintf(
		script, sizeof(script),
		"for i in 1 2 3; do for w in enable disable; do echo $w >&%d; read a <&%d; sleep 0.05; done; done",
		ctl[1], ack[0]);

	char *argv[] = { (char *)"sh", (char *)"-c", script, NULL };

	prepare(&s, "page-faults", argv);
	s.plan.start_disabled = true;
	s.plan.control = &control;
	CHECK_EQ(go(&s), 0);
	CHECK(s.memory.end.counted_ns >= 150000000,
	      "enabled three times, not only the last counts: %llu",
	      (unsigned long long)s.memory.end.counted_ns);
	CHECK(s.memory.end.counted_ns <= s.memory.end.wall_ns - 150000000);
	control_close(&control);
	clean(&s);
}

TEST(user_and_system_time_are_told_apart)
{
	struct setup s = { 0 };

	/* many ticks: most kernels attribute whole ticks to user or system time */
	prepare(&s, "page-faults", SH("i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done"));
	CHECK_EQ(go(&s), 0);
	CHECK(s.memory.end.user_ns > 2 * s.memory.end.system_ns,
	      "a loop in user mode: %llu and %llu", (unsigned long long)s.memory.end.user_ns,
	      (unsigned long long)s.memory.end.system_ns);
	clean(&s);
}

TEST(signals_to_us)
{
	static const struct {
		int line;
		const char *script;
		int signal, status;
	} rows[] = {
		{ __LINE__, "kill -TERM $PPID; exec sleep 20", SIGTERM, SIGTERM },
		/* the command may handle the signal: its own end counts */
		{ __LINE__,
		  "trap 'exit 9' INT; kill -INT $PPID; i=0; "
		  "while [ $i -lt 500 ]; do i=$((i+1)); sleep 0.02; done; exit 8",
		  SIGINT, 9 << 8 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct setup s = { 0 };
		char *argv[] = { (char *)"sh", (char *)"-c", (char *)rows[i].script, NULL };

		prepare(&s, "page-faults", argv);
		s.plan.runs = 5;
		CHECK_EQ(go(&s), 0);
		CHECK_EQ(s.outcome.runs, 1, "no further runs, row at line %d", rows[i].line);
		CHECK_EQ(s.outcome.by_signal, rows[i].signal, "row at line %d", rows[i].line);
		CHECK_EQ(s.memory.end.wait_status, rows[i].status, "row at line %d", rows[i].line);
		clean(&s);
	}
}

TEST(signals_are_as_they_were)
{
	struct sigaction now;
	struct setup s = { 0 };
	sigset_t mask;

	/* Independent of how this test was started: a shell's background jobs ignore SIGINT. */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);

	/*
	 * SigBlk and SigIgn of the command; tare itself blocks and ignores some signals meanwhile
	 */
	prepare(&s, "page-faults",
		SH("grep -E 'Sig(Blk|Ign)' /proc/self/status | tr -d '\\t\\n' | grep -q "
		   "'SigBlk:0*SigIgn:0*$'"));
	CHECK_EQ(go(&s), 0);
	CHECK_EQ(s.memory.end.wait_status, 0, "nothing is blocked or ignored in the command");
	sigprocmask(SIG_SETMASK, NULL, &mask);
	CHECK(!sigismember(&mask, SIGINT) && !sigismember(&mask, SIGCHLD));
	sigaction(SIGPIPE, NULL, &now);
	CHECK(now.sa_handler == SIG_DFL, "SIGPIPE too");
	clean(&s);
}

TEST(clocks_are_read_by_the_session)
{
	struct setup s = { 0 };
	unsigned long long wall = 0, user = 0, system = 0;

	prepare(&s, "duration_time,user_time,system_time",
		SH("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"));
	CHECK_EQ(go(&s), 0);
	CHECK_EQ(sscanf(s.memory.text, "begin 0 read 0 %llu read 1 %llu read 2 %llu end", &wall,
			&user, &system),
		 3);
	CHECK_EQ(wall, s.memory.end.wall_ns);
	CHECK_EQ(user, s.memory.end.user_ns);
	CHECK_EQ(system, s.memory.end.system_ns);
	CHECK(user + system > 0);
	clean(&s);
}

/* Two counters: a higher number of groups is multiplexed. */
static int two_counters(const struct scripted_call *call, struct tare_reading *out)
{
	(void)call;
	if (scripted_open_now > 2) {
		out->running_ns = out->enabled_ns / 2;
		out->quality = TARE_SCALED;
	}
	return 0;
}

TEST(splitting_a_long_list)
{
	struct setup s = { 0 };
	struct event_batches split;
	char text[256] = "";

	prepare(&s, "page-faults,{task-clock,cpu-clock},minor-faults,major-faults,duration_time,cs",
		NULL);
	scripted_read = two_counters;
	CHECK_EQ(event_batches_measure(&split, &s.list, &source_scripted, NULL), 0);
	scripted_read = NULL;
	for (unsigned b = 0; b < split.batches; b++, strcat(text, "|"))
		for (size_t i = 0; i < split.n; i++)
			strcat(text, split.in[b * split.n + i] ? "1" : "0");
	CHECK_STR(text, "1110010|0001100|0000001|", "events by batch, at most two groups in each");
	event_batches_free(&split);
	clean(&s);
}

TEST_MAIN()
