/* SPDX-License-Identifier: MIT */
/* Source: debuginfod_find_debuginfo(3). */
#include <dlfcn.h>
#include <stdlib.h>
#include "symbols/debug_servers.h"
#include "base/library.h"

static struct {
	bool use;
	void *(*begin)(void);
	int (*find)(void *client, const unsigned char *id, int n, char **path);
	void (*end)(void *client);
} servers;

int debug_servers_use(struct tare_error *err)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	void *library;

	if (!urls || !*urls)
		return tare_fail(err, EINVAL, "DEBUGINFOD_URLS, the list of servers, is not set");
#ifdef LIBRARIES_LINKED
	return tare_fail(err, ENOTSUP,
			 "a static tare cannot load libdebuginfod, which queries the servers");
#endif
	library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (library) {
		servers.begin = (typeof(servers.begin))dlsym(library, "debuginfod_begin");
		servers.find = (typeof(servers.find))dlsym(library, "debuginfod_find_debuginfo");
		servers.end = (typeof(servers.end))dlsym(library, "debuginfod_end");
	}
	servers.use = servers.begin && servers.find && servers.end;
	if (servers.use)
		return 0;
	return library_missing(err, ENOENT, "libdebuginfod.so.1, which queries the servers",
			       "install it (Debian: libdebuginfod1)");
}

int debug_servers_find(const uint8_t *id, size_t n)
{
	void *client = servers.use && n ? servers.begin() : NULL;
	int fd = client ? servers.find(client, id, (int)n, NULL) : -1;

	if (client)
		servers.end(client);
	return fd < 0 ? -1 : fd;
}
