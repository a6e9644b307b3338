/* SPDX-License-Identifier: MIT */
/*
 * Switches counting on and off from outside or from the program itself, by perf's protocol. Lines
 * "enable [EVENT]", "disable [EVENT]", "ping", "stop" are read; "ack" is written after each one has
 * taken effect, so the program can wait for it before its region of interest. Source: perf-stat(1),
 * "--control".
 */
#ifndef LAUNCH_CONTROL_H
#define LAUNCH_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"

struct control {
	int in, ack; /* -1: none */
	bool own;    /* opened here, so closed here */
	char line[256];
	size_t len;
	bool skipping; /* inside a line that is too long */
};

enum control_word {
	CONTROL_NONE,
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_PING,
	CONTROL_STOP,
	CONTROL_UNKNOWN
};

#define CONTROL_INIT                                                                               \
	{                                                                                          \
		.in = -1, .ack = -1                                                                \
	}

/*
 * "fd:IN[,ACK]" or "fifo:IN[,ACK]". A fifo is opened for reading and writing, so neither side has
 * to wait.
 */
int control_open(struct control *c, const char *spec, struct tare_error *err);
/*
 * The next complete command, with its event's name in *name (valid until the next call) or NULL;
 * CONTROL_NONE if there is none yet. Closes the input at its end (c->in becomes -1).
 */
enum control_word control_next(struct control *c, const char **name);
/* Acknowledge the last command, or report its error. Never blocks. */
void control_answer(struct control *c, const char *answer);
void control_close(struct control *c);

#endif
