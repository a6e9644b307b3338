/* SPDX-License-Identifier: MIT */
/*
 * Source of every layout: perf.data-file-format.txt of the kernel's tools, and the output of perf
 * 6.1.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "arch/cpu.h"
#include "base/file.h"
#include "perfdata/perfdata_format.h"
#include "sample/perfdata_write_features.h"
#include "perfdata/tracing_data.h"
#include "base/topology.h"

enum { STRING_ALIGN = 64, CPUINFO_MOST = 16 << 20 };

void feature_u32(struct text *out, uint32_t v)
{
	text_put(out, (char *)&v, sizeof(v));
}

void feature_u64(struct text *out, uint64_t v)
{
	text_put(out, (char *)&v, sizeof(v));
}

bool feature_string(struct text *out, const char *s)
{
	static const char zeros[STRING_ALIGN];
	size_t n = strlen(s), padded = (n + STRING_ALIGN) / STRING_ALIGN * STRING_ALIGN;

	feature_u32(out, (uint32_t)padded);
	text_put(out, s, n);
	text_put(out, zeros, padded - n);
	return true;
}

static bool tracing_data(struct text *out, const struct feature_source *from)
{
	uint64_t *ids = calloc(from->n_events + 1, sizeof(*ids));
	size_t n = 0;
	bool known;

	for (size_t i = 0; ids && i < from->n_events; i++) {
		const struct perf_event_attr *a = &from->event[i].attr;
		size_t k = 0;

		while (k < n && ids[k] != a->config)
			k++;
		if (a->type == PERF_TYPE_TRACEPOINT && k == n)
			ids[n++] = a->config;
	}
	known = n && tracing_data_put(out, from->root, ids, n, from->no_fields) == 0;
	free(ids);
	return known;
}

static bool build_ids(struct text *out, const struct feature_source *from)
{
	if (from->mapped)
		mapped_write(out, from->mapped, from->root);
	return out->len > 0;
}

static bool hostname(struct text *out, const struct feature_source *from)
{
	struct utsname u;

	(void)from;
	return uname(&u) == 0 && feature_string(out, u.nodename);
}

static bool os_release(struct text *out, const struct feature_source *from)
{
	struct utsname u;

	(void)from;
	return uname(&u) == 0 && feature_string(out, u.release);
}

static bool version(struct text *out, const struct feature_source *from)
{
	(void)from;
	return feature_string(out, "tare " TARE_VERSION);
}

static bool arch(struct text *out, const struct feature_source *from)
{
	struct utsname u;

	(void)from;
	return uname(&u) == 0 && feature_string(out, u.machine);
}

static bool nr_cpus(struct text *out, const struct feature_source *from)
{
	(void)from;
	feature_u32(
		out,
		(uint32_t)sysconf(
			_SC_NPROCESSORS_CONF)); /* available is first, whatever the document says */
	feature_u32(out, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	return true;
}

/* "model name	: AMD EPYC" -> value; only the first CPU's. */
static bool info_line(const char *all, const char *key, char *out, size_t room)
{
	size_t n = strlen(key);

	for (const char *p = all; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
		const char *colon = strchr(p, ':');

		if (strncmp(p, key, n) || !colon || p + n + strspn(p + n, " \t") != colon)
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		snprintf(out, room, "%.*s", (int)strcspn(colon, "\n"), colon);
		return true;
	}
	return false;
}

static bool cpu_desc(struct text *out, const struct feature_source *from)
{
	struct cpu_description cpu;
	char *all, model[128] = "";

	if (from->cpu_model)
		return feature_string(out, from->cpu_model);
	if (file_read(from->root, "/proc/cpuinfo", CPUINFO_MOST, &all, NULL, NULL) == 0) {
		info_line(all, "model name", model, sizeof(model));
		free(all);
	}
	if (!model[0]) {
		cpu_describe(&cpu);
		snprintf(model, sizeof(model), "%s", cpu.model);
	}
	return model[0] && feature_string(out, model);
}

