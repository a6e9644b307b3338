// SPDX-License-Identifier: MIT
// C++: templates, exceptions, threads; a signal handler; a child that is killed.
#include <csignal>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <sys/wait.h>
#include <unistd.h>

namespace counted
{
template <typename T> __attribute__((noinline)) T add(const std::vector<T> &v)
{
	T sum = 0;

	for (T x : v)
		sum += x;
	return sum;
}
}

static volatile sig_atomic_t signals;

static void on_signal(int)
{
	signals = signals + 1;
}

static int throws(int n)
{
	if (n % 3 == 0)
		throw std::runtime_error("three");
	return n;
}

int main()
{
	std::vector<int> v(10000, 1);
	std::map<std::string, int> caught;
	std::vector<std::thread> threads;
	int status;

	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 4; i++)
		threads.emplace_back([&v] { if (counted::add(v) != 10000) _exit(1); });
	for (auto &t : threads)
		t.join();
	for (int i = 0; i < 30; i++) {
		raise(SIGUSR1);
		try {
			throws(i);
		} catch (const std::runtime_error &e) {
			caught[e.what()]++;
		}
	}
	pid_t child = fork();
	if (child == 0) {
		if (counted::add(v) != 10000)
			_exit(1);
		raise(SIGKILL);
	}
	waitpid(child, &status, 0);
	return signals == 30 && caught["three"] == 10 && WIFSIGNALED(status) ? 0 : 1;
}
