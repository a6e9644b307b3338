/* exact: compare=output reason=many_children
 * Filters put together at random, always the same: the engine says of a call what the kernel says.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILTERS = 150, CALLS = 12, BODY = 14, NR = 700 /* no system call */ };

static uint64_t state = 88172645463325252u;

static uint32_t below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 20) % n;
}

static uint32_t number(void)
{
	static const uint32_t odd[] = { 0, 1, 2, 31, 0x7fffffff, 0x80000000, 0xffffffff, NR };

	return below(2) ? odd[below(8)] : (uint32_t)state;
}

static struct sock_filter one(int left)
{
	static const uint16_t ops[] = { BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_AND,
					BPF_OR,  BPF_XOR, BPF_LSH, BPF_RSH };
	static const uint16_t jumps[] = { BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET };
	uint16_t source = below(2) ? BPF_X : BPF_K, op;

	switch (below(14)) {
	case 0:
	case 1:
	case 12:
	case 13:
		return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16 + 4 * below(12));
	case 2:
		return (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, number());
	case 3:
		return (struct sock_filter)BPF_STMT(BPF_LDX | BPF_IMM, number());
	case 4:
		return below(2) ? (struct sock_filter)BPF_STMT(BPF_MISC | BPF_TAX, 0)
				: (struct sock_filter)BPF_STMT(BPF_MISC | BPF_TXA, 0);
	case 5:
		return (struct sock_filter)BPF_STMT(below(2) ? BPF_ST : BPF_STX, below(2));
	case 6:
		return (struct sock_filter)BPF_STMT((below(2) ? BPF_LD : BPF_LDX) | BPF_MEM,
						    below(2));
	case 7:
		return (struct sock_filter)BPF_STMT((below(2) ? BPF_LD : BPF_LDX) | BPF_W | BPF_LEN,
						    0);
	case 8:
		return (struct sock_filter)BPF_STMT(BPF_ALU | BPF_NEG, 0);
	case 9:
		return (struct sock_filter)BPF_JUMP(BPF_JMP | jumps[below(4)] | source, number(),
						    below((uint32_t)left), below((uint32_t)left));
	default:
		op = ops[below(9)];
		if (source == BPF_X)
			return (struct sock_filter)BPF_STMT(BPF_ALU | op | BPF_X, 0);
		return (struct sock_filter)BPF_STMT(BPF_ALU | op | BPF_K,
						    op == BPF_LSH || op == BPF_RSH ? below(32)
							    : op == BPF_DIV        ? number() | 1
										   : number());
	}
}

/* Every other call is allowed; this one fails with what the body computes, or kills. */
static int install(void)
{
	struct sock_filter f[BODY + 16] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_ST, 0),
		BPF_STMT(BPF_STX, 1),
	};
	struct sock_filter end[] = {
		BPF_STMT(BPF_MISC | BPF_TAX, 0), /* fold all of A into 12 bits */
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 12),
		BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xfff),
		BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};
	int n = 5;
	struct sock_fprog prog;

	for (int left = BODY; left; left--)
		f[n++] = one(left);
	memcpy(&f[n], end, sizeof(end));
	prog = (struct sock_fprog){ (unsigned short)(n + 6), f };
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

int main(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	for (int i = 0; i < FILTERS; i++) {
		int status;

		below(7);
		fflush(stdout);
		if (fork() == 0) {
			int two = below(4) == 0;

			printf("%d: %d", i, install());
			if (two)
				printf(" %d", install());
			for (int k = 0; k < CALLS; k++) {
				errno = 0;
				printf(" %ld",
				       syscall(NR, number(), (uint64_t)number() << 32 | number(),
					       number(), number()));
				printf("/%d", errno);
				fflush(stdout);
			}
			puts("");
			fflush(stdout);
			_exit(0);
		}
		for (int k = 0; k < 60; k++)
			/* another place for the next: the child moved a state of its own */
			below(2);
		wait(&status);
		printf("%d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	}
	return 0;
}
