/* SPDX-License-Identifier: MIT */
/* Folders of vendor files, and the standard events of an architecture that files refer to. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "pmu/table.h"
#include "pmu/vendor.h"

enum { FILES_MAX = 1000, LEVELS = 4 };

struct files {
	struct vendor_file *file;
	size_t n, argument;
	bool standard;
};

static int add_file(struct files *to, struct vendor_file *f, char *own_path, struct tare_error *err)
{
	if (to->n == FILES_MAX || !array_one_more(&to->file, to->n, sizeof(*to->file))) {
		vendor_file_free(f);
		free(own_path);
		return to->n < FILES_MAX
			? tare_fail_nomem(err)
			: tare_fail(err, EFBIG, "more than %d event files", FILES_MAX);
	}
	f->own_path = own_path;
	f->argument = to->argument;
	to->file[to->n++] = *f;
	return 0;
}

static int is_json(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 5 && !strcmp(d->d_name + n - 5, ".json");
}

/* One level of a folder. A file without events is no error. */
static int read_level(struct files *to, const char *folder, struct tare_error *err)
{
	struct dirent **entry;
	int n = scandir(folder, &entry, is_json, alphasort), ret = 0;

	for (int i = 0; i < n; i++) {
		struct tare_error why = TARE_ERROR_INIT;
		struct vendor_file f = { .in_folder = true, .standard = to->standard };
		char *path = NULL;

		if (ret == 0 && asprintf(&path, "%s/%s", folder, entry[i]->d_name) < 0) {
			path = NULL;
			ret = tare_fail_nomem(err);
		}
		free(entry[i]);
		if (!path)
			continue;
		ret = vendor_file_read_as(path, &f, &why);
		if (ret == 0) {
			ret = add_file(to, &f, path, err);
			continue;
		}
		free(path);
		if (ret == -ENODATA)
			ret = 0;
		else if (err)
			*err = why;
	}
	if (n >= 0)
		free(entry);
	return ret;
}

static int read_folder(struct files *to, const char *folder, struct tare_error *err)
{
	static const char *const below[] = { "", "/events", "/sys" };
	size_t before = to->n;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < ARRAY_SIZE(below); i++) {
		char *path;

		if (asprintf(&path, "%s%s", folder, below[i]) < 0)
			return tare_fail_nomem(err);
		ret = read_level(to, path, err);
		free(path);
	}
	if (ret < 0 || to->n > before)
		return ret;
	tare_fail(err, ENODATA, "%s: no JSON file in this folder has an event", folder);
	tare_hint(err,
		  "give the folder of one CPU, such as x86/skylake of Linux's "
		  "tools/perf/pmu-events/arch, or SKL of intel/perfmon");
	return -ENODATA;
}

int vendor_files_read(const char *const *paths, struct vendor_file **out, size_t *n,
		      struct tare_error *err)
{
	struct files to = { 0 };
	int ret = 0;

	for (; ret == 0 && paths && paths[to.argument]; to.argument++) {
		const char *path = paths[to.argument];
		struct vendor_file f;
		struct stat st;

		if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
			ret = read_folder(&to, path, err);
			continue;
		}
		ret = vendor_file_read(path, &f, err);
		if (ret == 0)
			ret = add_file(&to, &f, NULL, err);
	}
	if (ret < 0) {
		vendor_files_free(to.file, to.n);
		to = (struct files){ 0 };
	}
	*out = to.file;
	*n = to.n;
	return ret;
}

void vendor_files_free(struct vendor_file *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vendor_file_free(&files[i]);
	free(files);
}

/* ---- standard events ---- */

/* The folder above `path` that has a mapfile.csv: the root of an architecture in Linux's
 * pmu-events. */
static bool root_above(const char *path, char room[4200])
{
	size_t n = strlen(path);
	const char *slash = strrchr(path, '/');

	if (n >= 4000)
		return false;
	n = slash ? (size_t)(slash - path) : 0;
	if (slash)
		memcpy(room, path, n);
	else
		room[n++] = '.';
	for (int level = 0; level <= LEVELS; level++) {
		memcpy(room + n, "/mapfile.csv", sizeof("/mapfile.csv"));
		if (access(room, R_OK) == 0) {
			room[n] = '\0';
			return true;
		}
		memcpy(room + n, "/..", 3);
		n += 3;
	}
	return false;
}

static void read_standard(const char *path, struct files *to)
{
	struct vendor_file arm = { 0 };
	char root[4200];

	if (root_above(path, root))
		read_level(to, root, NULL);
	if (!to->n &&
	    vendor_text_parse(embedded_text("armv8-pmuv3.txt"), "data/armv8-pmuv3.txt", &arm,
			      NULL) == 0)
		add_file(to, &arm, NULL, NULL);
}

const struct vendor_event *vendor_standard(const char *path, const char *name,
					   struct vendor_file **std, size_t *n_std)
{
	if (!*n_std) {
		struct files to = { .standard = true };

		read_standard(path, &to);
		*std = to.file;
		*n_std = to.n;
	}
	for (size_t i = 0; i < *n_std; i++)
		for (size_t k = 0; k < (*std)[i].n; k++)
			if (!strcasecmp((*std)[i].event[k].name, name))
				return &(*std)[i].event[k];
	return NULL;
}
