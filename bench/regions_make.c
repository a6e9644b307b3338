/* SPDX-License-Identifier: MIT */
/* Any number of empty regions with 64 labels: bench/timeline.sh records and then reads them. */
#include <stdio.h>
#include <stdlib.h>
#include <tare/region.h>

enum { LABELS = 64 };

int main(int argc, char **argv)
{
	static struct tare_region region[LABELS];
	static char name[LABELS][16];
	unsigned long n = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;

	if (n == 0) {
		fprintf(stderr, "usage: regions_make N\n");
		return 2;
	}
	for (unsigned i = 0; i < LABELS; i++) {
		snprintf(name[i], sizeof(name[i]), "label %02u", i);
		region[i] = (struct tare_region){ TARE_LABEL_UNKNOWN, __LINE__, name[i], __FILE__ };
	}
	for (unsigned long i = 0; i < n; i++) {
		tare_region_begin(&region[i % LABELS]);
		tare_region_end(&region[i % LABELS]);
	}
	return 0;
}
