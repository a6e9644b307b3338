/* SPDX-License-Identifier: MIT */
#include "regions/runtime/region_map.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "recording/region_format.h"

/*
 * Three adjacent mappings, from high to low addresses:
 *
 *	a page that cannot be accessed
 *	the file's, which a child does not get (MADV_DONTFORK)
 *	a page of a stack (MAP_GROWSDOWN), never used
 *
 * In the child, an access to the place of the file grows the stack below its end. The kernel does
 * not map anything else there, because it leaves a gap below a stack, and lets a stack grow down
 * only to a mapping that cannot be accessed.
 *
 * Source: mmap(2), "MAP_GROWSDOWN"; Linux mm/mmap.c, expand_downwards(), vm_start_gap() (4.12).
 */
static void *make_room(size_t bytes, bool grows)
{
	size_t whole = FILE_PAGE + bytes + FILE_PAGE;
	char *room = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			  0);

	if (room == MAP_FAILED)
		return NULL;
	if (grows &&
	    mmap(room + FILE_PAGE + bytes, FILE_PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN, -1, 0) == MAP_FAILED) {
		munmap(room, whole);
		return NULL;
	}
	return room + FILE_PAGE;
}

/*
 * Does this work here? Linux before 5.0 on x86 lets programs use only addresses near their stack
 * pointer, and an emulator may differ.
 */
static bool grows_here(void)
{
	static int known; /* 1: no, 2: yes */
	struct utsname u;
	int is = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (!is) {
		char *hole = uname(&u) == 0 && atoi(u.release) >= 5 ? make_room(FILE_PAGE, true)
								    : NULL;

		is = 1;
		if (hole) {
			munmap(hole, FILE_PAGE);
			if (syscall(SYS_clock_gettime, CLOCK_MONOTONIC, hole) == 0)
				is = 2;
			region_unmap(hole, FILE_PAGE);
		}
		__atomic_store_n(&known, is, __ATOMIC_RELAXED);
	}
	return is == 2;
}

void *region_map(int fd, uint64_t offset, size_t bytes, bool at_once)
{
	bool grows = grows_here();
	char *room = make_room(bytes, grows);

	if (!room)
		return NULL;
	if (mmap(room, bytes, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED | (at_once ? MAP_POPULATE : 0), fd,
		 (off_t)offset) == MAP_FAILED) {
		region_unmap(room, bytes);
		return NULL;
	}
	if (grows)
		madvise(room, bytes, MADV_DONTFORK);
	return room;
}

void region_unmap(void *map, size_t bytes)
{
	if (map)
		munmap((char *)map - FILE_PAGE, FILE_PAGE + bytes + FILE_PAGE);
}
