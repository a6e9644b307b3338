/* SPDX-License-Identifier: MIT */
/*
 * The reader of include/tare/access.h: walks a perf.data file and returns one record after another,
 * of any vendor's hardware. SPE records are in AUX data, which is decoded in pieces to bound
 * memory.
 */
#include <stdlib.h>
#include <string.h>
#include "base/set.h"
#include "memory/decode/access.h"
#include "memory/decode/access_running.h"
#include "perfdata/perfdata_features.h"
#include "perfdata/perfdata_precise.h"
#include "perfdata/perfdata_undecoded.h"

enum {
	PIECE = 1 << 20, /* bytes of AUX data decoded at once */
	AUX_TRUNCATED = 1,
	AUX_OVERWRITE = 2,
	AUX_PARTIAL = 4,
	AUX_COLLISION = 8,
	INFO_V1_WORDS = 2,   /* AUXTRACE_INFO for SPE before it described each CPU */
	INFO_HEADER = 4,     /* version, size of this header, PMU type, how many CPUs */
	INFO_CPU_CPU = 1,    /* in each CPU's part: the CPU, */
	INFO_CPU_PARAMS = 2, /* the number of words that follow, */
	INFO_CPU_MIDR = 3,
	INFO_CPU_HEADER = 3, /* words before those counted in `params` */
};

struct task { /* a thread, and its process */
	uint32_t tid, pid;
};

struct interval { /* of the event that writes on a CPU */
	int32_t cpu;
	uint32_t unused;
	uint64_t period;
};

struct core { /* a CPU that SPE data came from */
	int32_t cpu;
	uint32_t known;
	struct spe_codes codes;
};

struct tare_accesses {
	struct perfdata *r;
	struct tare_access_loss loss;
	bool amd, intel;
	const struct perfdata_event *last; /* of the previous sample */
	struct ibs_event last_ibs;
	struct set tasks, cores, intervals;
	struct running running;
	bool spe, one_core; /* AUX data is from SPE; one description applies to every CPU */
	bool has_time;
	uint64_t shift, mult, zero, cycles, mask;
	bool time_short;
	uint64_t period; /* of the last event with AUX data */
	bool periods_differ;

	/* the AUXTRACE being read */
	bool inside;
	struct spe_walk walk;
	uint8_t *piece;
	size_t held;
	uint32_t tid, cpu;
	uint64_t interval;
	const struct spe_codes *codes;
	bool codes_known;
	bool whole;                      /* the piece ends with the data */
	struct perfdata_record piece_of; /* type and offset of the record */
	uint64_t damaged_before;
	/* AUX data in bytes: according to the kernel's records; in the file */
	uint64_t told, there;
};

struct tare_accesses *tare_accesses_open(const char *path, struct tare_error *err)
{
	struct tare_accesses *a = calloc(1, sizeof(*a));
	const char *cpuid;

	if (!a) {
		tare_fail_nomem(err);
		return NULL;
	}
	a->r = perfdata_open(path, NULL, err);
	if (!a->r) {
		free(a);
		return NULL;
	}
	a->loss.broke_off = perfdata_file(a->r)->broke_off;
	cpuid = perfdata_features(a->r)->cpuid;
	a->amd = cpuid && !strncmp(cpuid, "AuthenticAMD", 12);
	a->intel = cpuid && !strncmp(cpuid, "GenuineIntel", 12);
	tare_no_error(err);
	return a;
}

void tare_accesses_close(struct tare_accesses *a)
{
	if (!a)
		return;
	perfdata_close(a->r);
	set_free(&a->tasks);
	set_free(&a->cores);
	set_free(&a->intervals);
	running_free(&a->running);
	free(a->piece);
	free(a);
}

const struct perfdata *accesses_file(const struct tare_accesses *a)
{
	return a->r;
}

const struct tare_access_loss *tare_accesses_loss(const struct tare_accesses *a)
{
	return &a->loss;
}

/* ---- metadata in the file ---- */

static int learn_task(struct tare_accesses *a, uint32_t pid, uint32_t tid, struct tare_error *err)
{
	struct task t = { .tid = tid };
	uint32_t i;

	if (tid == UINT32_MAX)
		return 0;
	i = set_add(&a->tasks, &t, sizeof(t), sizeof(t.tid), NULL);
	if (i == SET_NONE)
		return tare_fail_nomem(err);
	((struct task *)a->tasks.item)[i].pid = pid;
	return 0;
}

