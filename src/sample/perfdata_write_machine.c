/* SPDX-License-Identifier: MIT */
/*
 * The feature sections of memory nodes, memory blocks, caches and PMU capabilities, from sysfs.
 * perfdata_features.c describes the layouts; the fields have the values that perf 6.1 writes.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/file.h"
#include "base/num.h"
#include "sample/perfdata_write_features.h"
#include "launch/count_target.h"

#define NODES "/sys/devices/system/node/"
#define PMUS  "/sys/bus/event_source/devices/"

enum { LIST_MOST = 1 << 16, BLOCKS_MOST = 1 << 24, CACHE_LEVELS = 8 };

static DIR *folder(const char *root, const char *path)
{
	char whole[PATH_MAX];

	return snprintf(whole, sizeof(whole), "%s%s", root ? root : "", path) < (int)sizeof(whole)
		? opendir(whole)
		: NULL;
}

static bool read_number(const char *root, const char *path, uint32_t *out)
{
	char line[64];
	uint64_t n;

	if (file_line(root, path, line, sizeof(line), NULL) < 0 || num_parse(line, &n, NULL) < 0 ||
	    n > UINT32_MAX)
		return false;
	*out = (uint32_t)n;
	return true;
}

static bool nodes_online(const char *root, struct cpus *out)
{
	char *line;
	bool known = file_read(root, NODES "online", LIST_MOST, &line, NULL, NULL) == 0;

	if (!known)
		return false;
	known = cpus_parse(line, out, NULL) == 0;
	free(line);
	return known;
}

/* "Node 0 MemTotal:       24684096 kB" */
static uint64_t node_kb(const char *info, const char *key)
{
	const char *at = strstr(info, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static bool put_node(struct text *out, const char *root, int node)
{
	char path[128], *info, *cpus;

	snprintf(path, sizeof(path), NODES "node%d/meminfo", node);
	if (file_read(root, path, LIST_MOST, &info, NULL, NULL) < 0)
		return false;
	snprintf(path, sizeof(path), NODES "node%d/cpulist", node);
	if (file_read(root, path, LIST_MOST, &cpus, NULL, NULL) < 0) {
		free(info);
		return false;
	}
	cpus[strcspn(cpus, "\n")] = '\0';
	feature_u32(out, (uint32_t)node);
	feature_u64(out, node_kb(info, "MemTotal:"));
	feature_u64(out, node_kb(info, "MemFree:"));
	feature_string(out, cpus);
	free(info);
	free(cpus);
	return true;
}

bool feature_numa(struct text *out, const struct feature_source *from)
{
	struct text rows = { 0 };
	struct cpus nodes;
	uint32_t n = 0;

	if (!nodes_online(from->root, &nodes))
		return false;
	for (size_t i = 0; i < nodes.n; i++)
		n += put_node(&rows, from->root, nodes.cpu[i]);
	if (n) {
		feature_u32(out, n);
		text_put(out, rows.s, rows.len);
	}
	out->failed |= rows.failed;
	text_free(&rows);
	cpus_free(&nodes);
	return n > 0;
}

/* The memory blocks of a node as a bit set, one bit for each number up to the highest. */
static bool put_blocks(struct text *out, const char *root, int node)
{
	char path[128];
	uint64_t *set = NULL, bits = 0;
	size_t words = 0;
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), NODES "node%d", node);
	dir = folder(root, path);
	while (dir && (d = readdir(dir))) {
		unsigned block;
		int end = 0;

		if (sscanf(d->d_name, "memory%u%n", &block, &end) != 1 || d->d_name[end] ||
		    block >= BLOCKS_MOST)
			continue;
		if (!array_reserve_zeroed(&set, &words, block / 64 + 1, sizeof(*set))) {
			out->failed = true;
			break;
		}
		set[block / 64] |= 1ull << block % 64;
		bits = block >= bits ? block + 1ull : bits;
	}
	if (dir)
		closedir(dir);
	if (bits) {
		feature_u64(out, (uint64_t)node);
		feature_u64(out, bits);
		feature_u64(out, bits);
		text_put(out, (const char *)set, (bits + 63) / 64 * 8);
	}
	free(set);
	return bits > 0;
}

bool feature_memory(struct text *out, const struct feature_source *from)
{
	char line[64];
	struct text rows = { 0 };
	struct cpus nodes;
	uint64_t n = 0, size;

	if (file_line(from->root, "/sys/devices/system/memory/block_size_bytes", line, sizeof(line),
		      NULL) < 0 ||
	    !(size = strtoull(line, NULL, 16)) || !nodes_online(from->root, &nodes))
		return false;
	for (size_t i = 0; i < nodes.n; i++)
		n += put_blocks(&rows, from->root, nodes.cpu[i]);
	if (n) {
		feature_u64(out, 1); /* version */
		feature_u64(out, size);
		feature_u64(out, n);
		text_put(out, rows.s, rows.len);
	}
	out->failed |= rows.failed;
	text_free(&rows);
	cpus_free(&nodes);
	return n > 0;
}

/* ---- caches ---- */

struct cache {
	uint32_t level, line, sets, ways;
	char type[32], size[32], *cpus;
};

