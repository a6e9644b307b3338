/* SPDX-License-Identifier: MIT */
/*
 * Switching the counting on and off from outside, or from inside the program: perf's protocol.
 * Lines "enable [EVENT]", "disable [EVENT]", "ping", "stop" come in, "ack" goes out once each is
 * done, so that whoever waits for it knows where its region of interest begins. Source:
 * perf-stat(1), "--control".
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

/* "fd:IN[,ACK]" or "fifo:IN[,ACK]". A fifo is opened for reading and writing, so nobody has to
 * wait. */
int control_open(struct control *c, const char *spec, struct tare_error *err);
/*
 * The next whole command that has arrived, its event's name in *name (valid until the next call) or
 * NULL; CONTROL_NONE when there is none yet. At the end of the input closes it (c->in becomes -1).
 */
enum control_word control_next(struct control *c, const char **name);
/* Tell the other side that the last command is done, or what was wrong with it. Never blocks. */
void control_answer(struct control *c, const char *answer);
void control_close(struct control *c);

#endif