static int add_core(struct tare_accesses *a, int32_t cpu, uint64_t midr, struct tare_error *err)
{
	struct core c = { .cpu = cpu };

	c.known = spe_codes_of(midr, &c.codes);
	if (set_add(&a->cores, &c, sizeof(c), sizeof(c.cpu), NULL) == SET_NONE)
		return tare_fail_nomem(err);
	return 0;
}

/* The core types: each CPU's MIDR, or in old recordings the one in the machine's description. */
static int learn_spe(struct tare_accesses *a, const struct perfdata_record *rec,
		     struct tare_error *err)
{
	const uint64_t *w = rec->auxtrace_info.priv;
	uint64_t n = rec->auxtrace_info.n, at, first = 0;
	const char *cpuid = perfdata_features(a->r)->cpuid;
	int ret = 0;

	a->spe = true;
	if (n <= INFO_V1_WORDS) {
		a->one_core = true;
		return cpuid ? add_core(a, -1, strtoull(cpuid, NULL, 16), err) : 0;
	}
	a->one_core = true;
	for (at = w[1] < n && w[1] >= INFO_HEADER ? w[1] : INFO_HEADER;
	     ret == 0 && at + INFO_CPU_MIDR < n;) {
		uint64_t midr = w[at + INFO_CPU_MIDR];

		if (first && first != midr)
			a->one_core = false;
		first = midr;
		ret = add_core(a, (int32_t)w[at + INFO_CPU_CPU], midr, err);
		if (w[at + INFO_CPU_PARAMS] >= n)
			break;
		at += INFO_CPU_HEADER + w[at + INFO_CPU_PARAMS];
	}
	if (ret == 0 && first && a->one_core)
		ret = add_core(a, -1, first, err);
	return ret;
}

/* Each core type has its own SPE and its own event. */
static int learn_interval(struct tare_accesses *a, const struct perfdata_record *rec,
			  struct tare_error *err)
{
	struct interval t = { .cpu = (int32_t)rec->cpu };
	uint32_t i;

	if (!rec->event)
		return 0;
	a->periods_differ |= a->period && a->period != rec->event->attr.period;
	a->period = rec->event->attr.period;
	if (!(rec->has & PD_SAMPLE_CPU))
		return 0;
	i = set_add(&a->intervals, &t, sizeof(t), sizeof(t.cpu), NULL);
	if (i == SET_NONE)
		return tare_fail_nomem(err);
	((struct interval *)a->intervals.item)[i].period = a->period;
	return 0;
}

/* 0: not known. */
static uint64_t interval_of(const struct tare_accesses *a, uint32_t cpu)
{
	struct interval key = { .cpu = (int32_t)cpu };
	uint32_t i = set_find(&a->intervals, &key, sizeof(key), sizeof(key.cpu));

	return i != SET_NONE        ? ((struct interval *)a->intervals.item)[i].period
		: a->periods_differ ? 0
				    : a->period;
}

static int learn(struct tare_accesses *a, const struct perfdata_record *rec, struct tare_error *err)
{
	switch (rec->type) {
	case PD_RECORD_COMM:
		return learn_task(a, rec->comm.pid, rec->comm.tid, err);
	case PD_RECORD_FORK:
		return learn_task(a, rec->task.pid, rec->task.tid, err);
	case PD_RECORD_ITRACE_START:
		return learn_task(a, rec->process.pid, rec->process.tid, err);
	case PD_RECORD_TIME_CONV:
		a->has_time = rec->time_conv.shift < 64;
		a->shift = rec->time_conv.shift;
		a->mult = rec->time_conv.mult;
		a->zero = rec->time_conv.zero;
		a->time_short = rec->time_conv.whole && rec->time_conv.user_time_short;
		a->cycles = rec->time_conv.cycles;
		a->mask = rec->time_conv.mask;
		return 0;
	case PD_RECORD_AUXTRACE_INFO:
		return rec->auxtrace_info.type == PD_AUXTRACE_ARM_SPE ? learn_spe(a, rec, err) : 0;
	case PD_RECORD_SWITCH:
	case PD_RECORD_SWITCH_CPU_WIDE:
		return a->spe ? running_learn(&a->running, rec, err) : 0;
	case PD_RECORD_AUX:
		if (!(rec->aux.flags &
		      AUX_OVERWRITE)) /* a buffer read once counts more than it holds */
			a->told += rec->aux.size;
		a->loss.truncated += (rec->aux.flags & (AUX_TRUNCATED | AUX_PARTIAL)) != 0;
		a->loss.collided += (rec->aux.flags & AUX_COLLISION) != 0;
		return learn_interval(a, rec, err);
	default:
		return 0;
	}
}

