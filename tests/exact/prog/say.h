/* SPDX-License-Identifier: MIT */
/*
 * A line of words and numbers to descriptor 1, for the programs here: all is single-stepped, and
 * printf takes five times as many.
 */
#include <string.h>
#include <unistd.h>

static inline char *say_number(char *end, long number)
{
	unsigned long n = number < 0 ? -(unsigned long)number : (unsigned long)number;

	do
		*--end = (char)('0' + n % 10);
	while (n /= 10);
	if (number < 0)
		*--end = '-';
	*--end = ' ';
	return end;
}

static inline void say_line(const char *what, const long *numbers, int n)
{
	char line[256], *end = line + sizeof line, *at = end;
	size_t size = strlen(what);

	*--at = '\n';
	while (n--)
		at = say_number(at, numbers[n]);
	at -= size;
	memcpy(at, what, size);
	if (write(1, at, (size_t)(end - at)) < 0)
		_exit(97);
}

#define SAY_LINE(what, ...)                                                                        \
	say_line(what, (const long[]){ __VA_ARGS__ },                                              \
		 sizeof((const long[]){ __VA_ARGS__ }) / sizeof(long))
