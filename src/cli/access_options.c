/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include "cli/sample_options.h"

int access_options_check(const struct sample_options *o, struct tare_error *err)
{
	if (o->module || o->function) {
		tare_fail(err, EINVAL, "--filter: module and function do not choose accesses");
		tare_hint(err, "keys: comm, pid, tid, cpu, from, to");
		return -EINVAL;
	}
	return 0;
}

struct accessed_options access_options(const struct sample_options *o)
{
	return (struct accessed_options){ .modules = { o->read.symfs, o->read.kallsyms, getenv("HOME") }, .filter = o->read.filter };
}

int access_one_file(const struct sample_options *o, int argc, char **argv, int rest, struct tare_error *err)
{
	if (argc - rest <= (o->input ? 0 : 1))
		return 0;
	tare_fail(err, EINVAL, "'%.64s' is one file too many", argv[argc - 1]);
	tare_hint(err, "it takes one file");
	return -EINVAL;
}

int access_any(const struct accessed *c, const char *path, uint64_t used, uint64_t others, struct tare_error *err)
{
	const struct samples_filter *f = &c->opts.filter;
	bool filtered = f->comm || f->from_ns || f->to_ns || f->pid >= 0 || f->tid >= 0 || f->cpu >= 0;

	if (used)
		return 0;
	if (filtered) {
		tare_fail(err, ENODATA, "%.200s: no access passes the filter", path);
	} else if (c->damage[0]) {
		tare_fail(err, ENODATA, "%.300s; no access stands before that", c->damage);
	} else if (c->loss.lost && !others) {
		tare_fail(err, ENODATA, "%.200s: there is no access in it: all %llu samples were lost", path, (unsigned long long)c->loss.lost);
		tare_hint(err, "record again with a longer period or a larger buffer");
	} else if (c->loss.missing && !c->loss.damaged) {
		tare_fail(err, ENODATA, "%.200s: cut off: it tells of %llu bytes of the hardware's data that it does not hold", path,
			  (unsigned long long)c->loss.missing);
	} else if (c->loss.truncated || c->loss.damaged) {
		tare_fail(err, ENODATA, "%.200s: the hardware's data is empty or damaged: %llu pieces cut off, %llu bytes that are no record", path,
			  (unsigned long long)c->loss.truncated, (unsigned long long)c->loss.damaged);
	} else if (c->undecodable && !c->samples && !others) {
		tare_fail(err, ENODATA, "%.200s: none of its samples could be decoded (%llu records)", path, (unsigned long long)c->undecodable);
	} else if (others) {
		tare_fail(err, ENODATA, "%.200s: its %llu samples are of operations that access no memory", path, (unsigned long long)others);
	} else {
		tare_fail(err, ENODATA, "%.200s: its %llu sample%s nothing of accesses to memory", path, (unsigned long long)c->samples, c->samples == 1 ? " says" : "s say");
		tare_hint(err, "such samples come from precise events: perf mem record, or perf record -d with a data source");
	}
	return -ENODATA;
}
