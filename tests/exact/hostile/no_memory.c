/* Uses up its memory, then executes new code: the engine gets no memory for it either. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAGE = 4096, FAR = 4, CHUNK = 1 << 20, FUNCTIONS = 20000, FUNCTION_SIZE = 32 };

/* eax = edi + 1, 2, 3 or 4 */
static int (*write_function(unsigned char *at, int i))(int)
{
	int n = i & 3;

	memcpy(at, "\x89\xf8", 2); /* mov %edi, %eax */
	for (int k = 0; k <= n; k++)
		memcpy(at + 2 + 3 * k, "\x83\xc0\x01", 3);
	at[2 + 3 * (n + 1)] = 0xc3;
	return (int (*)(int))at;
}

static void map_all_there_are(void)
{
	while (mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED &&
	       mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		;
}

static void limit_space(void)
{
	struct rlimit l = { .rlim_cur = 1ul << 30, .rlim_max = 1ul << 30 };

	if (setrlimit(RLIMIT_AS, &l) < 0 || setrlimit(RLIMIT_DATA, &l) < 0)
		exit(9);
}

static void take_all_space(void)
{
	for (size_t size = 256 << 20; size >= PAGE;)
		if (mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED)
			size /= 2;
}

int main(int argc, char **argv)
{
	static unsigned char *far[FAR];
	unsigned sum = 0;
	char text[32];
	int len;

	/* 8 GiB apart: none is within reach of another one's code cache. */
	for (long i = 0; i < FAR; i++)
		far[i] = mmap((void *)(0x100000000000 + (i << 33)), CHUNK,
			      PROT_READ | PROT_WRITE | PROT_EXEC,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	for (int i = 0; i < FUNCTIONS; i++)
		write_function(far[i % FAR] + i / FAR * FUNCTION_SIZE, i);
	if (argc > 1 && !strcmp(argv[1], "maps"))
		map_all_there_are();
	if (argc > 1 && (!strcmp(argv[1], "limit") || !strcmp(argv[1], "space")))
		limit_space();
	if (argc > 1 && !strcmp(argv[1], "space"))
		take_all_space();
	for (int i = 0; i < FUNCTIONS; i++)
		sum += (unsigned)((int (*)(int))(far[i % FAR] + i / FAR * FUNCTION_SIZE))(i);
	len = snprintf(text, sizeof text, "%u\n", sum);

	return write(1, text, (size_t)len) != len;
}