/* ---- SPE ---- */

/* Source: Linux, tools/perf/util/tsc.c */
static uint64_t perf_time(const struct tare_accesses *a, uint64_t ticks)
{
	uint64_t quotient, rest;

	if (a->time_short)
		ticks = a->cycles + ((ticks - a->cycles) & a->mask);
	quotient = ticks >> a->shift;
	rest = ticks & (((uint64_t)1 << a->shift) - 1);
	return a->zero + quotient * a->mult + (rest * a->mult >> a->shift);
}

static int begin_spe(struct tare_accesses *a, const struct perfdata_record *rec,
		     struct tare_error *err)
{
	struct core key = { .cpu = (int32_t)rec->auxtrace.cpu };
	uint32_t i = set_find(&a->cores, &key, sizeof(key), sizeof(key.cpu));

	if (i == SET_NONE && a->one_core) {
		key.cpu = -1;
		i = set_find(&a->cores, &key, sizeof(key), sizeof(key.cpu));
	}
	a->codes_known = i != SET_NONE && ((struct core *)a->cores.item)[i].known;
	a->codes = a->codes_known ? &((struct core *)a->cores.item)[i].codes : NULL;
	a->there += rec->auxtrace.size;
	a->piece_of = (struct perfdata_record){ .type = rec->type,
						.offset = rec->offset,
						.file = rec->file };
	a->damaged_before = a->loss.damaged;
	a->tid = rec->auxtrace.tid;
	a->cpu = rec->auxtrace.cpu;
	a->interval = interval_of(a, a->cpu);
	if (!a->piece)
		a->piece = malloc(PIECE);
	if (!a->piece)
		return tare_fail_nomem(err);
	a->inside = true;
	a->whole = false;
	a->held = 0;
	a->walk = (struct spe_walk){ .data = a->piece };
	return 0;
}

/* More data, after the record that the end of the piece cut. */
static int refill(struct tare_accesses *a, struct tare_error *err)
{
	size_t keep = a->walk.tail;
	ssize_t got = 1;

	a->loss.damaged += a->walk.skipped;
	a->loss.without_pc += a->walk.headless;
	if (keep >= PIECE) { /* no record is that long */
		a->loss.damaged += keep;
		keep = 0;
	}
	memmove(a->piece, a->piece + a->walk.n - keep, keep);
	for (a->held = keep; a->held < PIECE && got; a->held += (size_t)got) {
		got = perfdata_payload(a->r, a->piece + a->held, PIECE - a->held, err);
		if (got < 0)
			return (int)got;
	}
	a->whole = got == 0;
	a->walk = (struct spe_walk){ .data = a->piece, .n = a->held };
	return 0;
}

/*
 * The context register that names the thread: EL2's if it is present, since a host kernel at EL2
 * writes that one and EL1's is then a guest's.
 */
static uint32_t by_context(const struct spe_record *r)
{
	static const unsigned order[] = { SPE_EL2, SPE_EL1 };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (r->has & SPE_HAS_CONTEXT(order[i]))
			return r->context[order[i]];
	return UINT32_MAX;
}

/*
 * A per-thread buffer names its thread; for a per-CPU buffer use the context switches or the
 * context register.
 */
static uint32_t whose(const struct tare_accesses *a, const struct spe_record *r,
		      const struct tare_access *x)
{
	uint32_t tid = a->tid;

	if (tid == UINT32_MAX && x->has & TARE_ACCESS_TIME)
		tid = running_at(&a->running, a->cpu, x->time_ns);
	return tid == UINT32_MAX ? by_context(r) : tid;
}

