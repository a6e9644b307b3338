/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "base/path.h"

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
