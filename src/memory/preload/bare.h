/* SPDX-License-Identifier: MIT */
/*
 * What the recorder does at each call of the program, without calling the program's libraries:
 * their accesses would be sampled as the program's own. The clock is read in the vDSO.
 */
#ifndef MEMORY_PRELOAD_BARE_H
#define MEMORY_PRELOAD_BARE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Returns the result or a negative errno; does not change errno. */
static inline long bare_call(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
			 x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e,
			 x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#else
#error "system calls of another machine"
#endif
}

/* On the stack of a thread that the C library created, above all of its frames. */
static inline uintptr_t bare_thread(void)
{
	uintptr_t at;

#if defined(__x86_64__)
	__asm__("mov %%fs:0, %0" : "=r"(at));
#else
	__asm__("mrs %0, tpidr_el0" : "=r"(at));
#endif
	return at;
}

static inline void bare_copy(void *to, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)to)[i] = ((const char *)from)[i];
}

static inline bool bare_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

typedef int bare_clock(clockid_t clock, struct timespec *out);

#if defined(__x86_64__)
#define BARE_CLOCK "__vdso_clock_gettime"
#else
#define BARE_CLOCK "__kernel_clock_gettime"
#endif

/* Either hash table gives the number of symbols. */
static inline size_t bare_symbols(const uint32_t *hash, const uint32_t *gnu)
{
	const uint32_t *bucket = gnu ? gnu + 4 + gnu[2] * (sizeof(uint64_t) / 4) : NULL;
	uint32_t last = 0;

	if (hash)
		return hash[1];
	for (uint32_t i = 0; gnu && i < gnu[0]; i++)
		last = bucket[i] > last ? bucket[i] : last;
	if (!last)
		return 0;
	while (!(bucket[gnu[0] + last - gnu[1]] & 1))
		last++;
	return last + 1;
}

/*
 * The vDSO's clock_gettime(2); NULL: none. Sources: Linux, Documentation/ABI/stable/vdso; gABI,
 * "Dynamic Section".
 */
static inline bare_clock *bare_find_clock(void)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR), *bias = NULL, *names = NULL;
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)base;
	const Elf64_Dyn *dynamic = NULL;
	const Elf64_Sym *symbol = NULL;
	const uint32_t *hash = NULL, *gnu = NULL;

	for (size_t i = 0; base && i < head->e_phnum; i++) {
		const Elf64_Phdr *p = (const Elf64_Phdr *)(base + head->e_phoff) + i;

		if (p->p_type == PT_LOAD && !bias)
			bias = base + p->p_offset - p->p_vaddr;
		else if (p->p_type == PT_DYNAMIC)
			dynamic = (const Elf64_Dyn *)(base + p->p_offset);
	}
	if (!bias || !dynamic)
		return NULL;
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const char *at = bias + dynamic->d_un.d_ptr;

		names = dynamic->d_tag == DT_STRTAB ? at : names;
		symbol = dynamic->d_tag == DT_SYMTAB ? (const Elf64_Sym *)at : symbol;
		hash = dynamic->d_tag == DT_HASH ? (const uint32_t *)at : hash;
		gnu = dynamic->d_tag == DT_GNU_HASH ? (const uint32_t *)at : gnu;
	}
	if (!names || !symbol)
		return NULL;
	for (size_t i = 0, n = bare_symbols(hash, gnu); i < n; i++)
		if (symbol[i].st_shndx != SHN_UNDEF &&
		    bare_same(names + symbol[i].st_name, BARE_CLOCK))
			return (bare_clock *)(uintptr_t)(bias + symbol[i].st_value);
	return NULL;
}

#endif
