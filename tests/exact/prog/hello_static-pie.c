/*
 * The C library's start, from the kernel's first instruction on; a static-pie program.
 * exact: build=static-pie
 */
#include <stdio.h>

int main(int argc, char **argv)
{
	printf("%d %s\n", argc, argv[0] ? "named" : "");
	return 3;
}
