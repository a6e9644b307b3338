/* SPDX-License-Identifier: MIT */
/* Reads information about counting from sysfs and procfs, under a root that tests may change. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "base/cpus.h"
#include "base/file.h"
#include "exact/exact.h"
#include "pmu/machine.h"
#include "host/host.h"
#include "host/host_surround.h"

#define PMUS "/sys/bus/event_source/devices"

/* Knob files are shorter; a status or cgroup file in a deep container is not. */
enum { LINE_MAX_BYTES = 160, SMALL_FILE = 65536, LARGE_FILE = 4 << 20 };

static long read_number(const char *root, const char *path)
{
	char line[LINE_MAX_BYTES], *end;

	if (file_line(root, path, line, sizeof(line), NULL) < 0)
		return HOST_UNKNOWN;
	errno = 0;

	long value = strtol(line, &end, 10);

	return end == line || *end || errno ? HOST_UNKNOWN : value;
}

/* Only printable bytes, as it is shown on terminals. Truncated if there is no room. */
static void copy(char *to, size_t room, const char *from)
{
	size_t n = 0;

	for (; from[n] && n + 1 < room; n++)
		to[n] = isprint((unsigned char)from[n]) ? from[n] : '?';
	to[n] = '\0';
}

static bool there(const char *root, const char *path)
{
	char whole[4096];

	return snprintf(whole, sizeof(whole), "%s%s", root, path) < (int)sizeof(whole) &&
		access(whole, R_OK) == 0;
}

/* The text after "Name:" and blanks in a file of such lines; NULL if there is none. */
static const char *field(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, n)) {
			line += n;
			return line + strspn(line, " \t:");
		}
		if (!*line)
			break;
	}
	return NULL;
}

static void copy_line(char *to, size_t room, const char *from)
{
	size_t n = from ? strcspn(from, "\n") : 0;

	to[0] = '\0';
	if (n == 0)
		return;
	if (n >= room)
		n = room - 1;
	memcpy(to, from, n);
	to[n] = '\0';
	for (char *p = to; *p; p++)
		if (!isprint((unsigned char)*p))
			*p = '?';
}

static void gather_user(struct host *h, const char *root)
{
	char *status, *map;
	const char *at;

	h->uid = h->gid = h->seccomp = HOST_UNKNOWN;
	if (file_read(root, "/proc/self/status", SMALL_FILE, &status, NULL, NULL) == 0) {
		/* real, effective, saved, filesystem */
		if ((at = field(status, "Uid:")) != NULL) {
			strtol(at, (char **)&at, 10);
			h->uid = strtol(at, NULL, 10);
		}
		if ((at = field(status, "Gid:")) != NULL) {
			strtol(at, (char **)&at, 10);
			h->gid = strtol(at, NULL, 10);
		}
		if ((at = field(status, "CapEff:")) != NULL) {
			h->capabilities = strtoull(at, NULL, 16);
			h->capabilities_known = true;
		}
		if ((at = field(status, "Seccomp:")) != NULL)
			h->seccomp = strtol(at, NULL, 10);
		free(status);
	}
	/* The initial user namespace maps every id to itself. user_namespaces(7), "uid_map". */
	if (file_read(root, "/proc/self/uid_map", SMALL_FILE, &map, NULL, NULL) == 0) {
		unsigned long long inside, outside, length;

		h->user_namespace = sscanf(map, "%llu %llu %llu", &inside, &outside, &length) !=
				3 ||
			inside != 0 || outside != 0 || length < 4294967295ULL;
		free(map);
	}
}

static void found_container(struct host *h, const char *kind, const char *mark)
{
	if (h->container[0])
		return;
	copy(h->container, sizeof(h->container), kind);
	copy(h->container_mark, sizeof(h->container_mark), mark);
}

