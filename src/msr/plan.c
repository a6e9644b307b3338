/* SPDX-License-Identifier: MIT */
/* Assigns a counter to each event, then generates the register writes. */
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "msr/plan.h"

#define BIT(n) (UINT64_C(1) << (n))

enum {
	FIXED = 32, /* index of the first fixed counter's bit */
	SLOTS = 64,
	PERFEVTSEL = 0x186,
	PMC = 0xc1,
	A_PMC = 0x4c1,
	FIXED_CTR = 0x309,
	FIXED_CTR_CTRL = 0x38d,
	GLOBAL_STATUS = 0x38e,
	GLOBAL_CTRL = 0x38f,
	GLOBAL_OVF_CTRL = 0x390,
};

#define SELECT_USR BIT(16)
#define SELECT_OS  BIT(17)
#define SELECT_INT BIT(20)
#define SELECT_EN  BIT(22)

/* Event, umask, edge, inv, cmask; in_tx and in_tx_cp. */
#define INTEL_CONFIG UINT64_C(0x3ff84ffff)
/* The same; event bits 11:8 are in 35:32; guest and host only. */
#define AMD_CONFIG UINT64_C(0x30fff84ffff)

/*
 * 4 bits per fixed counter: OS, USR, ANY, PMI. Source: Intel SDM vol. 3B, figure "Layout of
 * IA32_FIXED_CTR_CTRL".
 */
#define FIXED_CTRL(counter, bits) ((uint64_t)(bits) << (4 * (counter)))
enum { FIXED_OS = 1, FIXED_USR = 2, FIXED_PMI = 8 };

/*
 * Events of the fixed counters, and whether a programmable one can count them, too. Source: ibid.,
 * "Fixed-function".
 */
static const struct {
	uint64_t config;
	unsigned counter;
	bool only;
} fixed_events[] = {
	{ 0x00c0, 0, false }, { 0x003c, 1, false }, { 0x0100, 0, true },
	{ 0x0300, 2, true },  { 0x0400, 3, true },
};

const char *msr_phase_name(enum msr_phase phase)
{
	static const char *const names[] = { "save", "quiet", "configure", "zero",   "start",
					     "stop", "read",  "check",     "restore" };

	return phase < MSR_PHASES ? names[phase] : "";
}

static bool has_global(const struct msr_cpu *cpu)
{
	return cpu->version >= 2;
}

static bool is_intel(const struct msr_cpu *cpu)
{
	return cpu->maker == TARE_MSR_INTEL;
}

static uint32_t select_of(const struct msr_cpu *cpu, unsigned i)
{
	return is_intel(cpu)        ? PERFEVTSEL + i
		: cpu->version == 0 ? 0xc0010000 + i
				    : 0xc0010200 + 2 * i;
}

static uint32_t counter_of(const struct msr_cpu *cpu, unsigned i)
{
	/*
	 * A counter has two names: writing one sets all its bits, so it can be restored; writing
	 * the other sets 32 bits, sign-extended.
	 */
	return is_intel(cpu)        ? (cpu->full_width ? A_PMC : PMC) + i
		: cpu->version == 0 ? 0xc0010004 + i
				    : 0xc0010201 + 2 * i;
}

/* ---- which counter ---- */

static bool fixed_event(uint64_t config)
{
	for (size_t i = 0; i < ARRAY_SIZE(fixed_events); i++)
		if (fixed_events[i].config == config)
			return true;
	return false;
}

/* Plan nothing that would fault or that the list of registers forbids. */
static int check_extra(const struct msr_cpu *cpu, const struct msr_event *ev,
		       struct tare_error *err)
{
	const struct msr_extra *extra = msr_extra_find(cpu->extras, ev->config);
	const struct tare_msr_op op = { .msr = extra ? extra->msr : 0,
					.kind = TARE_MSR_WRITE,
					.value = ev->extra };
	struct tare_error why = TARE_ERROR_INIT;

