/* SPDX-License-Identifier: MIT */
/*
 * A small ELF file for tests, as bytes: 0x100 of code at offset 0x200, address 0x400200, followed
 * by 0x20 of stubs, and the symbols of sample_symbols; optionally with call frame information.
 */
#ifndef SYMBOLS_ELF_SAMPLE_H
#define SYMBOLS_ELF_SAMPLE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	SAMPLE_BASE = 0x400000,
	SAMPLE_CODE = 0x200,
	SAMPLE_STUBS = 0x300,
	SAMPLE_SYMBOLS = 0x400,
	SAMPLE_STRINGS = 0x800,
	SAMPLE_NAMES = 0xc00,
	SAMPLE_SECTIONS = 0xd00,
	SAMPLE_SIZE = SAMPLE_SECTIONS + 6 * (int)sizeof(Elf64_Shdr),
	SAMPLE_FRAMES = SAMPLE_SIZE + (int)sizeof(Elf64_Shdr),
};

static const struct {
	const char *name;
	uint16_t offset, size, section;
	uint8_t bind, type;
} sample_symbols[] = {
	{ "alpha", 0x200, 0x20, 1, STB_GLOBAL, STT_FUNC },
	{ "alpha_label", 0x210, 0, 1, STB_LOCAL, STT_NOTYPE },
	{ "_alias", 0x230, 0x10, 1, STB_WEAK, STT_FUNC },
	{ "beta", 0x230, 0x10, 1, STB_GLOBAL, STT_FUNC },
	{ "assembly", 0x240, 0, 1, STB_GLOBAL, STT_NOTYPE },
	{ "untyped", 0x260, 0x10, 1, STB_GLOBAL, STT_NOTYPE },
	{ "_ZN1a1bEv", 0x260, 0x10, 1, STB_GLOBAL, STT_FUNC },
	{ "outer", 0x280, 0x40, 1, STB_GLOBAL, STT_FUNC },
	{ "nested", 0x290, 0x10, 1, STB_GLOBAL, STT_FUNC },
	{ "data", 0x2d0, 0x10, 1, STB_GLOBAL, STT_OBJECT },
	{ "absolute", 0x2e0, 0x10, SHN_ABS, STB_GLOBAL, STT_FUNC },
};

/* The code is filled with `fill`. */
static inline void sample_elf(uint8_t to[SAMPLE_SIZE], uint8_t fill)
{
	static const char names[] = "\0.text\0.plt\0.symtab\0.strtab\0.shstrtab\0.eh_frame";
	const Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_shoff = SAMPLE_SECTIONS,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 6,
		.e_shstrndx = 5,
	};
	const Elf64_Phdr load = { .p_type = PT_LOAD,
				  .p_flags = PF_R | PF_X,
				  .p_vaddr = SAMPLE_BASE,
				  .p_filesz = SAMPLE_SYMBOLS,
				  .p_memsz = SAMPLE_SYMBOLS,
				  .p_align = 0x1000 };
	const size_t n = sizeof(sample_symbols) / sizeof(sample_symbols[0]);
	const Elf64_Shdr sections[6] = {
		[1] = { .sh_name = 1,
			.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = SAMPLE_BASE + SAMPLE_CODE,
			.sh_offset = SAMPLE_CODE,
			.sh_size = 0x100 },
		[2] = { .sh_name = 7,
			.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = SAMPLE_BASE + SAMPLE_STUBS,
			.sh_offset = SAMPLE_STUBS,
			.sh_size = 0x20 },
		[3] = { .sh_name = 12,
			.sh_type = SHT_SYMTAB,
			.sh_offset = SAMPLE_SYMBOLS,
			.sh_link = 4,
			.sh_info = 1,
			.sh_entsize = sizeof(Elf64_Sym),
			.sh_size = (n + 1) * sizeof(Elf64_Sym) },
		[4] = { .sh_name = 20,
			.sh_type = SHT_STRTAB,
			.sh_offset = SAMPLE_STRINGS,
			.sh_size = 0x200 },
		[5] = { .sh_name = 28,
			.sh_type = SHT_STRTAB,
			.sh_offset = SAMPLE_NAMES,
			.sh_size = sizeof(names) },
	};
	size_t name = 1;

	memset(to, 0, SAMPLE_SIZE);
	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), &load, sizeof(load));
	memset(to + SAMPLE_CODE, fill, 0x120);
	memcpy(to + SAMPLE_NAMES, names, sizeof(names));
	memcpy(to + SAMPLE_SECTIONS, sections, sizeof(sections));
	for (size_t i = 0; i < n; i++) {
		const Elf64_Sym s = {
			.st_name = (uint32_t)name,
			.st_info = (unsigned char)ELF64_ST_INFO(sample_symbols[i].bind,
								sample_symbols[i].type),
			.st_shndx = sample_symbols[i].section,
			.st_value = (uint64_t)SAMPLE_BASE + sample_symbols[i].offset,
			.st_size = sample_symbols[i].size,
		};

		memcpy(to + SAMPLE_SYMBOLS + (i + 1) * sizeof(s), &s, sizeof(s));
		strcpy((char *)to + SAMPLE_STRINGS + name, sample_symbols[i].name);
		name += strlen(sample_symbols[i].name) + 1;
	}
}

/*
 * Appends an .eh_frame of n bytes, at SAMPLE_BASE + SAMPLE_FRAMES; `to` has room for SAMPLE_FRAMES
 * + n.
 */
static inline void sample_elf_frames(uint8_t *to, const uint8_t *frames, size_t n)
{
	const Elf64_Shdr section = { .sh_name = 38,
				     .sh_type = SHT_PROGBITS,
				     .sh_flags = SHF_ALLOC,
				     .sh_addr = SAMPLE_BASE + SAMPLE_FRAMES,
				     .sh_offset = SAMPLE_FRAMES,
				     .sh_size = n };

	to[offsetof(Elf64_Ehdr, e_shnum)] = 7;
	memcpy(to + SAMPLE_SIZE, &section, sizeof(section));
	memcpy(to + SAMPLE_FRAMES, frames, n);
}

#endif
