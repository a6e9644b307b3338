/* SPDX-License-Identifier: MIT */
/*
 * The source "msr": counts all tasks on one CPU by its registers, without multiplexing. Groups on
 * the same CPU share its registers, so their allocation is kept in one place for the whole program.
 * Another program may write to the same registers: the configuration is read again with the counts,
 * and if it has changed, the count is unavailable.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/clock.h"
#include "msr/msr.h"
#include "msr/msr_events.h"
#include "msr/registers.h"

/*
 * No CPU counts more events than this per nanosecond. After a shorter time a counter cannot have
 * wrapped around unnoticed.
 */
enum { EVENTS_PER_NS = 64 };

struct on_cpu {
	int cpu;
	unsigned users;
	uint64_t taken; /* counters, as msr_plan.enable */
	struct msr_beside going;
	/* oldest first; used if no one else restores them */
	struct tare_msr_op saved[TARE_MSR_OPS_MAX];
	size_t n_saved;
};

struct group {
	const struct source *source;
	int cpu;
	size_t n;
	struct msr_plan plan;
	char name[MSR_EVENTS_MAX][160];
	uint64_t sum[MSR_EVENTS_MAX]; /* of completed periods */
	uint64_t began_ns, enabled_ns;
	bool running;
	struct tare_error lost; /* why there is no count; what[0] 0: there is one */
};

static struct {
	struct msr_how how;
	struct registers *r;
	struct msr_cpu cpu;
	struct counter_facts facts;
	struct on_cpu *on;
	size_t n;
	unsigned users;
	const char *via; /* the way used last */
} all;

void source_msr_how(const struct msr_how *how)
{
	all.how = *how;
}

const char *source_msr_via(void)
{
	return all.via;
}

int source_msr_counts(const struct counters *c, struct msr_counts *out)
{
	const struct group *g = (const struct group *)c;

	if (g->n > sizeof(out->counter) / sizeof(out->counter[0]))
		return -E2BIG;
	*out = (struct msr_counts){ .via = registers_via(all.r),
				    .root = all.how.root,
				    .maker = all.cpu.maker,
				    .mask = UINT64_MAX };
	for (size_t i = 0; i < g->n; i++) {
		unsigned width = g->plan.place[i].fixed ? all.cpu.fixed_width : all.cpu.width;

		out->counter[i] = g->plan.place[i].counter;
		if (width && width < 64)
			out->mask &= (UINT64_C(1) << width) - 1;
	}
	return 0;
}

/* ---- what is shared ---- */

static int share(int cpu, struct tare_error *err)
{
	struct registers_options opt = { .via = all.how.via, .root = all.how.root, .write = true };
	int ret;

	if (all.users == 0) {
		ret = msr_cpu_for(&all.cpu, &all.facts, all.how.cpu, err);
		if (ret < 0)
			return ret;
		opt.maker = all.cpu.maker;
		ret = registers_open(&all.r, &opt, err);
		if (ret < 0)
			return ret;
		all.via = registers_via(all.r);
		/* A hypervisor may restrict what the model supports. */
		all.cpu.full_width = all.cpu.maker != TARE_MSR_INTEL ||
			registers_full_width(all.r, cpu);
	}
	all.users++;
	return 0;
}

static void unshare(void)
{
	if (--all.users)
		return;
	registers_close(all.r);
	free(all.on);
	all.r = NULL;
	all.on = NULL;
	all.n = 0;
}

static struct on_cpu *find(int cpu)
{
	for (size_t i = 0; i < all.n; i++)
		if (all.on[i].cpu == cpu)
			return &all.on[i];
	return NULL;
}

static struct on_cpu *find_or_add(int cpu, struct tare_error *err)
{
	struct on_cpu *c = find(cpu);

	if (c)
		return c;
	if (!array_one_more(&all.on, all.n, sizeof(*all.on))) {
		tare_fail_nomem(err);
		return NULL;
	}
	c = &all.on[all.n++];
	*c = (struct on_cpu){ .cpu = cpu };
	return c;
}

/* ---- what stood there ---- */

