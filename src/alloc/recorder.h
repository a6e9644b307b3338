/* SPDX-License-Identifier: MIT */
/* What operators.c asks of alloc.c. */
#ifndef ALLOC_RECORDER_H
#define ALLOC_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#define HOOK __attribute__((visibility("default")))

/*
 * The next block that this thread takes is for the caller of `frame`, __builtin_frame_address(0) of the function that the program called.
 * False: another such function asked already, and this is a part of its work. What asked then tells what it got.
 */
bool recorder_asks(const void *frame);
void recorder_got(const void *frame, void *block, size_t size);

/* The block is given back: what then gives it on to free(3), between the two, is not written down again. */
void recorder_gives(void *block, const void *frame);
void recorder_gave(void);

/* Until it is told false nothing that this thread does is written down; what was so before. */
bool recorder_rests(bool rests);

#endif
