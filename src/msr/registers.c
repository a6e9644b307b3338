/* SPDX-License-Identifier: MIT */
/*
 * Selects a way to access registers, and implements what all ways have in common: checks before,
 * error messages after.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "msr/batch.h"
#include "msr/registers.h"

static const struct way *const ways[] = { &way_module, &way_msr_safe, &way_msr };

static int open_way(struct registers *r, const struct way *way, struct tare_error *err)
{
	int ret;

	r->way = way;
	ret = way->open(r, err);
	return ret;
}

static int no_way(const struct registers_options *opt, struct tare_error *err)
{
	tare_fail(
		err, ENOENT,
		"no way to registers is here: no %s/tare_msr, no %s/cpu/msr_batch, no %s/cpu/0/msr",
		opt->root ? opt->root : "/dev", opt->root ? opt->root : "/dev",
		opt->root ? opt->root : "/dev");
	tare_hint(err, "as root: modprobe tare_msr (kmod/ of tare), or modprobe msr");
	return -ENOENT;
}

int registers_open(struct registers **out, const struct registers_options *opt,
		   struct tare_error *err)
{
	struct registers *r = calloc(1, sizeof(*r));
	int ret = -ENOENT;

	*out = NULL;
	if (!r)
		return tare_fail_nomem(err);
	r->fd = -1;
	r->maker = opt->maker;
	r->write = opt->write;
	if (snprintf(r->root, sizeof(r->root), "%s", opt->root ? opt->root : "/dev") >=
	    (int)sizeof(r->root)) {
		ret = tare_fail(err, ENAMETOOLONG, "the path of the devices is too long");
		goto out;
	}
	if (opt->via) {
		for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
			if (!strcmp(ways[i]->name, opt->via)) {
				ret = open_way(r, ways[i], err);
				goto out;
			}
		ret = tare_fail(err, EINVAL,
				"there is no way '%.40s' to registers: module, msr-safe or msr",
				opt->via);
		goto out;
	}
	for (size_t i = 0; ret == -ENOENT && i < ARRAY_SIZE(ways); i++)
		ret = open_way(r, ways[i], err);
	if (ret == -ENOENT)
		no_way(opt, err);
out:
	if (ret < 0) {
		free(r->by_cpu);
		free(r);
		return ret;
	}
	*out = r;
	return 0;
}

const char *registers_via(const struct registers *r)
{
	return r->way->name;
}

bool registers_guarded(const struct registers *r)
{
	return r->way->guarded;
}

void registers_close(struct registers *r)
{
	if (!r)
		return;
	r->way->close(r);
	free(r->by_cpu);
	free(r);
}

/* ---- what all ways have in common ---- */

void registers_none_ran(struct tare_msr_op *op, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!op[i].err)
			op[i].err = -ECANCELED;
}

static int check(const struct registers *r, struct tare_msr_op *op, size_t n,
		 struct tare_error *err)
{
	int first = 0;

	for (size_t i = 0; i < n; i++) {
		struct tare_error why = TARE_ERROR_INIT;

		op[i].err = 0;
		/*
		 * Reads that are not on the list are left to the way: the kernel's own device has
		 * no list.
		 */
		if (op[i].kind == TARE_MSR_READ)
			continue;
		op[i].err = (int16_t)msr_op_check(&op[i], r->maker, &why);
		if (!op[i].err && op[i].kind == TARE_MSR_WRITE && !r->write) {
			tare_fail(&why, EBADF, "it was opened for reading only");
			op[i].err = -EBADF;
		}
		if (op[i].err && !first) {
			first = op[i].err;
			if (err)
				*err = why;
			tare_hint(
				err,
				"no operation of the batch was executed. 'tare msr list' shows what may be written");
		}
	}
	if (first)
		registers_none_ran(op, n);
	return first ? -EACCES : 0;
}

/* Prefix of a message: the CPU, and the operation if it was one. */
static void say_where(const struct registers *r, int cpu, const struct tare_msr_op *op, size_t n,
		      struct tare_error *err)
{
	struct text words = { 0 };

	for (size_t i = 0; i < n; i++)
		if (op[i].err && op[i].err != -ECANCELED) {
			msr_op_text(&words, &op[i], r->maker);
			break;
		}
	if (words.s)
		tare_prefix(err, "cpu %d: %s: ", cpu, words.s);
	else
		tare_prefix(err, "cpu %d: ", cpu);
	text_free(&words);
}

