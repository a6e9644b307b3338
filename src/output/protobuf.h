/* SPDX-License-Identifier: MIT */
/*
 * Writes protocol buffers: a message is built in memory from the inside out. Source: protobuf.dev,
 * "Encoding".
 */
#ifndef OUTPUT_PROTOBUF_H
#define OUTPUT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "output/out.h"

/* Zero-initialise; pb_clear() keeps the memory for the next message. */
struct pb {
	unsigned char *b;
	size_t n, room;
	bool failed; /* out of memory */
};

void pb_clear(struct pb *m);
void pb_free(struct pb *m);
/* For int32, int64, uint64, bool and enum; a negative number is written as 64 bits. */
void pb_int(struct pb *m, unsigned field, uint64_t value);
void pb_bytes(struct pb *m, unsigned field, const void *bytes, size_t n);
void pb_string(struct pb *m, unsigned field, const char *s);
void pb_message(struct pb *m, unsigned field, const struct pb *inner);
/* A packed field. */
void pb_ints(struct pb *m, unsigned field, const uint64_t *value, size_t n);
/* Append the message to the file, as a field of the outermost one. */
void pb_write(struct out *o, unsigned field, const struct pb *m);

#endif
