/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "base/file.h"
#include "profile/report/source_files.h"

enum { SOURCE_MAX = 32 << 20 };

/* Where packages install sources that everybody may read. */
static bool is_public(const char *path, const struct stat *st)
{
	static const char *const folders[] = { "/usr/src/", "/usr/include/", "/usr/lib/",
					       "/usr/share/", "/usr/local/" };
	char real[PATH_MAX];

	if (st->st_uid || !(st->st_mode & S_IROTH) || !realpath(path, real))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (!strncmp(real, folders[i], strlen(folders[i])))
			return true;
	return false;
}

static bool source_is_shown(const struct source_files *all, const char *path, const struct stat *st)
{
	bool trusted = !all->owned || all->owner == geteuid() || all->owner == 0;

	return all->any || (all->owned && st->st_uid == all->owner) ||
		(trusted && st->st_uid == geteuid()) || is_public(path, st);
}

static char *read_all(const struct source_files *all, const char *path, struct stat *st,
		      bool *refused)
{
	int fd = file_open_regular(path, SOURCE_MAX);
	char *text = NULL;
	size_t n = 0;
	ssize_t got;

	if (fd < 0)
		return NULL;
	if (fstat(fd, st) == 0) {
		*refused = !source_is_shown(all, path, st);
		text = *refused ? NULL : malloc((size_t)st->st_size + 1);
	}
	while (text && n < (size_t)st->st_size &&
	       (got = read(fd, text + n, (size_t)st->st_size - n)) > 0)
		n += (size_t)got;
	close(fd);
	if (text)
		text[n] = '\0';
	return text;
}

static void cut(struct source_file *s)
{
	size_t room = 0;

	for (char *at = s->text; at && *at;) {
		char *end = strchr(at, '\n');

		if (!array_reserve(&s->line, &room, s->lines + 1, sizeof(*s->line)))
			return;
		s->line[s->lines++] = at;
		if (end)
			*end++ = '\0';
		if (*at && at[strlen(at) - 1] == '\r') /* DOS line ending */
			at[strlen(at) - 1] = '\0';
		at = end;
	}
}

struct source_file *source_files_find(struct source_files *all, const char *file)
{
	struct stat st;
	char path[4200];

	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->file[i].file, file))
			return &all->file[i];
	if (!array_one_more(&all->file, all->n, sizeof(*all->file)))
		return NULL;
	all->file[all->n] = (struct source_file){ .file = file };
	snprintf(path, sizeof(path), "%s%s", all->root ? all->root : "", file);
	all->file[all->n].text = read_all(all, path, &st, &all->file[all->n].refused);
	all->file[all->n].newer = all->file[all->n].text && all->program.tv_sec &&
		st.st_mtim.tv_sec > all->program.tv_sec;
	cut(&all->file[all->n]);
	return &all->file[all->n++];
}

void source_files_free(struct source_files *all)
{
	for (size_t i = 0; i < all->n; i++) {
		free(all->file[i].text);
		free(all->file[i].line);
		free(all->file[i].put);
	}
	free(all->file);
	*all = (struct source_files){ 0 };
}
