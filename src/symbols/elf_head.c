/* SPDX-License-Identifier: MIT */
/* Source: System V ABI, "ELF Header", "Program Header". */
#include <elf.h>
#include <string.h>
#include <unistd.h>
#include "symbols/elf_head.h"

enum { HEADERS_MAX = 4096 };

static bool read_at(int fd, uint64_t at, void *to, size_t n)
{
	while (n) {
		ssize_t got = pread(fd, to, n, (off_t)at);

		if (got <= 0 || at > INT64_MAX)
			return false;
		at += (size_t)got;
		to = (char *)to + got;
		n -= (size_t)got;
	}
	return true;
}

static void take_header(struct elf_head *h, const Elf64_Phdr *ph)
{
	if (ph->p_type == PT_LOAD && h->segments < ELF_SEGMENTS_MAX)
		h->segment[h->segments++] = (struct elf_segment){ ph->p_vaddr, ph->p_offset,
								  ph->p_filesz, ph->p_memsz,
								  ph->p_flags & PF_X };
}

int elf_head_read(struct elf_head *out, int fd, struct tare_error *err)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr e32;
		Elf64_Ehdr e64;
	} e;
	uint64_t at;
	unsigned n;

	*out = (struct elf_head){ 0 };
	memset(&e, 0, sizeof(e));
	if (!read_at(fd, 0, &e, sizeof(e.e32)) || memcmp(e.ident, ELFMAG, SELFMAG))
		return tare_fail(err, ENOEXEC, "it is not an ELF file");
	if (e.ident[EI_DATA] != ELFDATA2LSB)
		return tare_fail(err, ENOEXEC, "it is for a machine with the other byte order");
	out->is64 = e.ident[EI_CLASS] == ELFCLASS64;
	if (out->is64 && !read_at(fd, 0, &e, sizeof(e.e64)))
		return tare_fail(err, ENOEXEC, "its ELF header is truncated");
	out->machine = out->is64 ? e.e64.e_machine : e.e32.e_machine;
	out->is_executable = (out->is64 ? e.e64.e_type : e.e32.e_type) == ET_EXEC;
	out->entry = out->is64 ? e.e64.e_entry : e.e32.e_entry;
	at = out->is64 ? e.e64.e_phoff : e.e32.e_phoff;
	n = out->is64 ? e.e64.e_phnum : e.e32.e_phnum;
	if (n > HEADERS_MAX)
		n = HEADERS_MAX;
	for (unsigned i = 0; i < n; i++) {
		Elf64_Phdr ph;

		if (out->is64) {
			if (!read_at(fd, at + i * sizeof(ph), &ph, sizeof(ph)))
				break;
		} else {
			Elf32_Phdr p;

			if (!read_at(fd, at + i * sizeof(p), &p, sizeof(p)))
				break;
			ph = (Elf64_Phdr){ .p_type = p.p_type,
					   .p_flags = p.p_flags,
					   .p_offset = p.p_offset,
					   .p_vaddr = p.p_vaddr,
					   .p_filesz = p.p_filesz,
					   .p_memsz = p.p_memsz,
					   .p_align = p.p_align };
		}
		take_header(out, &ph);
	}
	if (!build_id_of_file(fd, &out->build_id))
		out->build_id.size = 0;
	return 0;
}

bool elf_offset_to_address(const struct elf_head *h, uint64_t offset, uint64_t *address)
{
	const struct elf_segment *found = NULL;

	/* One page of the file may be in two segments; the caller wants the code. */
	for (size_t i = 0; i < h->segments; i++)
		if (offset - h->segment[i].offset < h->segment[i].size &&
		    (!found || h->segment[i].executable))
			found = &h->segment[i];
	if (found)
		*address = offset - found->offset + found->address;
	return found != NULL;
}

bool elf_address_to_offset(const struct elf_head *h, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < h->segments; i++)
		if (address - h->segment[i].address < h->segment[i].size) {
			*offset = address - h->segment[i].address + h->segment[i].offset;
			return true;
		}
	return false;
}