	if (is_intel(cpu) && !cpu->extras && (ev->extra || msr_extra_anywhere(ev->config))) {
		tare_fail(err, ENODATA, "%s: the second register that it needs on %s is unknown",
			  ev->name, cpu->name);
		tare_hint(err, "the kernel may know it: --engine perf");
		return -ENODATA;
	}
	if (!extra && ev->extra)
		return tare_fail(err, EINVAL,
				 "%s: no register of %s takes the term of 0x%llx for this event",
				 ev->name, cpu->name, (unsigned long long)ev->extra);
	if (!extra)
		return 0;
	if (!extra->msr)
		return tare_fail(err, EINVAL, "%s needs PEBS (%s), which is left to perf", ev->name,
				 extra->term);
	if (!ev->extra)
		return tare_fail(err, EINVAL, "%s needs %s=: without it the event is undefined",
				 ev->name, extra->term);
	if (ev->extra & ~extra->mask)
		return tare_fail(err, EINVAL, "%s: %s of %s has no bits 0x%llx", ev->name,
				 extra->term, cpu->name,
				 (unsigned long long)(ev->extra & ~extra->mask));
	return msr_op_check(&op, cpu->maker, &why) < 0
		? tare_fail(err, EINVAL, "%s: %s", ev->name, why.what)
		: 0;
}

static int check_event(const struct msr_cpu *cpu, const struct msr_event *ev,
		       struct tare_error *err)
{
	uint64_t bad = ev->config & ~(is_intel(cpu) ? INTEL_CONFIG : AMD_CONFIG);
	unsigned width = cpu->width < cpu->fixed_width || !cpu->fixed ? cpu->width
								      : cpu->fixed_width;

	if (!ev->user && !ev->kernel)
		return tare_fail(
			err, EINVAL,
			"%s counts neither user nor kernel mode: there is nothing to count",
			ev->name);
	if (bad & BIT(21)) {
		tare_fail(
			err, EINVAL,
			"%s: counting for both threads of a core (any) is not supported: newer CPUs lack it",
			ev->name);
		return -EINVAL;
	}
	if (bad) {
		tare_fail(err, EINVAL, "%s: config bits 0x%llx are not part of an event of %s",
			  ev->name, (unsigned long long)bad, is_intel(cpu) ? "Intel's" : "AMD's");
		tare_hint(
			err,
			"modes are given as :u and :k; enabling and interrupts are the plan's own");
		return -EINVAL;
	}
	/*
	 * perf's own codes: from 0x8000 on shares of the slots, 0x0100 to 0x0400 fixed counters.
	 * Source: Linux, INTEL_TD_METRIC_*.
	 */
	if (is_intel(cpu) && (ev->config & 0x80ff) == 0x8000) {
		tare_fail(
			err, EINVAL,
			"%s is a share of the slots: MSR_PERF_METRICS contains it, in 255ths, and no counter counts it",
			ev->name);
		tare_hint(
			err,
			"slots are counted (r0400); their shares are left to perf: --engine perf");
		return -EINVAL;
	}
	if (is_intel(cpu) && (ev->config & 0xff) == 0 && !fixed_event(ev->config))
		return tare_fail(err, EINVAL, "%s is no event of a counter: its code is 0",
				 ev->name);
	if (ev->period && ev->period >= BIT(width - 1))
		return tare_fail(err, ERANGE,
				 "%s: a period of %llu does not fit a counter of %u bits", ev->name,
				 (unsigned long long)ev->period, width);
	return check_extra(cpu, ev, err);
}

static uint32_t extra_register(const struct msr_cpu *cpu, const struct msr_event *ev)
{
	const struct msr_extra *extra = ev->extra ? msr_extra_find(cpu->extras, ev->config) : NULL;

	return extra ? extra->msr : 0;
}

/* A programmable counter can only be set to more than 32 bits through IA32_A_PMCx. */
static bool beyond_32_bits(const struct msr_cpu *cpu, const struct msr_event *ev)
{
	return is_intel(cpu) && !cpu->full_width && ev->period > BIT(31);
}

