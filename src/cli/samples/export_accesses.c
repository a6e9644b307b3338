/* SPDX-License-Identifier: MIT */
/* tare export --accesses: the precise samples of a perf.data as a table. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "cli/recordings.h"
#include "cli/samples/export_accesses.h"
#include "perfdata/dump/tell_partial.h"
#include "memory/decode/access.h"
#include "output/whole_file.h"
#include "memory/access_table.h"

enum { EXIT_PARTIAL = 1 /* the recording is damaged: the readable part was exported */ };

static bool ends_with(const char *path, const char *ending)
{
	size_t n = path ? strlen(path) : 0, k = strlen(ending);

	return n > k && !strcmp(path + n - k, ending);
}

static const struct {
	const char *name, *ending;
	enum access_format format;
} formats[] = { { "csv", ".csv", ACCESS_CSV }, { "parquet", ".parquet", ACCESS_PARQUET } };

bool access_format_known(const char *name)
{
	return !strcmp(name, formats[0].name) || !strcmp(name, formats[1].name);
}

static int choose(const char *name, const char *output, enum access_format *format,
		  struct tare_error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (name ? !strcmp(formats[i].name, name) : ends_with(output, formats[i].ending)) {
			*format = formats[i].format;
			return 0;
		}
	if (name)
		tare_fail(err, EINVAL, "%.64s is not a table format", name);
	else
		tare_fail(err, EINVAL, "no table format is given");
	tare_hint(err,
		  "--accesses=csv, --accesses=parquet, or an -o that ends in .csv or .parquet");
	return -EINVAL;
}

/* Reports what the table does not contain. */
static void remark_accesses(const struct command *self, const struct tare_access_loss *loss,
			    uint64_t rows)
{
	const struct {
		uint64_t n;
		const char *one, *many;
	} told[] = {
		{ loss->lost, "sample was lost when it was recorded",
		  "samples were lost when they were recorded" },
		{ loss->missing, "byte of AUX data that the kernel announced is not in the file",
		  "bytes of AUX data that the kernel announced are not in the file" },
		{ loss->truncated, "block of AUX data has a gap or is truncated",
		  "blocks of AUX data have a gap or are truncated" },
		{ loss->collided, "block of AUX data lacks samples that the hardware dropped",
		  "blocks of AUX data lack samples that the hardware dropped" },
		{ loss->without_pc,
		  "record of AUX data has no instruction address and was left out",
		  "records of AUX data have no instruction address and were left out" },
		{ loss->unknown_sources, "access has an unknown data source",
		  "accesses have unknown data sources" },
		{ loss->other, "sample has no access and was left out",
		  "samples have no access and were left out" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(told); i++)
		if (told[i].n)
			fprintf(stderr, "tare %s: %" PRIu64 " %s\n", self->name, told[i].n,
				told[i].n == 1 ? told[i].one : told[i].many);
	if (loss->unknown_cpu)
		fprintf(stderr,
			"tare %s: the data sources of this core are unknown: the cache or memory level is inferred from events only\n",
			self->name);
	if (!rows)
		fprintf(stderr,
			"tare %s: the table is empty: the recording has no precise samples of accesses\n",
			self->name);
}

int export_accesses(const struct command *self, const char *path, const char *name,
		    const char *output, struct tare_error *err)
{
	struct tare_error damage = TARE_ERROR_INIT;
	struct whole_file file = { .fd = -1 };
	struct tare_accesses *a = NULL;
	enum access_format format = ACCESS_CSV;
	struct out out;
	uint64_t rows = 0;
	int ret = choose(name, output, &format, err), partial, closed;

	if (ret < 0)
		return ret;
	input_note_recording(self->name, path);
	a = tare_accesses_open(path, err);
	if (!a)
		return -EINVAL;
	ret = whole_file_open(&file, output, format == ACCESS_PARQUET, err);
	if (ret < 0)
		goto out;
	out_open_fd(&out, &file.fd);
	partial = access_table_write(&out, format, a, &rows, &damage);
	closed = out_close(&out);
	if (closed < 0)
		ret = tare_fail(err, -closed, "cannot write to %.200s: %s",
				output ? output : "standard output", strerror(-closed));
	if (ret == 0)
		ret = whole_file_commit(&file, err);
	if (ret < 0)
		goto out;
	input_tell_broke_off(self->name, path, tare_accesses_loss(a)->broke_off);
	remark_accesses(self, tare_accesses_loss(a), rows);
	if (tell_partial(self->name, path, accesses_file(a), partial < 0 ? damage.what : "", false))
		ret = EXIT_PARTIAL;
out:
	whole_file_abandon(&file);
	tare_accesses_close(a);
	return ret;
}
