/* SPDX-License-Identifier: MIT */
/*
 * Small files that unpack to many names: memory for them is bounded, and what came before is shown.
 */
#include <sys/resource.h>
#include <zstd.h>
#include "memory/memory_samples.h"
#include "profile/samples.h"
#include "perfdata/perfdata_maker.h"

enum { RECORDS = 90000, LONG = 2000, PIECE = 400, MIB = 1 << 20 };

static struct maker m, inner;
static const struct perfdata_attr attr = {
	.size = 64,
	.period = 7,
	.sample_type = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_CPU,
};

static void put_sample(struct maker *to)
{
	begin_record(to, PD_RECORD_SAMPLE, 2);
	put64(to, 0x1000), put32(to, 1), put32(to, 1), put64(to, 5);
	end_record(to);
}

/* Record number i of one kind; each is kept, and resembles the one before it. */
static void put_one(uint32_t type, uint32_t i)
{
	char name[LONG + 1];

	memset(name, 'a', LONG);
	name[LONG] = '\0';
	snprintf(name + LONG - 8, 9, "%08u", i);
	begin_record(&inner, type, 2);
	if (type == PD_RECORD_COMM) {
		put32(&inner, i), put32(&inner, i), put_name(&inner, name);
	} else if (type == PD_RECORD_MMAP) {
		name[0] = '/';
		put32(&inner, 1), put32(&inner, 1), put64(&inner, 0x1000), put64(&inner, 0x1000),
			put64(&inner, 0), put_name(&inner, name);
	} else if (type == PD_RECORD_KSYMBOL) {
		put64(&inner, 0xc000), put32(&inner, 0x100), put16(&inner, 1), put16(&inner, 0),
			put_name(&inner, name);
	}
	end_record(&inner);
}

static void make_file(uint32_t type)
{
	static unsigned char room[65000];
	ZSTD_CCtx *ctx = ZSTD_createCCtx();

	m = (struct maker){ 0 };
	put_magic(&m, 16);
	put_event(&m, &attr, 0);
	put_sample(&m);
	for (uint32_t i = 1; i <= RECORDS; i++) {
		put_one(type, i);
		if (i % PIECE)
			continue;

		ZSTD_inBuffer in = { inner.b, inner.n, 0 };
		ZSTD_outBuffer out = { room, sizeof(room), 0 };

		if (ZSTD_compressStream2(ctx, &out, &in, ZSTD_e_flush) != 0)
			abort();
		begin_record(&m, PD_RECORD_COMPRESSED, 0);
		put_bytes(&m, room, out.pos);
		end_record(&m);
		inner.n = 0;
	}
	ZSTD_freeCCtx(ctx);
}

static long peak_mib(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_maxrss / 1024;
}

static void check_kind(uint32_t type)
{
	static const struct samples_options opts = { .filter = SAMPLES_ALL, .symfs = "/none" };
	static const struct memory_samples_options accesses = { .modules = { .symfs = "/none" },
								.filter = SAMPLES_ALL };
	struct tare_error err = TARE_ERROR_INIT;
	char path[] = "/tmp/tare-kept-XXXXXX";
	struct memory_samples c;
	struct samples s;
	int fd = mkstemp(path);

	close(fd);
	make_file(type);
	CHECK(m.n < MIB, "%zu bytes", m.n);
	write_file(path, &m);
	if (CHECK(samples_read(&s, path, &opts, &err) == 0, "%s", err.what)) {
		CHECK_EQ(s.quality.used, 1u, "what stood before it");
		CHECK(strstr(s.quality.damage,
			     "more threads, files and names than a recording of this size has"),
		      "%s", s.quality.damage);
		samples_free(&s);
	}
	if (type == PD_RECORD_COMM) {
		err = (struct tare_error)TARE_ERROR_INIT;
		CHECK_EQ(memory_samples_open(&c, path, &accesses, &err), -EFBIG, "%s", err.what);
		memory_samples_close(&c);
	}
	unlink(path);
	/*
	 * The data is 180 MB; tables are copied when they grow, and sanitizers keep freed memory.
	 */
	CHECK(TAP_ADDRESS_SANITIZER || TAP_THREAD_SANITIZER || peak_mib() < 150, "%ld MiB",
	      peak_mib());
}

TEST(names_of_threads)
{
	check_kind(PD_RECORD_COMM);
}

TEST(names_of_files)
{
	check_kind(PD_RECORD_MMAP);
}

TEST(names_of_kernel_functions)
{
	check_kind(PD_RECORD_KSYMBOL);
}

TEST_MAIN()