bool feature_cpuid(char *out, size_t room, const char *root)
{
	static const char *const keys[] = { "vendor_id", "cpu family", "model", "stepping" };
	char value[4][64], *all;
	bool known = true;

	if (file_line(root, "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", out, room,
		      NULL) == 0)
		return true;
	if (file_read(root, "/proc/cpuinfo", CPUINFO_MOST, &all, NULL, NULL) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		known &= info_line(all, keys[i], value[i], sizeof(value[i]));
	free(all);
	return known &&
		snprintf(out, room, "%s,%s,%s,%s", value[0], value[1], value[2], value[3]) <
		(int)room;
}

static bool cpuid(struct text *out, const struct feature_source *from)
{
	char id[300];

	return !from->cpu_model && feature_cpuid(id, sizeof(id), from->root) &&
		feature_string(out, id);
}

static bool total_mem(struct text *out, const struct feature_source *from)
{
	char *all, kb[64];
	bool known;

	if (file_read(from->root, "/proc/meminfo", CPUINFO_MOST, &all, NULL, NULL) < 0)
		return false;
	known = info_line(all, "MemTotal", kb, sizeof(kb));
	free(all);
	if (known)
		feature_u64(out, strtoull(kb, NULL, 10));
	return known;
}

static bool cmdline(struct text *out, const struct feature_source *from)
{
	uint32_t n = 0;

	while (from->argv && from->argv[n])
		n++;
	if (!n)
		return false;
	feature_u32(out, n);
	for (uint32_t i = 0; i < n; i++)
		feature_string(out, from->argv[i]);
	return true;
}

static bool event_desc(struct text *out, const struct feature_source *from)
{
	feature_u32(out, (uint32_t)from->n_events);
	feature_u32(out, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < from->n_events; i++) {
		const struct written_event *e = &from->event[i];

		text_put(out, (const char *)&e->attr, sizeof(e->attr));
		feature_u32(out, (uint32_t)e->n_ids);
		feature_string(out, e->name);
		text_put(out, (const char *)e->ids, e->n_ids * sizeof(uint64_t));
	}
	return true;
}

/* CPU sets that share a core or a package, each once, as "0-1". */
static void put_siblings(struct text *out, const char *root, const struct cpus *online,
			 const char *file)
{
	char **set = calloc(online->n + 1, sizeof(*set)), path[128], line[256];
	uint32_t n = 0;

	for (size_t i = 0; set && i < online->n; i++) {
		bool known = false;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s",
			 online->cpu[i], file);
		if (file_line(root, path, line, sizeof(line), NULL) < 0)
			continue;
		for (uint32_t k = 0; k < n; k++)
			known |= !strcmp(set[k], line);
		if (!known && (set[n] = strdup(line)))
			n++;
	}
	feature_u32(out, n);
	for (uint32_t k = 0; k < n; k++) {
		feature_string(out, set[k]);
		free(set[k]);
	}
	free(set);
}

/*
 * CPUs that share a package, then a core; then core and package of each CPU; then the same for
 * dies.
 */
static bool cpu_topology(struct text *out, const struct feature_source *from)
{
	struct cpus online;
	struct cpu_place *place = NULL;
	size_t n = 0;
	bool known = cpus_online(from->root, &online, NULL) == 0;

	if (!known)
		return false;
	known = topology_read(from->root, &online, &place, &n, NULL) == 0;
	if (known) {
		put_siblings(out, from->root, &online, "core_siblings_list");
		put_siblings(out, from->root, &online, "thread_siblings_list");
		for (long i = 0; i < sysconf(_SC_NPROCESSORS_CONF); i++) {
			feature_u32(out, (size_t)i < n ? (uint32_t)place[i].core : (uint32_t)-1);
			feature_u32(out, (size_t)i < n ? (uint32_t)place[i].socket : (uint32_t)-1);
		}
		if (n && place[0].die >= 0) {
			put_siblings(out, from->root, &online, "die_cpus_list");
			for (long i = 0; i < sysconf(_SC_NPROCESSORS_CONF); i++)
				feature_u32(out,
					    (size_t)i < n ? (uint32_t)place[i].die : (uint32_t)-1);
		}
	}
	free(place);
	cpus_free(&online);
	return known;
}

