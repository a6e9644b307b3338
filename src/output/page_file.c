/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include "output/page_file.h"

static bool one_file(const char *a, const char *b)
{
	struct stat x, y;

	return !strcmp(a, b) ||
		(stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
		 x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

int page_file_open(struct page_file *p, const char *path, const char *output,
		   struct tare_error *err)
{
	int ret;

	*p = (struct page_file)PAGE_FILE_INIT;
	if (output && one_file(path, output))
		return tare_fail(err, EINVAL, "--html and -o name one file");
	ret = page_available(err);
	if (ret == 0)
		ret = whole_file_open(&p->file, path, false, err);
	if (ret < 0)
		tare_prefix(err, "--html: ");
	return ret;
}

int page_file_begin(struct page_file *p, const char *kind, const char *title, uint64_t recorded_ns,
		    struct tare_error *err)
{
	out_open_fd(&p->out, &p->file.fd);
	p->begun = true;
	return page_open(&p->page, &p->out, kind, title, recorded_ns, err);
}

int page_file_end(struct page_file *p, struct tare_error *err)
{
	int ret = page_close(&p->page, err), closed = out_close(&p->out);

	p->begun = false;
	if (ret == 0 && closed < 0)
		ret = tare_fail(err, -closed, "cannot write the page: %s", strerror(-closed));
	if (ret < 0)
		tare_prefix(err, "--html %.150s: ", p->file.path ? p->file.path : "-");
	if (ret == 0) {
		ret = whole_file_commit(&p->file, err);
		if (ret < 0)
			tare_prefix(err, "--html: ");
	}
	page_file_abandon(p);
	return ret;
}

int page_file_document(struct page_file *p, const char *kind, const char *title,
		       const struct text *json, struct tare_error *err)
{
	int ret = json->failed ? tare_fail_nomem(err) : page_file_begin(p, kind, title, 0, err);

	if (ret < 0)
		return ret;
	page_add(&p->page, json->s, json->len);
	return page_file_end(p, err);
}

void page_file_abandon(struct page_file *p)
{
	struct tare_error unsaid = TARE_ERROR_INIT;

	if (p->begun) {
		page_close(&p->page, &unsaid);
		out_close(&p->out);
	}
	whole_file_abandon(&p->file);
	p->begun = false;
}
