/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <time.h>
#include "base/text.h"
#include "output/json.h"
#include "output/page.h"
#include "output/page_parts.h"

int page_available(struct tare_error *err)
{
	if (page_head_size)
		return 0;
	tare_fail(err, ENOTSUP,
		  "this tare was built without the page: node, or esbuild in web/, was missing");
	tare_hint(
		err,
		"scripts/setup installs both; then meson setup --reconfigure build; --format json has all the numbers");
	return -ENOTSUP;
}

/*
 * '<' occurs only inside JSON strings, where an escape means the same: so no element can start or
 * end in the data.
 */
static int drain(void *with, const void *bytes, size_t n)
{
	struct page *p = with;
	const char *at = bytes, *end = at + n;

	while (at < end) {
		const char *lt = memchr(at, '<', (size_t)(end - at));

		out_put(p->to, at, (size_t)((lt ? lt : end) - at));
		if (lt)
			out_text(p->to, "\\u003c");
		at = lt ? lt + 1 : end;
	}
	return p->to->error;
}

/* Text between tags. */
static void put_text(struct out *o, const char *s)
{
	struct text t = { 0 };

	text_utf8(&t, s);
	for (size_t i = 0; i < t.len; i++) {
		if (t.s[i] == '<')
			out_text(o, "&lt;");
		else if (t.s[i] == '&')
			out_text(o, "&amp;");
		else
			out_put(o, (unsigned char)t.s[i] < 0x20 ? " " : t.s + i, 1);
	}
	text_free(&t);
}

static void put_time(struct out *o, uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char when[64];
	struct tm tm;

	if (ns && gmtime_r(&seconds, &tm) &&
	    strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm))
		out_json(o, when);
	else
		out_text(o, "null");
}

int page_open(struct page *p, struct out *to, const char *kind, const char *title,
	      uint64_t recorded_ns, struct tare_error *err)
{
	int ret = page_available(err);

	*p = (struct page){ .to = to };
	if (ret < 0)
		return ret;
	out_put(to, page_head, page_head_size);
	put_text(to, title);
	out_put(to, page_middle, page_middle_size);
	out_open(&p->in, drain, p);
	out_text(&p->in, "{\"schema\":\"tare/page/1\",\"tare\":\"" TARE_VERSION "\",\"recorded\":");
	put_time(&p->in, recorded_ns);
	out_text(&p->in, ",\"kind\":");
	out_json(&p->in, kind);
	out_text(&p->in, ",\"title\":");
	out_json(&p->in, title);
	out_text(&p->in, ",\"documents\":[");
	return 0;
}

struct out *page_document(struct page *p)
{
	out_text(&p->in, p->documents++ ? ",\n" : "\n");
	return &p->in;
}

void page_add(struct page *p, const char *json, size_t n)
{
	out_put(page_document(p), json, n);
}

int page_close(struct page *p, struct tare_error *err)
{
	int ret;

	out_text(&p->in, "]}");
	ret = out_close(&p->in);
	if (p->to->error == 0)
		p->to->error = ret;
	out_put(p->to, page_tail, page_tail_size);
	ret = p->to->error;
	return ret < 0 ? tare_fail(err, -ret, "cannot write the page: %s", strerror(-ret)) : 0;
}