/* "1:software": PMU type numbers differ from boot to boot. */
static bool pmu_mappings(struct text *out, const struct feature_source *from)
{
	char path[PATH_MAX], type[32];
	uint32_t n = 0;
	struct text rows = { 0 };
	struct dirent *d;

	snprintf(path, sizeof(path), "%s/sys/bus/event_source/devices",
		 from->root ? from->root : "");

	DIR *dir = opendir(path);

	while (dir && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", d->d_name);
		if (d->d_name[0] == '.' ||
		    file_line(from->root, path, type, sizeof(type), NULL) < 0)
			continue;
		feature_u32(&rows, (uint32_t)strtoul(type, NULL, 10));
		feature_string(&rows, d->d_name);
		n++;
	}
	if (dir)
		closedir(dir);
	feature_u32(out, n);
	text_put(out, rows.s ? rows.s : "", rows.len);
	text_free(&rows);
	return n > 0;
}

/* Members directly after their leader: readers rely on that. */
static uint32_t members(const struct feature_source *from, size_t leader)
{
	uint32_t n = 1;

	while (leader + n < from->n_events && from->event[leader + n].leader == leader)
		n++;
	return n;
}

static bool group_desc(struct text *out, const struct feature_source *from)
{
	struct text rows = { 0 };
	uint32_t groups = 0;

	for (size_t i = 0; i < from->n_events; i++) {
		if (from->event[i].leader != i || members(from, i) < 2)
			continue;
		feature_string(&rows, "{anon_group}");
		feature_u32(&rows, (uint32_t)i);
		feature_u32(&rows, members(from, i));
		groups++;
	}
	if (groups) {
		feature_u32(out, groups);
		text_put(out, rows.s, rows.len);
	}
	text_free(&rows);
	return groups > 0;
}