static bool is_saved(const struct on_cpu *c, uint32_t msr)
{
	for (size_t i = 0; i < c->n_saved; i++)
		if (c->saved[i].msr == msr)
			return true;
	return false;
}

/* Check that no other program counts with a register that we are about to write. */
static int check_free(const struct group *g, const struct tare_msr_op *saved, size_t n,
		      struct tare_error *err)
{
	char name[MSR_NAME_ROOM];

	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < n; k++) {
			const struct msr_place *at = &g->plan.place[i];
			bool busy = at->fixed
				? saved[k].msr == 0x38d && saved[k].value >> (4 * at->index) & 3
				: saved[k].msr == at->select && saved[k].value & 1 << 22;

			if (!busy)
				continue;
			tare_fail(err, EBUSY,
				  "cpu %d: %s is 0x%" PRIx64
				  ": perf or another program already counts with it",
				  g->cpu, msr_name(saved[k].msr, all.cpu.maker, name),
				  (uint64_t)saved[k].value);
			tare_hint(
				err,
				"the kernel's watchdog is one: sysctl kernel.nmi_watchdog=0. A register that was left so: tare msr write %s=0",
				name);
			return -EBUSY;
		}
	return 0;
}

/* The module saves the registers itself, and excludes other programs. */
static int save(struct group *g, struct on_cpu *c, struct tare_error *err)
{
	struct tare_msr_op op[TARE_MSR_OPS_MAX];
	size_t n = msr_plan_ops(&g->plan, MSR_SAVE, MSR_SAVE, op, TARE_MSR_OPS_MAX);
	int ret;

	if (registers_guarded(all.r))
		return 0;
	for (size_t i = 0; i < n;)
		if (is_saved(c, op[i].msr))
			memmove(&op[i], &op[i + 1], (--n - i) * sizeof(op[0]));
		else
			i++;
	if (n == 0)
		return 0;
	ret = registers_run(all.r, g->cpu, op, n, NULL, err);
	if (ret == 0)
		ret = check_free(g, op, n, err);
	for (size_t i = 0; ret == 0 && i < n && c->n_saved < TARE_MSR_OPS_MAX; i++)
		c->saved[c->n_saved++] = op[i];
	return ret;
}

/* The global control register was saved first; it is restored last. */
static void restore(struct on_cpu *c)
{
	struct tare_msr_op op[TARE_MSR_OPS_MAX];
	size_t n = 0;

	for (size_t i = c->n_saved; i-- > 0;) {
		op[n] = c->saved[i];
		op[n++].kind = TARE_MSR_WRITE;
	}
	/*
	 * Leave out bits that we may not set, such as another owner's interrupt; such bits are the
	 * reason for this check.
	 */
	for (size_t i = 0; i < n; i++)
		op[i].value = msr_value_kept(msr_row_of(op[i].msr, all.cpu.maker), op[i].value);
	if (n)
		registers_run(all.r, c->cpu, op, n, NULL, NULL);
	c->n_saved = 0;
}

/* ---- a group ---- */

static int msr_probe(struct tare_error *err)
{
	int ret = share(0, err);

	if (ret == 0)
		unshare();
	return ret;
}

static int check_target(const struct target *on, struct tare_error *err)
{
	if (on->cpu >= 0 && on->pid < 0 && on->cgroup_fd < 0)
		return 0;
	tare_fail(err, EOPNOTSUPP,
		  "registers count what a CPU does, not a task or a group of them");
	tare_hint(
		err,
		"-C N or -a; a command can be kept on one CPU: tare stat --engine msr -C 2 -- taskset -c 2 COMMAND");
	return -EOPNOTSUPP;
}

