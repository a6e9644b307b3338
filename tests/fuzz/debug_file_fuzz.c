/* SPDX-License-Identifier: MIT */
/*
 * Any .gnu_debuglink, .gnu_debugaltlink and build id of a program, and any bytes as the debug file
 * of that name: the debug file is one of the folders where it may be, or there is none, and
 * functions are where they are found. The program's folder also has a FIFO and a folder, which must
 * not be opened: a wait is found by -timeout.
 */
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>
#include "symbols/symbols_private.h"
#include "fuzz.h"

enum {
	BASE = 0x400000,
	CODE = 0x200,
	CODE_BYTES = 0x100,
	PLACE = 0x300, /* of the other sections' content */
	ROOM = 0x800,
	NOTE_HEAD = 16, /* Elf64_Nhdr, "GNU" */
};

/*
 * The flags. LINES: the program has DWARF, and so no debug file but a common one: libdw would find
 * both, and leak the descriptor of one (0.188, find_dw()).
 */
enum { TRUE_SUM = 1, SECOND_PLACE = 2, LINES = 4 };

/* The sizes of the link, the alternative link and the build id; the rest is the debug file. */
struct head {
	uint8_t flags, link, alt, id;
};

static const char names[] = "\0.text\0.shstrtab\0.gnu_debuglink\0.gnu_debugaltlink\0.note.gnu."
			    "build-id\0.debug_info\0.debug_line";

static uint32_t name_at(const char *name)
{
	for (uint32_t i = 1; i < sizeof(names); i += (uint32_t)strlen(names + i) + 1)
		if (!strcmp(names + i, name))
			return i;
	abort();
}

struct program {
	uint8_t bytes[ROOM + 16 * sizeof(Elf64_Shdr)];
	Elf64_Shdr section[16];
	size_t n, end;
};

static uint8_t *add(struct program *p, const char *name, uint32_t type, const uint8_t *bytes,
		    size_t n)
{
	uint8_t *to = p->bytes + p->end;

	must(p->end + n <= ROOM && p->n < 16);
	memcpy(to, bytes, n);
	p->section[p->n++] = (Elf64_Shdr){ .sh_name = name_at(name),
					   .sh_type = type,
					   .sh_offset = p->end,
					   .sh_size = n,
					   .sh_addralign = 4 };
	p->end = (p->end + n + 7) & ~(size_t)7;
	return to;
}

static void finish(struct program *p)
{
	Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_shoff = ROOM,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	const Elf64_Phdr load = { .p_type = PT_LOAD,
				  .p_flags = PF_R | PF_X,
				  .p_vaddr = BASE,
				  .p_filesz = ROOM,
				  .p_memsz = ROOM,
				  .p_align = 0x1000 };

	head.e_shstrndx = (uint16_t)p->n;
	add(p, ".shstrtab", SHT_STRTAB, (const uint8_t *)names, sizeof(names));
	head.e_shnum = (uint16_t)p->n;
	memcpy(p->bytes, &head, sizeof(head));
	memcpy(p->bytes + sizeof(head), &load, sizeof(load));
	memcpy(p->bytes + ROOM, p->section, sizeof(p->section));
}

static void add_id(struct program *p, const uint8_t *id, uint8_t n)
{
	const Elf64_Nhdr note = { .n_namesz = 4, .n_descsz = n, .n_type = NT_GNU_BUILD_ID };
	uint8_t bytes[NOTE_HEAD + 255] = { 0 };

	memcpy(bytes, &note, sizeof(note));
	memcpy(bytes + sizeof(note), "GNU", 4);
	memcpy(bytes + NOTE_HEAD, id, n);
	add(p, ".note.gnu.build-id", SHT_NOTE, bytes, NOTE_HEAD + n);
}

static uint32_t sum(const uint8_t *bytes, size_t n)
{
	uint32_t s = ~UINT32_C(0);

	for (size_t i = 0; i < n; i++) {
		s ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			s = s >> 1 ^ (s & 1 ? 0xedb88320u : 0);
	}
	return ~s;
}

static void write_file(const char *folder, const char *name, const uint8_t *bytes, size_t n)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	must(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

static const char *folder(void)
{
	static char path[200];
	const char *tmp = getenv("TMPDIR");
	char name[300];

	if (*path)
		return path;
	snprintf(path, sizeof(path), "%s/debug-file-XXXXXX", tmp ? tmp : "/tmp");
	must(mkdtemp(path));
	snprintf(name, sizeof(name), "%s/.debug", path);
	must(mkdir(name, 0700) == 0);
	snprintf(name, sizeof(name), "%s/fifo", path);
	must(mkfifo(name, 0600) == 0);
	return path;
}

static void check(struct symbols *s)
{
	const char *file = NULL;
	struct symbol found;
	unsigned line;

	libdw.dwfl_module_info(s->module, NULL, NULL, NULL, NULL, NULL, NULL, &file);
	must(!file || !strncmp(file, folder(), strlen(folder())) ||
	     !strncmp(file, "/usr/lib/debug/", 15));
	for (uint64_t at = CODE; at < CODE + CODE_BYTES; at += 8) {
		if (symbols_find(s, at, &found))
			must(found.name[0] && found.start <= at && at < found.end);
		symbols_line(s, at, &file, &line);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct program p = { .n = 1, .end = PLACE };
	struct tare_error err = TARE_ERROR_INIT;
	struct symbols *s;
	struct head h;
	char path[300];
	uint8_t *link;
	FILE *f;

	memcpy(&h, bytes, n < sizeof(h) ? 0 : sizeof(h));
	if (n < sizeof(h) || n - sizeof(h) < (size_t)h.link + h.alt + h.id)
		return 0;
	bytes += sizeof(h);
	n -= sizeof(h) + h.link + h.alt + h.id;
	p.section[p.n++] = (Elf64_Shdr){ .sh_name = name_at(".text"),
					 .sh_type = SHT_PROGBITS,
					 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					 .sh_addr = BASE + CODE,
					 .sh_offset = CODE,
					 .sh_size = CODE_BYTES };
	link = add(&p, ".gnu_debuglink", SHT_PROGBITS, bytes, h.link);
	if (h.alt)
		add(&p, ".gnu_debugaltlink", SHT_PROGBITS, bytes + h.link, h.alt);
	if (h.id && !(h.flags & LINES))
		add_id(&p, bytes + h.link + h.alt, h.id);
	if (h.flags & LINES)
		add(&p, ".debug_line", SHT_PROGBITS, (const uint8_t *)"\0\0\0\0\0\0\0", 8);
	bytes += h.link + h.alt + h.id;
	if ((h.flags & (TRUE_SUM | LINES)) == TRUE_SUM && h.link >= 4) {
		const uint32_t of_file = sum(bytes, n);

		memcpy(link + h.link - 4, &of_file, 4);
	}
	finish(&p);
	write_file(folder(), "program", p.bytes, sizeof(p.bytes));
	write_file(folder(), "d", bytes, h.flags & SECOND_PLACE ? 0 : n);
	write_file(folder(), ".debug/d", bytes, n);
	snprintf(path, sizeof(path), "%s/program", folder());
	f = fopen(path, "r");
	must(f);
	if (symbols_open(&s, path, fileno(f), &err) == 0) {
		check(s);
		symbols_close(s);
	} else {
		must(err.what[0]);
	}
	fclose(f);
	return 0;
}