static void gather_container(struct host *h, const char *root)
{
	static const struct {
		const char *path, *kind;
	} files[] = {
		{ "/var/run/secrets/kubernetes.io", "kubernetes" },
		{ "/run/.containerenv", "podman" },
		{ "/.dockerenv", "docker" },
	};
	static const struct {
		const char *word, *kind;
	} cgroups[] = {
		{ "kubepods", "kubernetes" },
		{ "libpod", "podman" },
		{ "docker", "docker" },
		{ "containerd", "containerd" },
		{ "lxc", "lxc" },
		{ "machine.slice", "systemd-nspawn" },
	};
	char line[LINE_MAX_BYTES], *cgroup;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (there(root, files[i].path))
			found_container(h, files[i].kind, files[i].path);
	if (file_line(root, "/run/systemd/container", line, sizeof(line), NULL) == 0 && line[0])
		found_container(h, line, "/run/systemd/container");
	if (file_read(root, "/proc/self/cgroup", SMALL_FILE, &cgroup, NULL, NULL) == 0) {
		for (size_t i = 0; i < ARRAY_SIZE(cgroups); i++)
			if (strstr(cgroup, cgroups[i].word))
				found_container(h, cgroups[i].kind, "/proc/self/cgroup");
		free(cgroup);
	}
}

