/* SPDX-License-Identifier: MIT */
/* perf record's options with perf's letters, and tare's own options by name. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/file.h"
#include "base/num.h"
#include "output/own_stdout.h"
#include "cli/samples/record_options.h"

enum { STACK_BYTES = 8192, STACK_MOST = 65528, RING_MOST_BYTES = 1 << 30 };

#define OPTIONS struct record_options

static int either_rate(struct tare_error *err)
{
	return tare_fail(err, EINVAL,
			 "-F (samples a second) and -c (events per sample) exclude each other");
}

static int set_frequency(void *to, const char *arg, struct tare_error *err)
{
	struct record_options *o = to;

	if (o->rate_given && o->how.period)
		return either_rate(err);
	o->rate_given = true;
	o->how.period = 0;
	o->frequency_most = !strcmp(arg, "max");
	if (o->frequency_most)
		return 0;

	int ret = num_parse(arg, &o->how.frequency, err);

	return ret == 0 && !o->how.frequency
		? tare_fail(err, ERANGE, "0 samples a second would record nothing")
		: ret;
}

static int set_period(void *to, const char *arg, struct tare_error *err)
{
	struct record_options *o = to;
	int ret;

	if (o->rate_given && !o->how.period)
		return either_rate(err);
	ret = num_parse(arg, &o->how.period, err);
	o->rate_given = true;
	if (ret == 0 && (!o->how.period || o->how.period >> 63))
		return tare_fail(err, ERANGE, "a sample every %.32s events is impossible", arg);
	return ret;
}

static int set_output(void *to, const char *arg, struct tare_error *err)
{
	(void)err;
	*(const char **)to = own_stdout_is(arg) ? "-" : arg;
	return 0;
}

static int set_branch_any(void *to, const char *arg, struct tare_error *err)
{
	(void)arg, (void)err;
	*(uint64_t *)to |= PERF_SAMPLE_BRANCH_ANY;
	return 0;
}

/* fp, lbr, dwarf, dwarf,BYTES */
static int set_call_graph(void *to, const char *arg, struct tare_error *err)
{
	struct record_options *o = to;
	uint64_t bytes = STACK_BYTES;

	if (!strcmp(arg, "fp") || !strcmp(arg, "no")) {
		o->how.calls = arg[0] == 'f' ? CALLS_FRAME_POINTERS : CALLS_NONE;
		return 0;
	}
	if (!strcmp(arg, "lbr")) {
		o->how.calls = CALLS_LBR;
		return 0;
	}
	if (strncmp(arg, "dwarf", 5) || (arg[5] && arg[5] != ','))
		return tare_fail(err, EINVAL,
				 "there is no call graph '%.32s': fp, dwarf, dwarf,BYTES or lbr",
				 arg);
	if (arg[5] && num_parse(arg + 6, &bytes, err) < 0)
		return -EINVAL;
	if (bytes < 8 || bytes > STACK_MOST || bytes % 8)
		return tare_fail(err, ERANGE, "%.32s: a multiple of 8 bytes of stack, at most %d",
				 arg + 6, STACK_MOST);
	o->how.calls = CALLS_DWARF;
	o->how.stack_bytes = (uint32_t)bytes;
	return 0;
}

