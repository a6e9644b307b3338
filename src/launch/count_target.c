/* SPDX-License-Identifier: MIT */
/* Converts lists of processes, threads and CPUs to places for counters. */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/file.h"
#include "launch/count_target.h"

static int add_place(struct places *out, struct place p, struct tare_error *err)
{
	if (!array_one_more(&out->place, out->n, sizeof(*out->place)))
		return tare_fail_nomem(err);
	out->place[out->n++] = p;
	return 0;
}

static struct place task(const char *root, pid_t tid)
{
	struct place p = { .pid = tid, .cpu = -1, .shown = { .cpu = -1, .thread = tid } };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	if (file_line(root, path, p.comm, sizeof(p.comm), NULL) < 0)
		p.comm[0] = '\0';
	return p;
}

static int threads_of(const char *root, pid_t pid, struct places *out, struct tare_error *err)
{
	char path[PATH_MAX];
	struct dirent *d;
	int ret = 0;

	snprintf(path, sizeof(path), "%s/proc/%d/task", root ? root : "", pid);

	DIR *dir = opendir(path);

	if (!dir) {
		ret = tare_fail(err, errno == ENOENT ? ESRCH : errno, "there is no process %d%s%s",
				pid, errno == ENOENT ? "" : ": ",
				errno == ENOENT ? "" : strerror(errno));
		if (ret == -ESRCH)
			tare_hint(err, "it may have ended; ps -e lists the processes");
		return ret;
	}
	while (ret == 0 && (d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]))
			ret = add_place(out, task(root, atoi(d->d_name)), err);
	closedir(dir);
	return ret;
}

int places_of_tasks(const char *root, const char *list, bool whole_process, struct places *out,
		    struct tare_error *err)
{
	const char *what = whole_process ? "process" : "thread";
	int ret = 0;

	*out = (struct places){ 0 };
	for (const char *p = list; ret == 0;) {
		char *end;
		long id = isdigit((unsigned char)*p) ? strtol(p, &end, 10) : 0;

		if (id <= 0 || id > INT_MAX || (*end && *end != ',')) {
			ret = tare_fail_at(err, (int)(p - list), EINVAL,
					   "'%.*s' is not the number of a %s", (int)strcspn(p, ","),
					   p, what);
			break;
		}
		if (whole_process) {
			ret = threads_of(root, (pid_t)id, out, err);
		} else {
			struct place t = task(root, (pid_t)id);

			ret = t.comm[0] ? add_place(out, t, err)
					: tare_fail(err, ESRCH, "there is no thread %ld", id);
		}
		if (!*end)
			break;
		p = end + 1;
	}
	if (ret < 0)
		places_free(out);
	return ret;
}

int cpus_online(const char *root, struct cpus *out, struct tare_error *err)
{
	char *list;
	int ret = file_read(root, "/sys/devices/system/cpu/online", 65536, &list, NULL, err);

	if (ret == -ENOENT)
		tare_hint(err, "mount /sys: mount -t sysfs sysfs /sys");
	if (ret < 0)
		return ret;
	ret = cpus_parse(list, out, err);
	free(list);
	return ret;
}

bool count_target_needs_cpus(const struct count_target *where, const struct encoding *enc)
{
	return where->all_cpus || where->cpus.n || enc->place == PLACE_UNCORE;
}

static int check_online(const struct count_target *where, const struct cpus *online,
			struct tare_error *err)
{
	for (size_t i = 0; i < where->cpus.n; i++)
		if (!cpus_has(online, where->cpus.cpu[i])) {
			struct text t = { 0 };

			cpus_write(&t, online);
			tare_fail(err, ENODEV, "CPU %d is not online", where->cpus.cpu[i]);
			tare_hint(err, "online are %.200s", t.s ? t.s : "none");
			text_free(&t);
			return -ENODEV;
		}
	return 0;
}

int places_for(const struct encoding *enc, const struct places *tasks,
	       const struct count_target *where, const struct cpus *online, struct places *out,
	       struct tare_error *err)
{
	bool system_wide = where->all_cpus || !tasks->n || enc->place == PLACE_UNCORE;
	struct place any = { .pid = -1, .cpu = -1, .shown = { .cpu = -1, .thread = -1 } };
	struct cpus on = { 0 }, both = { 0 };
	int ret = 0;

	*out = (struct places){ 0 };
	if (count_target_needs_cpus(where, enc)) {
		ret = check_online(where, online, err);
		if (ret == 0)
			ret = cpus_and(&on, online, where->cpus.n ? &where->cpus : online, err);
		if (ret == 0 && enc->cpus.n) {
			ret = cpus_and(&both, &on, &enc->cpus, err);
			cpus_free(&on);
			on = both;
		}
	}
	for (size_t t = 0; ret == 0 && t < (system_wide ? 1 : tasks->n); t++) {
		struct place p = system_wide ? any : tasks->place[t];

		if (!count_target_needs_cpus(where, enc))
			ret = add_place(out, p, err);
		for (size_t c = 0; ret == 0 && c < on.n; c++) {
			p.cpu = p.shown.cpu = on.cpu[c];
			ret = add_place(out, p, err);
		}
	}
	cpus_free(&on);
	if (ret < 0)
		places_free(out);
	return ret;
}

void places_free(struct places *p)
{
	free(p->place);
	*p = (struct places){ 0 };
}
