/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/process.h"
#include "launch/signals.h"

#define GRACE_NS  UINT64_C(3000000000)
#define COPIES_NS UINT64_C(500000000)

int signals_open(struct signals *s, struct tare_error *err)
{
	static const int polite[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, usual = { .sa_handler = SIG_DFL }, now;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(polite); i++)
		if (sigaction(polite[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(&set, polite[i]);
	sigaction(SIGPIPE, &ignore, &s->before.sigpipe);
	/* If it is ignored, it is not sent, and a child leaves no exit status: wait(2). */
	sigaction(SIGCHLD, &usual, &s->before.sigchld);
	sigprocmask(SIG_BLOCK, &set, &s->before.mask);
	s->taken = false;
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd >= 0)
		return 0;

	int code = errno;

	signals_close(s);
	return tare_fail(err, code, "cannot watch for signals: %s", strerror(code));
}

/*
 * A terminal sends signals to its foreground group, but SIGHUP on hangup only to the session
 * leader.
 */
bool signal_is_for_us_alone(int number, int code)
{
	return code != SI_KERNEL || (number == SIGHUP && getsid(0) == getpid());
}

void signal_send(pid_t pid, int number)
{
	kill(pid, number);
	if (process_state(NULL, pid) == 'T')
		kill(pid, SIGCONT);
}

bool signals_next(struct signals *s, struct signal_seen *out)
{
	struct signalfd_siginfo info;

	if (read(s->fd, &info, sizeof(info)) != sizeof(info))
		return false;
	s->taken |= info.ssi_signo != SIGCHLD;
	*out = (struct signal_seen){ .number = (int)info.ssi_signo,
				     .hand_on = signal_is_for_us_alone((int)info.ssi_signo,
								       info.ssi_code) };
	return true;
}

void signals_close(struct signals *s)
{
	struct signal_seen more;

	while (s->fd >= 0 && s->taken && signals_next(s, &more))
		/*
		 * a copy of the signal that ended the command must not end tare before it reports
		 */
		;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	sigprocmask(SIG_SETMASK, &s->before.mask, NULL);
	sigaction(SIGPIPE, &s->before.sigpipe, NULL);
	sigaction(SIGCHLD, &s->before.sigchld, NULL);
}

void grace_ask(struct grace *g)
{
	uint64_t now = clock_now_ns();

	if (!g->end_ns)
		g->end_ns = now + GRACE_NS;
	else if (now + GRACE_NS > g->end_ns + COPIES_NS)
		g->end_ns = now;
}

uint64_t grace_end_ns(const struct grace *g)
{
	return g->end_ns ? g->end_ns : UINT64_MAX;
}
