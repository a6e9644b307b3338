/* SPDX-License-Identifier: MIT */
#ifndef BASE_SIGNAL_NAME_H
#define BASE_SIGNAL_NAME_H

#include <stdio.h>
#include <string.h>

enum { SIGNAL_NAME_ROOM = 24 };

/* "SIGINT"; "signal 40" if it has no name. Returns `to`. */
static inline const char *signal_name(int number, char to[SIGNAL_NAME_ROOM])
{
	const char *name = sigabbrev_np(number);

	if (name)
		snprintf(to, SIGNAL_NAME_ROOM, "SIG%s", name);
	else
		snprintf(to, SIGNAL_NAME_ROOM, "signal %d", number);
	return to;
}

#endif
