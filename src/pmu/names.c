/* SPDX-License-Identifier: MIT */
/*
 * The kernel's generic events. Sources: perf_event_open(2), "type" and "config"; perf-list(1); for
 * PAPI's presets, papi_avail(1); for LIKWID's fixed names, its wiki, "Architectures". A preset is
 * listed only if it means the same as the generic event.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "pmu/names.h"
#include "pmu/pmu.h"

static const struct generic_name rows[] = {
	{ "duration_time", NAME_CLOCK, CLOCK_WALL, "ns", "wall time" },
	{ "user_time", NAME_CLOCK, CLOCK_USER, "ns", "CPU time in user mode" },
	{ "system_time", NAME_CLOCK, CLOCK_SYSTEM, "ns", "CPU time in the kernel" },

	{ "task-clock", NAME_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "ns",
	  "time the task was on a CPU" },
	{ "cpu-clock", NAME_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "ns",
	  "time of the CPU's clock while counting" },
	{ "page-faults", NAME_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "",
	  "page faults, minor and major" },
	{ "minor-faults", NAME_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, "",
	  "page faults without disk" },
	{ "major-faults", NAME_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, "",
	  "page faults that waited for a disk" },
	{ "context-switches", NAME_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, "",
	  "times the task left a CPU" },
	{ "cpu-migrations", NAME_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, "",
	  "moves to another CPU" },
	{ "alignment-faults", NAME_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, "",
	  "unaligned accesses the kernel mended; 0 on x86, where hardware does" },
	{ "emulation-faults", NAME_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, "",
	  "instructions the kernel emulated" },
	{ "cgroup-switches", NAME_SOFTWARE, 11 /* PERF_COUNT_SW_CGROUP_SWITCHES, Linux 5.13 */, "",
	  "context switches to another cgroup" },
	{ "bpf-output", NAME_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT, "",
	  "records a BPF program wrote" },
	{ "dummy", NAME_SOFTWARE, PERF_COUNT_SW_DUMMY, "",
	  "counts nothing; carries side-band records" },

	{ "cycles", NAME_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "",
	  "core cycles; they follow the frequency" },
	{ "instructions", NAME_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "", "instructions retired" },
	{ "branches", NAME_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "", "branches retired" },
	{ "branch-misses", NAME_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "",
	  "branches predicted wrongly" },
	{ "cache-references", NAME_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, "",
	  "accesses to a cache, usually the last level; which one differs per CPU" },
	{ "cache-misses", NAME_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "",
	  "misses of the same cache" },
	{ "bus-cycles", NAME_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, "", "bus cycles" },
	{ "ref-cycles", NAME_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, "",
	  "cycles at a constant frequency, while not halted" },
	{ "stalled-cycles-frontend", NAME_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "",
	  "cycles in which no instruction could be issued for want of them" },
	{ "stalled-cycles-backend", NAME_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "",
	  "cycles in which none could be issued for want of resources" },
};

static const struct {
	const char *alias, *name;
} aliases[] = {
	{ "cpu-cycles", "cycles" },
	{ "branch-instructions", "branches" },
	{ "idle-cycles-frontend", "stalled-cycles-frontend" },
	{ "idle-cycles-backend", "stalled-cycles-backend" },
	{ "faults", "page-faults" },
	{ "cs", "context-switches" },
	{ "migrations", "cpu-migrations" },
	/* PAPI presets */
	{ "PAPI_TOT_CYC", "cycles" },
	{ "PAPI_TOT_INS", "instructions" },
	{ "PAPI_BR_INS", "branches" },
	{ "PAPI_BR_MSP", "branch-misses" },
	{ "PAPI_REF_CYC", "ref-cycles" },
	{ "PAPI_L1_LDM", "L1-dcache-load-misses" },
	{ "PAPI_L1_ICM", "L1-icache-load-misses" },
	{ "PAPI_TLB_IM", "iTLB-load-misses" },
	/* LIKWID, Intel and AMD */
	{ "INSTR_RETIRED_ANY", "instructions" },
	{ "CPU_CLK_UNHALTED_CORE", "cycles" },
	{ "CPU_CLK_UNHALTED_REF", "ref-cycles" },
	{ "RETIRED_INSTRUCTIONS", "instructions" },
	{ "CPU_CLOCKS_UNHALTED", "cycles" },
};

/*
 * Spellings of a part, perf's own first. `valid`: operations that the kernel may support for that
 * cache.
 */
static const struct {
	const char *spelling[4];
	unsigned id, valid; /* bit 0 read, 1 write, 2 prefetch */
	const char *about;
} caches[] = {
	{ { "L1-dcache", "l1-d", "l1d", "L1-data" },
	  PERF_COUNT_HW_CACHE_L1D,
	  7,
	  "level 1 data cache" },
	{ { "L1-icache", "l1-i", "l1i", "L1-instruction" },
	  PERF_COUNT_HW_CACHE_L1I,
	  5,
	  "level 1 instruction cache" },
	{ { "LLC", "L2" }, PERF_COUNT_HW_CACHE_LL, 7, "last level cache" },
	{ { "dTLB", "d-tlb", "Data-TLB" }, PERF_COUNT_HW_CACHE_DTLB, 7, "data TLB" },
	{ { "iTLB", "i-tlb", "Instruction-TLB" }, PERF_COUNT_HW_CACHE_ITLB, 1, "instruction TLB" },
	{ { "branch", "bpu", "btb", "bpc" }, PERF_COUNT_HW_CACHE_BPU, 1, "branch predictor" },
	{ { "branches" }, PERF_COUNT_HW_CACHE_BPU, 1, NULL },
	{ { "node" }, PERF_COUNT_HW_CACHE_NODE, 7, "memory of this node" },
};