static bool read_cache(const char *root, int cpu, unsigned index, struct cache *c)
{
	char path[128];
	int base = snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cache/index%u/", cpu,
			    index);
	const struct {
		const char *file;
		uint32_t *to;
	} row[] = { { "level", &c->level },
		    { "coherency_line_size", &c->line },
		    { "number_of_sets", &c->sets },
		    { "ways_of_associativity", &c->ways } };
	const struct {
		const char *file;
		char *to;
	} word[] = { { "type", c->type }, { "size", c->size } };

	*c = (struct cache){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		snprintf(path + base, sizeof(path) - (size_t)base, "%s", row[i].file);
		if (!read_number(root, path, row[i].to))
			return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(word); i++) {
		snprintf(path + base, sizeof(path) - (size_t)base, "%s", word[i].file);
		if (file_line(root, path, word[i].to, sizeof(c->type), NULL) < 0)
			return false;
	}
	snprintf(path + base, sizeof(path) - (size_t)base, "shared_cpu_list");
	if (file_read(root, path, LIST_MOST, &c->cpus, NULL, NULL) < 0)
		return false;
	c->cpus[strcspn(c->cpus, "\n")] = '\0';
	return true;
}

static bool same_cache(const struct cache *a, const struct cache *b)
{
	return a->level == b->level && a->line == b->line && a->sets == b->sets &&
		a->ways == b->ways && !strcmp(a->type, b->type) && !strcmp(a->size, b->size) &&
		!strcmp(a->cpus, b->cpus);
}

/* Each CPU that shares a cache lists it: it is taken from the first. */
static bool is_first(const struct cache *c, const struct cache *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (same_cache(&all[i], c))
			return false;
	return true;
}

static int by_level(const void *pa, const void *pb)
{
	const struct cache *a = pa, *b = pb;

	return a->level == b->level ? strcmp(a->cpus, b->cpus) : a->level < b->level ? -1 : 1;
}

bool feature_caches(struct text *out, const struct feature_source *from)
{
	struct cpus online;
	struct cache *all;
	size_t n = 0;

	if (cpus_online(from->root, &online, NULL) < 0)
		return false;
	all = calloc(online.n * CACHE_LEVELS + 1, sizeof(*all));
	out->failed |= !all;
	for (size_t i = 0; all && i < online.n; i++)
		for (unsigned k = 0; k < CACHE_LEVELS; k++) {
			if (!read_cache(from->root, online.cpu[i], k,
					&all[n])) /* its CPUs are read last */
				continue;
			if (is_first(&all[n], all, n))
				n++;
			else
				free(all[n].cpus);
		}
	if (n) {
		qsort(all, n, sizeof(*all), by_level);
		feature_u32(out, 1); /* version */
		feature_u32(out, (uint32_t)n);
	}
	for (size_t i = 0; i < n; i++) {
		feature_u32(out, all[i].level);
		feature_u32(out, all[i].line);
		feature_u32(out, all[i].sets);
		feature_u32(out, all[i].ways);
		feature_string(out, all[i].type);
		feature_string(out, all[i].size);
		feature_string(out, all[i].cpus);
		free(all[i].cpus);
	}
	free(all);
	cpus_free(&online);
	return n > 0;
}

/* ---- PMU capabilities ---- */

static uint32_t put_caps(struct text *out, const char *root, const char *pmu)
{
	char path[PATH_MAX], value[256];
	uint32_t n = 0;
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), PMUS "%s/caps", pmu);
	dir = folder(root, path);
	while (dir && (d = readdir(dir))) {
		snprintf(path, sizeof(path), PMUS "%s/caps/%s", pmu, d->d_name);
		if (d->d_name[0] == '.' || file_line(root, path, value, sizeof(value), NULL) < 0)
			continue;
		feature_string(out, d->d_name);
		feature_string(out, value);
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

/* For each PMU its count, pairs and, unless it is the default PMU, its name. */
static uint32_t put_pmu(struct text *out, const char *root, const char *pmu, bool named)
{
	struct text rows = { 0 };
	uint32_t n = put_caps(&rows, root, pmu);

	if (n) {
		feature_u32(out, n);
		text_put(out, rows.s, rows.len);
		if (named)
			feature_string(out, pmu);
	}
	out->failed |= rows.failed;
	text_free(&rows);
	return n;
}

bool feature_cpu_caps(struct text *out, const struct feature_source *from)
{
	return put_pmu(out, from->root, "cpu", false) > 0;
}

bool feature_pmu_caps(struct text *out, const struct feature_source *from)
{
	struct text rows = { 0 };
	uint32_t n = 0;
	struct dirent *d;
	DIR *dir = folder(from->root, PMUS);

	while (dir && (d = readdir(dir)))
		n += d->d_name[0] != '.' && strcmp(d->d_name, "cpu") &&
			put_pmu(&rows, from->root, d->d_name, true);
	if (dir)
		closedir(dir);
	if (n) {
		feature_u32(out, n);
		text_put(out, rows.s, rows.len);
	}
	out->failed |= rows.failed;
	text_free(&rows);
	return n > 0;
}
