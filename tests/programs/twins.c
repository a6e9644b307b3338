/* SPDX-License-Identifier: MIT */
/*
 * A program with the same behaviour in each run although its children alternate: one of two waits
 * until the other has forked a child and executed a program, and in the next run the roles are
 * swapped. (The file `twins.turn` has the next role; no branch depends on it, nor on the random
 * bytes that each prints.) Each reads from a pipe that the other's exec closes: the one that is
 * first finds a byte there.
 */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SPINS = 1000 };

static volatile uint64_t sink;

static void say(const char *who)
{
	uint8_t bytes[8];
	char line[64];
	size_t n = strlen(who);

	for (int i = 0; i < 2; i++)
		if (getrandom(bytes + 4 * i, 4, 0) != 4)
			_exit(1);
	memcpy(line, who, n);
	line[n++] = ' ';
	for (size_t i = 0; i < 2 * sizeof(bytes); i++)
		line[n++] = "0123456789abcdef"[bytes[i / 2] >> 4 * (i % 2) & 15];
	line[n++] = '\n';
	if (write(1, line, n) != (ssize_t)n)
		_exit(1);
}

static void be_child(char *const argv[], unsigned char number, int gate[2][2])
{
	static const char *const names[2][2] = { { "first", "second" },
						 { "child of the first", "child of the second" } };
	char byte;
	pid_t child;

	close(gate[number][1]);
	sink += (uint64_t)read(gate[number][0], &byte, 1);
	say(names[0][number]);
	child = fork();
	if (child == 0) {
		say(names[1][number]);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	execl(argv[0], argv[0], "leaf", number ? "program of the second" : "program of the first",
	      NULL);
	_exit(1);
}

int main(int argc, char *argv[])
{
	unsigned char turn = 0, next;
	int gate[2][2], fd;
	pid_t child[2];

	if (argc > 2 && !strcmp(argv[1], "leaf")) {
		for (size_t i = 0; i < SPINS * strlen(argv[2]); i++)
			sink += i;
		say(argv[2]);
		return 0;
	}
	fd = open("twins.turn", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || pread(fd, &turn, 1, 0) < 0)
		return 1;
	next = turn ^ 1;
	if (pwrite(fd, &next, 1, 0) != 1 || pipe2(gate[0], O_CLOEXEC) || pipe2(gate[1], O_CLOEXEC))
		return 1;
	if (write(gate[turn][1], &next, 1) != 1)
		return 1;
	for (unsigned char i = 0; i < 2; i++) {
		child[i] = fork();
		if (child[i] == 0)
			be_child(argv, i, gate);
	}
	for (int i = 0; i < 2; i++)
		close(gate[i][1]);
	for (int i = 0; i < 2; i++)
		waitpid(child[i], NULL, 0);
	return 0;
}
