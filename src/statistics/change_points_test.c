/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "base/error.h"
#include "statistics/change_points.h"
#include "tap.h"

/* Measurements of TigerBeetle, published with the tests of Apache Otava (tigerbeetle_test.py). */
static const double tigerbeetle[] = {
	26705, 26475, 26641, 26806, 26835, 26911, 26564, 26812, 26874, 26682, 15672, 26745, 26460,
	26977, 26851, 23412, 23547, 23674, 23519, 23670, 23662, 23462, 23750, 23717, 23524, 23588,
	23687, 23793, 23937, 23715, 23570, 23730, 23690, 23699, 23670, 23860, 23988, 23652, 23681,
	23798, 23728, 23604, 23523, 23412, 23685, 23773, 23771, 23718, 23409, 23739, 23674, 23597,
	23682, 23680, 23711, 23660, 23990, 23938, 23742, 23703, 23536, 24363, 24414, 24483, 24509,
	24944, 24235, 24560, 24236, 24667, 24730, 28346, 28437, 28436, 28057, 28217, 28456, 28427,
	28398, 28250, 28331, 28222, 28726, 28578, 28345, 28274, 28514, 28590, 28449, 28305, 28411,
	28788, 28404, 28821, 28580, 27483, 26805, 27487, 27124, 26898, 27295, 26951, 27312, 27660,
	27154, 27050, 26989, 27193, 27503, 27326, 27375, 27513, 27057, 27421, 27574, 27609, 27123,
	27824, 27644, 27394, 27836, 27949, 27702, 27457, 27272, 28207, 27802, 27516, 27586, 28005,
	27768, 28543, 28237, 27915, 28437, 28342, 27733, 28296, 28524, 28687, 28258, 28611, 29360,
	28590, 29641, 28965, 29474, 29256, 28611, 28205, 28539, 27962, 28398, 28509, 28240, 28592,
	28102, 28461, 28578, 28669, 28507, 28535, 28226, 28536, 28561, 28087, 27953, 28398, 28007,
	28518, 28337, 28242, 28607, 28545, 28514, 28377, 28010, 28412, 28633, 28576, 28195, 28637,
	28724, 28466, 28287, 28719, 28425, 28860, 28842, 28604, 28327, 28216, 28946, 28918, 29287,
	28725, 29148, 29541, 29137, 29628, 29087, 28612, 29154, 29108, 28884, 29234, 28695, 28969,
	28809, 28695, 28634, 28916, 29852, 29389, 29757, 29531, 29363, 29251, 29552, 29561, 29046,
	29795, 29022, 29395, 28921, 29739, 29257, 29455, 29376, 29528, 28909, 29492, 28984, 29621,
	29026, 29457, 29102, 29114, 28924, 29162, 29259, 29554, 29616, 29211, 29367, 29460, 28836,
	29645, 29586, 28848, 29324, 28969, 29150, 29243, 29081, 29312, 28923, 29272, 29117, 29072,
	29529, 29737, 29652, 29612, 29856, 29012, 30402, 29969, 29309, 29439, 29285, 29421, 29023,
	28772, 29692, 29416, 29267, 29542, 29904, 30045, 29739, 29945, 29141, 29163, 29765, 29197,
	29441, 28910, 29504, 29614, 29643, 29506, 29420, 29672, 29432, 29784, 29888, 29309, 29247,
	29816, 29254, 29813, 29451, 29382, 29618, 28558, 29845, 29499, 29283, 29184, 29246, 28790,
	29952, 29145, 29415, 30437, 29227, 29605, 29859, 29156, 29807, 29406, 29734, 29861, 29140,
	29983, 29832, 29919, 29896, 29991, 29266, 29001, 29459, 29548, 29310, 29042, 29303, 29894,
	29091, 29018, 29537, 29614, 29180, 29736, 29500, 29218, 29581, 28906, 28542, 29306, 28987,
	29878, 28865, 30272, 29707, 29662, 29815, 30492, 29347, 30096, 29054, 30238, 28813, 31895,
	28915
};

static void check(const double *v, size_t n, size_t window, double max_p, double least,
		  const size_t *wanted, size_t n_wanted, const char *what)
{
	struct change_points c;

	CHECK(change_points_find(&c, v, n, window, max_p, least), "memory");
	CHECK_EQ(c.n, n_wanted, "number of change points: %s", what);
	for (size_t i = 0; i < c.n && i < n_wanted; i++)
		CHECK_EQ(c.point[i].index, wanted[i], "change point %zu: %s", i, what);
	change_points_free(&c);
}

