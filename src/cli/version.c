/* SPDX-License-Identifier: MIT */
/* tare --version: the version, and which optional features this build and this machine have. */
#include <dlfcn.h>
#include <stdio.h>
#include "base/error.h"
#include "cli/version.h"
#include "output/command.h"
#include "output/own_stdout.h"

/* FEATURE_NAME is 0 or 1, by src/meson.build. */
static const struct feature {
	const char *name;
	bool built;
	const char *library; /* opened at its first use; NULL: none */
} features[] = {
	{ "exact engine", HAVE_EXACT, NULL },
	{ "pages (--html)", FEATURE_PAGE, NULL },
	{ "names and lines", FEATURE_LIBDW, "libdw.so.1" },
	{ "disassembly", FEATURE_CAPSTONE, "libcapstone.so.4" },
	{ "history", FEATURE_SQLITE, "libsqlite3.so.0" },
	{ "history PostgreSQL", FEATURE_LIBPQ, "libpq.so.5" },
	{ "gate, compare JSON", FEATURE_JANSSON, "libjansson.so.4" },
	{ "vendor event names", FEATURE_LIBPFM, "libpfm.so.4" },
	{ "zstd", FEATURE_ZSTD, "libzstd.so.1" },
	{ "gzip", FEATURE_ZLIB, "libz.so.1" },
};

static bool is_installed(const char *library)
{
#ifdef LIBRARIES_LINKED
	(void)library;
	return true;
#else
	return !library || dlopen(library, RTLD_LAZY | RTLD_LOCAL);
#endif
}

int print_version(void)
{
	printf("tare " TARE_VERSION "\n");
	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		const struct feature *f = &features[i];

		printf("  %-18s  ", f->name);
		if (!f->built)
			printf("no: not in this build\n");
		else if (!is_installed(f->library))
			printf("no: %s is not installed\n", f->library);
		else
			printf("yes\n");
	}
	return own_stdout_printed(NULL) < 0 ? EXIT_CANNOT_MEASURE : 0;
}
