/* SPDX-License-Identifier: MIT */
/*
 * Temporary folders. Their owner holds a lock on them, which the kernel releases when the process
 * dies, so that the folders of a killed tare can be found and removed.
 */
#ifndef BASE_TEMP_FOLDER_H
#define BASE_TEMP_FOLDER_H

#include "base/error.h"

enum { FILE_FOLDER_ROOM = 2048 }; /* so that names in it fit into PATH_MAX */

/*
 * Create a folder with a name as for mkdtemp(3), and lock it. Returns the lock's descriptor, which
 * belongs to this process and the children that it forks; or -errno.
 */
int temp_folder_make(char *name);

/*
 * Call `stale` for each folder PARENT/BEGIN* of this user that no process has locked, while it is
 * locked. Links are not followed. Does nothing if others may rename folders in `parent`.
 */
void temp_folders_stale(const char *parent, const char *begin,
			void (*stale)(const char *folder, void *with), void *with);

struct temp_folder {
	char path[FILE_FOLDER_ROOM]; /* absolute, with links resolved; "": none */
	int lock;                    /* -1: the file system has no locks */
};

/* A new folder "tare-PURPOSE-XXXXXX" of this user alone, in $TMPDIR or /tmp. */
int temp_folder_open(struct temp_folder *f, const char *purpose, struct tare_error *err);
/* Remove it with all that is in it. */
void temp_folder_close(struct temp_folder *f);
/* The same for a folder that temp_folder_open() created, by its name: any other one stays. */
void temp_folder_remove(const char *path);

/*
 * Remove the folders of this purpose that a killed tare left, with their subfolders. `before` is
 * called first for each; it is not called for folders that temp_folder_open() did not create.
 */
void temp_folder_remove_stale(const char *purpose, void (*before)(const char *folder));
/* The same for one folder, with a name that a file contains: any other folder stays. */
void temp_folder_remove_left(const char *path, const char *purpose,
			     void (*before)(const char *folder));

#endif