/* The first symbol's address is all zeros for users who may not see it. */
static void gather_symbols(struct host *h, const char *root)
{
	char whole[4096], head[32];
	int fd;

	if (snprintf(whole, sizeof(whole), "%s/proc/kallsyms", root) >= (int)sizeof(whole))
		return;
	fd = open(whole, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (read(fd, head, 16) == 16) {
		head[16] = '\0';
		h->symbols_known = true;
		h->symbols_hidden = strspn(head, "0") == 16;
	}
	close(fd);
}

static void gather_kernel(struct host *h, const char *root)
{
	char line[LINE_MAX_BYTES], *mounts;
	struct statvfs sys;

	/*
	 * In containers /proc/sys is read-only: these knobs belong to the machine. A recorded tree
	 * does not show it.
	 */
	h->knobs_read_only = h->live
		? statvfs("/proc/sys/kernel", &sys) == 0 && sys.f_flag & ST_RDONLY
		: h->container[0] != '\0';
	if (h->live) {
		ssize_t n = readlink("/proc/self/exe", h->program, sizeof(h->program) - 1);

		h->program[n > 0 ? n : 0] = '\0';
	}
	if (file_line(root, "/proc/sys/kernel/osrelease", line, sizeof(line), NULL) == 0)
		copy(h->kernel, sizeof(h->kernel), line);
	h->paranoid = read_number(root, "/proc/sys/kernel/perf_event_paranoid");
	h->user_access = read_number(root, "/proc/sys/kernel/perf_user_access");
	h->nmi_watchdog = read_number(root, "/proc/sys/kernel/nmi_watchdog");
	h->mlock_kb = read_number(root, "/proc/sys/kernel/perf_event_mlock_kb");
	h->sample_rate = read_number(root, "/proc/sys/kernel/perf_event_max_sample_rate");
	h->cpu_time_percent = read_number(root, "/proc/sys/kernel/perf_cpu_time_max_percent");
	h->kptr_restrict = read_number(root, "/proc/sys/kernel/kptr_restrict");
	h->tracepoints_readable = there(root, "/sys/kernel/tracing/events/sched/sched_switch/id") ||
		there(root, "/sys/kernel/debug/tracing/events/sched/sched_switch/id");
	if (file_read(root, "/proc/mounts", LARGE_FILE, &mounts, NULL, NULL) == 0) {
		h->tracefs_mounted = strstr(mounts, " /sys/kernel/tracing tracefs ") != NULL;
		free(mounts);
	}
	gather_symbols(h, root);
}

/* From DMI if the firmware has it; otherwise the shared state's name from the device tree. */
static void gather_platform(struct host *h, const char *root)
{
	static const char *const trees[] = { "/proc/device-tree/compatible",
					     "/sys/firmware/devicetree/base/compatible" };
	char vendor[48] = "", product[48] = "", *compatible;

	if (file_line(root, "/sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor), NULL) < 0)
		vendor[0] = '\0';
	if (file_line(root, "/sys/class/dmi/id/product_name", product, sizeof(product), NULL) < 0)
		product[0] = '\0';
	if (vendor[0] || product[0]) {
		char both[sizeof(vendor) + sizeof(product)];

		snprintf(both, sizeof(both), "%s%s%s", vendor, vendor[0] && product[0] ? " " : "",
			 product);
		copy(h->platform, sizeof(h->platform), both);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(trees) && !h->platform[0]; i++)
		if (file_read(root, trees[i], SMALL_FILE, &compatible, NULL, NULL) == 0) {
			copy(h->platform, sizeof(h->platform),
			     compatible); /* the first of several strings */
			free(compatible);
		}
}

/* Under another root CPUID would describe the wrong machine, so use its cpuinfo. */
static void describe_recorded(struct host *h, const char *root)
{
	char *info, flags[8192];

	if (file_read(root, "/proc/cpuinfo", LARGE_FILE, &info, NULL, NULL) < 0)
		return;
	copy_line(h->cpu.vendor, sizeof(h->cpu.vendor), field(info, "vendor_id"));
	copy_line(h->cpu.model, sizeof(h->cpu.model), field(info, "model name"));
	copy_line(flags, sizeof(flags), field(info, "flags"));
	for (const char *p = strstr(flags, "hypervisor"); p && !h->cpu.hypervisor;
	     p = strstr(p + 1, "hypervisor"))
		h->cpu.hypervisor = (p == flags || p[-1] == ' ') && (p[10] == ' ' || !p[10]);
	free(info);
}

/*
 * Core PMUs are "cpu", and on hybrid and arm64 machines those with a `cpus` file; uncore PMUs have
 * a `cpumask` instead.
 */
static bool read_pmu(const char *root, const char *name, struct core_pmu *out)
{
	char path[512];

	memset(out, 0, sizeof(*out));
	snprintf(path, sizeof(path), PMUS "/%.200s/cpus", name);
	if (file_line(root, path, out->cpus, sizeof(out->cpus), NULL) < 0) {
		out->cpus[0] = '\0';
		if (strcmp(name, "cpu") != 0)
			return false;
	}
	copy(out->name, sizeof(out->name), name);
	snprintf(path, sizeof(path), PMUS "/%.200s/type", name);
	out->type = read_number(root, path);
	snprintf(path, sizeof(path), PMUS "/%.200s/rdpmc", name);
	out->rdpmc = read_number(root, path);
	return out->type >= 0;
}

static int by_type(const void *a, const void *b)
{
	const struct core_pmu *x = a, *y = b;

	return (x->type > y->type) - (x->type < y->type);
}

static void gather_pmus(struct host *h, const char *root)
{
	char whole[4096];
	DIR *dir = NULL;

	if (snprintf(whole, sizeof(whole), "%s" PMUS, root) < (int)sizeof(whole))
		dir = opendir(whole);
	if (!dir)
		return;
	for (struct dirent *d; h->pmus < HOST_PMUS_MAX && (d = readdir(dir)) != NULL;)
		if (d->d_name[0] != '.' && read_pmu(root, d->d_name, &h->pmu[h->pmus]))
			h->pmus++;
	closedir(dir);
	qsort(h->pmu, h->pmus, sizeof(h->pmu[0]), by_type);
}

static void gather_machine(struct host *h, const char *root)
{
	char line[4096];
	struct cpus online;

	h->smt_active = read_number(root, "/sys/devices/system/cpu/smt/active");
	h->cpus_online = HOST_UNKNOWN;
	if (file_line(root, "/sys/devices/system/cpu/online", line, sizeof(line), NULL) == 0 &&
	    cpus_parse(line, &online, NULL) == 0) {
		h->cpus_online = (long)online.n;
		cpus_free(&online);
	}
	gather_platform(h, root);
	gather_pmus(h, root);
	if (h->live)
		cpu_describe(&h->cpu);
	else
		describe_recorded(h, root);
	/* In Xen's paravirtual guests and on arm64 CPUID does not show it. */
	if (file_line(root, "/sys/hypervisor/type", line, sizeof(line), NULL) == 0 &&
	    !strcmp(line, "xen") && !h->cpu.signature[0]) {
		h->cpu.hypervisor = true;
		strcpy(h->cpu.signature, "XenVMMXenVMM");
	}
}

enum { PATIENCE_MS = 30000 };

/* The count of a real program, with its loader and libraries; 0 and err if that fails. */
static int64_t exact_count(struct tare_error *err)
{
	char *argv[] = { (char *)"true", NULL };
	int64_t counts[EXACT_CLASSES] = { 0 };
	struct exact_options options = { .total_only = true, .aslr = true };
	struct exact_end end = { 0 };
	struct exact *x = NULL;
	int ret = exact_launch(&x, argv, environ, &options, err);

	if (ret == 0)
		ret = exact_wait(x, PATIENCE_MS, &end, err);
	if (ret == 0 && x) {
		kill(exact_pid(x), SIGKILL);
		ret = tare_fail(err, ETIMEDOUT, "'true' did not end within %d s under it",
				PATIENCE_MS / 1000);
	}
	if (ret >= 0)
		ret = exact_counts(x, counts, err);
	exact_close(x);
	if (ret >= 0 && end.status != 0)
		tare_fail(err, EIO,
			  "a program that succeeds without it ended with status %#x under it",
			  end.status);
	return ret >= 0 && end.status == 0 ? counts[EXACT_INSTRUCTIONS] : 0;
}

/*
 * Checks that a dynamically linked program runs, and that one of known length is counted exactly.
 * Two runs of the first are not compared: its count depends on the addresses, which are random if
 * personality(2) is refused.
 */
static void gather_exact(struct host *h)
{
	struct tare_error err = TARE_ERROR_INIT;
	int64_t n = 0;
	int ret = exact_probe(&err);

	h->exact_built = ret != -ENOTSUP;
	if (ret == 0)
		n = exact_count(&err);
	/* Without true(1), as in small containers, only the program of known length is counted. */
	if (ret == 0 && err.code == ENOENT)
		n = 1;
	h->exact_works = n > 0 && exact_check(&err) >= 0;
	if (!h->exact_works)
		copy(h->exact_why, sizeof(h->exact_why), err.what);
}

static void gather_surroundings(struct host *h, const char *root)
{
	struct machine *m = machine_open(root, NULL);

	host_surround(h, root, m ? machine_cpu(m) : "");
	machine_close(m);
}

static void try_all(struct host *h)
{
	struct host_watch watch;

	host_watch_begin(&watch);
	gather_exact(h);
	host_probe(h);
	host_try_faults(h);
	host_watch_end(&watch, h);
}

int host_look(struct host *h, const char *root, struct tare_error *err)
{
	memset(h, 0, sizeof(*h));
	h->live = !root || !root[0];
	if (!root)
		root = "";
	if (!there(root, "/proc/self/status") && !there(root, "/proc/sys/kernel") &&
	    !there(root, "/sys"))
		return tare_fail(err, ENOENT,
				 "%s/ has neither /proc nor /sys: nothing can be learned of it",
				 root);
	gather_user(h, root);
	gather_container(h, root);
	gather_kernel(h, root);
	gather_machine(h, root);
	gather_surroundings(h, root);
	return 0;
}

int host_gather(struct host *h, const char *root, struct tare_error *err)
{
	int ret = host_look(h, root, err);

	if (ret == 0 && h->live)
		try_all(h);
	return ret;
}
