/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include "base/file.h"
#include "base/num.h"
#include "base/topology.h"

enum { NODES_MAX = 1024 };

static int number_in(const char *root, int cpu, const char *file)
{
	char path[128], line[32];
	uint64_t n;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, file);
	if (file_line(root, path, line, sizeof(line), NULL) < 0 || num_parse(line, &n, NULL) < 0 ||
	    n > 1 << 24)
		return -1;
	return (int)n;
}

/* Memory nodes list their CPUs; a machine without the folder has none. */
static void read_nodes(const char *root, struct cpu_place *place, size_t n)
{
	char *online;
	struct cpus nodes;

	if (file_read(root, "/sys/devices/system/node/online", 65536, &online, NULL, NULL) < 0)
		return;

	int ret = cpus_parse(online, &nodes, NULL);

	free(online);
	for (size_t i = 0; ret == 0 && i < nodes.n && i < NODES_MAX; i++) {
		struct cpus of = { 0 };
		char path[128], *list;

		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist",
			 nodes.cpu[i]);
		if (file_read(root, path, 65536, &list, NULL, NULL) < 0)
			continue;
		if (cpus_parse(list, &of, NULL) == 0)
			for (size_t k = 0; k < of.n; k++)
				if ((size_t)of.cpu[k] < n)
					place[of.cpu[k]].node = nodes.cpu[i];
		cpus_free(&of);
		free(list);
	}
	if (ret == 0)
		cpus_free(&nodes);
}

int topology_read(const char *root, const struct cpus *cpus, struct cpu_place **out, size_t *n,
		  struct tare_error *err)
{
	*n = cpus->n ? (size_t)cpus->cpu[cpus->n - 1] + 1 : 0;
	*out = calloc(*n + 1, sizeof(**out));
	if (!*out)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < *n; i++)
		(*out)[i] = (struct cpu_place){ (int)i, -1, -1, -1, -1 };
	for (size_t i = 0; i < cpus->n; i++) {
		struct cpu_place *p = &(*out)[cpus->cpu[i]];

		p->core = number_in(root, p->cpu, "core_id");
		p->socket = number_in(root, p->cpu, "physical_package_id");
		p->die = number_in(root, p->cpu, "die_id");
		if (p->die < 0) /* kernels and machines without dies: one per socket, as in perf */
			p->die = 0;
	}
	read_nodes(root, *out, *n);
	return 0;
}
