/* exact: compare=output reason=the_lines_of_the_maps_are_more_with_the_engine_in_them
 * A program that reads its own code and its own maps: both are what they are without a counter. */
#include <stdio.h>
#include <string.h>

extern char __executable_start, etext;

int main(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long sum = 0;
	char line[512];
	int mine = 0, stack = 0;

	for (const char *p = &etext - 3000; p < &etext; p++)
		sum = sum * 31 + (unsigned char)*p;
	while (maps && fgets(line, sizeof(line), maps)) {
		mine += strstr(line, "own_code") != NULL;
		stack += strstr(line, "[stack]") != NULL;
	}
	printf("%lx %d %d\n", sum, mine, stack);
	return 0;
}
