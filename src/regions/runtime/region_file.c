/* SPDX-License-Identifier: MIT */
#include "base/process.h"
#include "regions/runtime/region_file.h"
#include <elf.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "arch/cpu.h"
#include "base/file.h"
#include "regions/runtime/region_map.h"
#include "regions/runtime/region_process.h"

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#else
enum { MACHINE = EM_AARCH64 };
#endif

static uint64_t whole_pages(uint64_t n)
{
	return (n + FILE_PAGE - 1) / FILE_PAGE * FILE_PAGE;
}

/* A high number, to avoid collisions with programs that expect low ones. */
static int high_fd(int fd)
{
	struct rlimit files;
	int high;

	if (fd < 0 || getrlimit(RLIMIT_NOFILE, &files) < 0)
		return fd;
	high = files.rlim_cur > 1024 ? 960 : (int)files.rlim_cur - 8;
	if (high <= fd)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, high);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/*
 * The descriptor. It is opened again if the program closed it or reused its number. -1 with errno.
 */
static int descriptor(struct region_file *f)
{
	struct stat st;

	if (f->fd >= 0 && fstat(f->fd, &st) == 0 && st.st_dev == f->dev && st.st_ino == f->inode)
		return f->fd;
	f->fd = -1;

	int fd = open(f->path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || st.st_dev != f->dev || st.st_ino != f->inode) {
		close(fd);
		errno = ESTALE;
		return -1;
	}
	f->fd = high_fd(fd);
	return f->fd;
}

static uint64_t size_limit(void)
{
	struct rlimit size;

	return getrlimit(RLIMIT_FSIZE, &size) < 0 || size.rlim_cur == RLIM_INFINITY ? UINT64_MAX
										    : size.rlim_cur;
}

/* A struct for a file that does not exist yet, by its absolute path. */
static int name_file(struct region_file *f, const char *path, struct tare_error *err)
{
	char here[PATH_MAX];
	int n;

	memset(f, 0, sizeof(*f));
	f->fd = -1;
	f->process = region_process();
	if (path[0] == '/')
		n = snprintf(f->path, sizeof(f->path), "%s", path);
	else if (!getcwd(here, sizeof(here)))
		return tare_fail(err, errno, "%.200s: cannot tell in which directory: %s", path,
				 strerror(errno));
	else
		n = snprintf(f->path, sizeof(f->path), "%s/%s", here, path);
	if (n < 0 || (size_t)n >= sizeof(f->path))
		return tare_fail(err, ENAMETOOLONG, "%.200s...: the name is too long", path);
	return 0;
}

static int cannot(const struct region_file *f, int code, const char *what, struct tare_error *err)
{
	return tare_fail(err, code, "%.250s: cannot %s: %s", f->path, what, strerror(code));
}

