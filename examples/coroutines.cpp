// SPDX-License-Identifier: MIT
// C++20 coroutines that move between threads, each with its own stream of regions.
//
//	c++ -std=c++20 -O2 coroutines.cpp $(pkg-config --cflags --libs tare) -pthread
//	tare regions -e wall-time -o coroutines.tare -- ./a.out
//	tare summarize coroutines.tare
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>
#include <tare/fiber.h>
#include <tare/region.h>

TARE_REGION(request, "request");

// The promise owns the fiber, so the fiber ends with the coroutine's frame.
struct task {
	struct promise_type {
		tare::fiber fiber;

		task get_return_object()
		{
			return { std::coroutine_handle<promise_type>::from_promise(*this) };
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		void return_void() {}
		void unhandled_exception()
		{
			std::terminate();
		}
	};
	std::coroutine_handle<promise_type> handle;
};

// Threads that resume what is ready.
class executor {
public:
	// co_await: the coroutine continues on whichever thread is free.
	struct again {
		executor &e;

		bool await_ready() noexcept
		{
			return false;
		}
		void await_suspend(std::coroutine_handle<task::promise_type> h)
		{
			// Before another thread can resume it: this thread is in the coroutine no more.
			tare_region_switch(nullptr);
			e.put(h);
		}
		void await_resume() noexcept {}
	};

	void put(std::coroutine_handle<task::promise_type> h)
	{
		std::lock_guard<std::mutex> lock(mutex_);

		ready_.push_back(h);
		wake_.notify_one();
	}

	void run()
	{
		for (;;) {
			std::coroutine_handle<task::promise_type> h;
			{
				std::unique_lock<std::mutex> lock(mutex_);

				wake_.wait(lock, [this] { return !ready_.empty() || !left_; });
				if (ready_.empty())
					return;
				h = ready_.front();
				ready_.pop_front();
			}
			tare::fiber_scope scope(h.promise().fiber.get());
			h.resume(); // h may belong to another thread as soon as it suspends
		}
	}

	void finished()
	{
		std::lock_guard<std::mutex> lock(mutex_);

		if (--left_ == 0)
			wake_.notify_all();
	}

	explicit executor(int tasks) : left_(tasks) {}

private:
	std::mutex mutex_;
	std::condition_variable wake_;
	std::deque<std::coroutine_handle<task::promise_type> > ready_;
	int left_;
};

// The region is open across every co_await, and is whole in the recording.
static task handle_request(executor &e, unsigned long &sum)
{
	{
		tare::region whole(request);

		for (int step = 0; step < 4; step++) {
			for (int i = 0; i < 100000; i++)
				sum = sum * 6364136223846793005u + 1;
			co_await executor::again{ e };
		}
	}
	e.finished();
}

int main()
{
	constexpr int tasks = 6, threads = 2;
	std::vector<unsigned long> sums(tasks);
	std::vector<std::thread> workers;
	std::vector<task> all;
	unsigned long sum = 0;
	executor e(tasks);

	for (int i = 0; i < tasks; i++)
		all.push_back(handle_request(e, sums[i]));
	for (task &t : all)
		e.put(t.handle);
	for (int i = 0; i < threads; i++)
		workers.emplace_back([&e] { e.run(); });
	for (std::thread &w : workers)
		w.join();
	for (task &t : all)
		t.handle.destroy();
	for (unsigned long s : sums)
		sum += s;
	std::printf("%lu\n", sum);
	return 0;
}