static int no_counter(const struct msr_cpu *cpu, const struct msr_event *ev, struct tare_error *err)
{
	tare_fail(err, ENOSPC, "no counter of %s can count %s", cpu->name, ev->name);
	for (size_t i = 0; is_intel(cpu) && i < ARRAY_SIZE(fixed_events); i++)
		if (fixed_events[i].config == ev->config && fixed_events[i].only)
			tare_hint(
				err,
				"only fixed counter %u counts it%s, and this CPU has %u fixed ones",
				fixed_events[i].counter,
				fixed_events[i].counter == 3 ? " (Ice Lake and later)" : "",
				cpu->fixed);
	if (beyond_32_bits(cpu, ev))
		tare_hint(
			err,
			"it starts a programmable counter at -period, and this CPU sets those to 32 bits: a period of at most %llu fits",
			(unsigned long long)BIT(31));
	else if (ev->legal && !(ev->legal & (BIT(cpu->programmable) - 1)))
		tare_hint(
			err,
			"it is counted by counters that this CPU, with %u programmable and %u fixed ones, does not have",
			cpu->programmable, cpu->fixed);
	return -ENOSPC;
}

static uint64_t counters_for(const struct msr_cpu *cpu, const struct msr_event *ev)
{
	uint64_t any = BIT(cpu->programmable) - 1, fixed = 0;

	for (size_t i = 0; is_intel(cpu) && i < ARRAY_SIZE(fixed_events); i++)
		if (ev->config == fixed_events[i].config) {
			if (fixed_events[i].counter < cpu->fixed)
				fixed = BIT(FIXED + fixed_events[i].counter);
			if (fixed_events[i].only)
				return fixed;
		}
	any &= ev->legal ? ev->legal : any;
	if (beyond_32_bits(cpu, ev))
		any = 0;
	return any | fixed;
}

struct match {
	uint64_t may[MSR_EVENTS_MAX];
	int at[SLOTS]; /* the event on it, or -1 */
};

/*
 * A free counter, fixed ones and low ones first; otherwise one with an event that can use another
 * counter.
 */
static bool find_place(struct match *m, int event, uint64_t *seen)
{
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < SLOTS; i++) {
			int c = (i + FIXED) % SLOTS;

			if (!(m->may[event] & BIT(c)) || (*seen & BIT(c)) ||
			    (pass == 0 && m->at[c] >= 0))
				continue;
			*seen |= BIT(c);
			if (m->at[c] < 0 || find_place(m, m->at[c], seen)) {
				m->at[c] = event;
				return true;
			}
		}
	return false;
}

/* "counters 0 to 3", "fixed counter 1", "counters 0, 1 and fixed counter 0" */
static void put_counters(struct text *out, uint64_t set)
{
	for (int kind = 0; kind < 2; kind++) {
		uint64_t of = kind ? set >> FIXED : set & (BIT(FIXED) - 1);
		const char *before = kind && set & (BIT(FIXED) - 1) ? " and fixed counter"
			: kind                                      ? "fixed counter"
								    : "counter";

		if (!of)
			continue;
		text_add(out, "%s%s ", before, of & (of - 1) ? "s" : "");
		for (int c = 0; c < FIXED; c++) {
			int last = c;

			if (!(of & BIT(c)))
				continue;
			while (last + 1 < FIXED && of & BIT(last + 1))
				last++;
			text_add(out, c == __builtin_ctzll(of) ? "" : ", ");
			text_add(out, last > c ? "%d to %d" : "%d", c, last);
			c = last;
		}
	}
}

/*
 * The search for a counter of event i reached the counters in `seen`, and no free one. The events
 * on these counters and event i can be counted on no other counters (Hall's theorem): there are
 * more events than counters.
 */
