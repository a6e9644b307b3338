/* SPDX-License-Identifier: MIT */
/*
 * Functions without symbols: their start and end are in the call frame information, which stripped
 * programs keep. Source: Linux Standard Base, "Exception Frames"; DWARF Exception Header Encoding.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "symbols/symbols_private.h"

enum {
	EH_FRAME_MAX = 1 << 24,
	/* A pointer's encoding: its format, its base, and whether it is indirect. */
	WRITTEN = 0x0f,
	PC_RELATIVE = 0x10,
	RELATIVE = 0x70,
	INDIRECT = 0x80,
	NO_ENCODING = 0xff,
};

struct section {
	const unsigned char *ident;
	Elf_Data *data;
	uint64_t address;
};

/* Reads a number encoded as `encoding`; false: unknown encoding, or beyond the end. */
static bool read_number(const uint8_t **p, const uint8_t *end, uint8_t encoding, uint64_t *out)
{
	static const uint8_t sizes[16] = {
		[DW_EH_PE_absptr] = 8, [DW_EH_PE_udata2] = 2, [DW_EH_PE_sdata2] = 2,
		[DW_EH_PE_udata4] = 4, [DW_EH_PE_sdata4] = 4, [DW_EH_PE_udata8] = 8,
		[DW_EH_PE_sdata8] = 8
	};
	uint8_t written = encoding & WRITTEN;
	size_t n = sizes[written];

	*out = 0;
	if (!n || (size_t)(end - *p) < n)
		return false;
	memcpy(out, *p, n);
	if (written & DW_EH_PE_signed && n < 8)
		*out = (uint64_t)((int64_t)(*out << (64 - 8 * n)) >> (64 - 8 * n));
	*p += n;
	return true;
}

/* The encoding of addresses in a CIE's entries, from its augmentation, "zPLR" in any order. */
static uint8_t encoding_of(const Dwarf_CIE *cie)
{
	const uint8_t *p = cie->augmentation_data, *end = p ? p + cie->augmentation_data_size : p;
	uint64_t personality;

	if (cie->augmentation[0] != 'z')
		return cie->augmentation[0] ? NO_ENCODING : DW_EH_PE_absptr;
	for (const char *a = cie->augmentation + 1; *a; a++)
		switch (*a) {
		case 'R':
			return p < end ? *p : NO_ENCODING;
		case 'L':
			p++;
			break;
		case 'P':
			if (p >= end)
				return NO_ENCODING;
			p++;
			if (!read_number(&p, end, p[-1], &personality))
				return NO_ENCODING;
			break;
		case 'S':
		case 'B':
			break;
		default:
			return NO_ENCODING;
		}
	return DW_EH_PE_absptr;
}

/* The address range of an entry. */
static bool read_entry(const struct section *s, const Dwarf_FDE *fde, uint8_t encoding,
		       uint64_t *start, uint64_t *size)
{
	const uint8_t *p = fde->start, *base = s->data->d_buf;
	uint8_t relative = encoding & RELATIVE;

	if (encoding == NO_ENCODING || encoding & INDIRECT ||
	    (relative && relative != PC_RELATIVE) || !read_number(&p, fde->end, encoding, start) ||
	    !read_number(&p, fde->end, encoding & (WRITTEN & ~DW_EH_PE_signed), size))
		return false;
	if (relative)
		*start += s->address + (uint64_t)(fde->start - base);
	return *size && *start + *size > *start;
}

static bool add_function(struct symbols *s, size_t *room, uint64_t address, uint64_t size)
{
	uint64_t offset;

	for (size_t i = 0; i < s->segments; i++) {
		if (address - s->segment[i].address >= s->segment[i].size)
			continue;
		offset = address - s->segment[i].address + s->segment[i].offset;
		if (s->n_nameless == EH_FRAME_MAX ||
		    !array_reserve(&s->nameless, room, s->n_nameless + 1, sizeof(*s->nameless)))
			return false;
		s->nameless[s->n_nameless++] = (struct entry){ .start = offset,
							       .end = offset + size };
		break;
	}
	return true;
}

static void read_section(struct symbols *symbols, const struct section *s)
{
	Dwarf_Off at = 0, next, cie_at = 0;
	uint8_t encoding = NO_ENCODING;
	Dwarf_CFI_Entry entry, cie;
	uint64_t start, size;
	size_t room = 0;
	int got;

	for (; (got = libdw.dwarf_next_cfi(s->ident, s->data, true, at, &next, &entry)) <= 0;
	     at = next) {
		if (next <= at) /* damaged: the position of the next one is not known */
			return;
		if (got < 0 || dwarf_cfi_cie_p(&entry))
			continue;
		if (entry.fde.CIE_pointer != cie_at || encoding == NO_ENCODING) {
			Dwarf_Off behind;

			cie_at = entry.fde.CIE_pointer;
			encoding = libdw.dwarf_next_cfi(s->ident, s->data, true, cie_at, &behind,
							&cie) == 0 &&
					dwarf_cfi_cie_p(&cie)
				? encoding_of(&cie.cie)
				: NO_ENCODING;
		}
		if (read_entry(s, &entry.fde, encoding, &start, &size) &&
		    !add_function(symbols, &room, start, size))
			return;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1)
				    : (x->end > y->end) - (x->end < y->end);
}

static void read_all(struct symbols *s)
{
	GElf_Addr bias;
	Elf *elf = libdw.dwfl_module_getelf(s->module, &bias);
	const char *ident = elf ? libdw.elf_getident(elf, NULL) : NULL;
	size_t names = 0;
	GElf_Shdr h;

	s->nameless_read = true;
	/* 32-bit programs and those of the other byte order are not supported. */
	if (!ident || libdw.elf_getshdrstrndx(elf, &names) < 0 || ident[EI_CLASS] != ELFCLASS64 ||
	    (ident[EI_DATA] == ELFDATA2LSB) != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__))
		return;
	for (Elf_Scn *scn = NULL; (scn = libdw.elf_nextscn(elf, scn));) {
		const char *name;
		Elf_Data *data;

		if (!libdw.gelf_getshdr(scn, &h) || h.sh_type == SHT_NOBITS)
			continue;
		name = libdw.elf_strptr(elf, names, h.sh_name);
		if (!name || strcmp(name, ".eh_frame") || !(data = libdw.elf_rawdata(scn, NULL)) ||
		    !data->d_buf)
			continue;
		read_section(s, &(struct section){ (const unsigned char *)ident, data, h.sh_addr });
		break;
	}
	if (s->n_nameless)
		qsort(s->nameless, s->n_nameless, sizeof(*s->nameless), by_start);
}

bool eh_frame_find(struct symbols *s, uint64_t offset, struct symbol *out)
{
	size_t low;
	struct entry *e;
	uint64_t address;
	char *name;

	if (!s->nameless_read)
		read_all(s);
	low = ARRAY_UPTO(s->nameless, s->n_nameless, start, offset);
	if (!low || offset >= s->nameless[low - 1].end)
		return false;
	e = &s->nameless[low - 1];
	if (!e->name) {
		if (!symbols_address(s, e->start, &address) ||
		    asprintf(&name, "0x%llx", (unsigned long long)address) < 0)
			return false;
		if (!symbols_own(s, name)) {
			free(name);
			return false;
		}
		e->name = name;
	}
	*out = (struct symbol){ e->name, e->start, e->end, true };
	if (low < s->n_nameless && s->nameless[low].start < out->end)
		out->end = s->nameless[low].start;
	return true;
}