/* Source: perf-record(1), "-j". */
static int set_branches(void *to, const char *arg, struct tare_error *err)
{
	static const struct {
		const char *name;
		uint64_t bits;
	} rows[] = {
		{ "any", PERF_SAMPLE_BRANCH_ANY },
		{ "u", PERF_SAMPLE_BRANCH_USER },
		{ "k", PERF_SAMPLE_BRANCH_KERNEL },
		{ "hv", PERF_SAMPLE_BRANCH_HV },
		{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
		{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
		{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
		{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
		{ "call", PERF_SAMPLE_BRANCH_CALL },
		{ "cond", PERF_SAMPLE_BRANCH_COND },
		{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX },
		{ "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
		{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE },
	};
	struct record_options *o = to;

	for (const char *p = arg;; p++) {
		size_t n = strcspn(p, ","), i = 0;

		while (i < ARRAY_SIZE(rows) &&
		       (strlen(rows[i].name) != n || strncmp(rows[i].name, p, n)))
			i++;
		if (i == ARRAY_SIZE(rows))
			return tare_fail_at(
				err, (int)(p - arg), EINVAL,
				"there is no branch filter '%.*s': any, any_call, any_ret, ind_call, call, "
				"cond; u, k, hv",
				(int)n, p);
		o->how.branches |= rows[i].bits;
		p += n;
		if (!*p)
			break;
	}
	if (!(o->how.branches &
	      ~(uint64_t)(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |
			  PERF_SAMPLE_BRANCH_HV)))
		o->how.branches |= PERF_SAMPLE_BRANCH_ANY;
	return 0;
}

/* Only clocks that can be read in a counter's interrupt. */
static int set_clock(void *to, const char *arg, struct tare_error *err)
{
	static const struct {
		const char *name;
		int id;
	} rows[] = { { "mono", CLOCK_MONOTONIC },
		     { "monotonic", CLOCK_MONOTONIC },
		     { "CLOCK_MONOTONIC", CLOCK_MONOTONIC },
		     { "1", CLOCK_MONOTONIC },
		     { "raw", CLOCK_MONOTONIC_RAW },
		     { "monotonic_raw", CLOCK_MONOTONIC_RAW },
		     { "CLOCK_MONOTONIC_RAW", CLOCK_MONOTONIC_RAW },
		     { "perf", -1 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(arg, rows[i].name)) {
			((struct record_options *)to)->how.clockid = rows[i].id;
			((struct record_options *)to)->clock_given = true;
			return 0;
		}
	return tare_fail(
		err, EINVAL,
		"there is no clock '%.32s' for timestamps: mono, raw, or perf (the kernel's)", arg);
}

/* Same syntax as perf: pages, or bytes with K, M or G; rounded up to a power of two. */
static int size_of(const char *arg, size_t n_arg, size_t *out, struct tare_error *err)
{
	static const char units[] = "BKMG";
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page;
	char *end;
	unsigned long long n = strtoull(arg, &end, 10);
	const char *stop = arg + n_arg, *unit = end < stop ? strchr(units, *end) : NULL;
	uint64_t each = unit ? 1ull << 10 * (unit - units) : page;

	if (end == arg || !n || (end < stop && (!unit || end + 1 != stop)) ||
	    n > RING_MOST_BYTES / each)
		return tare_fail(
			err, EINVAL,
			"'%.*s' is not a buffer size: pages, or bytes as 512K, 8M; at most 1G",
			(int)(n_arg < 32 ? n_arg : 32), arg);
	while (size < n * each)
		size *= 2;
	*out = size;
	return 0;
}

/* SIZE, SIZE,AUX or ,AUX */
static int set_ring(void *to, const char *arg, struct tare_error *err)
{
	struct record_options *o = to;
	size_t n = strcspn(arg, ",");
	int ret = n || !arg[n] ? size_of(arg, n, &o->ring_bytes, err) : 0;

	if (ret < 0 || !arg[n])
		return ret;
	ret = size_of(arg + n + 1, strlen(arg + n + 1), &o->aux_bytes, err);
	if (ret == 0 && o->aux_bytes < 2 * (size_t)sysconf(_SC_PAGESIZE))
		return tare_fail(err, EINVAL, "'%.32s': an AUX area needs at least two pages",
				 arg + n + 1);
	return ret;
}

/* Same syntax as perf: a number and B, K, M or G. */
static int set_max_size(void *to, const char *arg, struct tare_error *err)
{
	static const char units[] = "BKMG";
	char *end;
	unsigned long long n = *arg >= '0' && *arg <= '9' ? strtoull(arg, &end, 10) : 0;
	const char *unit = n && *end ? strchr(units, *end) : NULL;

	if (!unit || end[1] || n > UINT64_MAX >> 10 * (unit - units))
		return tare_fail(err, EINVAL,
				 "'%.32s' is not a file size: bytes as 4096B, 500K, 200M, 1G", arg);
	((struct record_options *)to)->size_most = n << 10 * (unit - units);
	return 0;
}

const struct option_row record_option_rows[] = {
	EVENT_ROW(events, "what to sample; default: cycles, or cpu-clock without a PMU"),
	{ 'F', "freq", "HZ", "samples a second to aim at, or max; default: 4000",
	  SPECIAL_ALL(set_frequency) },
	{ 'c', "count", "N", "a sample every N events instead", SPECIAL_ALL(set_period) },
	{ 'g', NULL, NULL, "record callers, by frame pointers",
	  VALUE(how.calls, CALLS_FRAME_POINTERS) },
	{ 0, "call-graph", "HOW", "fp, dwarf[,BYTES] (copies the stack) or lbr (Intel)",
	  SPECIAL_ALL(set_call_graph) },
	{ 0, "max-stack", "N", NULL, NUMBER(how.max_stack, 1, UINT16_MAX) },
	{ 'p', "pid", "PIDS", "sample running processes", TEXT(pids, NULL) },
	{ 't', "tid", "TIDS", "sample single threads", TEXT(tids, NULL) },
	{ 'a', "all-cpus", NULL, "sample the whole machine", FLAG(all_cpus) },
	{ 'C', "cpu", "CPUS", "only these CPUs: 0-3,8", CPUS(cpus) },
	{ 'i', "no-inherit", NULL, "leave out children and new threads",
	  VALUE(how.inherit, false) },
	{ 'o', "output", "FILE", "default: perf.data; - is standard output",
	  SPECIAL(output, set_output) },
	{ 'z', "compression-level", "[N]",
	  "compress by zstd; level 1 unless given as --compression-level=N",
	  NUMBER(compress, 0, 22), .value = 1, .refusal = "zstd has levels 1 to 22; 0 is none" },
	{ 'd', "data", NULL, "record data addresses", FLAG(how.addresses) },
	{ 'W', "weight", NULL, NULL, FLAG(how.weight) },
	{ 0, "phys-data", NULL, NULL, FLAG(how.physical) },
	{ 'b', "branch-any", NULL, "record the last taken branches",
	  SPECIAL(how.branches, set_branch_any) },
	{ 'j', "branch-filter", "WHICH", NULL, SPECIAL_ALL(set_branches) },
	{ 'I', "intr-regs", NULL, NULL, FLAG(how.registers) },
	{ 0, "switch-events", NULL, NULL, FLAG(how.switches) },
	{ 'D', "delay", "MS", "start sampling that long after the start",
	  DURATION(delay_ns, 1000000, 0) },
	{ 0, "timeout", "MS", "end after that long", DURATION(timeout_ns, 1000000, 1),
	  .refusal = "a time limit of 0 leaves nothing to record" },
	{ 0, "max-size", "SIZE", "end when FILE has that size: 500K, 200M, 1G",
	  SPECIAL_ALL(set_max_size) },
	{ 'm', "mmap-pages", "SIZE[,AUX]",
	  "initial buffer per CPU; default: by the rate, at least 512K", SPECIAL_ALL(set_ring) },
	{ 'k', "clockid", "CLOCK", NULL, SPECIAL_ALL(set_clock) },
	{ 0, "all-user", NULL, NULL, FLAG(all_user) },
	{ 0, "all-kernel", NULL, NULL, FLAG(all_kernel) },
	{ 'B', "no-buildid", NULL, NULL, FLAG(no_build_ids) },
	EVENT_FILE_ROW(events, NULL),
	{ 0, "engine", "NAME", "auto, perf or exact (the same samples in every run)",
	  WORD(engine, "engine", "auto", "perf", "exact") },
	{ 0, "precise", "[WHAT]",
	  "memory (default), branches, fetch or all: exact places, chosen by machine",
	  WORD(precise_of.what, "precise sampling of", "memory", "branches", "fetch", "all"),
	  GIVEN(precise) },
	{ 0, "deterministic", "[ITEMS]",
	  "with --engine exact: fix items that vary between runs; tare run --list",
	  DETERMINISTIC(fixed), GIVEN(deterministic) },
	{ 0, "alloc", NULL, "record the command's memory allocations in FILE.alloc", FLAG(alloc) },
	{ 0, "min-latency", "CYCLES", NULL, NUMBER(precise_of.min_latency, 1, UINT32_MAX) },
	{ 0, "no-jitter", NULL, NULL, FLAG(no_jitter) },
	{ 'q', "quiet", NULL, "print only errors", FLAG(quiet) },
	{ 0 },
};

int record_options_check(struct record_options *o, bool has_command, struct tare_error *err)
{
	int ret = 0;

	if (o->pids && o->tids)
		ret = tare_fail(err, EINVAL, "-p and -t: name processes or threads");
	else if ((o->pids || o->tids) && o->all_cpus)
		ret = tare_fail(err, EINVAL, "-a samples every task; -p and -t would limit it");
	else if (o->precise_of.min_latency && !o->precise)
		ret = tare_fail(err, EINVAL, "--min-latency needs --precise");
	else if (o->precise && o->events.given)
		ret = tare_fail(err, EINVAL, "--precise selects the events: it excludes -e");
	else if (o->all_user && o->all_kernel)
		ret = tare_fail(err, EINVAL, "--all-user and --all-kernel exclude everything");
	else if (!has_command && !o->pids && !o->tids && !o->all_cpus && !o->cpus.n) {
		ret = tare_fail(err, EINVAL, "there is nothing to record");
		tare_hint(err, "give a command after the options, or -p PID, or -a");
	} else if (o->deterministic && (!has_command || o->engine != ENGINE_EXACT)) {
		ret = tare_fail(err, EINVAL, "--deterministic needs a command and --engine exact");
		tare_hint(err, "tare record --engine exact --deterministic -- COMMAND");
	} else if (o->alloc && !has_command) {
		ret = tare_fail(err, EINVAL, "--alloc needs a command that tare starts");
		tare_hint(err, "give a command after the options");
	} else if (o->alloc && !strcmp(o->output, "-")) {
		ret = tare_fail(err, EINVAL,
				"--alloc writes FILE.alloc: it needs -o FILE, not -o -");
	} else if (!strcmp(o->output, "-") && isatty(STDOUT_FILENO)) {
		ret = tare_fail(err, EINVAL, "a recording cannot be written to a terminal");
		tare_hint(err, "-o - | tare dump -, or -o FILE");
	}
	return ret;
}

void record_options_free(struct record_options *o)
{
	event_options_free(&o->events);
	cpus_free(&o->cpus);
}