static int map_head(struct region_file *f, struct tare_error *err)
{
	f->head = mmap(NULL, FILE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	if (f->head != MAP_FAILED)
		return 0;
	f->head = NULL;

	int ret = cannot(f, errno, "be mapped, which a recording must be", err);

	tare_hint(err, "choose a local file system");
	return ret;
}

/* Allocate real disk space: a write to a mapped page without space would raise SIGBUS. */
static int reserve(int fd, uint64_t offset, uint64_t n)
{
	static const char zeros[FILE_PAGE];

	if (syscall(SYS_fallocate, fd, 0, (off_t)offset, (off_t)n) == 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return -1;
	for (uint64_t i = 0; i < n; i += FILE_PAGE)
		if (syscall(SYS_pwrite64, fd, zeros, sizeof(zeros), (off_t)(offset + i)) !=
		    (long)sizeof(zeros))
			return -1;
	return 0;
}

/*
 * Write the head first, then link the file under its name, so that a killed program leaves a
 * complete recording or none.
 */
static int begin_file(struct region_file *f, const char *own_name, const char *counters,
		      const char *command, bool replace, struct tare_error *err)
{
	struct cpu_description cpu;
	struct timespec now;
	cpu_set_t cpus;
	struct stat st;
	int ret;

	if (fstat(f->fd, &st) < 0)
		return cannot(f, errno, "be examined", err);
	f->dev = st.st_dev;
	f->inode = st.st_ino;
	f->limit = size_limit();
	if (f->limit < FILE_PAGE || reserve(f->fd, 0, FILE_PAGE) < 0)
		return cannot(f, f->limit < FILE_PAGE ? EFBIG : errno, "be written", err);
	ret = map_head(f, err);
	if (ret < 0)
		return ret;
	clock_gettime(CLOCK_REALTIME, &now);
	f->head->order = FILE_ORDER;
	f->head->version = FILE_VERSION;
	f->head->next = FILE_PAGE;
	f->head->unfilled = 1;
	f->head->machine = MACHINE;
	f->head->start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	snprintf(f->head->counters, sizeof(f->head->counters), "%s", counters);
	snprintf(f->head->command, sizeof(f->head->command), "%s", command);
	f->head->by_program = !replace;
	f->head->pid_namespace = process_pid_namespace();
	f->head->one_cpu = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) == 1;
	cpu_describe(&cpu);
	snprintf(f->head->cpu, sizeof(f->head->cpu), "%s", cpu.model);
	memcpy(f->head->magic, FILE_MAGIC, sizeof(f->head->magic));
	if (replace ? rename(own_name, f->path) : link(own_name, f->path)) {
		int code = errno;

		return code == EEXIST ? -EEXIST : cannot(f, code, "be created", err);
	}
	if (!replace)
		unlink(own_name);
	f->fd = high_fd(f->fd);
	return 0;
}

int region_file_create(struct region_file *f, const char *path, const char *counters,
		       const char *command, bool replace, struct tare_error *err)
{
	char own_name[FILE_PART_ROOM], place[PATH_MAX];
	int ret = name_file(f, path, err);

	if (ret < 0)
		return ret;
	/* Do not truncate it, because another process may still map it. */
	ret = file_place(f->path, place);
	if (ret == 0)
		return tare_fail(err, EINVAL, "%.250s: a recording must be a regular file",
				 f->path);
	if (ret < 0)
		return file_part_failed(f->path, -ret, err);
	memcpy(f->path, place, sizeof(place));
	f->fd = file_part_open(f->path, 0666, own_name);
	if (f->fd < 0) {
		ret = -f->fd;
		f->fd = -1;
		return cannot(f, ret, "be created", err);
	}
	ret = begin_file(f, own_name, counters, command, replace, err);
	if (ret < 0) {
		unlink(own_name);
		region_file_close(f);
	}
	return ret;
}

int region_file_join(struct region_file *f, const char *path, struct tare_error *err)
{
	struct stat st;
	int ret = name_file(f, path, err);

	if (ret < 0)
		return ret;
	f->fd = open(f->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (f->fd < 0)
		return cannot(f, errno, "be opened", err);
	if (fstat(f->fd, &st) < 0) {
		ret = cannot(f, errno, "be examined", err);
		goto fail;
	}
	f->dev = st.st_dev;
	f->inode = st.st_ino;
	f->limit = size_limit();
	if (!S_ISREG(st.st_mode) || st.st_size < FILE_PAGE) {
		ret = tare_fail(err, EEXIST, "%.250s: exists, and is not a recording of regions",
				f->path);
		goto fail;
	}
	ret = map_head(f, err);
	if (ret < 0)
		goto fail;
	if (memcmp(f->head->magic, FILE_MAGIC, sizeof(f->head->magic)) ||
	    f->head->order != FILE_ORDER || f->head->version != FILE_VERSION ||
	    f->head->machine != MACHINE || f->head->next % FILE_PAGE) {
		ret = tare_fail(
			err, EEXIST,
			"%.250s: exists, and is not a recording that this program can continue",
			f->path);
		goto fail;
	}
	f->fd = high_fd(f->fd);
	return 0;
fail:
	region_file_close(f);
	return ret;
}

void region_file_close(struct region_file *f)
{
	if (f->head)
		munmap(f->head, FILE_PAGE);
	f->head = NULL;
	if (f->fd >= 0 && descriptor(f) >= 0)
		close(f->fd);
	f->fd = -1;
}

int region_file_name_cpu(int fd, const char *cpu)
{
	char name[sizeof(((struct file_head *)0)->cpu)] = "";
	ssize_t n;

	snprintf(name, sizeof(name), "%s", cpu);
	n = pwrite(fd, name, sizeof(name), offsetof(struct file_head, cpu));
	return n == sizeof(name) ? 0 : n < 0 ? -errno : -EIO;
}

/*
 * Nothing could be written there. The next attempt uses the same place, so that the file does not
 * grow by unused space.
 */
static void give_back(struct region_file *f, uint64_t at, uint64_t n)
{
	uint64_t end = at + whole_pages(n), next = end;

	if (!__atomic_compare_exchange_n(&f->head->next, &next, at, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		/* another thread took the space after it */
		__atomic_add_fetch(&f->head->unfilled, end - at, __ATOMIC_RELAXED);
}

/* The offset for the next block of n bytes, or 0 with errno. */
static uint64_t take_space(struct region_file *f, uint64_t n)
{
	unsigned process = f->process;
	uint64_t at = __atomic_fetch_add(&f->head->next, whole_pages(n), __ATOMIC_RELAXED);

	if (at < FILE_PAGE || at > INT64_MAX - n || at + n > f->limit) {
		if (region_process() == process)
			give_back(f, at, n);
		errno = EFBIG;
		return 0;
	}
	return at;
}

void *region_file_map(struct region_file *f, size_t size, bool at_once, uint64_t *offset)
{
	unsigned process = f->process;
	int fd = descriptor(f);
	uint64_t at = fd < 0 ? 0 : take_space(f, size);
	void *map;

	if (at && reserve(fd, at, size) < 0) {
		if (region_process() == process)
			give_back(f, at, size);
		at = 0;
	}
	if (!at)
		return NULL;
	map = region_map(fd, at, size, at_once);
	if (offset)
		*offset = at;
	/* in a child forked meanwhile: the space is the parent's */
	if (map && region_process() != process)
		mmap(map, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		     0);
	return map;
}

int region_file_append(struct region_file *f, struct iovec *out, const void *bytes, size_t n)
{
	unsigned process = f->process;
	int kept = errno, fd = descriptor(f), ret = 0;
	const char *p = bytes;
	uint64_t at = fd < 0 ? 0 : take_space(f, n), first = at, size = n;

	if (!at)
		ret = -errno;
	while (!ret && n) {
		long done;

		out->iov_base = (void *)(uintptr_t)p;
		out->iov_len = n;
		if (region_process() != process)
			break;
		/* in a child forked meanwhile: writes nothing */
		done = syscall(SYS_pwritev, fd, out, 1L, (off_t)at, 0L);
		if (region_process() != process)
			break;
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			ret = done < 0 ? -errno : -ENOSPC;
			break;
		}
		p += done;
		n -= (size_t)done;
		at += (uint64_t)done;
	}
	/* Half a block would look like a damaged one. */
	if (ret < 0 && at > first && region_process() == process) {
		static const char none[4];

		(void)!syscall(SYS_pwrite64, fd, none, sizeof(none), (off_t)first);
		region_file_punch(f, first, whole_pages(at - first));
	}
	if (ret < 0 && at && region_process() == process)
		give_back(f, first, size);
	errno = kept;
	return ret;
}

void region_file_punch(struct region_file *f, uint64_t offset, uint64_t n)
{
	int kept = errno, fd = descriptor(f);

	if (fd >= 0 && n)
		(void)!syscall(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			       (off_t)offset, (off_t)n);
	errno = kept;
}
