/* exact: build=dynamic libs=-lm
 * A little of everything a C program does: sorting, formatting, parsing, strings, mathematics,
 * files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int up(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

enum { N = 16 /* few: all is single-stepped */ };

int main(void)
{
	static char text[2000], copy[2000];
	int v[N];
	double d = 0;

	for (int i = 0; i < N; i++)
		v[i] = i * 7919 % (N + 1);
	qsort(v, N, sizeof(*v), up);
	for (int i = 0; i < N; i++)
		snprintf(text + strlen(text), 20, "%d,%.2f;", v[i], sqrt(v[i]));
	memmove(copy + 3, text, strlen(text));
	d = strtod(strchr(text, '.'), NULL) + sin(v[5]) + pow(v[7], 0.3);
	printf("%s %d %.12g %zu\n", strstr(text, "12,"), strcmp(text, copy + 3), d,
	       strspn(text, "0123456789,.;"));
	return 0;
}
