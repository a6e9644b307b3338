/* SPDX-License-Identifier: MIT */
/* What fuzz targets share. A target is a file NAME_fuzz.c and a row in meson.build; seeds lie in
 * seeds/NAME. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* A broken promise is a crash that keeps its input. */
#define must(promise)                                                                              \
	do {                                                                                       \
		if (!(promise)) {                                                                  \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #promise);      \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* The bytes as a terminated string of their own size, so that the sanitizer sees a read past the
 * end. */
__attribute__((unused)) static char *fuzz_text(const uint8_t *bytes, size_t n)
{
	char *text = malloc(n + 1);

	must(text);
	memcpy(text, bytes, n);
	text[n] = '\0';
	return text;
}

#endif
