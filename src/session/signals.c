/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include "session/signals.h"

int signals_open(struct signals *s, struct tare_error *err)
{
	static const int polite[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, usual = { .sa_handler = SIG_DFL }, now;
	sigset_t set;

	s->last = 0;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(polite); i++)
		if (sigaction(polite[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(&set, polite[i]);
	sigaction(SIGPIPE, &ignore, &s->before.sigpipe);
	/* Ignored, it would not be sent, and a child's end would leave no status: wait(2). */
	sigaction(SIGCHLD, &usual, &s->before.sigchld);
	sigprocmask(SIG_BLOCK, &set, &s->before.mask);
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd >= 0)
		return 0;

	int code = errno;

	signals_close(s);
	return tare_fail(err, code, "cannot watch for signals: %s", strerror(code));
}

/* Nobody who means a second one is as quick. */
static bool is_repeated(struct signals *s, const struct signalfd_siginfo *info)
{
	const uint64_t at_once_ns = 250000000;
	struct timespec t;
	uint64_t now;
	bool repeated;

	if (info->ssi_signo == SIGCHLD || info->ssi_code == SI_KERNEL)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &t);
	now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	repeated = (int)info->ssi_signo == s->last && now - s->last_ns < at_once_ns;
	s->last = (int)info->ssi_signo;
	s->last_ns = now;
	return repeated;
}

bool signals_next(struct signals *s, struct signal_seen *out)
{
	struct signalfd_siginfo info;

	do {
		if (read(s->fd, &info, sizeof(info)) != sizeof(info))
			return false;
	} while (is_repeated(s, &info));
	*out = (struct signal_seen){ .number = (int)info.ssi_signo,
				     .by_terminal = info.ssi_code == SI_KERNEL };
	return true;
}

void signals_close(struct signals *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	sigprocmask(SIG_SETMASK, &s->before.mask, NULL);
	sigaction(SIGPIPE, &s->before.sigpipe, NULL);
	sigaction(SIGCHLD, &s->before.sigchld, NULL);
}
