/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static
 * Code far from everything else, between mappings that leave no more than 20 MiB within its reach.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void)
{
	static const unsigned char code[] = { 0xb8, 42, 0, 0, 0, 0xc3 }; /* mov $42, %eax; ret */
	const uint64_t at = 0x500000000000, around = 0x88000000, hole = 20 << 20;
	char *all = mmap((void *)(at - around), 2 * around, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (all == MAP_FAILED || munmap(all + around - 0x30000000, hole) ||
	    mprotect(all + around, 4096, PROT_READ | PROT_WRITE | PROT_EXEC))
		return 1;
	memcpy(all + around, code, sizeof code);
	printf("%d\n", ((int (*)(void))(void *)(all + around))());
	return 0;
}
