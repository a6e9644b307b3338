/* SPDX-License-Identifier: MIT */
/*
 * PMUs of a machine: /sys/bus/event_source/devices under a root. A PMU is read at its first use and
 * cached; its formats and events are read one file at a time. Source: Linux,
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events,caps}.
 */
#include <dirent.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/array.h"
#include "base/file.h"
#include "base/text.h"
#include "pmu/machine.h"

enum { PATH_ROOM = 512, NAMES_MAX = 100000 };

struct machine {
	char *root;
	struct pmu **pmu; /* those used so far */
	size_t n_pmu;
	char **device; /* all names, once listed */
	size_t n_devices;
	bool listed;
	const struct pmu **core;
	size_t n_core;
	bool cores_known;
	char cpu[64];
	bool cpu_known;
};

struct machine *machine_open(const char *root, struct tare_error *err)
{
	struct machine *m = calloc(1, sizeof(*m));

	if (m)
		m->root = strdup(root ? root : "");
	if (!m || !m->root) {
		free(m);
		tare_fail_nomem(err);
		return NULL;
	}
	return m;
}

void machine_close(struct machine *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n_pmu; i++) {
		cpus_free(&m->pmu[i]->cpus);
		free(m->pmu[i]);
	}
	free(m->pmu);
	names_free(m->device, m->n_devices);
	free(m->core);
	free(m->root);
	free(m);
}

const char *machine_root(const struct machine *m)
{
	return m->root;
}

/* A path under the root; false if a name in it is too long or would leave its folder. */
__attribute__((format(printf, 2, 3))) static bool path_of(char path[PATH_ROOM], const char *fmt,
							  ...)
{
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(path, PATH_ROOM, fmt, ap);
	va_end(ap);
	return n > 0 && n < PATH_ROOM && !strstr(path, "/../") && !strstr(path, "/./") &&
		!strstr(path, "//");
}

static bool exists(const struct machine *m, const char *path)
{
	char whole[4096];
	struct stat st;
	int n = snprintf(whole, sizeof(whole), "%s%s", m->root, path);

	return n > 0 && n < (int)sizeof(whole) && stat(whole, &st) == 0;
}

/* The first line of a sysfs file. Control characters are refused. */
static int line_of(const struct machine *m, const char *path, char *buf, size_t room,
		   struct tare_error *err)
{
	int ret = file_line(m->root, path, buf, room, err);

	for (const char *c = buf; ret == 0 && *c; c++)
		if (*c < ' ' || *c > '~')
			return tare_fail(err, EINVAL,
					 "%s%s: its first line holds an unprintable byte", m->root,
					 path);
	return ret;
}

/* ---- names of files ---- */

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

void names_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

/*
 * Entries of a folder except hidden ones, sorted. -errno without a message if it cannot be opened.
 */
static int list_folder(const struct machine *m, const char *path, char ***out, size_t *n_out,
		       struct tare_error *err)
{
	char whole[4096], **names = NULL;
	size_t n = 0, room = 0;
	int ret = 0;

	*out = NULL;
	*n_out = 0;
	if (snprintf(whole, sizeof(whole), "%s%s", m->root, path) >= (int)sizeof(whole))
		return tare_fail(err, ENAMETOOLONG, "%.64s...: the path is too long", whole);

	DIR *d = opendir(whole);

