/* SPDX-License-Identifier: MIT */
/*
 * Runs a command under a seccomp filter that answers perf_event_open with an error, as containers
 * and sandboxes do; or, with the words seccomp or personality, these calls with EPERM; or, with the
 * word container, perf_event_open and personality(ADDR_NO_RANDOMIZE), as container runtimes do by
 * default: filtered EPERM|ENOSYS|seccomp|personality|container COMMAND [ARG...]
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned code = argc > 1 && !strcmp(argv[1], "ENOSYS") ? ENOSYS : EPERM;
	unsigned call = argc > 1 && !strcmp(argv[1], "seccomp") ? SYS_seccomp
		: argc > 1 && !strcmp(argv[1], "personality")   ? SYS_personality
								: SYS_perf_event_open;
	bool container = argc > 1 && !strcmp(argv[1], "container");
	struct sock_filter rows[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, container ? SYS_personality : call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ADDR_NO_RANDOMIZE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(rows) / sizeof(rows[0]), rows };

	if (argc < 3) {
		fprintf(stderr,
			"usage: filtered EPERM|ENOSYS|seccomp|personality|container COMMAND [ARG...]\n");
		return 125;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
		perror("filtered: cannot install the filter");
		return 125;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
