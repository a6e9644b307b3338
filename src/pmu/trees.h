/* SPDX-License-Identifier: MIT */
/* For tests: the recorded machines of tests/sysfs; TARE_TREES names another folder with them. */
#ifndef PMU_TREES_H
#define PMU_TREES_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define trees_needed()                                                                             \
	do {                                                                                       \
		char root_[256];                                                                   \
		if (access(tree_root("hostile", root_), R_OK))                                     \
			tap_skip("trees", "%s is not here; TARE_TREES names the folder", root_);   \
	} while (0)

__attribute__((unused)) static const char *tree_root(const char *tree, char room[256])
{
	const char *folder = getenv("TARE_TREES");

	snprintf(room, 256, "%s/%s", folder ? folder : TREES_DIR, tree);
	return room;
}

#endif
