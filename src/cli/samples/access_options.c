/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include "cli/samples/sample_options.h"

static const char precise_hint[] =
	"samples of accesses come from precise events: tare record --precise=memory, or perf mem record";
static const char shorter_hint[] =
	"a shorter period takes more samples: tare record -c, perf record -c";

int access_options_check(const struct sample_options *o, struct tare_error *err)
{
	if (o->module || o->function) {
		tare_fail(err, EINVAL, "--filter: module and function do not select accesses");
		tare_hint(err, "keys: comm, pid, tid, cpu, from, to");
		return -EINVAL;
	}
	return 0;
}

struct memory_samples_options access_options(const struct sample_options *o)
{
	return (struct memory_samples_options){ .modules = { o->read.symfs, o->read.kallsyms,
							     getenv("HOME"), o->read.force_names },
						.filter = o->read.filter };
}

int access_one_file(const struct sample_options *o, int argc, char **argv, int rest,
		    struct tare_error *err)
{
	if (argc - rest <= (o->input ? 0 : 1))
		return 0;
	tare_fail(err, EINVAL, "'%.64s' is one file too many", argv[argc - 1]);
	tare_hint(err, "it takes one file");
	return -EINVAL;
}

/* There are samples, but no accesses. */
static int say_nothing(const struct memory_samples *c, const char *path, uint64_t others,
		       uint64_t silent, struct tare_error *err)
{
	char lost[64] = "";

	if (c->loss.lost)
		snprintf(lost, sizeof(lost), "; %llu more were lost",
			 (unsigned long long)c->loss.lost);
	if (!silent)
		tare_fail(err, ENODATA,
			  "%.200s: its %llu sample%s of operations that access no memory%s", path,
			  (unsigned long long)others, others == 1 ? " is" : "s are", lost);
	else if (!others)
		tare_fail(err, ENODATA, "%.200s: its %llu sample%s no data of memory accesses%s",
			  path, (unsigned long long)silent, silent == 1 ? " has" : "s have", lost);
	else
		tare_fail(
			err, ENODATA,
			"%.200s: no memory access in its %llu samples: %llu of other operations, %llu unknown%s",
			path, (unsigned long long)(others + silent), (unsigned long long)others,
			(unsigned long long)silent, lost);
	if (silent || !c->tells_accesses)
		tare_hint(err, "%s", precise_hint);
	return -ENODATA;
}

int access_any(const struct memory_samples *c, const char *path, uint64_t used, uint64_t others,
	       struct tare_error *err)
{
	const struct samples_filter *f = &c->opts.filter;
	bool filtered = f->comm || f->from_ns || f->to_ns || f->pid >= 0 || f->tid >= 0 ||
		f->cpu >= 0;
	uint64_t silent = c->loss.other + c->loss.unreadable;

	if (used)
		return 0;
	if (filtered) {
		tare_fail(err, ENODATA, "%.200s: no access passes the filter", path);
	} else if (c->damage[0]) {
		tare_fail(err, ENODATA, "%.300s; there is no access before that", c->damage);
	} else if (c->loss.missing && !c->loss.damaged) {
		tare_fail(err, ENODATA,
			  "%.200s: truncated: %llu bytes of hardware trace data are missing", path,
			  (unsigned long long)c->loss.missing);
	} else if (c->loss.truncated || c->loss.damaged) {
		tare_fail(
			err, ENODATA,
			"%.200s: the hardware trace data is empty or damaged: %llu truncated blocks, %llu bytes outside records",
			path, (unsigned long long)c->loss.truncated,
			(unsigned long long)c->loss.damaged);
	} else if (c->undecodable && !c->samples && !others) {
		tare_fail(err, ENODATA, "%.200s: no sample could be decoded (%llu records)", path,
			  (unsigned long long)c->undecodable);
	} else if (others || silent) {
		return say_nothing(c, path, others, silent, err);
	} else if (c->recorders) {
		tare_fail(
			err, ENODATA,
			"%.200s: its %llu access%s made by the allocation recorder (libtare-alloc.so)",
			path, (unsigned long long)c->recorders,
			c->recorders == 1 ? " is" : "es are");
		tare_hint(err, "%s", shorter_hint);
	} else if (c->loss.lost) {
		tare_fail(err, ENODATA, "%.200s: it has no accesses: all %llu samples were lost",
			  path, (unsigned long long)c->loss.lost);
		tare_hint(err, "%s",
			  c->tells_accesses ? "record again with a longer period or a larger buffer"
					    : precise_hint);
	} else {
		tare_fail(err, ENODATA, "%.200s: it has no samples", path);
		tare_hint(err, "%s", c->tells_accesses ? shorter_hint : precise_hint);
	}
	return -ENODATA;
}
