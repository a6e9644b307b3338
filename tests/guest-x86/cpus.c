/* SPDX-License-Identifier: MIT */
/*
 * For isa.sh: some work for each CPU that the program sees. Built statically with musl, as its
 * functions do not depend on the CPU model.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	FILE *info = fopen("/proc/cpuinfo", "r");
	unsigned long sum = 0;
	char line[4096];

	for (long i = 0; i < cpus; i++) {
		char *block = malloc(10000);

		memset(block, (int)i, 10000);
		sum += (unsigned char)block[9999];
		free(block);
	}
	while (info && fgets(line, sizeof(line), info))
		sum += strlen(line);
	printf("%ld CPUs, %lu\n", cpus, sum);
	return 0;
}