#define NONE 0
#define CHECK_POINTS(v, n, window, max_p, least, ...)                                              \
	do {                                                                                       \
		static const size_t wanted_[] = { __VA_ARGS__ };                                   \
		size_t n_ = wanted_[0] == NONE ? 0 : ARRAY_SIZE(wanted_);                          \
                                                                                                   \
		check(v, n, window, max_p, least, wanted_, n_, #window ", " #max_p ", " #least);   \
	} while (0)

/* The expected change points are those that Otava's tests expect. */
TEST(published_data_of_otava)
{
	const double *v = tigerbeetle;
	const size_t n = ARRAY_SIZE(tigerbeetle);

	CHECK_POINTS(v, n, 30, 0.01, 0.05, 15, 71);
	CHECK_POINTS(v, n, 30, 0.05, 0.05, 15, 71);
	CHECK_POINTS(v, n, 30, 0.1, 0.05, 10, 11, 15, 71, 363);
	CHECK_POINTS(v, n, 30, 0.2, 0.05, 10, 11, 15, 71);
	CHECK_POINTS(v, n, 30, 0.2, 0.0, 3, 6, 7, 10, 11, 13, 15, 16, 28, 29, 35, 37, 39, 41, 44,
		     48, 49, 56, 58, 61, 65, 66, 69, 71, 74, 76, 82, 95, 108, 117, 125, 126, 129,
		     131, 136, 137, 142, 148, 165, 169, 187, 190, 192, 197, 200, 212, 220, 241, 243,
		     246, 247, 249, 250, 260, 265, 266, 268, 278, 282, 288, 305, 306, 325, 330, 337,
		     338, 340, 347, 349, 363);
	CHECK_POINTS(v, n, 30, 0.1, 0.0, 3, 6, 10, 11, 15, 16, 28, 29, 35, 37, 39, 41, 44, 48, 49,
		     61, 71, 95, 117, 131, 142, 148, 165, 169, 192, 206, 212, 260, 265, 268, 278,
		     282, 288, 305, 363);
	CHECK_POINTS(v, n, 30, 0.01, 0.0, 15, 26, 61, 71, 95, 117, 131, 142, 148, 165, 169, 192,
		     212, 260);
	CHECK_POINTS(v, n, 30, 0.001, 0.0, 15, 61, 71, 95, 117, 131, 142, 148, 192, 212, 260);
	CHECK_POINTS(v, n, 30, 0.0001, 0.0, 71, 95, 117, 131, 142, 148, 192, 212);
	CHECK_POINTS(v, n, 30, 0.00001, 0.0, 71, 95, 131, 192, 212);
}

TEST(published_tests_of_otava)
{
	static const double
		halved[] = { 1.02, 0.95, 0.99, 1.00, 1.12, 1.00, 1.01, 0.98, 1.01, 0.96,
			     0.50, 0.51, 0.48, 0.48, 0.55, 0.50, 0.49, 0.51, 0.50, 0.49 },
		first[] = { 1.02, 0.95, 0.99, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55 },
		second[] = { 2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.80, 1.76, 1.78 };

	CHECK_POINTS(halved, 20, 10, 0.0001, 0, 10);
	CHECK_POINTS(first, 11, CHANGE_POINTS_WINDOW, CHANGE_POINTS_P, 0, 6);
	CHECK_POINTS(second, 11, CHANGE_POINTS_WINDOW, CHANGE_POINTS_P, 0, 4);
	CHECK_POINTS(first, 11, CHANGE_POINTS_WINDOW, CHANGE_POINTS_P, 0.2, 6);
	CHECK_POINTS(second, 11, CHANGE_POINTS_WINDOW, CHANGE_POINTS_P, 0.2, NONE);
}

/* Nearly normal, with a standard deviation of 1; the same numbers in each run. */
static double noise(uint64_t *state)
{
	double sum = 0;

	for (int i = 0; i < 12; i++) {
		*state = *state * 6364136223846793005 + 1442695040888963407;
		sum += (double)(*state >> 11) / 0x1p53;
	}
	return sum - 6;
}

/* At a level at which noise does not cause any. */
TEST(constructed_steps)
{
	static double v[1000];
	struct change_points c;
	uint64_t state = 1;

	for (size_t i = 0; i < 1000; i++)
		v[i] = 1000 + noise(&state) + (i >= 137) * 20 - (i >= 500) * 40 + (i >= 981) * 20;
	CHECK_POINTS(v, 1000, 50, 1e-7, 0, 137, 500, 981);
	CHECK_POINTS(v, 1000, 20, 1e-7, 0, 137, 500, 981);
	CHECK_POINTS(v, 1000, 50, 0.001, 0.03, 500);
	CHECK(change_points_find(&c, v, 1000, 50, 1e-7, 0), "memory");
	if (c.n == 3) {
		CHECK(fabs(c.point[1].before - 1020) < 0.5, "%g", c.point[1].before);
		CHECK(fabs(c.point[1].after - 980) < 0.5, "%g", c.point[1].after);
		CHECK(c.point[1].p < 1e-100, "%g", c.point[1].p);
	}
	change_points_free(&c);
}

TEST(series_without_changes)
{
	static double v[300];
	uint64_t state = 5;

	CHECK_POINTS(v, 0, 50, 0.001, 0, NONE);
	CHECK_POINTS(v, 1, 50, 0.001, 0, NONE);
	CHECK_POINTS(v, 2, 50, 0.001, 0, NONE);
	CHECK_POINTS(v, 300, 50, 0.001, 0, NONE); /* all equal */
	for (size_t i = 0; i < 300; i++)
		v[i] = 1e9 + noise(&state);
	CHECK_POINTS(v, 300, 50, 0.001, 0, NONE);
}

/* Without any noise, each step is certain. */
TEST(steps_without_noise)
{
	double v[40];

	for (size_t i = 0; i < 40; i++)
		v[i] = i < 10 ? 5 : i < 25 ? 7 : 6;
	CHECK_POINTS(v, 40, 50, 0.001, 0, 10, 25);
}

TEST_MAIN()