	if (!d)
		return tare_fail(err, errno, "cannot open %s: %s", whole, strerror(errno));
	for (struct dirent *e; ret == 0 && (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		if (n == NAMES_MAX) {
			ret = tare_fail(err, EFBIG, "%s has over %d entries", whole, NAMES_MAX);
			break;
		}
		if (!array_reserve(&names, &room, n + 1, sizeof(*names))) {
			ret = tare_fail_nomem(err);
			break;
		}
		names[n] = strdup(e->d_name);
		if (!names[n])
			ret = tare_fail_nomem(err);
		else
			n++;
	}
	closedir(d);
	if (ret < 0) {
		names_free(names, n);
		return ret;
	}
	if (n)
		qsort(names, n, sizeof(*names), by_name);
	*out = names;
	*n_out = n;
	return 0;
}

int machine_devices(struct machine *m, const char *const **out, size_t *n, struct tare_error *err)
{
	if (!m->listed) {
		int ret = list_folder(m, PMU_DEVICES, &m->device, &m->n_devices, err);

		if (ret < 0 && ret != -ENOENT)
			return ret;
		m->listed = true;
	}
	*out = (const char *const *)m->device;
	*n = m->n_devices;
	return 0;
}

int machine_names(struct machine *m, const struct pmu *pmu, const char *folder, char ***out,
		  size_t *n, struct tare_error *err)
{
	char path[PATH_ROOM];
	int ret;

	if (!path_of(path, PMU_DEVICES "/%s/%s", pmu->name, folder))
		return tare_fail(err, ENAMETOOLONG, "%.64s: the path is too long", pmu->name);
	ret = list_folder(m, path, out, n, err);
	return ret == -ENOENT ? 0 : ret;
}

/* ---- PMUs ---- */

/*
 * The CPUs in a device's `cpumask` are those on which an uncore counter is opened. arm_spe has one,
 * too, although it follows a task on those CPUs. Source: Linux, Documentation/admin-guide/perf, and
 * drivers/perf/arm_spe_pmu.c.
 */
static bool follows_task(const char *name)
{
	return !strncmp(name, "arm_spe", 7);
}

/* If absent, `found` is false. */
static int read_cpus(struct machine *m, const char *pmu, const char *file, struct cpus *out,
		     bool *found, struct tare_error *err)
{
	char path[PATH_ROOM], list[4096]; /* the kernel writes at most a page */
	int ret;

	*found = false;
	if (!path_of(path, PMU_DEVICES "/%s/%s", pmu, file))
		return 0;
	ret = line_of(m, path, list, sizeof(list), err);
	if (ret == -ENOENT || ret == -ENOTDIR)
		return 0;
	if (ret < 0)
		return ret;
	ret = cpus_parse(list, out, err);
	if (ret < 0)
		tare_prefix(err, "%s%s: ", m->root, path);
	*found = ret == 0;
	return ret;
}

static int load_pmu(struct machine *m, const char *name, struct pmu *pmu, struct tare_error *err)
{
	char path[PATH_ROOM], text[32];
	bool cpus, cpumask = false;
	unsigned long type;
	char *end;
	int ret;

	if (strlen(name) >= sizeof(pmu->name) || !path_of(path, PMU_DEVICES "/%s/type", name) ||
	    strchr(name, '/'))
		return tare_fail(err, ENOENT, "there is no PMU '%.64s'", name);
	strcpy(pmu->name, name);
	ret = line_of(m, path, text, sizeof(text), err);
	if (ret == -ENOENT || ret == -ENOTDIR)
		return tare_fail(err, ENOENT, "there is no PMU '%.64s' on this machine", name);
	if (ret < 0)
		return ret;
	errno = 0;
	type = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || type > INT32_MAX)
		return tare_fail(err, EINVAL,
				 "%s%s: '%.32s' is no PMU type (a number up to 2^31-1)", m->root,
				 path, text);
	pmu->type = (uint32_t)type;
	ret = read_cpus(m, name, "cpus", &pmu->cpus, &cpus, err);
	if (ret == 0 && !cpus)
		ret = read_cpus(m, name, "cpumask", &pmu->cpus, &cpumask, err);
	pmu->core = cpus || !strcmp(name, "cpu");
	pmu->place = cpumask ? follows_task(name) ? PLACE_CORE : PLACE_UNCORE : PLACE_TASK;
	return ret;
}