static int plan(struct group *g, const struct encoding *const *enc, const struct on_cpu *c,
		size_t *failed, struct tare_error *err)
{
	struct msr_event ev[MSR_EVENTS_MAX];

	for (size_t i = 0; i < g->n; i++) {
		int ret = msr_event_for(&ev[i], &all.cpu, &all.facts, enc[i], err);

		if (ret == 0 && ev[i].period)
			ret = tare_fail(
				err, EOPNOTSUPP,
				"%s: only perf can handle an interrupt at the end of a period",
				enc[i]->name);
		if (ret == 0 && all.cpu.maker == TARE_MSR_AMD && ev[i].config & MSR_AMD_HOST_ONLY) {
			ret = tare_fail(
				err, EOPNOTSUPP,
				"%s: a counter for the host alone stays 0 where the CPU's virtualization is off",
				enc[i]->name);
			tare_hint(err,
				  "perf knows when that is: --engine perf; :G counts guests alone");
		}
		if (ret < 0) {
			*failed = i;
			return ret;
		}
		memcpy(g->name[i], enc[i]->name, sizeof(g->name[i]));
	}
	return msr_plan_make(&g->plan, &all.cpu, ev, g->n, c->taken, err);
}

static int msr_open(struct counters **out, const struct encoding *const *enc, size_t n,
		    const struct target *on, size_t *failed, struct tare_error *err)
{
	size_t where = 0;
	struct on_cpu *c;
	struct group *g;
	int ret = check_target(on, err);

	if (failed)
		*failed = 0;
	if (ret == 0 && n > MSR_EVENTS_MAX)
		ret = tare_fail(err, ENOSPC, "a group of %zu: no CPU has counters for more than %d",
				n, MSR_EVENTS_MAX);
	if (ret == 0)
		ret = share(on->cpu, err);
	if (ret < 0)
		return ret;
	c = find_or_add(on->cpu, err);
	g = c ? calloc(1, sizeof(*g)) : NULL;
	if (!g) {
		unshare();
		return tare_fail_nomem(err);
	}
	g->source = &source_msr;
	g->cpu = on->cpu;
	g->n = n;
	ret = plan(g, enc, c, &where, err);
	if (ret < 0) {
		if (failed)
			*failed = where;
		free(g);
		unshare();
		return ret;
	}
	c->users++;
	c->taken |= g->plan.enable;
	*out = (struct counters *)g;
	return 0;
}

static int msr_start(struct counters *counters, struct tare_error *err)
{
	struct group *g = (struct group *)counters;
	struct on_cpu *c = find(g->cpu);
	struct tare_msr_op op[TARE_MSR_OPS_MAX];
	size_t n = msr_plan_ops(&g->plan, MSR_QUIET, MSR_START, op, TARE_MSR_OPS_MAX);
	int ret;

	if (g->running)
		return 0;
	ret = save(g, c, err);
	if (ret < 0)
		return ret;
	msr_plan_beside(op, n, &all.cpu, &c->going);
	ret = registers_run(all.r, g->cpu, op, n, NULL, err);
	if (ret < 0)
		return ret;
	g->began_ns = clock_now_ns();
	g->running = true;
	c->going.enabled |= g->plan.enable;
	c->going.fixed_ctrl |= g->plan.fixed_ctrl;
	return 0;
}

/* Bits of a counter in the status register, as in msr_plan.enable. */
static uint64_t bit_of(const struct msr_place *at)
{
	return UINT64_C(1) << (at->fixed ? 32 + at->index : at->index);
}

static void judge(struct group *g, const struct tare_msr_op *chosen, uint64_t status, uint64_t ns,
		  uint64_t ignore)
{
	char name[MSR_NAME_ROOM];

	for (size_t i = 0; i < g->n && !g->lost.what[0]; i++) {
		const struct msr_place *at = &g->plan.place[i];
		uint64_t mask = at->fixed ? UINT64_C(0xf) << (4 * at->index) : ~ignore;

		if ((chosen[i].value & mask) != (at->value & mask)) {
			tare_fail(&g->lost, ENODATA,
				  "%s: another program has written %s, which is 0x%" PRIx64
				  " and not 0x%" PRIx64,
				  g->name[i], msr_name(chosen[i].msr, all.cpu.maker, name),
				  (uint64_t)chosen[i].value, at->value);
			tare_hint(&g->lost,
				  "perf or another program counts on cpu %d at the same time",
				  g->cpu);
		} else if (status & bit_of(at) ||
			   (!g->plan.status && ns >= g->plan.wrap / EVENTS_PER_NS)) {
			tare_fail(&g->lost, ENODATA, "%s: its counter of %u bits %s", g->name[i],
				  at->fixed ? all.cpu.fixed_width : all.cpu.width,
				  status & bit_of(at) ? "went round" : "may have gone round");
			tare_hint(&g->lost, "count for a shorter time, or with -I");
		}
	}
}

