/* SPDX-License-Identifier: MIT */
/*
 * over HOW: maps memory below 2 GiB over the counter's jump table; natively nothing is mapped
 * there.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char *low = (char *)0x70000000, *at = (char *)0x7ff00000, *got = MAP_FAILED;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS, id = shmget(IPC_PRIVATE, 8192, 0600);

	if (!strcmp(how, "fixed"))
		got = mmap(low, 0xff80000, PROT_READ | PROT_WRITE,
			   flags | MAP_FIXED | MAP_NORESERVE, -1, 0);
	else if (!strcmp(how, "one"))
		got = mmap(at, 1, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, 0);
	else if (!strcmp(how, "moved"))
		got = mremap(mmap(NULL, 8192, PROT_READ | PROT_WRITE, flags, -1, 0), 8192, 8192,
			     MREMAP_MAYMOVE | MREMAP_FIXED, at);
	else if (!strcmp(how, "attached"))
		got = shmat(id, at, SHM_REMAP);
	shmctl(id, IPC_RMID, NULL);
	return got == MAP_FAILED;
}
