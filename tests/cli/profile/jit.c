/* SPDX-License-Identifier: MIT */
/*
 * Code written at run time: 4 * 250 + 2 instructions, run 10 times. `jit rewrite`: written anew
 * each time.
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static const uint8_t code[] = {
	0xb9, 0xfa, 0x00, 0x00, 0x00,       /* mov ecx, 250 */
	0x90, 0x90, 0xff, 0xc9, 0x75, 0xfa, /* nop; nop; dec ecx; jnz to the first nop */
	0xc3,
};

int main(int argc, char **argv)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	(void)argv;
	if (at == MAP_FAILED)
		return 1;
	memcpy(at, code, sizeof(code));
	for (int i = 0; i < 10; i++) {
		if (argc > 1)
			memcpy(at, code, sizeof(code));
		((void (*)(void))at)();
	}
	return 0;
}
