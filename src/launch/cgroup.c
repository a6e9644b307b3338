/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "launch/cgroup.h"

enum { MOUNTS_MAX = 1 << 20 };

/*
 * The perf_event hierarchy of version 1 if it is mounted, otherwise version 2, which includes
 * perf_event. Source: proc(5), "/proc/pid/mounts"; cgroups(7).
 */
static int find_mount(char *out, size_t room, struct tare_error *err)
{
	char *mounts, *save = NULL;
	int ret = file_read(NULL, "/proc/self/mounts", MOUNTS_MAX, &mounts, NULL, err);

	if (ret < 0)
		return ret;
	out[0] = '\0';
	for (char *line = strtok_r(mounts, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char path[1024], type[64], options[1024];

		if (sscanf(line, "%*s %1023s %63s %1023s", path, type, options) != 3 ||
		    strlen(path) >= room)
			continue;
		if (!strcmp(type, "cgroup") && strstr(options, "perf_event")) {
			strcpy(out, path);
			break;
		}
		if (!strcmp(type, "cgroup2") && !out[0])
			strcpy(out, path);
	}
	free(mounts);
	if (out[0])
		return 0;
	return tare_fail(err, ENOENT, "no control groups are mounted here");
}

int cgroup_open(const char *name, struct tare_error *err)
{
	char mount[1024], path[2048];
	int fd, ret = find_mount(mount, sizeof(mount), err);

	if (ret < 0)
		return ret;
	if (snprintf(path, sizeof(path), "%s/%s", mount, name) >= (int)sizeof(path) ||
	    strstr(name, ".."))
		return tare_fail(err, EINVAL, "'%.64s' is not the name of a control group", name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return tare_fail(err, errno, "cannot open the control group %.300s: %s", path,
				 strerror(errno));
	return fd;
}
