/* makecontext and swapcontext: coroutines on their own stacks. */
#include <stdio.h>
#include <ucontext.h>

static ucontext_t home, a, b;
static char stack_a[16384], stack_b[16384];
static long sum;

static void run(int n)
{
	for (int i = 0; i < 10; i++) {
		sum = sum * 3 + n;
		swapcontext(n == 1 ? &a : &b, n == 1 ? &b : &a);
	}
}

int main(void)
{
	getcontext(&a);
	a.uc_stack.ss_sp = stack_a;
	a.uc_stack.ss_size = sizeof(stack_a);
	a.uc_link = &home;
	makecontext(&a, (void (*)(void))run, 1, 1);
	getcontext(&b);
	b.uc_stack.ss_sp = stack_b;
	b.uc_stack.ss_size = sizeof(stack_b);
	b.uc_link = &home;
	makecontext(&b, (void (*)(void))run, 1, 2);
	swapcontext(&home, &a);
	printf("%ld\n", sum);
	return 0;
}
