/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "launch/system_noise.h"

enum { FILE_MOST = 16 << 20, COLUMNS_MOST = 8192, MSR_SMI_COUNT = 0x34 };

bool system_noise_interrupts(const char *text, bool (*wanted)(void *with, int cpu), void *with,
			     uint64_t *out)
{
	const char *line = strchr(text, '\n');
	size_t columns = 0;
	bool *take, any = false;

	*out = 0;
	take = line ? calloc(COLUMNS_MOST, sizeof(*take)) : NULL;
	if (!take)
		return false;
	for (const char *p = text; (p = strstr(p, "CPU")) && p < line && columns < COLUMNS_MOST;
	     columns++) {
		p += strlen("CPU");
		take[columns] = wanted(with, atoi(p));
		any |= take[columns];
	}
	while (any && *++line) {
		const char *end = line + strcspn(line, "\n"),
			   *p = memchr(line, ':', (size_t)(end - line));

		p = p ? p + 1 : end;
		for (size_t i = 0; i < columns; i++) {
			char *behind;
			unsigned long long v;

			p += strspn(p, " \t");
			/* ERR and MIS have a single number; then the name */
			if (p >= end || *p < '0' || *p > '9')
				break;
			v = strtoull(p, &behind, 10);
			*out += take[i] ? v : 0;
			p = behind;
		}
		line = end;
		if (!*line)
			break;
	}
	free(take);
	return any;
}

static bool may_use(void *with, int cpu)
{
	return cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET((size_t)cpu, (cpu_set_t *)with);
}

static void read_interrupts(struct system_noise *a, const char *root)
{
	cpu_set_t mine;
	char *text;

	if (sched_getaffinity(0, sizeof(mine), &mine) < 0 ||
	    file_read(root, "/proc/interrupts", FILE_MOST, &text, NULL, NULL) < 0)
		return;
	a->interrupts_known = system_noise_interrupts(text, may_use, &mine, &a->interrupts) &&
		a->interrupts > 0;
	free(text);
}

/* user nice system idle iowait irq softirq steal. Source: proc(5), /proc/stat. */
static void read_steal(struct system_noise *a, const char *root)
{
	char line[512];
	unsigned long long v;
	long hz = sysconf(_SC_CLK_TCK);

	if (hz <= 0 || file_line(root, "/proc/stat", line, sizeof(line), NULL) < 0 ||
	    sscanf(line, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &v) != 1)
		return;
	a->steal_known = true;
	a->steal_ns = v * (1000000000ull / (unsigned long)hz);
}

/* Intel, from Nehalem on. Source: Intel SDM vol. 4, table 2-15, MSR_SMI_COUNT. */
static void read_smi(struct system_noise *a, const char *root)
{
#if defined(__x86_64__)
	char path[512];
	uint32_t count;
	int fd;

	if (snprintf(path, sizeof(path), "%s/dev/cpu/0/msr", root ? root : "") >= (int)sizeof(path))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	a->smi_known = pread(fd, &count, sizeof(count), MSR_SMI_COUNT) == sizeof(count);
	a->smi = a->smi_known ? count : 0;
	close(fd);
#else
	(void)a, (void)root;
#endif
}

void system_noise_read(struct system_noise *a, const char *root)
{
	*a = (struct system_noise){ 0 };
	read_interrupts(a, root);
	read_steal(a, root);
	read_smi(a, root);
}

struct system_noise system_noise_between(const struct system_noise *before,
					 const struct system_noise *after)
{
	return (struct system_noise){
		.interrupts = after->interrupts - before->interrupts,
		.steal_ns = after->steal_ns - before->steal_ns,
		.smi = (uint32_t)(after->smi - before->smi),
		.interrupts_known = before->interrupts_known && after->interrupts_known &&
			after->interrupts >= before->interrupts,
		.steal_known = before->steal_known && after->steal_known &&
			after->steal_ns >= before->steal_ns,
		.smi_known = before->smi_known && after->smi_known,
	};
}
