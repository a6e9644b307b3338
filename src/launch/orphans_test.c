/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "launch/orphans.h"
#include "tap.h"

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static bool lives(pid_t pid)
{
	return kill(pid, 0) == 0 && waitpid(pid, NULL, WNOHANG) == 0;
}

/* A grandchild in a session of its own, whose parent has ended. */
static pid_t daemon_of_a_child(void)
{
	int ends[2];
	pid_t child, pid = 0;

	CHECK_EQ(pipe(ends), 0, "a pipe");
	child = fork();
	if (child == 0) {
		setsid();
		pid = sleeper();
		if (write(ends[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
		_exit(0);
	}
	CHECK_EQ(read(ends[0], &pid, sizeof(pid)), sizeof(pid), "its number");
	waitpid(child, NULL, 0);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

TEST(orphans_end_and_other_children_live)
{
	pid_t before = sleeper(), during, daemon;
	struct orphans o;

	orphans_adopt(&o);
	during = sleeper();
	daemon = daemon_of_a_child();
	orphans_end(&o);
	CHECK(lives(before), "a child from before is not ended");
	CHECK(kill(during, 0) < 0 && kill(daemon, 0) < 0,
	      "adopted processes have ended and were reaped");
	kill(before, SIGKILL);
	waitpid(before, NULL, 0);
	daemon = daemon_of_a_child();
	CHECK(waitpid(daemon, NULL, WNOHANG) < 0, "nothing is adopted any more");
	kill(daemon, SIGKILL);
}

TEST(orphans_that_have_ended_are_reaped)
{
	struct orphans o;
	pid_t waited, ended;

	orphans_adopt(&o);
	ended = fork();
	if (ended == 0)
		_exit(0);
	for (int i = 0; i < 2000 && kill(ended, 0) == 0; i++) {
		orphans_reap(&o, 0);
		usleep(1000);
	}
	CHECK(kill(ended, 0) < 0, "reaped");
	waited = fork();
	if (waited == 0)
		_exit(7);
	for (int i = 0; i < 20; i++) {
		orphans_reap(&o, waited);
		usleep(1000);
	}
	CHECK_EQ(waitpid(waited, NULL, 0), waited, "left for its waiter");
	orphans_end(&o);
}

TEST_MAIN()
