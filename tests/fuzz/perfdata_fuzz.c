/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a perf.data: walked in file order, then by time, every field of every record touched
 * and put into words. Nothing may crash, hang, or leak; memory is bounded by the fuzzer's own
 * limit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"
#include "perfdata/perfdata.h"
#include "perfdata/dump/perfdata_view.h"
#include "perfdata/dump/undecoded.h"

static void walk(const char *path, bool ordered)
{
	struct perfdata_opts opts = { .inflate_max = 1 << 20, .queue_max = ordered ? 1 << 16 : 0 };
	struct tare_error err = TARE_ERROR_INIT;
	struct perfdata *r = perfdata_open(path, &opts, &err);
	struct perfdata_undecoded row[PERFDATA_UNDECODED_MAX];
	struct perfdata_record rec;
	size_t rows;
	struct text out = { 0 };
	unsigned char buf[512];
	int ret;

	if (!r) {
		must(err.code && err.what[0]);
		return;
	}
	while ((ret = ordered ? perfdata_next_ordered(r, &rec, &err)
			      : perfdata_next(r, &rec, &err)) == 1) {
		out.len = 0;
		perfdata_view_record(&out, r, &rec);
		if (!rec.payload)
			continue;

		ssize_t got = perfdata_payload(r, buf, sizeof(buf), &err);

		must(got < 0 || (uint64_t)got <= rec.payload);
	}
	must(ret == 0 || (err.code && err.what[0]));
	out.len = 0;
	perfdata_view_header(&out, r);
	perfdata_view_loss(&out, r);
	rows = perfdata_undecoded(r, true, row, PERFDATA_UNDECODED_MAX);
	must(rows <= PERFDATA_UNDECODED_MAX && (rows || !perfdata_loss(r)->undecodable));
	while (rows-- > 0)
		undecoded_text(&out, r, &row[rows]);
	text_free(&out);
	perfdata_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static int fd = -1;
	char path[64];

	if (fd < 0)
		fd = memfd_create("perfdata", MFD_CLOEXEC);
	must(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, bytes, n, 0) == (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	walk(path, false);
	walk(path, true);
	return 0;
}
