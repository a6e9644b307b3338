/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "statistics/distribution.h"
#include "tap.h"

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static const double shares[] = { 0, 0.001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1 };

/*
 * Compare with all values, sorted: exact up to 256 values; for more, within the reported error,
 * which is at most 1/128.
 */
static void check(struct distribution *d, uint64_t *value, size_t n, const char *what)
{
	qsort(value, n, sizeof(*value), by_value);
	CHECK_EQ(d->n, n, "%s", what);
	CHECK_EQ(d->min, value[0], "%s", what);
	CHECK_EQ(d->max, value[n - 1], "%s", what);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		size_t rank = (size_t)ceil(shares[i] * (double)n);
		uint64_t want = value[rank ? rank - 1 : 0], error,
			 got = distribution_quantile(d, shares[i], &error);
		uint64_t off = got > want ? got - want : want - got;

		CHECK(off <= error, "%s of %zu, %g: %llu for %llu, off by %llu, not %llu", what, n,
		      shares[i], (unsigned long long)got, (unsigned long long)want,
		      (unsigned long long)off, (unsigned long long)error);
		CHECK(error <= want / 127, "%s of %zu, %g: %llu may be off by %llu", what, n,
		      shares[i], (unsigned long long)got, (unsigned long long)error);
		if (n <= DISTRIBUTION_FEW)
			CHECK_EQ(error, 0, "%s of %zu", what, n);
	}
}

static uint64_t made(unsigned how, size_t i, uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	switch (how) {
	case 0:
		return i % 64;
	case 1:
		return *seed >> 40;
	case 2:
		return *seed >> (*seed % 64); /* all orders of magnitude */
	case 3:
		return 1000000;
	case 4:
		return i % 2 ? UINT64_MAX : 0;
	default:
		return 64 + i % 200;
	}
}

TEST(quantiles)
{
	static const size_t sizes[] = { 1, 2, 3, 255, 256, 257, 1000, 50000 };

	for (unsigned how = 0; how < 6; how++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			uint64_t *value = calloc(sizes[k], sizeof(*value)), seed = how + 1;
			struct distribution all = { 0 }, parts[3] = { 0 }, whole = { 0 };
			char what[32];

			for (size_t i = 0; i < sizes[k]; i++) {
				value[i] = made(how, i, &seed);
				CHECK(distribution_add(&all, value[i]), "added");
				CHECK(distribution_add(&parts[i & 1           ? 0
								      : i & 2 ? 1
									      : 2],
						       value[i]),
				      "added");
			}
			snprintf(what, sizeof(what), "values %u", how);
			check(&all, value, sizes[k], what);
			for (unsigned p = 0; p < 3; p++)
				CHECK(distribution_merge(&whole, &parts[p]), "merged");
			snprintf(what, sizeof(what), "merged values %u", how);
			check(&whole, value, sizes[k], what);
			for (unsigned p = 0; p < 3; p++)
				distribution_free(&parts[p]);
			distribution_free(&all);
			distribution_free(&whole);
			free(value);
		}
}

/*
 * For up to the number stored exactly, and for more: the number of values below each power of two.
 */
TEST(below_powers_of_two)
{
	for (unsigned n = 0; n <= 2000; n = n < 4 ? n + 1 : 2 * n) {
		struct distribution d = { 0 };
		uint64_t v[2048], x = 88172645463325252ull;

		for (unsigned i = 0; i < n; i++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			v[i] = i % 7 == 0 ? (uint64_t)1 << x % 20 : x >> x % 64;
			CHECK(distribution_add(&d, v[i]));
		}
		for (unsigned bit = 0; bit <= 64; bit++) {
			uint64_t edge = bit ? (uint64_t)1 << (bit - 1) : 0, wanted = 0;

			for (unsigned i = 0; i < n; i++)
				wanted += v[i] < edge;
			CHECK_EQ(distribution_below(&d, edge), wanted, "of %u, below %llu", n,
				 (unsigned long long)edge);
		}
		distribution_free(&d);
	}
}

TEST_MAIN()