static void finish_spe(struct tare_accesses *a, const struct spe_record *r, struct tare_access *out)
{
	uint32_t tid;

	access_from_spe(r, a->codes, out);
	a->loss.unknown_cpu |= r->has & SPE_HAS_SOURCE && !a->codes_known;
	a->loss.unknown_sources += r->has & SPE_HAS_SOURCE && a->codes_known &&
		(r->source >= SPE_CODES || !a->codes->code[r->source].has);
	if (r->has & SPE_HAS_TIMESTAMP && a->has_time) {
		out->has |= TARE_ACCESS_TIME;
		out->time_ns = perf_time(a, r->timestamp);
	}
	if (a->cpu != UINT32_MAX) {
		out->has |= TARE_ACCESS_CPU;
		out->cpu = (int32_t)a->cpu;
	}
	tid = whose(a, r, out);
	if (tid != UINT32_MAX) {
		struct task key = { .tid = tid };
		uint32_t i = set_find(&a->tasks, &key, sizeof(key), sizeof(key.tid));

		out->has |= TARE_ACCESS_TASK;
		out->tid = tid;
		out->pid = i == SET_NONE ? tid : ((struct task *)a->tasks.item)[i].pid;
	}
	if (a->interval) {
		out->has |= TARE_ACCESS_PERIOD;
		out->period = a->interval;
	}
}

/* 1 and a record, or 0 at the end of this AUX data. */
static int next_spe(struct tare_accesses *a, struct tare_access *out, struct tare_error *err)
{
	struct spe_record r;
	int ret;

	while (!spe_next(&a->walk, &r)) {
		if (a->whole) {
			a->loss.damaged += a->walk.skipped + a->walk.tail;
			a->loss.without_pc += a->walk.headless;
			if (a->loss.damaged > a->damaged_before)
				perfdata_add_undecoded(a->r, &a->piece_of,
						       "outside whole records of Arm SPE",
						       a->loss.damaged - a->damaged_before);
			a->inside = false;
			return 0;
		}
		ret = refill(a, err);
		if (ret < 0)
			return ret;
	}
	finish_spe(a, &r, out);
	return 1;
}

/* ---- samples ---- */

static bool from_sample(struct tare_accesses *a, const struct perfdata_record *rec,
			struct tare_access *out)
{
	struct ibs ibs;
	int ret;

	access_common(rec, out);
	if (rec->event && rec->event != a->last) {
		a->last = rec->event;
		a->last_ibs = perfdata_ibs_event(a->r, rec->event);
	}
	ret = rec->event ? perfdata_ibs_of(&a->last_ibs, rec, &ibs, NULL) : 0;
	if (ret < 0 || (ret > 0 && !access_from_ibs(&ibs, out))) {
		a->loss.unreadable++;
		perfdata_add_undecoded(a->r, rec, "it holds no registers of AMD IBS", 0);
		return false;
	}
	if (ret > 0 || access_from_sample(rec, a->amd, out) ||
	    access_from_branch(rec, a->intel, out))
		return true;
	a->loss.other++;
	return false;
}

static int next(struct tare_accesses *a, struct tare_access *out, struct tare_error *err)
{
	struct perfdata_record rec;
	int ret;

	for (;;) {
		if (a->inside) {
			ret = next_spe(a, out, err);
			if (ret)
				return ret;
		}
		ret = perfdata_next(a->r, &rec, err);
		a->loss.lost = perfdata_loss(a->r)->lost + perfdata_loss(a->r)->lost_samples;
		if (ret <= 0) {
			a->loss.missing = a->spe && a->told > a->there ? a->told - a->there : 0;
			return ret;
		}
		if (rec.bad)
			continue;
		if (rec.type == PD_RECORD_SAMPLE && from_sample(a, &rec, out))
			return 1;
		ret = rec.type == PD_RECORD_AUXTRACE && a->spe ? begin_spe(a, &rec, err)
							       : learn(a, &rec, err);
		if (ret < 0)
			return ret;
	}
}

int tare_accesses_next(struct tare_accesses *a, struct tare_access *out, struct tare_error *err)
{
	return tare_end(next(a, out, err), err);
}