/* Read the counts of the running period, and check that they are valid; `end` stops it. */
static int look(struct group *g, uint64_t value[], bool end, struct tare_error *err)
{
	struct on_cpu *c = find(g->cpu);
	struct msr_beside others = { .enabled = c->going.enabled & ~g->plan.enable,
				     .fixed_ctrl = c->going.fixed_ctrl & ~g->plan.fixed_ctrl };
	struct tare_msr_op op[TARE_MSR_OPS_MAX];
	bool status = g->plan.status, by_select = all.cpu.version < 2;
	size_t n = end ? msr_plan_ops(&g->plan, MSR_STOP, MSR_STOP, op, TARE_MSR_OPS_MAX) : 0,
	       first;
	uint64_t ns = clock_now_ns() - g->began_ns;
	int ret;

	msr_plan_beside(op, n, &all.cpu, &others);
	first = n;
	n += msr_plan_ops(&g->plan, MSR_READ, status ? MSR_CHECK : MSR_READ, op + n,
			  TARE_MSR_OPS_MAX - n);
	n -= status; /* the status is read, and cleared when counting starts again */
	for (size_t i = 0; i < g->n; i++)
		op[n + i] = (struct tare_msr_op){ .kind = TARE_MSR_READ,
						  .msr = g->plan.place[i].fixed
							  ? 0x38d
							  : g->plan.place[i].select };
	ret = registers_run(all.r, g->cpu, op, n + g->n, NULL, err);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < g->n; i++)
		value[i] = op[first + i].value;
	judge(g, op + n, status ? op[first + g->n].value : 0, ns, end && by_select ? 1 << 22 : 0);
	if (end) {
		c->going = others;
		g->running = false;
		g->enabled_ns += ns;
	}
	return 0;
}

static int msr_stop(struct counters *counters, struct tare_error *err)
{
	struct group *g = (struct group *)counters;
	uint64_t value[MSR_EVENTS_MAX];
	int ret = g->running ? look(g, value, true, err) : -EALREADY;

	for (size_t i = 0; ret == 0 && i < g->n; i++)
		g->sum[i] += value[i];
	return ret == -EALREADY ? 0 : ret;
}

static int msr_read(struct counters *counters, struct tare_reading *out, struct tare_error *err)
{
	struct group *g = (struct group *)counters;
	uint64_t value[MSR_EVENTS_MAX] = { 0 }, ns = g->enabled_ns;
	int ret = 0;

	if (g->running) {
		ns += clock_now_ns() - g->began_ns;
		ret = look(g, value, false, err);
	}
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < g->n; i++)
		out[i] = (struct tare_reading){ .raw = g->sum[i] + value[i],
						.enabled_ns = ns,
						.running_ns = ns,
						.quality = g->lost.what[0] ? TARE_UNAVAILABLE
									   : TARE_COUNTED };
	if (g->lost.what[0] && err)
		*err = g->lost;
	return 0;
}

static void msr_close(struct counters *counters)
{
	struct group *g = (struct group *)counters;
	uint64_t value[MSR_EVENTS_MAX];
	struct on_cpu *c;

	if (!g)
		return;
	c = find(g->cpu);
	if (g->running)
		look(g, value, true, NULL);
	c->taken &= ~g->plan.enable;
	if (--c->users == 0)
		restore(c);
	unshare();
	free(g);
}

const struct source source_msr = {
	.name = "msr",
	.registers = true,
	.probe = msr_probe,
	.open = msr_open,
	.start = msr_start,
	.stop = msr_stop,
	.read = msr_read,
	.close = msr_close,
};