static struct pmu *loaded(struct machine *m, const char *name)
{
	for (size_t i = 0; i < m->n_pmu; i++)
		if (!strcmp(m->pmu[i]->name, name))
			return m->pmu[i];
	return NULL;
}

/* Without its index among the core PMUs, which machine_cores sets. */
static int load(struct machine *m, const char *name, struct pmu **out, struct tare_error *err)
{
	struct pmu *pmu = loaded(m, name);
	int ret;

	if (pmu) {
		*out = pmu;
		return 0;
	}
	pmu = array_one_more(&m->pmu, m->n_pmu, sizeof(*m->pmu)) ? calloc(1, sizeof(*pmu)) : NULL;
	if (!pmu)
		return tare_fail_nomem(err);
	ret = load_pmu(m, name, pmu, err);
	if (ret < 0) {
		cpus_free(&pmu->cpus);
		free(pmu);
		return ret;
	}
	m->pmu[m->n_pmu++] = *out = pmu;
	return 0;
}

static int add_core(struct machine *m, const char *name, struct tare_error *err)
{
	struct pmu *pmu;
	int ret;

	if (!array_one_more(&m->core, m->n_core, sizeof(*m->core)))
		return tare_fail_nomem(err);
	ret = load(m, name, &pmu, err);
	if (ret == 0)
		m->core[m->n_core++] = pmu;
	return ret;
}

/* The kernel numbers PMUs in the order of registration: big cores before small ones on x86. */
static int by_type(const void *a, const void *b)
{
	const struct pmu *x = *(const struct pmu *const *)a, *y = *(const struct pmu *const *)b;

	return x->type < y->type ? -1 : x->type > y->type ? 1 : strcmp(x->name, y->name);
}

/*
 * On x86 "cpu" is the only core PMU; otherwise those with a `cpus` file: cpu_core and cpu_atom,
 * armv8_*.
 */
int machine_cores(struct machine *m, const struct pmu *const **out, size_t *n,
		  struct tare_error *err)
{
	int ret = 0;

	if (!m->cores_known) {
		const char *const *names;
		size_t n_names = 0;
		char path[PATH_ROOM];

		m->n_core = 0;
		if (exists(m, PMU_DEVICES "/cpu/type"))
			ret = add_core(m, "cpu", err);
		else
			ret = machine_devices(m, &names, &n_names, err);
		for (size_t i = 0; ret == 0 && i < n_names; i++)
			if (path_of(path, PMU_DEVICES "/%s/cpus", names[i]) && exists(m, path))
				ret = add_core(m, names[i], err);
		if (ret < 0)
			return ret;
		m->cores_known = true;
		if (m->n_core > 1)
			qsort(m->core, m->n_core, sizeof(*m->core), by_type);
		for (size_t i = 0; m->n_core > 1 && i < m->n_core; i++)
			loaded(m, m->core[i]->name)->place = PLACE_CORE;
	}
	*out = m->core;
	*n = m->n_core;
	return 0;
}

int machine_pmu(struct machine *m, const char *name, const struct pmu **out, struct tare_error *err)
{
	const struct pmu *const *cores;
	struct pmu *pmu;
	size_t n;
	int ret = load(m, name, &pmu, err);

	if (ret == 0 && pmu->core)
		ret = machine_cores(m, &cores, &n, err);
	if (ret == 0)
		*out = pmu;
	return ret;
}

/* ---- formats and events ---- */

int machine_format(struct machine *m, const struct pmu *pmu, const char *name, struct format *out,
		   struct tare_error *err)
{
	char path[PATH_ROOM], text[256];
	int ret;

	if (strchr(name, '/') || !path_of(path, PMU_DEVICES "/%s/format/%s", pmu->name, name))
		return -ENOENT;
	ret = line_of(m, path, text, sizeof(text), err);
	if (ret < 0)
		return ret;
	ret = format_parse(text, out, err);
	if (ret < 0)
		tare_prefix(err, "%s%s: ", m->root, path);
	return ret;
}

