/* exact: refuse=restartable
 * Restartable sequences: a per-CPU increment that two processes race on; none is lost. */
#include <linux/rseq.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/wait.h>
#include <unistd.h>

struct slot {
	volatile uint64_t n;
	char pad[56];
};

int main(void)
{
	struct slot *slots = mmap(NULL, 4096 * 16, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct rseq *rs = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	uint64_t total = 0;

	if (__rseq_size == 0) {
		puts("not registered");
		return 0;
	}
	for (int p = 0; p < 4; p++)
		if (fork() == 0) {
			for (int i = 0; i < 200000; i++) {
				asm volatile goto(
					".pushsection .data.rseq, \"aw\"\n\t.balign 32\n"
					"3:\t.long 0, 0\n\t.quad 1f, 2f - 1f, 4f\n\t.popsection\n"
					"5:\tlea 3b(%%rip), %%rax\n\tmov %%rax, %0\n"
					"1:\tmov %1, %%ecx\n\tshl $6, %%rcx\n\tincq (%2, %%rcx)\n"
					"2:\tjmp 6f\n"
					"\t.byte 0x0f, 0xb9, 0x3d\n\t.long 0x53053053\n"
					"4:\tjmp 5b\n6:\n"
					:
					: "m"(rs->rseq_cs), "m"(rs->cpu_id_start), "r"(slots)
					: "rax", "rcx", "memory", "cc"
					: out);
			out:;
			}
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < 1024; i++)
		total += slots[i].n;
	printf("%lu\n", total);
	return 0;
}
