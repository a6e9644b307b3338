/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/trust/scan_names.h"
#include "pmu/catalogue.h"

enum { NAMES_MOST = 8192 };

struct scan_name {
	uint32_t select, umask;
	char text[96];
};

static int take_name(void *arg, const struct known_event *ev)
{
	struct scan_names *all = arg;
	char *end;
	const char *p = ev->terms;
	unsigned long select, umask = 0;

	if (strncmp(p, "event=", 6) || !strncmp(ev->name, "scan.", 5) || all->n == NAMES_MOST)
		return 0;
	select = strtoul(p + 6, &end, 0);
	if (!strncmp(end, ",umask=", 7))
		umask = strtoul(end + 7, &end, 0);
	if (!*end && select <= UINT32_MAX && umask <= UINT32_MAX) {
		all->name[all->n] = (struct scan_name){ (uint32_t)select, (uint32_t)umask, "" };
		snprintf(all->name[all->n++].text, sizeof(all->name->text), "%s", ev->name);
	}
	return 0;
}

const char *scan_name_of(const void *with, uint32_t select, uint32_t umask)
{
	const struct scan_names *all = with;

	for (size_t i = 0; i < all->n; i++)
		if (all->name[i].select == select && all->name[i].umask == umask)
			return all->name[i].text;
	return "";
}

int scan_names_read(struct scan_names *out, struct machine *m, struct tare_error *err)
{
	const struct catalogue_options all = { 0 };

	out->name = calloc(NAMES_MOST, sizeof(*out->name));
	if (!out->name)
		return tare_fail_nomem(err);
	catalogue_walk(m, &all, take_name, out, NULL);
	return 0;
}

void scan_names_free(struct scan_names *all)
{
	free(all->name);
	*all = (struct scan_names){ 0 };
}