static int none_left(const struct match *m, const struct msr_cpu *cpu, const struct msr_event *ev,
		     size_t i, uint64_t seen, uint64_t taken, struct tare_error *err)
{
	uint64_t all = (BIT(cpu->programmable) - 1) | (BIT(cpu->fixed) - 1) << FIXED;
	struct text names = { 0 }, where = { 0 };

	/* fixed counters only count their own events */
	if (seen == all || seen == BIT(cpu->programmable) - 1) {
		tare_fail(err, ENOSPC,
			  "no counter is left for %s: %s has %u programmable and %u fixed ones",
			  ev[i].name, cpu->name, cpu->programmable, cpu->fixed);
	} else {
		put_counters(&where, seen ? seen : counters_for(cpu, &ev[i]));
		for (int c = 0; c < SLOTS; c++)
			if (seen & BIT(c) && m->at[c] >= 0)
				text_add(&names, ", %s", ev[m->at[c]].name);
		text_add(&where, " only");
		if (taken) {
			text_add(&where, "; other groups hold ");
			put_counters(&where, taken);
		}
		tare_fail(err, ENOSPC,
			  "no counter is left for %.40s: %.60s counts %.40s%.80s on %.90s",
			  ev[i].name, cpu->name, ev[i].name, names.s ? names.s : "",
			  where.s ? where.s : "");
	}
	tare_hint(err, "registers are not multiplexed: count fewer events, or in several runs");
	text_free(&names);
	text_free(&where);
	return -ENOSPC;
}

static int assign(struct msr_plan *p, const struct msr_cpu *cpu, const struct msr_event *ev,
		  size_t n, uint64_t taken, struct tare_error *err)
{
	struct match m;

	for (int c = 0; c < SLOTS; c++)
		m.at[c] = -1;
	for (size_t i = 0; i < n; i++) {
		uint64_t seen = 0, may = counters_for(cpu, &ev[i]);

		m.may[i] = may & ~taken;
		if (!may)
			return no_counter(cpu, &ev[i], err);
		if (find_place(&m, (int)i, &seen))
			continue;
		return none_left(&m, cpu, ev, i, seen, taken, err);
	}
	for (int c = 0; c < SLOTS; c++)
		if (m.at[c] >= 0) {
			struct msr_place *at = &p->place[m.at[c]];

			at->fixed = c >= FIXED;
			at->index = (unsigned)c % FIXED;
			p->enable |= BIT(c);
		}
	return 0;
}

/* ---- the operations ---- */

static void add_step(struct msr_plan *p, enum msr_phase phase, uint16_t kind, uint32_t msr,
		     uint64_t value)
{
	if (p->n < MSR_STEPS_MAX) /* 12 events need fewer than 130 */
		p->step[p->n++] = (struct msr_step){
			.phase = phase, .op = { .msr = msr, .kind = kind, .value = value }
		};
}

static void place(struct msr_plan *p, const struct msr_cpu *cpu, const struct msr_event *ev,
		  struct msr_place *at)
{
	if (at->fixed) {
		at->counter = FIXED_CTR + at->index;
		at->select = 0;
		at->value = FIXED_CTRL(at->index,
				       (ev->kernel ? FIXED_OS : 0) | (ev->user ? FIXED_USR : 0) |
					       (ev->period ? FIXED_PMI : 0));
		p->fixed_ctrl |= at->value;
		return;
	}
	at->counter = counter_of(cpu, at->index);
	at->select = select_of(cpu, at->index);
	at->value = ev->config | (ev->user ? SELECT_USR : 0) | (ev->kernel ? SELECT_OS : 0) |
		(ev->period ? SELECT_INT : 0) | SELECT_EN;
}

/* Two events may share an extra register only if they need the same value. */
static int extras_agree(const struct msr_cpu *cpu, const struct msr_event *ev, size_t n,
			struct tare_error *err)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			uint32_t msr = extra_register(cpu, &ev[i]);
			const struct msr_extra *other;

			if (!msr || msr != extra_register(cpu, &ev[k]) ||
			    ev[i].extra == ev[k].extra)
				continue;
			tare_fail(err, ENOSPC, "%s and %s want different values in register 0x%x",
				  ev[k].name, ev[i].name, msr);
			other = msr_extra_beside(cpu->extras,
						 msr_extra_find(cpu->extras, ev[i].config));
			if (other)
				tare_hint(
					err,
					"count them in two runs, or one of them as event=0x%x,umask=0x%x",
					other->code & 0xff, other->code >> 8);
			else
				tare_hint(err, "count them in two runs");
			return -ENOSPC;
		}
	return 0;
}

