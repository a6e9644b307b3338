/* SPDX-License-Identifier: MIT */
/*
 * Checks which threads the supervisor may act on. It may have more rights than the command (root
 * that measures another user's program), and it reads requests from the shared state, where the
 * command can write any thread's number. So it traces, signals or inspects a thread only if the
 * kernel shows that the thread belongs to the command:
 *
 * - The whole shared state of this run is mapped at one of the addresses that inject() uses. Either
 *   inject() mapped it, or the thread was forked from one where it did. An exec removes it, so a
 *   setuid program that the command executed does not qualify. Another process may get a descriptor
 *   of the shared state and map it, but the kernel never chooses one of these addresses.
 * - It is still the same thread when it is traced: a TID may be reused, so the thread's directory
 *   in /proc is kept open.
 * - A program that it executes gets the engine only if that exec did not raise its rights. The
 *   engine checks the file before, but the file may be replaced meanwhile; and a setuid program
 *   gets its rights even if it is traced, if the tracer is privileged.
 *
 * The processes of the command trust each other: each can change what the engine does in another
 * one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include "base/proc_maps.h"
#include "exact/supervise.h"

static struct stat shared_file;

bool members_begin(int shared_fd)
{
	return fstat(shared_fd, &shared_file) == 0;
}

bool is_shared(const struct proc_map *m)
{
	if (m->inode != shared_file.st_ino || makedev(m->major, m->minor) != shared_file.st_dev ||
	    m->offset || m->rights[3] != 's' || m->end - m->start != SHARED_SIZE)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(shared_places); i++)
		if (m->start == shared_places[i])
			return true;
	return false;
}

/* ioctl() of /proc/PID/maps, from Linux 6.11. Source: linux/fs.h, struct procmap_query. */
struct map_query {
	uint64_t size, flags, address;
	uint64_t start, end, rights, page_size, offset, inode;
	uint32_t major, minor, name_size, id_size;
	uint64_t name, id;
};

#define MAP_QUERY _IOWR('f', 17, struct map_query)

enum { MAP_QUERY_SHARED = 8 };

/* Address of the shared state according to `maps`; 0: not mapped. */
static uint64_t place_of_shared(struct proc_maps *maps)
{
	struct proc_map m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shared_places); i++) {
		struct map_query q = { .size = sizeof(q), .address = shared_places[i] };

		if (ioctl(maps->fd, MAP_QUERY, &q) < 0) {
			if (errno != ENOENT)
				break;
			continue;
		}
		m = (struct proc_map){ .start = q.start,
				       .end = q.end,
				       .offset = q.offset,
				       .inode = q.inode,
				       .major = q.major,
				       .minor = q.minor };
		m.rights[3] = q.rights & MAP_QUERY_SHARED ? 's' : 'p';
		if (is_shared(&m))
			return m.start;
	}
	while (i < ARRAY_SIZE(shared_places) && proc_maps_next(maps, &m)) /* an older kernel */
		if (is_shared(&m))
			return m.start;
	return 0;
}

int member_open(struct member *m, pid_t pid, pid_t tid)
{
	struct proc_maps maps;
	char path[64];
	int ret;

	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	*m = (struct member){ .dir = pid > 0 ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1 };
	if (m->dir < 0)
		return -ESRCH;
	snprintf(path, sizeof path, "task/%d/maps", (int)tid);
	ret = proc_maps_open_at(&maps, m->dir, path);
	if (ret == 0) {
		m->place = place_of_shared(&maps);
		proc_maps_close(&maps);
		ret = m->place ? 0 : -EPERM;
	}
	if (ret < 0)
		member_close(m);
	return ret;
}

bool member_has(const struct member *m, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof path, "task/%d", (int)tid);
	return faccessat(m->dir, path, F_OK, 0) == 0;
}

void member_close(struct member *m)
{
	if (m->dir >= 0)
		close(m->dir);
	m->dir = -1;
}

/* Its /proc directory is owned by its effective user and group. Source: proc_pid(5). */
bool rights_of(struct rights *r, pid_t tid)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, tid };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = { 0 };
	char path[64];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%d", (int)tid);
	if (stat(path, &st) < 0 || syscall(SYS_capget, &head, caps) < 0)
		return false;
	*r = (struct rights){ st.st_uid, st.st_gid,
			      caps[0].permitted | (uint64_t)caps[1].permitted << 32 };
	return true;
}

/*
 * An exec by root restores root's capabilities, for every program. Source: capabilities(7),
 * "Capabilities and execution of programs by root".
 */
bool rights_gained(const struct rights *before, const struct rights *now)
{
	return now->uid != before->uid || now->gid != before->gid ||
		(before->uid && (now->permitted & ~before->permitted));
}
