/* SPDX-License-Identifier: MIT */
/*
 * Source: System V ABI, "ELF Header", "Program Header", "Note Section"; NT_GNU_BUILD_ID of <elf.h>.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/build_id.h"

enum { HEADERS_MOST = 1024, NOTES_MOST = 1 << 16 };

/* Source of the bytes: a file, or memory. */
struct bytes {
	int fd; /* -1: memory */
	const unsigned char *image;
	size_t n;
};

static bool get(const struct bytes *b, uint64_t at, void *out, size_t n)
{
	if (b->fd < 0) {
		if (at > b->n || n > b->n - at)
			return false;
		memcpy(out, b->image + at, n);
		return true;
	}
	for (size_t done = 0; done < n;) {
		ssize_t got = at > INT64_MAX - n
			? 0
			: pread(b->fd, (char *)out + done, n - done, (off_t)(at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

bool build_id_of_notes(const unsigned char *notes, size_t n, struct build_id *out)
{
	Elf64_Nhdr h; /* the same in both classes */

	for (size_t at = 0; n - at >= sizeof(h);) {
		memcpy(&h, notes + at, sizeof(h));
		at += sizeof(h);

		uint64_t name = ((uint64_t)h.n_namesz + 3) & ~3ull,
			 desc = ((uint64_t)h.n_descsz + 3) & ~3ull;

		if (name > n - at || desc > n - at - name)
			return false;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    !memcmp(notes + at, "GNU", 4) && h.n_descsz) {
			*out = (struct build_id){ .size = (uint8_t)(h.n_descsz < sizeof(out->bytes)
									    ? h.n_descsz
									    : sizeof(out->bytes)) };
			memcpy(out->bytes, notes + at + name, out->size);
			return true;
		}
		at += name + desc;
	}
	return false;
}

static bool in_segment(const struct bytes *b, uint64_t offset, uint64_t size, struct build_id *out)
{
	unsigned char *notes;
	bool found;

	if (!size || size > NOTES_MOST)
		return false;
	notes = malloc((size_t)size);
	found = notes && get(b, offset, notes, (size_t)size) &&
		build_id_of_notes(notes, (size_t)size, out);
	free(notes);
	return found;
}

static bool find_in(const struct bytes *b, struct build_id *out)
{
	unsigned char ident[EI_NIDENT];
	uint64_t headers;
	unsigned n, size;
	bool wide;
	const unsigned char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB
									      : ELFDATA2MSB;

	if (!get(b, 0, ident, sizeof(ident)) || memcmp(ident, ELFMAG, SELFMAG) ||
	    ident[EI_DATA] != order)
		return false;
	wide = ident[EI_CLASS] == ELFCLASS64;
	if (wide) {
		Elf64_Ehdr h;

		if (!get(b, 0, &h, sizeof(h)))
			return false;
		headers = h.e_phoff;
		n = h.e_phnum;
		size = h.e_phentsize;
	} else {
		Elf32_Ehdr h;

		if (!get(b, 0, &h, sizeof(h)))
			return false;
		headers = h.e_phoff;
		n = h.e_phnum;
		size = h.e_phentsize;
	}
	if (size < (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return false;
	for (unsigned i = 0; i < n && i < HEADERS_MOST; i++) {
		uint64_t at = headers + (uint64_t)i * size;
		Elf64_Phdr p = { 0 };

		if (wide) {
			if (!get(b, at, &p, sizeof(p)))
				return false;
		} else {
			Elf32_Phdr narrow;

			if (!get(b, at, &narrow, sizeof(narrow)))
				return false;
			p.p_type = narrow.p_type;
			p.p_offset = narrow.p_offset;
			p.p_filesz = narrow.p_filesz;
		}
		if (p.p_type == PT_NOTE && in_segment(b, p.p_offset, p.p_filesz, out))
			return true;
	}
	return false;
}

bool build_id_of_file(int fd, struct build_id *out)
{
	return find_in(&(struct bytes){ .fd = fd }, out);
}

bool build_id_of_image(const void *image, size_t n, struct build_id *out)
{
	return find_in(&(struct bytes){ .fd = -1, .image = image, .n = n }, out);
}