static void selects(struct msr_plan *p, enum msr_phase phase, uint64_t with)
{
	for (size_t i = 0; i < p->n_events; i++)
		if (!p->place[i].fixed)
			add_step(p, phase, TARE_MSR_WRITE, p->place[i].select,
				 p->place[i].value & with);
}

static void extra_registers(struct msr_plan *p, const struct msr_cpu *cpu,
			    const struct msr_event *ev)
{
	for (size_t i = 0; i < p->n_events; i++) {
		uint32_t msr = extra_register(cpu, &ev[i]);
		bool done = false;

		for (size_t k = 0; k < i; k++)
			done |= msr && msr == extra_register(cpu, &ev[k]);
		if (msr && !done)
			add_step(p, MSR_CONFIGURE, TARE_MSR_WRITE, msr, ev[i].extra);
	}
}

static void zero(struct msr_plan *p, const struct msr_cpu *cpu, const struct msr_event *ev)
{
	for (size_t i = 0; i < p->n_events; i++) {
		unsigned width = p->place[i].fixed ? cpu->fixed_width : cpu->width;

		add_step(p, MSR_ZERO, TARE_MSR_WRITE, p->place[i].counter,
			 -ev[i].period & (BIT(width) - 1));
	}
}

static uint32_t global_ctrl(const struct msr_cpu *cpu)
{
	return is_intel(cpu) ? GLOBAL_CTRL : 0xc0000301;
}

static uint32_t global_clear(const struct msr_cpu *cpu)
{
	return is_intel(cpu) ? GLOBAL_OVF_CTRL : 0xc0000302;
}

/* The phases from quiet to check. */
static void middle(struct msr_plan *p, const struct msr_cpu *cpu, const struct msr_event *ev)
{
	bool global = has_global(cpu);

	if (global)
		add_step(p, MSR_QUIET, TARE_MSR_WRITE, global_ctrl(cpu), 0);
	else
		selects(p, MSR_QUIET, 0);
	extra_registers(p, cpu, ev);
	if (global)
		selects(p, MSR_CONFIGURE, UINT64_MAX);
	if (p->fixed_ctrl)
		add_step(p, MSR_CONFIGURE, TARE_MSR_WRITE, FIXED_CTR_CTRL, p->fixed_ctrl);
	zero(p, cpu, ev);
	if (global)
		add_step(p, MSR_ZERO, TARE_MSR_WRITE, global_clear(cpu), p->enable);
	if (global)
		add_step(p, MSR_START, TARE_MSR_WRITE, global_ctrl(cpu), p->enable);
	else
		selects(p, MSR_START, UINT64_MAX);
	if (global)
		add_step(p, MSR_STOP, TARE_MSR_WRITE, global_ctrl(cpu), 0);
	else
		selects(p, MSR_STOP, ~SELECT_EN);
	for (size_t i = 0; i < p->n_events; i++) {
		add_step(p, MSR_READ, TARE_MSR_READ, p->place[i].counter, 0);
		p->step[p->n - 1].event = (unsigned)i;
	}
	if (global) {
		add_step(p, MSR_CHECK, TARE_MSR_READ, is_intel(cpu) ? GLOBAL_STATUS : 0xc0000300,
			 0);
		add_step(p, MSR_CHECK, TARE_MSR_WRITE, global_clear(cpu), p->enable);
	}
}

/*
 * Registers that these phases write and that keep their value, each once, in order of their first
 * write.
 */
static size_t written(const struct msr_plan *p, const struct msr_cpu *cpu,
		      uint32_t out[MSR_STEPS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct tare_msr_op *op = &p->step[i].op;
		const struct msr_row *row = msr_row_of(op->msr, cpu->maker);
		size_t k = 0;

		if (op->kind != TARE_MSR_WRITE || (row && row->flags & TARE_MSR_CLEAR))
			continue;
		while (k < n && out[k] != op->msr)
			k++;
		if (k == n)
			out[n++] = op->msr;
	}
	return n;
}

