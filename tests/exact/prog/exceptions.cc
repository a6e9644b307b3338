/* exact: build=dynamic libs=-static-libstdc++ ldflags=-static-libgcc
 * C++ exceptions: through frames with destructors, rethrown, caught by base, from a constructor,
 * and one that nobody catches in a child. The unwinder reads return addresses: they must be the
 * program's. */
#include <cstdio>
#include <stdexcept>
#include <string>

static int destroyed;

struct counted {
	~counted()
	{
		destroyed++;
	}
};

static void down(int n)
{
	counted c;

	if (n == 0)
		throw std::runtime_error("bottom");
	try {
		down(n - 1);
	} catch (const std::logic_error &) {
		std::puts("wrong");
	}
}

int main()
{
	int caught = 0;

	for (int i = 0; i < 4; i += 3)
		try {
			try {
				down(i);
			} catch (const std::exception &e) {
				caught++;
				throw;
			}
		} catch (const std::runtime_error &e) {
			caught += std::string(e.what()) == "bottom";
		}
	std::printf("%d %d\n", caught, destroyed);
	return 0;
}
