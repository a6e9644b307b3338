/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include "bench/bench_object.h"

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#else
enum { MACHINE = EM_AARCH64 };
#endif

/*
 * A position-independent executable has a flag; a shared object that can also be executed has an
 * interpreter, but not the flag.
 */
static bool is_pie(const char *bytes, size_t n, const Elf64_Phdr *p)
{
	Elf64_Dyn d;

	for (size_t at = 0;
	     at + sizeof(d) <= p->p_filesz && p->p_offset <= n && at + sizeof(d) <= n - p->p_offset;
	     at += sizeof(d)) {
		memcpy(&d, bytes + p->p_offset + at, sizeof(d));
		if (d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_FLAGS_1)
			return d.d_un.d_val & DF_1_PIE;
	}
	return false;
}

enum bench_object bench_object_kind(const void *bytes, size_t n)
{
	Elf64_Ehdr e;
	Elf64_Phdr p;
	bool interpreter = false, dynamic = false, pie = false, cut = false;

	if (n < sizeof(e))
		return OBJECT_NONE;
	memcpy(&e, bytes, sizeof(e));
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) || e.e_ident[EI_CLASS] != ELFCLASS64)
		return OBJECT_NONE;
	if (e.e_ident[EI_DATA] != ELFDATA2LSB || e.e_machine != MACHINE)
		return OBJECT_FOREIGN;
	if (e.e_type == ET_REL)
		return OBJECT_RELOCATABLE;
	if (e.e_type == ET_EXEC)
		return OBJECT_PROGRAM;
	if (e.e_type != ET_DYN)
		return OBJECT_NONE;
	for (unsigned i = 0; i < e.e_phnum; i++) {
		if (e.e_phentsize != sizeof(p) || e.e_phoff > n ||
		    (i + 1) * sizeof(p) > n - e.e_phoff)
			return OBJECT_NONE;
		memcpy(&p, (const char *)bytes + e.e_phoff + i * sizeof(p), sizeof(p));
		interpreter |= p.p_type == PT_INTERP;
		if (p.p_type != PT_DYNAMIC)
			continue;
		dynamic = true;
		/* it extends beyond the bytes that were read */
		cut = p.p_offset > n || p.p_filesz > n - p.p_offset;
		pie = is_pie(bytes, n, &p);
	}
	return pie || (cut && interpreter) ? OBJECT_PROGRAM : dynamic ? OBJECT_SHARED : OBJECT_NONE;
}

static bool section(const char *bytes, size_t n, const Elf64_Ehdr *e, unsigned i, Elf64_Shdr *out)
{
	if (e->e_shentsize != sizeof(*out) || e->e_shoff > n ||
	    ((size_t)i + 1) * sizeof(*out) > n - e->e_shoff)
		return false;
	memcpy(out, bytes + e->e_shoff + i * sizeof(*out), sizeof(*out));
	return out->sh_type == SHT_NOBITS ||
		(out->sh_offset <= n && out->sh_size <= n - out->sh_offset);
}

bool bench_object_text(const void *bytes, size_t n, size_t *at, size_t *size)
{
	static const char name[] = ".text";
	Elf64_Shdr names, s;
	Elf64_Ehdr e;

	if (bench_object_kind(bytes, n) != OBJECT_SHARED)
		return false;
	memcpy(&e, bytes, sizeof(e));
	if (!section(bytes, n, &e, e.e_shstrndx, &names) || names.sh_type != SHT_STRTAB)
		return false;
	for (unsigned i = 0; i < e.e_shnum; i++) {
		if (!section(bytes, n, &e, i, &s))
			return false;
		if (s.sh_type != SHT_PROGBITS || s.sh_name > names.sh_size ||
		    names.sh_size - s.sh_name < sizeof(name) ||
		    memcmp((const char *)bytes + names.sh_offset + s.sh_name, name, sizeof(name)) !=
			    0)
			continue;
		*at = s.sh_offset;
		*size = s.sh_size;
		return true;
	}
	return false;
}
