/* Mappings of 4 GiB and many small ones, with holes; brk grown and shrunk. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
	const size_t size = 4ul << 30;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *brk0 = sbrk(0);
	int ok = p != MAP_FAILED;

	for (size_t at = 0; ok && at < size; at += size / 16)
		p[at] = 1;
	if (ok)
		munmap(p + 8192, size / 2);
	for (int i = 0; i < 100; i++)
		ok &= mmap(NULL, 4096, i & 1 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0) != MAP_FAILED;
	ok &= sbrk(1 << 20) == brk0;
	*(char *)brk0 = 3;
	ok &= brk(brk0) == 0 && sbrk(0) == brk0;
	printf("%d\n", ok);
	return 0;
}