/* Is the machine locked down? That may be the reason. */
static bool locked_down(void)
{
	char mode[64];

	return file_line("", "/sys/kernel/security/lockdown", mode, sizeof(mode), NULL) == 0 &&
		!strstr(mode, "[none]");
}

static int words_for(const struct registers *r, int ret, struct tare_error *err)
{
	if (ret == -EIO)
		return tare_fail(
			err, EIO,
			"the CPU refuses it (#GP): it has no such register, or not those bits");
	if (ret == -ENXIO)
		return tare_fail(err, ENXIO, "that CPU is off, or is not there");
	if (ret == -EPERM && locked_down()) {
		tare_fail(
			err, EPERM,
			"the kernel is locked down, as under Secure Boot: no user may access registers");
		tare_hint(err, "perf events remain: --engine perf");
		return -EPERM;
	}
	if (ret == -EPERM || ret == -EACCES) {
		tare_fail(err, -ret, "%s: permission denied", r->way->name);
		tare_hint(
			err,
			"as root, or with CAP_SYS_RAWIO (msr) or CAP_PERFMON (module); see tare-msr(1), PERMISSIONS");
		return ret;
	}
	return tare_fail(err, -ret, "%s: %s", r->way->name, strerror(-ret));
}

int registers_run(struct registers *r, int cpu, struct tare_msr_op *op, size_t n,
		  struct registers_span *span, struct tare_error *err)
{
	struct tare_error own = TARE_ERROR_INIT;
	struct registers_span room;
	int ret;

	if (!span)
		span = &room;
	*span = (struct registers_span){ 0 };
	if (n == 0 || n > TARE_MSR_OPS_MAX)
		return tare_fail(err, EINVAL, "a batch has 1 to %d operations, not %zu",
				 TARE_MSR_OPS_MAX, n);
	ret = check(r, op, n, &own);
	if (ret == 0) {
		ret = r->way->run(r, cpu, op, n, span, &own);
		if (ret < 0 && !own.what[0])
			words_for(r, ret, &own);
	}
	if (ret == 0)
		return 0;
	say_where(r, cpu, op, n, &own);
	if (err)
		*err = own;
	return ret;
}

bool registers_full_width(struct registers *r, int cpu)
{
	struct tare_msr_op op = { .kind = TARE_MSR_READ, .msr = MSR_CAPABILITIES };

	return r->maker == TARE_MSR_INTEL && registers_run(r, cpu, &op, 1, NULL, NULL) == 0 &&
		op.value & MSR_CAPABLE_OF_FULL_WIDTH;
}

struct one {
	struct registers *r;
	int cpu;
	struct tare_msr_op *op;
	size_t n;
	struct registers_span *span;
	struct tare_error err;
	int ret;
	pthread_t thread;
	bool own; /* runs in its own thread */
};

static void *run_one(void *arg)
{
	struct one *o = arg;

	o->ret = registers_run(o->r, o->cpu, o->op, o->n, o->span, &o->err);
	return NULL;
}

int registers_run_all(struct registers *r, const struct cpus *on, struct tare_msr_op *op, size_t n,
		      struct registers_span *span, struct tare_error *err)
{
	struct one *one = calloc(on->n ? on->n : 1, sizeof(*one));
	int ret = 0;

	if (!one)
		return tare_fail_nomem(err);
	for (size_t k = on->n; k-- > 0;) {
		one[k] = (struct one){ .r = r,
				       .cpu = on->cpu[k],
				       .op = op + k * n,
				       .n = n,
				       .span = span ? span + k : NULL,
				       .err = TARE_ERROR_INIT };
		/*
		 * The caller runs the first CPU's batch, and those for which no thread can be
		 * created.
		 */
		one[k].own = k && pthread_create(&one[k].thread, NULL, run_one, &one[k]) == 0;
		if (!one[k].own)
			run_one(&one[k]);
	}
	for (size_t k = 0; k < on->n; k++) {
		if (one[k].own)
			pthread_join(one[k].thread, NULL);
		if (one[k].ret < 0 && ret == 0) {
			ret = one[k].ret;
			if (err)
				*err = one[k].err;
		}
	}
	free(one);
	return ret;
}
