/* SPDX-License-Identifier: MIT */
/*
 * The environment of a measurement, as far as files show it: clock ticks, governor, turbo, other
 * activity, microcode, mitigations.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/cpus.h"
#include "base/file.h"
#include "launch/system_noise.h"
#include "host/host_surround.h"

#define CPUS "/sys/devices/system/cpu"

enum { FILE_MOST = 4 << 20, SIBLINGS_MOST = 16, LINE_MOST = 4096 };

static void line_of(const char *root, const char *path, char *to, size_t room)
{
	char line[LINE_MOST];

	to[0] = '\0';
	if (file_line(root, path, line, sizeof(line), NULL) < 0)
		return;
	snprintf(to, room, "%.*s", (int)room - 1, line);
	for (char *p = to; *p; p++)
		*p = isprint((unsigned char)*p) ? *p : '?';
}

static long number_of(const char *root, const char *path)
{
	char line[64], *end;
	long v;

	line_of(root, path, line, sizeof(line));
	v = strtol(line, &end, 10);
	return end == line || *end ? HOST_UNKNOWN : v;
}

/*
 * The coarse clocks advance at each tick. For another machine only its configuration is available.
 */
static void gather_ticks(struct host *h, const char *root)
{
	char path[160], *config, *at;
	struct timespec tick;

	h->hz = HOST_UNKNOWN;
	if (h->live && clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 && tick.tv_sec == 0 &&
	    tick.tv_nsec > 0)
		h->hz = (1000000000 + tick.tv_nsec / 2) / tick.tv_nsec;
	snprintf(path, sizeof(path), "/boot/config-%s", h->kernel);
	if (h->hz == HOST_UNKNOWN && h->kernel[0] &&
	    file_read(root, path, FILE_MOST, &config, NULL, NULL) == 0) {
		at = strstr(config, "\nCONFIG_HZ=");
		if (at)
			h->hz = strtol(at + strlen("\nCONFIG_HZ="), NULL, 10);
		free(config);
	}
	line_of(root, CPUS "/nohz_full", h->nohz_full, sizeof(h->nohz_full));
	if (!isdigit((unsigned char)h->nohz_full[0])) /* "(null)" of some kernels: none */
		h->nohz_full[0] = '\0';
}

static void gather_frequency(struct host *h, const char *root)
{
	long no_turbo = number_of(root, CPUS "/intel_pstate/no_turbo"),
	     boost = number_of(root, CPUS "/cpufreq/boost");
	char path[96], other[32];

	h->turbo = no_turbo != HOST_UNKNOWN ? !no_turbo : boost;
	line_of(root, CPUS "/cpu0/cpufreq/scaling_governor", h->governor, sizeof(h->governor));
	for (long i = 1; h->governor[0] && i < h->cpus_online; i++) {
		snprintf(path, sizeof(path), CPUS "/cpu%ld/cpufreq/scaling_governor", i);
		line_of(root, path, other, sizeof(other));
		h->governors_differ |= other[0] && strcmp(other, h->governor);
	}
}

/* Switches for PMU errata and related data; "flags" of the first CPU. */
static void gather_processor(struct host *h, const char *root, const char *cpu)
{
	char *info;
	const char *at;

	snprintf(h->cpu_id, sizeof(h->cpu_id), "%s", cpu);
	h->freeze_on_smi = number_of(root, "/sys/devices/cpu/freeze_on_smi");
	line_of(root, CPUS "/vulnerabilities/spec_store_bypass", h->store_bypass,
		sizeof(h->store_bypass));
	line_of(root, CPUS "/cpu0/microcode/version", h->microcode, sizeof(h->microcode));
	if (file_read(root, "/proc/cpuinfo", FILE_MOST, &info, NULL, NULL) < 0)
		return;
	at = strstr(info, "\nmicrocode");
	at = at ? strchr(at, ':') : NULL;
	if (at && !h->microcode[0])
		sscanf(at + 1, " %23s", h->microcode);
	at = strstr(info, "\nflags");
	if (at) {
		size_t n = strcspn(at + 1, "\n");

		info[at + 1 + n - info] = '\0';
		h->tsx = strstr(at, " rtm ") || strstr(at, " hle ") ||
			(n > 4 && !strcmp(at + 1 + n - 4, " rtm"));
	}
	free(info);
}

/* From one line of /proc/stat: all ticks, and the idle ones. */
static bool ticks_of(const char *stat, const char *cpu, unsigned long long *all,
		     unsigned long long *idle, unsigned long long *steal)
{
	unsigned long long v[8] = { 0 };
	size_t n = strlen(cpu);

	for (const char *line = stat; line; line = strchr(line, '\n'), line += line != NULL)
		if (!strncmp(line, cpu, n) && line[n] == ' ') {
			if (sscanf(line + n, "%llu %llu %llu %llu %llu %llu %llu %llu", &v[0],
				   &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) < 4)
				return false;
			*all = v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7];
			*idle = v[3] + v[4];
			*steal = v[7];
			return true;
		}
	return false;
}

static void gather_steal(struct host *h, const char *root)
{
	unsigned long long all, idle, steal;
	char *stat;

	h->steal_share = -1;
	if (file_read(root, "/proc/stat", FILE_MOST, &stat, NULL, NULL) < 0)
		return;
	if (ticks_of(stat, "cpu", &all, &idle, &steal) && all)
		h->steal_share = (double)steal / (double)all;
	free(stat);
}

void host_surround(struct host *h, const char *root, const char *cpu)
{
	gather_ticks(h, root);
	gather_frequency(h, root);
	gather_processor(h, root, cpu);
	gather_steal(h, root);
	h->sibling_busy = -1;
}

/* ---- over the time of the other probes ---- */

static bool sibling_ticks(struct host_watch *w, unsigned long long *all, unsigned long long *idle)
{
	unsigned long long steal;
	char *stat, name[16];
	bool known;

	if (w->sibling < 0 || file_read(NULL, "/proc/stat", FILE_MOST, &stat, NULL, NULL) < 0)
		return false;
	snprintf(name, sizeof(name), "cpu%d", w->sibling);
	known = ticks_of(stat, name, all, idle, &steal);
	free(stat);
	return known;
}

/* The other hardware thread of the core that this process runs on. */
static int find_sibling(void)
{
	char path[96], line[128];
	struct cpus all = { 0 };
	int here = sched_getcpu(), found = -1;

	snprintf(path, sizeof(path), CPUS "/cpu%d/topology/thread_siblings_list", here);
	if (here < 0 || file_line(NULL, path, line, sizeof(line), NULL) < 0 ||
	    cpus_parse(line, &all, NULL) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (all.cpu[i] != here)
			found = all.cpu[i];
	cpus_free(&all);
	return found;
}

void host_watch_begin(struct host_watch *w)
{
	*w = (struct host_watch){ .sibling = find_sibling() };
	system_noise_read(&w->before, NULL);
	w->known = sibling_ticks(w, &w->all, &w->idle);
}

void host_watch_end(struct host_watch *w, struct host *h)
{
	unsigned long long all, idle;
	struct system_noise after, between;

	system_noise_read(&after, NULL);
	between = system_noise_between(&w->before, &after);
	h->smi_known = between.smi_known;
	h->smi_meanwhile = (unsigned long)between.smi;
	if (w->known && sibling_ticks(w, &all, &idle) && all > w->all + 4)
		h->sibling_busy = 1 - (double)(idle - w->idle) / (double)(all - w->all);
}
