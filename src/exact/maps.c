/* SPDX-License-Identifier: MIT */
/*
 * The mappings of a program: read from /proc/TID/maps while the thread that asks waits and its
 * process cannot change them. A file is one module even if it is mapped several times. Source:
 * proc(5), "/proc/[pid]/maps".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "base/proc_maps.h"
#include "exact/supervisor.h"

enum { NAME_ROOM = sizeof((struct proc_maps *)0)->text };

/* Private copies of the numbers in the shared state, where others could change them. */
static uint32_t n_modules, n_mappings;

/*
 * The mapping at `pc` of thread `tid`; false also if the shared state is not mapped there:
 * members.c.
 */
static bool find_map(pid_t tid, uint64_t pc, struct proc_map *l, char name[NAME_ROOM])
{
	bool found = false, member = false;
	struct proc_maps maps;
	struct proc_map m;

	if (tid <= 0 || proc_maps_open(&maps, NULL, tid) < 0)
		return false;
	while (!(found && member) && proc_maps_next(&maps, &m)) {
		member |= is_shared(&m);
		if (found || pc < m.start || pc >= m.end)
			continue;
		found = true;
		*l = m;
		l->name = name;
		snprintf(name, NAME_ROOM, "%s", m.name);
	}
	proc_maps_close(&maps);
	return found && member;
}

static uint64_t device_of(const struct proc_map *l)
{
	return makedev(l->major, l->minor);
}

static enum exact_module_kind kind_of(const struct proc_map *l)
{
	if (!strcmp(l->name, "[vdso]"))
		return EXACT_VDSO;
	/* Memory files (memfd_create, shm) contain what a program wrote at run time. */
	if (l->name[0] != '/' || !strncmp(l->name, "/memfd:", 7) || !strncmp(l->name, "/SYSV", 5) ||
	    !strncmp(l->name, "/dev/zero", 9) || !strncmp(l->name, "/anon_hugepage", 14))
		return EXACT_MEMORY;
	return EXACT_FILE;
}

/*
 * Does the path name the same file for tare as for the program? Fills in the file's current
 * attributes.
 */
static void look_at_file(struct module *m, const char *path, pid_t tid)
{
	char *theirs = NULL;
	struct stat here, there;

	m->elsewhere = 1;
	if (asprintf(&theirs, "/proc/%d/root%s", (int)tid, path) < 0)
		return;
	if (stat(path, &here) == 0 && stat(theirs, &there) == 0 && here.st_dev == there.st_dev &&
	    here.st_ino == there.st_ino) {
		m->elsewhere = 0;
		m->size = here.st_size;
		m->mtime_s = here.st_mtim.tv_sec;
		m->mtime_ns = here.st_mtim.tv_nsec;
	}
	free(theirs);
}

static uint32_t module_of(struct shared_state *b, const struct proc_map *l, pid_t tid)
{
	const char *path = l->name[0] ? l->name : "[anonymous memory]";
	enum exact_module_kind kind = kind_of(l);
	struct module *m;

	for (uint32_t i = 0; i < n_modules; i++) {
		m = shared_module(b, i);
		if (m->kind == kind &&
		    (kind != EXACT_FILE || (m->inode == l->inode && m->dev == device_of(l))) &&
		    !strncmp(m->path, path, MODULE_PATH_MAX - 1))
			return i;
	}
	if (n_modules == MODULES_MAX)
		return 0;
	m = shared_module(b, n_modules);
	m->kind = kind;
	m->inode = l->inode;
	m->dev = device_of(l);
	snprintf(m->path, sizeof m->path, "%.*s", MODULE_PATH_MAX - 1, path);
	if (kind == EXACT_FILE)
		look_at_file(m, path, tid);
	b->n_modules = n_modules + 1;
	return n_modules++;
}

/* Programs have similar layouts, so a mapping is usually known: search from the newest. */
static uint32_t mapping_number(struct shared_state *b, const struct mapping *m)
{
	for (uint32_t i = n_mappings; i-- > MAPPING_UNKNOWN;) {
		const struct mapping *old = shared_mapping(b, i);

		if (old->start == m->start && old->offset == m->offset && old->module == m->module)
			return i;
		if (n_mappings - i > 4096)
			break;
	}
	if (n_mappings == MAPPINGS_MAX)
		return MAPPING_UNKNOWN;
	*shared_mapping(b, n_mappings) = *m;
	b->n_mappings = n_mappings + 1;
	return n_mappings++;
}

/* Module 0 and mapping 1 mean unknown; there is no mapping 0. */
void maps_begin(struct shared_state *b)
{
	shared_module(b, 0)->kind = EXACT_UNKNOWN;
	snprintf(shared_module(b, 0)->path, MODULE_PATH_MAX, "[unknown]");
	b->n_modules = n_modules = 1;
	b->n_mappings = n_mappings = MAPPING_UNKNOWN + 1;
}

void maps_answer(struct shared_state *b, struct question *q)
{
	const pid_t tid = __atomic_load_n(&q->tid, __ATOMIC_RELAXED);
	char name[NAME_ROOM];
	struct proc_map l;

	q->mapping = MAPPING_UNKNOWN;
	q->start = q->end = 0;
	q->shared.inode = 0;
	if (find_map(tid, __atomic_load_n(&q->pc, __ATOMIC_RELAXED), &l, name)) {
		struct mapping m = { .module = module_of(b, &l, tid) };

		/* Memory without a file has no locations: one mapping is enough. */
		if (shared_module(b, m.module)->kind == EXACT_FILE ||
		    shared_module(b, m.module)->kind == EXACT_VDSO)
			m = (struct mapping){ l.start, l.offset, m.module, 0 };
		q->mapping = mapping_number(b, &m);
		q->start = l.start;
		q->end = l.end;
		q->shared = (struct shared_part){ l.rights[3] == 's' ? l.inode : 0, device_of(&l),
						  l.offset };
	}
}