/*
 * First the global control, with 0; then all others, newest first; the global control last. The
 * module does the same on close.
 */
static void restore(struct msr_plan *p, const struct msr_cpu *cpu, const uint32_t *msr, size_t n)
{
	uint32_t gate = has_global(cpu) ? global_ctrl(cpu) : 0;

	if (gate)
		add_step(p, MSR_RESTORE, TARE_MSR_WRITE, gate, 0);
	for (size_t i = n; i-- > 0;)
		if (msr[i] != gate)
			add_step(p, MSR_RESTORE, TARE_MSR_WRITE, msr[i], 0);
	if (gate)
		add_step(p, MSR_RESTORE, TARE_MSR_WRITE, gate, 0);
}

int msr_plan_make(struct msr_plan *out, const struct msr_cpu *cpu, const struct msr_event *ev,
		  size_t n, uint64_t taken, struct tare_error *err)
{
	uint32_t msr[MSR_STEPS_MAX];
	struct msr_plan core = { .n_events = n };
	size_t n_msr;
	int ret;

	*out = core;
	if (n == 0 || n > MSR_EVENTS_MAX)
		return tare_fail(err, n ? ENOSPC : EINVAL,
				 n ? "%zu events: no CPU has counters for more than %d at one time"
				   : "%zu events: there is nothing to count (at most %d)",
				 n, MSR_EVENTS_MAX);
	for (size_t i = 0; i < n; i++) {
		ret = check_event(cpu, &ev[i], err);
		if (ret < 0)
			return ret;
	}
	ret = extras_agree(cpu, ev, n, err);
	if (ret == 0)
		ret = assign(&core, cpu, ev, n, taken, err);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < n; i++)
		place(&core, cpu, &ev[i], &core.place[i]);
	core.status = has_global(cpu);
	core.wrap = BIT(cpu->width);
	middle(&core, cpu, ev);
	n_msr = written(&core, cpu, msr);

	/* Saving comes first. */
	*out = core;
	out->n = 0;
	for (size_t i = 0; i < n_msr; i++)
		add_step(out, MSR_SAVE, TARE_MSR_READ, msr[i], 0);
	for (size_t i = 0; i < core.n && out->n < MSR_STEPS_MAX; i++)
		out->step[out->n++] = core.step[i];
	restore(out, cpu, msr, n_msr);
	return 0;
}

size_t msr_plan_ops(const struct msr_plan *p, enum msr_phase first, enum msr_phase last,
		    struct tare_msr_op *out, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		if (p->step[i].phase >= first && p->step[i].phase <= last && n < room)
			out[n++] = p->step[i].op;
	return n;
}

void msr_plan_beside(struct tare_msr_op *op, size_t n, const struct msr_cpu *cpu,
		     const struct msr_beside *others)
{
	for (size_t i = 0; i < n; i++) {
		if (op[i].kind != TARE_MSR_WRITE)
			continue;
		if (has_global(cpu) && op[i].msr == global_ctrl(cpu))
			op[i].value |= others->enabled;
		if (is_intel(cpu) && op[i].msr == FIXED_CTR_CTRL)
			op[i].value |= others->fixed_ctrl;
	}
}

void msr_plan_saved(struct tare_msr_op *restore, size_t n, const struct tare_msr_op *saved,
		    size_t n_saved)
{
	for (size_t i = 0; i < n; i++) {
		/* the global control's first write is as planned, its last one restores it */
		bool again = false;

		for (size_t k = i + 1; k < n; k++)
			again |= restore[k].msr == restore[i].msr;
		for (size_t k = 0; !again && k < n_saved; k++)
			if (saved[k].msr == restore[i].msr)
				restore[i].value = saved[k].value;
	}
}

bool msr_step_is_saved(const struct msr_plan *p, size_t step)
{
	if (p->step[step].phase != MSR_RESTORE)
		return false;
	for (size_t k = step + 1; k < p->n; k++)
		if (p->step[k].op.msr == p->step[step].op.msr)
			return false;
	return true;
}
