/* SPDX-License-Identifier: MIT */
#include "regions/functions/names.h"
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The mapped file of the last address, kept because the next address is mostly in the same file. */
struct object {
	char path[512];
	const uint8_t *bytes;
	size_t size;
};

struct place {
	uintptr_t address;
	const char *path; /* "": the program */
	uintptr_t base;
	bool found;
};

static struct object kept;

static int holds(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct place *place = arg;

	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];

		if (p->p_type == PT_LOAD &&
		    place->address - (object->dlpi_addr + p->p_vaddr) < p->p_memsz) {
			place->path = object->dlpi_name;
			place->base = object->dlpi_addr;
			place->found = true;
			return 1;
		}
	}
	return 0;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE /* glibc 2.35 and later */
extern int _dl_find_object(void *address, struct dl_find_object *result) __attribute__((weak));
#endif

/* Avoids the loader's lock where possible: a forked child may inherit it locked. */
static void find_place(struct place *place)
{
#ifdef DLFO_STRUCT_HAS_EH_DBASE
	struct dl_find_object found;

	if (_dl_find_object && _dl_find_object((void *)place->address, &found) == 0 &&
	    found.dlfo_link_map) {
		place->path = found.dlfo_link_map->l_name;
		place->base = found.dlfo_link_map->l_addr;
		place->found = true;
		return;
	}
#endif
	dl_iterate_phdr(holds, place);
}

void functions_forget(void)
{
	if (kept.bytes)
		munmap((void *)kept.bytes, kept.size);
	kept.bytes = NULL;
}

void functions_abandon(void)
{
	kept = (struct object){ 0 };
}

static bool map_object(const char *path)
{
	struct stat st;
	int fd;

	if (kept.bytes && !strcmp(kept.path, path))
		return true;
	functions_forget();
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && (size_t)st.st_size >= sizeof(ElfW(Ehdr))) {
		void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (p != MAP_FAILED) {
			kept.bytes = p;
			kept.size = (size_t)st.st_size;
			snprintf(kept.path, sizeof(kept.path), "%s", path);
		}
	}
	close(fd);
	return kept.bytes != NULL;
}

/* The part of the file that a section occupies, if it is completely in the file. */
static const void *part(const ElfW(Shdr) * s)
{
	return s->sh_offset <= kept.size && s->sh_size <= kept.size - s->sh_offset &&
			s->sh_type != SHT_NOBITS
		? kept.bytes + s->sh_offset
		: NULL;
}

static const char *symbol(uintptr_t offset)
{
	const ElfW(Ehdr) *head = (const void *)kept.bytes;
	const ElfW(Shdr) * sections;

	if (memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_shentsize != sizeof(*sections) ||
	    head->e_shoff > kept.size || head->e_shoff % 8 ||
	    head->e_shnum > (kept.size - head->e_shoff) / sizeof(*sections))
		return NULL;
	sections = (const void *)(kept.bytes + head->e_shoff);
	for (int i = 0; i < head->e_shnum; i++) {
		const ElfW(Shdr) *s = &sections[i];
		const ElfW(Sym) *sym = s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM
			? part(s)
			: NULL;
		const char *names;

		if (!sym || s->sh_link >= head->e_shnum || s->sh_offset % 8)
			continue;
		names = part(&sections[s->sh_link]);
		for (size_t k = 0; names && k < s->sh_size / sizeof(*sym); k++)
			if (sym[k].st_value == offset &&
			    ELF64_ST_TYPE(sym[k].st_info) == STT_FUNC &&
			    sym[k].st_name < sections[s->sh_link].sh_size &&
			    memchr(names + sym[k].st_name, '\0',
				   sections[s->sh_link].sh_size - sym[k].st_name))
				return names + sym[k].st_name;
	}
	return NULL;
}

void functions_name(const void *function, char *out, size_t room)
{
	struct place place = { .address = (uintptr_t)function };
	const char *name, *slash;
	char self[512];
	ssize_t n;

	find_place(&place);
	if (!place.found) {
		snprintf(out, room, "%p", function);
		return;
	}
	if (!place.path || !place.path[0]) {
		n = readlink("/proc/self/exe", self, sizeof(self) - 1);
		self[n < 0 ? 0 : n] = '\0';
		place.path = self;
	}
	name = map_object(place.path) ? symbol(place.address - place.base) : NULL;
	if (name) {
		snprintf(out, room, "%s", name);
		return;
	}
	slash = strrchr(place.path, '/');
	snprintf(out, room, "%s+%#zx", slash ? slash + 1 : place.path,
		 (size_t)(place.address - place.base));
}