static const char *const not_events[] = { ".scale", ".unit", ".snapshot", ".per-pkg" };

static bool is_event_file(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(not_events); i++)
		if (n > strlen(not_events[i]) &&
		    !strcmp(name + n - strlen(not_events[i]), not_events[i]))
			return false;
	return true;
}

int machine_event(struct machine *m, const struct pmu *pmu, const char *name, char *buf,
		  size_t room, struct tare_error *err)
{
	char path[PATH_ROOM];

	if (strchr(name, '/') || !is_event_file(name) ||
	    !path_of(path, PMU_DEVICES "/%s/events/%s", pmu->name, name))
		return -ENOENT;
	return line_of(m, path, buf, room, err);
}

/* A positive decimal, independent of the program's locale. */
static bool decimal(const char *text, double *out)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", NULL);
	char *end = NULL;

	if (!c)
		return false;
	*out = strtod_l(text, &end, c);
	freelocale(c);
	return end != text && !*end && isfinite(*out) && *out > 0 &&
		strspn(text, "0123456789.eE+-") == strlen(text);
}

int machine_event_unit(struct machine *m, const struct pmu *pmu, const char *name, double *scale,
		       char unit[16], bool *snapshot, struct tare_error *err)
{
	char path[PATH_ROOM], text[64];
	int ret;

	*scale = 1;
	unit[0] = '\0';
	*snapshot = false;
	if (!path_of(path, PMU_DEVICES "/%s/events/%s.snapshot", pmu->name, name))
		return 0;
	*snapshot = exists(m, path);
	path_of(path, PMU_DEVICES "/%s/events/%s.unit", pmu->name, name);
	ret = line_of(m, path, unit, 16, err);
	if (ret < 0 && ret != -ENOENT)
		return ret;
	path_of(path, PMU_DEVICES "/%s/events/%s.scale", pmu->name, name);
	ret = line_of(m, path, text, sizeof(text), err);
	if (ret == -ENOENT)
		return 0;
	if (ret < 0)
		return ret;
	if (!decimal(text, scale))
		return tare_fail(err, EINVAL, "%s%s: '%.40s' is no scale (a number above 0)",
				 m->root, path, text);
	return 0;
}

/* ---- tracepoints ---- */

static const char *const tracefs[] = { "/sys/kernel/tracing/events",
				       "/sys/kernel/debug/tracing/events" };

int machine_tracepoint(struct machine *m, const char *system, const char *name, uint64_t *id,
		       struct tare_error *err)
{
	char path[PATH_ROOM], text[32], *end;
	int ret = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(tracefs) && ret == -ENOENT; i++) {
		if (strchr(system, '/') || strchr(name, '/') ||
		    !path_of(path, "%s/%s/%s/id", tracefs[i], system, name))
			break;
		ret = line_of(m, path, text, sizeof(text), err);
	}
	if (ret < 0)
		return ret;
	errno = 0;
	*id = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno)
		return tare_fail(err, EINVAL, "%s%s: '%.32s' is no tracepoint id", m->root, path,
				 text);
	return 0;
}

/* Lines as "p:probe_sh/main /bin/dash:0x1234". Source: kernel documentation, "Uprobe-tracer". */
bool machine_is_uprobe(struct machine *m, const char *system, const char *name)
{
	static const char *const files[] = { "/sys/kernel/tracing/uprobe_events",
					     "/sys/kernel/debug/tracing/uprobe_events" };
	char want[PATH_ROOM], *text = NULL;
	bool found = false;

	if (!path_of(want, ":%s/%s ", system, name))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(files) && !text; i++)
		file_read(m->root, files[i], 16 << 20, &text, NULL, NULL);
	for (char *line = text; line && *line && !found;) {
		char *end = strchrnul(line, '\n');

		found = (size_t)(end - line) > strlen(want) &&
			!strncmp(line + 1, want, strlen(want));
		line = *end ? end + 1 : end;
	}
	free(text);
	return found;
}

