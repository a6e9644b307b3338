/* SPDX-License-Identifier: MIT */
#include <unistd.h>
#include "base/error.h"
#include "base/file.h"
#include "output/doomed.h"

static const int deadly[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE };
enum { MOST_DOOMED = 4 };
static const char *volatile doomed[MOST_DOOMED];
static pid_t doomed_by;
static volatile sig_atomic_t finishing, came; /* the deferred signal; 0: none */

static void on_signal(int number)
{
	if (finishing && getpid() == doomed_by) {
		came = number;
		return;
	}
	for (size_t i = 0; i < MOST_DOOMED && getpid() == doomed_by; i++)
		if (doomed[i] && unlink(doomed[i]) < 0 && errno == EISDIR)
			file_remove_folder(doomed[i]);
	signal(number, SIG_DFL);
	raise(number);
}

sigset_t doomed_hold(void)
{
	sigset_t set, before;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
		sigaddset(&set, deadly[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	return before;
}

void doomed_let(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

void doomed_add(const char *name)
{
	size_t at = 0;

	while (at < MOST_DOOMED && doomed[at])
		at++;
	if (at == MOST_DOOMED || !name)
		return;
	doomed_by = getpid();
	doomed[at] = name;
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
		if (signal(deadly[i], on_signal) == SIG_IGN)
			signal(deadly[i], SIG_IGN);
}

/* The handler stays installed: with nothing to unlink it does the default action. */
void doomed_spare(const char *name)
{
	for (size_t i = 0; i < MOST_DOOMED; i++)
		if (name && doomed[i] == name)
			doomed[i] = NULL;
}

void doomed_finish(void)
{
	finishing = 1;
}

void doomed_finished(void)
{
	finishing = 0;
	if (came)
		raise(came);
	came = 0;
}
