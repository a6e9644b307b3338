/* SPDX-License-Identifier: MIT */
/* tare verify faults: checks this machine for known faults of CPUs, hypervisors and kernels
 * (data/faults.txt). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "host/faults.h"
#include "output/output.h"
#include "cli/trust/verify.h"
#include "output/json.h"

struct faults_options {
	struct verify_form form;
	const char *root;
};

#define OPTIONS struct faults_options

static const struct option_row faults_opts[] = {
	VERIFY_OUTPUT_ROWS("tare/verify-faults/1"),
	{ 0, "sysfs-root", "DIR", "check a copy of /proc and /sys under DIR; nothing is tested",
	  DIRECTORY(root) },
	{ 0 },
};

static void put_one(struct text *out, const struct fault_finding *f, const struct style *s)
{
	enum ink ink = f->state == FAULT_PRESENT ? INK_BAD
		: f->state == FAULT_UNTRIED      ? INK_CAREFUL
						 : INK_FAINT;

	text_add(out, " %-15s %s%-8s%s %s%s\n", f->fault.id, ink_on(s, ink), fault_states[f->state],
		 ink_off(s), f->fault.what, !strcmp(f->fault.known, "guessed") ? " (guessed)" : "");
	if (f->detail[0])
		text_add(out, "%26s%s\n", "", f->detail);
	if (f->state == FAULT_PRESENT)
		text_add(out, "%26s%s\n%26s%s%s\n", "", f->fault.why, "",
			 strncmp(f->fault.type, "boot option", 11) ? "type: " : "", f->fault.type);
	text_add(out, "%26ssource: %s\n", "", f->fault.source);
}

static void put_text(struct text *out, const struct host *h, const struct fault_finding *f,
		     size_t n, const struct style *s)
{
	text_add(out, "\n %s%s\n\n", h->cpu_id[0] ? h->cpu_id : "an unnamed CPU",
		 h->cpu.hypervisor ? ", in a virtual machine" : "");
	for (size_t i = 0; i < n; i++)
		put_one(out, &f[i], s);
	if (!n)
		text_add(out,
			 " No fault is known for such a machine. There may be unknown ones.\n");
}

static void put_json(struct text *out, const struct host *h, const struct fault_finding *f,
		     size_t n)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/verify-faults/1");
	json_string(&j, "cpu", h->cpu_id[0] ? h->cpu_id : NULL);
	json_bool(&j, "virtual_machine", h->cpu.hypervisor);
	json_bool(&j, "tried", h->live);
	json_array(&j, "faults");
	for (size_t i = 0; i < n; i++) {
		json_object(&j, NULL);
		json_string(&j, "id", f[i].fault.id);
		json_string(&j, "state", fault_states[f[i].state]);
		json_string(&j, "detail", f[i].detail[0] ? f[i].detail : NULL);
		json_string(&j, "known", f[i].fault.known);
		json_string(&j, "what", f[i].fault.what);
		json_string(&j, "why", f[i].fault.why);
		json_string(&j, "type", f[i].fault.type);
		json_string(&j, "source", f[i].fault.source);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	json_into(out, &j);
}

static int show(const struct faults_options *o, const struct host *h, const struct fault_finding *f,
		size_t n, struct tare_error *err)
{
	struct document to;
	int ret = document_open(&to, o->form.out.path, err);

	if (ret < 0)
		return ret;
	if (o->form.out.format == FORMAT_JSON)
		put_json(&to.out, h, f, n);
	else
		put_text(&to.out, h, f, n, &to.style);
	return document_close(&to, err);
}

static int run_faults(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct faults_options o = { .root = NULL };
	static struct host host; /* several KiB: too large for the stack */
	static struct fault_finding found[FAULTS_MOST];
	int status, rest = options_parse(self, argc, argv, &o, &status), ret;
	bool present = false;
	size_t n = 0;

	if (rest < 0)
		return status;
	if (rest < argc)
		ret = tare_fail(&err, EINVAL,
				"'%.64s' is not expected: verify faults takes only options",
				argv[rest]);
	else
		ret = host_gather(&host, o.root, &err);
	if (ret == 0) {
		n = faults_judge(&host, found, FAULTS_MOST);
		ret = show(&o, &host, found, n, &err);
	}
	for (size_t i = 0; i < n; i++)
		present |= found[i].state == FAULT_PRESENT;
	if (ret == 0)
		return present ? EXIT_NOT_VERIFIED : EXIT_VERIFIED;
	complain(self, &err, NULL);
	return EXIT_CANNOT_MEASURE;
}

const struct command verify_faults = {
	.name = "verify faults",
	.about = "check for known faults of CPUs, hypervisors and kernels",
	.args = "",
	.example = "  tare verify faults",
	.topic = TOPIC_TRUST,
	.options = faults_opts,
	.run = run_faults,
};
