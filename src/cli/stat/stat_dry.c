/* SPDX-License-Identifier: MIT */
#include "cli/stat/stat_dry.h"

static void put_places(struct text *out, const struct places *p, const struct count_target *target)
{
	struct cpus cpus = { .cpu = NULL };
	struct text list = { 0 };

	for (size_t i = 0; i < p->n; i++)
		if (p->place[i].cpu >= 0)
			text_add(&list, "%s%d", list.len ? "," : "", p->place[i].cpu);
	if (list.len && cpus_parse(list.s, &cpus, NULL) == 0) {
		text_add(out, "%s on CPU%s ", p->place[0].pid < 0 ? "every task" : "the task",
			 cpus.n > 1 ? "s" : "");
		cpus_write(out, &cpus);
		cpus_free(&cpus);
	} else {
		text_add(out, "%s",
			 target->pids || target->tids ? "the tasks named, on any CPU"
						      : "the command, on any CPU");
	}
	text_free(&list);
}

int stat_dry(struct text *out, struct machine *m, const struct encoding_list *list,
	     const struct count_target *target, struct tare_error *err)
{
	struct place task = { .pid = 1, .cpu = -1 };
	struct places tasks = { &task, target->all_cpus || target->cpus.n ? 0 : 1 };
	struct cpus online = { 0 };
	int ret = cpus_online(machine_root(m), &online, err);

	text_add(out, "On the machine under %s these would be opened (nothing is run):\n",
		 machine_root(m));
	for (size_t i = 0; ret == 0 && i < list->n; i++) {
		const struct encoding *e = &list->enc[i];
		struct places places;

		text_add(out, "  group %u  %-32s ", e->group, e->name);
		if (e->unavailable) {
			text_add(out, "unavailable: %s\n", e->why);
			continue;
		}
		ret = places_for(e, &tasks, target, &online, &places, err);
		if (ret < 0)
			break;
		text_add(out, "%s%stype %u config %#llx: ", e->pmu, e->pmu[0] ? " " : "",
			 e->attr.type, (unsigned long long)e->attr.config);
		if (places.n)
			put_places(out, &places, target);
		else
			text_add(out, "no CPU");
		text_add(out, "\n");
		places_free(&places);
	}
	cpus_free(&online);
	return ret;
}
