/* SPDX-License-Identifier: MIT */
/*
 * A PMU's files with any content, one per line of the input: type, cpumask, format, event, scale,
 * unit, caps, cpuinfo. An encoding that comes out of them keeps its promises.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fuzz.h"
#include "pmu/catalogue.h"
#include "pmu/machine.h"

static char root[64];

#define PMU PMU_DEVICES "/p"

static const char *const files[] = {
	PMU "/type",           PMU "/cpumask",       PMU "/format/f",         PMU "/events/e",
	PMU "/events/e.scale", PMU "/events/e.unit", PMU "/caps/max_precise", "/proc/cpuinfo",
};

static void folders(void)
{
	static const char *const names[] = {
		"/proc",     "/sys", "/sys/bus",    "/sys/bus/event_source",
		PMU_DEVICES, PMU,    PMU "/format", PMU "/events",
		PMU "/caps",
	};
	const char *folder = getenv("TMPDIR");
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%.200s/sysfs-XXXXXX", folder ? folder : "/tmp");
	must(mkdtemp(path));
	fd = open(path, O_PATH | O_DIRECTORY);
	must(fd >= 0);
	/*
	 * Its name differs from run to run, and the fuzzer learns from strings that are compared.
	 */
	snprintf(root, sizeof(root), "/proc/self/fd/%d", fd);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s%s", root, names[i]);
		mkdir(path, 0700);
	}
}

static void put(const char *file, const uint8_t *bytes, size_t n)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s%s", root, file);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	must(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	close(fd);
}

static int visit(void *arg, const struct known_event *ev)
{
	(void)arg;
	must(!strpbrk(ev->terms, "\n\033"));
	return 0;
}

/* A format that parses takes its largest value and gives it back; one more is refused. */
static void formats(const char *text)
{
	struct perf_event_attr attr = { 0 };
	struct format f;
	uint64_t most;

	if (format_parse(text, &f, NULL) < 0)
		return;
	must(f.mask && f.config <= 3);
	most = format_bits(&f) == 64 ? UINT64_MAX : (UINT64_C(1) << format_bits(&f)) - 1;
	if (format_put(&f, most, &attr, NULL) < 0)
		return; /* config3, which old headers lack */
	must(format_get(&f, &attr) == most);
	must(most == UINT64_MAX || format_put(&f, most + 1, &attr, NULL) == -ERANGE);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct encode_options opt = { .keep_unavailable = true };
	struct tare_error err = TARE_ERROR_INIT;
	struct encoding_list encoded = { 0 };
	struct event_list list = { 0 };
	struct machine *m;

	if (!root[0])
		folders();
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const uint8_t *end = n ? memchr(bytes, '|', n)
				       : NULL; /* '|' parts files, as lines are within them */
		size_t len = end ? (size_t)(end - bytes) : n;
		char *text = fuzz_text(bytes, len);

		put(files[i], bytes, len);
		formats(text);
		free(text);
		bytes += len + (end != NULL);
		n -= len + (end != NULL);
	}
	m = machine_open(root, NULL);
	must(m && event_list_parse("p/e/P,p/f=3/,e", &list, NULL) == 0);
	if (pmu_encode(m, &list, &opt, &encoded, &err) < 0)
		must(err.what[0] && !strpbrk(err.what, "\n\033"));
	for (size_t i = 0; i < encoded.n; i++) {
		must(encoded.enc[i].scale > 0 && encoded.enc[i].attr.type <= INT32_MAX);
		must(!strpbrk(encoded.enc[i].unit, "\n\033"));
	}
	must(catalogue_walk(m, &(struct catalogue_options){ 0 }, visit, NULL, &err) <= 0);
	must(!strpbrk(machine_cpu(m), "\n\033"));
	encoding_list_free(&encoded);
	event_list_free(&list);
	machine_close(m);
	return 0;
}