static bool branch_stack(struct text *out, const struct feature_source *from)
{
	(void)out; /* a flag: an empty section */
	for (size_t i = 0; i < from->n_events; i++)
		if (from->event[i].attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			return true;
	return false;
}

/* With it readers find AUX data without reading everything in between. */
static bool auxtrace(struct text *out, const struct feature_source *from)
{
	feature_u64(out, from->n_aux);
	for (size_t i = 0; i < from->n_aux; i++) {
		feature_u64(out, from->aux[i].offset);
		feature_u64(out, from->aux[i].size);
	}
	return from->n_aux > 0;
}

static bool sample_time(struct text *out, const struct feature_source *from)
{
	feature_u64(out, from->first_ns);
	feature_u64(out, from->last_ns);
	return from->first_ns > 0;
}

static bool clock_id(struct text *out, const struct feature_source *from)
{
	struct timespec res;

	if (from->clockid < 0 || clock_getres(from->clockid, &res) < 0)
		return false;
	feature_u64(out, (uint64_t)res.tv_sec * 1000000000 + (uint64_t)res.tv_nsec);
	return true;
}

static uint64_t clock_ns(int clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* One instant on the records' clock and on the wall clock. */
static bool clock_data(struct text *out, const struct feature_source *from)
{
	if (from->clockid < 0)
		return false;
	feature_u32(out, 1); /* version */
	feature_u32(out, (uint32_t)from->clockid);
	feature_u64(out, clock_ns(CLOCK_REALTIME));
	feature_u64(out, clock_ns(from->clockid));
	return true;
}

static bool compressed(struct text *out, const struct feature_source *from)
{
	const uint32_t row[] = { 1, 1 /* zstd */, (uint32_t)from->compress,
				 (uint32_t)(from->ratio + 0.5), DEFLATE_MOST };

	text_put(out, (const char *)row, sizeof(row));
	return from->compress > 0;
}

/* perfdata_format.h shows the layout. */
static bool tare_exact(struct text *out, const struct feature_source *from)
{
	const struct sample_outcome *o = from->outcome;

	if (!o || !o->exact)
		return false;
	feature_u32(out, 1);
	feature_u32(out, (uint32_t)o->n_events);
	for (size_t i = 0; i < o->n_events; i++)
		feature_u64(out,
			    o->event[0].total_unknown || o->event[i].total_unknown
				    ? PD_NO_TOTAL
				    : o->event[i].total.value);
	return true;
}

static bool tare_partial(struct text *out, const struct feature_source *from)
{
	const struct exact_partial *p = from->outcome ? &from->outcome->partial : NULL;
	uint32_t listed = p && p->n < EXACT_UNCOUNTED_MAX ? p->n : EXACT_UNCOUNTED_MAX;

	if (!p || !p->n)
		return false;
	feature_u32(out, 1);
	feature_u32(out, p->n);
	feature_u32(out, listed);
	for (uint32_t i = 0; i < listed; i++) {
		feature_u32(out, (uint32_t)p->process[i].pid);
		feature_u32(out, p->process[i].serial);
		feature_u32(out, p->process[i].ended);
		feature_string(out, p->process[i].name);
		feature_string(out, p->process[i].reason);
	}
	return true;
}

const struct feature_row feature_rows[] = {
	{ PD_FEAT_TRACING_DATA, tracing_data, false }, /* in a pipe a separate record */
	{ PD_FEAT_BUILD_ID, build_ids, false },
	{ PD_FEAT_HOSTNAME, hostname, true },
	{ PD_FEAT_OS_RELEASE, os_release, true },
	{ PD_FEAT_VERSION, version, true },
	{ PD_FEAT_ARCH, arch, true },
	{ PD_FEAT_NR_CPUS, nr_cpus, true },
	{ PD_FEAT_CPU_DESC, cpu_desc, true },
	{ PD_FEAT_CPUID, cpuid, true },
	{ PD_FEAT_TOTAL_MEM, total_mem, true },
	{ PD_FEAT_CMDLINE, cmdline, true },
	{ PD_FEAT_EVENT_DESC, event_desc, true },
	{ PD_FEAT_CPU_TOPOLOGY, cpu_topology, true },
	{ PD_FEAT_NUMA_TOPOLOGY, feature_numa, true },
	{ PD_FEAT_BRANCH_STACK, branch_stack, false }, /* a flag of the file layout only */
	{ PD_FEAT_PMU_MAPPINGS, pmu_mappings, true },
	{ PD_FEAT_GROUP_DESC, group_desc, true },
	{ PD_FEAT_AUXTRACE, auxtrace, false },
	{ PD_FEAT_CACHE, feature_caches, true },
	{ PD_FEAT_SAMPLE_TIME, sample_time, false },
	{ PD_FEAT_MEM_TOPOLOGY, feature_memory, true },
	{ PD_FEAT_CLOCKID, clock_id, true },
	{ PD_FEAT_COMPRESSED, compressed, true },
	{ PD_FEAT_CPU_PMU_CAPS, feature_cpu_caps, true },
	{ PD_FEAT_CLOCK_DATA, clock_data, true },
	{ PD_FEAT_PMU_CAPS, feature_pmu_caps, true },
	{ PD_FEAT_TARE_EXACT, tare_exact,
	  false }, /* not in a pipe: perf rejects feature records that it does not know */
	{ PD_FEAT_TARE_PLACES, feature_places, false },
	{ PD_FEAT_TARE_PARTIAL, tare_partial, false },
	{ 0 },
};
