// SPDX-License-Identifier: MIT
// Named parts of a C++ program, on several threads, recorded by the program itself.
//
//	c++ -O2 region.cpp $(pkg-config --cflags --libs tare) -pthread
//	./a.out region.tare && tare summarize region.tare
#include <cstdio>
#include <thread>
#include <vector>
#include <tare/region.h>

TARE_REGION(worker, "worker");
TARE_REGION(step, "step");

static void work(std::vector<double> &v)
{
	tare::region whole(worker);

	for (int i = 0; i < 100; i++) {
		TARE_REGION_SCOPE(&step);
		for (double &x : v)
			x = x * 0.5 + 1;
	}
}

int main(int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;

	if (argc > 1 && tare_regions_start(argv[1], "wall-time", &err) < 0) {
		std::fprintf(stderr, "%s\n", err.what);
		return 1;
	}

	std::vector<std::vector<double> > data(4, std::vector<double>(1000));
	std::vector<std::thread> threads;

	for (auto &v : data)
		threads.emplace_back(work, std::ref(v));
	for (auto &t : threads)
		t.join();
	if (tare_regions_stop(&err) < 0)
		std::fprintf(stderr, "%s\n", err.what);
	std::printf("%.3f\n", data[0][0]);
	return 0;
}