int machine_tracepoints(struct machine *m, const char *system, char ***out, size_t *n,
			struct tare_error *err)
{
	char path[PATH_ROOM];
	size_t kept = 0;
	int ret = -ENOENT;

	*out = NULL;
	*n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(tracefs) && ret == -ENOENT; i++) {
		if (!path_of(path, "%s%s%s", tracefs[i], system ? "/" : "", system ? system : ""))
			break;
		ret = list_folder(m, path, out, n, err);
	}
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < *n; i++) { /* there are also files: enable, filter, header_page */
		char whole[4096], *name = (*out)[i];
		struct stat st;
		int len = snprintf(whole, sizeof(whole), "%s%s/%s", m->root, path, name);

		if (len > 0 && len < (int)sizeof(whole) && stat(whole, &st) == 0 &&
		    S_ISDIR(st.st_mode))
			(*out)[kept++] = name;
		else
			free(name);
	}
	*n = kept;
	return 0;
}

int machine_number(struct machine *m, const char *path, uint64_t fallback, uint64_t *out,
		   struct tare_error *err)
{
	char text[32], *end;
	int ret = line_of(m, path, text, sizeof(text), err);

	*out = fallback;
	if (ret == -ENOENT || ret == -ENOTDIR)
		return 0;
	if (ret < 0)
		return ret;
	errno = 0;

	uint64_t value = strtoull(text, &end, 0);

	if (text[0] < '0' || text[0] > '9' || *end || errno)
		return tare_fail(err, EINVAL, "%s%s: '%.32s' is no number", m->root, path, text);
	*out = value;
	return 0;
}

/* ---- which CPU ---- */

/* The value of "key : value" in /proc/cpuinfo's first processor; false if absent. */
static bool cpuinfo(const char *all, const char *key, char *out, size_t room)
{
	const char *end = strstr(all, "\n\n");

	for (const char *line = all; line && *line && (!end || line < end);) {
		size_t n = strcspn(line, "\n"), k = strlen(key);
		const char *colon = line + k +
			(strncmp(line, key, k) ? 0 : strspn(line + k, " \t"));

		if (!strncmp(line, key, k) && *colon == ':') {
			colon += 1 + strspn(colon + 1, " \t");
			snprintf(out, room, "%.*s", (int)(line + n - colon), colon);
			return true;
		}
		line += n + (line[n] == '\n');
	}
	return false;
}

const char *machine_cpu(struct machine *m)
{
	char vendor[32], family[16], model[16], stepping[16] = "0", *all;
	char midr[32];

	if (m->cpu_known)
		return m->cpu;
	m->cpu_known = true;
	if (line_of(m, "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", midr,
		    sizeof(midr), NULL) == 0) {
		uint64_t id = strtoull(midr, NULL, 16);

		/*
		 * Without variant (23:20) and revision (3:0). Source: Arm ARM, MIDR_EL1, Main ID
		 * Register.
		 */
		snprintf(m->cpu, sizeof(m->cpu), "0x%016llx",
			 (unsigned long long)(id & ~0xf0000fULL));
		return m->cpu;
	}
	if (file_read(m->root, "/proc/cpuinfo", 16 << 20, &all, NULL, NULL) < 0)
		return m->cpu;
	if (cpuinfo(all, "vendor_id", vendor, sizeof(vendor)) &&
	    cpuinfo(all, "cpu family", family, sizeof(family)) &&
	    cpuinfo(all, "model", model, sizeof(model))) {
		cpuinfo(all, "stepping", stepping, sizeof(stepping));
		snprintf(m->cpu, sizeof(m->cpu), "%s-%lu-%lX-%lX", vendor,
			 strtoul(family, NULL, 10), strtoul(model, NULL, 10),
			 strtoul(stepping, NULL, 10));
	}
	free(all);
	return m->cpu;
}
