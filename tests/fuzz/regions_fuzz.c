/* SPDX-License-Identifier: MIT */
/*
 * Recordings of regions in tare's own format. Random bytes would only ever be refused for their
 * sums, so the input says what the file is made of, and sums are made right where it does not ask
 * for wrong ones:
 *
 *	byte 0: kind of block (0 to 2), state (bits 2-3), wrong sum of the head (4), of the data (5), of the seal (6)
 *	byte 1: process (low half), thread (high half); byte 2: seq; byte 3: bytes that follow, times 2
 *	the bytes: data of labels or points; of a process, what to write over a sane one, as offset / 16 and 4 bytes
 */
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"
#include "recording/region_format.h"
#include "regions/timeline/timeline.h"
#include "tare/reading.h"

/* However many are read at once, they are the same points. */
static void read_again(struct timeline *t, size_t thread, size_t n_counters)
{
	const struct timeline_point *points;
	struct timeline_point p;
	struct cursor *one, *many;
	size_t most = 1;
	int n;

	must(timeline_thread(t, thread, &one, NULL) == 0 &&
	     timeline_thread(t, thread, &many, NULL) == 0);
	while ((n = cursor_read(many, most, &points, NULL)) > 0) {
		must((size_t)n <= most);
		for (int i = 0; i < n; i++) {
			const struct timeline_point *q = &points[i];

			must(cursor_next(one, &p, NULL) == 1 && p.kind == q->kind &&
			     p.label == q->label && p.number == q->number &&
			     p.missing == q->missing && p.repaired == q->repaired &&
			     p.offset == q->offset &&
			     !memcmp(p.value, q->value, n_counters * sizeof(*p.value)));
		}
		most = most % 7 + 1;
	}
	must(n == 0 && cursor_next(one, &p, NULL) == 0);
	cursor_close(one);
	cursor_close(many);
}

static void walk(struct timeline *t, size_t thread)
{
	const struct timeline_info *info = timeline_info(t);
	uint64_t depth = 0, last[FILE_COUNTERS] = { 0 };
	struct timeline_point p;
	struct cursor *c;

	must(timeline_thread(t, thread, &c, NULL) == 0);
	while (cursor_next(c, &p, NULL) == 1) {
		const struct timeline_label *l = p.label < info->n_labels
			? timeline_label(t, p.label)
			: NULL;

		must(l && l->name && l->kind && l->arg && l->group < info->n_labels);
		must(timeline_label(t, l->group)->group == l->group);
		must(p.kind != TIMELINE_END || depth > 0);
		depth += p.kind == TIMELINE_BEGIN ? 1 : p.kind == TIMELINE_END ? UINT64_MAX : 0;
		for (size_t i = 0; i < info->n_counters; i++) {
			must(p.value[i] >= last[i]);
			last[i] = p.value[i];
		}
	}
	must(depth == 0);
	cursor_close(c);
	read_again(t, thread, info->n_counters);
}

static void put_process(struct file_process *p, const uint8_t *bytes, size_t n)
{
	*p = (struct file_process){ .n_counters = 2, .mult = 1 << 20, .shift = 22, .ended = 1 };
	p->counter[0] = (struct file_counter){
		.name = "wall-time", .unit = "ns", .kind = COUNTER_CLOCK, .quality = TARE_COUNTED
	};
	p->counter[1] = (struct file_counter){ .name = "instructions:u",
					       .kind = COUNTER_COUNT,
					       .quality = TARE_EXACT };
	for (; n >= 5; bytes += 5, n -= 5)
		memcpy((uint8_t *)p + bytes[0] * 16 % (sizeof(*p) - 4), bytes + 1, 4);
}

/* One block at `at`, for which there is room; how many bytes of the input it took. */
static size_t put_block(uint8_t *at, const uint8_t *in, size_t size)
{
	struct block_head *h = (void *)at;
	size_t n = in[3] * 2u;

	if (n > size - 4)
		n = size - 4;
	*h = (struct block_head){ .magic = BLOCK_MAGIC,
				  .kind = (uint16_t)(BLOCK_PROCESS + in[0] % 4 % 3),
				  .state = (uint16_t)(in[0] >> 2 & 3),
				  .size = FILE_PAGE,
				  .process = in[1] & 15,
				  .thread = in[1] >> 4,
				  .pid = 100 + (in[1] & 3),
				  .tid = 7,
				  .seq = in[2],
				  .lost = in[2] & 3,
				  .ticks = in[2] * 100ull,
				  .clock_ns = in[2] * 40ull,
				  .flags = in[2] & 1,
				  .first = in[2] * 3ull,
				  .points = in[3] & 31 };
	if (h->kind == BLOCK_PROCESS)
		put_process((void *)(h + 1), in + 4, n);
	else
		memcpy(h + 1, in + 4, n);
	h->used = h->kind == BLOCK_PROCESS ? sizeof(struct file_process) : (uint32_t)n;
	h->head_sum = format_head_sum(h) + (in[0] >> 4 & 1);
	h->sum = format_block_sum(h, h + 1) + (in[0] >> 5 & 1);
	h->seal_sum = format_seal_sum(h) + (in[0] >> 6 & 1);
	return 4 + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { BLOCKS = 24 };
	static uint8_t file[(1 + BLOCKS) * FILE_PAGE];
	struct file_head *head = (void *)file;
	struct tare_error err = TARE_ERROR_INIT;
	struct timeline *t = NULL;
	size_t n = FILE_PAGE;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	memset(file, 0, sizeof(file));
	*head = (struct file_head){ .order = FILE_ORDER,
				    .version = FILE_VERSION,
				    .next = FILE_PAGE };
	memcpy(head->magic, FILE_MAGIC, 8);
	while (size >= 4 && n < sizeof(file)) {
		size_t taken = put_block(file + n, data, size);

		n += FILE_PAGE;
		data += taken;
		size -= taken;
	}
	n -= size; /* the file may end anywhere */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	must(fd >= 0 && write(fd, file, n) == (ssize_t)n);
	if (timeline_open(&t, path, &err) == 0) {
		for (size_t i = 0; i < timeline_info(t)->n_threads; i++)
			walk(t, i);
		timeline_close(t);
	} else {
		must(err.what[0]);
	}
	close(fd);
	return 0;
}