static const struct {
	const char *spelling[5];
	unsigned id;
	const char *plural, *about; /* as in L1-dcache-loads, L1-dcache-load-misses */
} operations[] = {
	{ { "load", "loads", "read" }, PERF_COUNT_HW_CACHE_OP_READ, "loads", "loads" },
	{ { "store", "stores", "write" }, PERF_COUNT_HW_CACHE_OP_WRITE, "stores", "stores" },
	{ { "prefetch", "prefetches", "speculative-read", "speculative-load" },
	  PERF_COUNT_HW_CACHE_OP_PREFETCH,
	  "prefetches",
	  "prefetches" },
};

static const struct {
	const char *spelling[5];
	unsigned id;
} results[] = {
	{ { "refs", "Reference", "ops", "access" }, PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ { "misses", "miss" }, PERF_COUNT_HW_CACHE_RESULT_MISS },
};

/* If *p starts with one of the spellings, up to '-' or the end, move past it and the dash. */
static bool take_spelling(const char **p, const char *const *spelling, size_t most)
{
	for (size_t i = 0; i < most && spelling[i]; i++) {
		size_t n = strlen(spelling[i]);

		if (!strncmp(*p, spelling[i], n) && ((*p)[n] == '-' || !(*p)[n])) {
			*p += n + ((*p)[n] == '-');
			return true;
		}
	}
	return false;
}

static void compose(size_t cache, size_t op, unsigned result, struct generic_name *out,
		    char room[GENERIC_ROOM])
{
	bool miss = result == PERF_COUNT_HW_CACHE_RESULT_MISS;
	char *about = room + 48;

	if (miss)
		snprintf(room, 48, "%s-%s-misses", caches[cache].spelling[0],
			 operations[op].spelling[0]);
	else
		snprintf(room, 48, "%s-%s", caches[cache].spelling[0], operations[op].plural);
	snprintf(about, GENERIC_ROOM - 48, "%s that %s the %s", operations[op].about,
		 miss ? "miss" : "reach", caches[cache].about);
	*out = (struct generic_name){
		.name = room,
		.type = NAME_CACHE,
		.config = caches[cache].id | (uint64_t)operations[op].id << 8 |
			(uint64_t)result << 16,
		.unit = "",
		.about = about,
	};
}

/* cache[-operation][-result]; operation and result in any order; default load and access. */
static bool cache_find(const char *name, struct generic_name *out, char room[GENERIC_ROOM])
{
	for (size_t c = 0; c < ARRAY_SIZE(caches); c++) {
		const char *p = name;
		size_t op = ARRAY_SIZE(operations), result = ARRAY_SIZE(results);

		if (!take_spelling(&p, caches[c].spelling, ARRAY_SIZE(caches[c].spelling)))
			continue;
		for (int part = 0; part < 2 && *p; part++) {
			for (size_t i = 0;
			     op == ARRAY_SIZE(operations) && i < ARRAY_SIZE(operations); i++)
				if (take_spelling(&p, operations[i].spelling,
						  ARRAY_SIZE(operations[i].spelling))) {
					op = i;
					goto next;
				}
			for (size_t i = 0; result == ARRAY_SIZE(results) && i < ARRAY_SIZE(results);
			     i++)
				if (take_spelling(&p, results[i].spelling,
						  ARRAY_SIZE(results[i].spelling))) {
					result = i;
					break;
				}
		next:;
		}
		if (*p || p[-1] == '-')
			continue;
		if (op == ARRAY_SIZE(operations))
			op = 0;
		if (!(caches[c].valid >> op & 1))
			return false;
		compose(caches[c].about ? c : c - 1, op,
			result == ARRAY_SIZE(results) ? 0 : results[result].id, out, room);
		return true;
	}
	return false;
}

bool generic_find(const char *name, struct generic_name *out, char room[GENERIC_ROOM])
{
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
		if (!strcmp(aliases[i].alias, name)) {
			name = aliases[i].name;
			break;
		}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, name)) {
			*out = rows[i];
			return true;
		}
	return cache_find(name, out, room);
}

bool generic_nth(size_t i, struct generic_name *out, char room[GENERIC_ROOM])
{
	if (i < ARRAY_SIZE(rows)) {
		*out = rows[i];
		return true;
	}
	i -= ARRAY_SIZE(rows);
	for (size_t c = 0; c < ARRAY_SIZE(caches); c++)
		for (size_t op = 0; caches[c].about && op < ARRAY_SIZE(operations); op++)
			for (unsigned r = 0; r < 2 && (caches[c].valid >> op & 1); r++)
				if (i-- == 0) {
					compose(c, op, r, out, room);
					return true;
				}
	return false;
}

const char *generic_alias(size_t i)
{
	return i < ARRAY_SIZE(aliases) ? aliases[i].alias : NULL;
}
