/*
 * The C library's start, from the kernel's first instruction on; a dynamic program.
 * exact: build=dynamic
 */
#include <stdio.h>

int main(int argc, char **argv)
{
	printf("%d %s\n", argc, argv[0] ? "named" : "");
	return 3;
}
