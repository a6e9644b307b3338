/* SPDX-License-Identifier: MIT */
#include <sys/time.h>
#include <unistd.h>
#include "base/error.h"
#include "base/file.h"
#include "output/temp_cleanup.h"

static const int deadly[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE };
enum { MOST_TEMP_FILES = 4 };
enum { DEFERRED_CPU_S = 1, DEFERRED_S = 10 };
static const char *volatile temp_files[MOST_TEMP_FILES];
static pid_t cleanup_pid;
static volatile sig_atomic_t finishing, came; /* the deferred signal; 0: none */

/* Limits the time that tare has to finish its files. */
static void limit_deferral(void)
{
	const struct itimerval cpu = { .it_value.tv_sec = DEFERRED_CPU_S },
			       wall = { .it_value.tv_sec = DEFERRED_S };

	setitimer(ITIMER_PROF, &cpu, NULL);
	setitimer(ITIMER_REAL, &wall, NULL);
}

static void on_limit(int number)
{
	sigset_t set;

	(void)number;
	if (!came || getpid() != cleanup_pid)
		return;
	signal(came, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, came);
	raise(came);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void on_signal(int number)
{
	if (finishing && getpid() == cleanup_pid) {
		if (!came)
			limit_deferral();
		came = number;
		return;
	}
	for (size_t i = 0; i < MOST_TEMP_FILES && getpid() == cleanup_pid; i++)
		if (temp_files[i] && unlink(temp_files[i]) < 0 && errno == EISDIR)
			file_remove_folder(temp_files[i]);
	signal(number, SIG_DFL);
	raise(number);
}

sigset_t temp_cleanup_block(void)
{
	sigset_t set, before;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
		sigaddset(&set, deadly[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	return before;
}

void temp_cleanup_unblock(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

void temp_cleanup_add(const char *name)
{
	size_t at = 0;

	while (at < MOST_TEMP_FILES && temp_files[at])
		at++;
	if (at == MOST_TEMP_FILES || !name)
		return;
	cleanup_pid = getpid();
	temp_files[at] = name;
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
		if (signal(deadly[i], on_signal) == SIG_IGN)
			signal(deadly[i], SIG_IGN);
}

/* The handler stays installed: with nothing to unlink it does the default action. */
void temp_cleanup_forget(const char *name)
{
	for (size_t i = 0; i < MOST_TEMP_FILES; i++)
		if (name && temp_files[i] == name)
			temp_files[i] = NULL;
}

void temp_cleanup_finish(void)
{
	static const int limits[] = { SIGPROF, SIGALRM };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		signal(limits[i], on_limit);
		sigaddset(&set, limits[i]);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	finishing = 1;
}

void temp_cleanup_finished(void)
{
	finishing = 0;
	if (came)
		raise(came);
	came = 0;
}
