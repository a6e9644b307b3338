/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "output/output.h"
#include "output/temp_cleanup.h"
#include "tap.h"

/* Overwrite what functions that returned left on the stack. */
static void __attribute__((noinline)) use_the_stack(void)
{
	volatile char all[8 * PATH_MAX];

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = 'x';
}

/* A process that opens a file for rows, may put one there, and is ended by a signal. */
static void ended_by_a_signal(const char *path, bool puts)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct output o;
	struct text row = { 0 };

	if (output_open(&o, path, OUTPUT_ROWS, STDERR_FILENO, &err) < 0)
		_exit(1);
	text_add(&row, "a row\n");
	if (puts && output_put(&o, &row, &err) < 0)
		_exit(2);
	use_the_stack();
	raise(SIGTERM);
	_exit(3);
}

TEST(a_signal_removes_a_file_without_rows)
{
	char folder[] = "/tmp/tare-output-XXXXXX", path[64];

	CHECK(mkdtemp(folder) != NULL, "a folder");
	snprintf(path, sizeof(path), "%s/f", folder);
	for (int puts = 0; puts < 2; puts++) {
		pid_t pid = fork();
		int status = 0;

		if (pid == 0)
			ended_by_a_signal(path, puts);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "status %#x", status);
		CHECK_EQ(access(path, F_OK), puts ? 0 : -1);
	}
	unlink(path);
	rmdir(folder);
}

/* A hostile command can enlarge a file, so that the work on it does not end. */
TEST(a_deferred_signal_has_a_limit)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		temp_cleanup_add("none");
		temp_cleanup_finish();
		raise(SIGTERM);
		for (;;)
			usleep(0); /* TSan delivers signals at such calls only */
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "status %#x", status);
}

TEST_MAIN()
