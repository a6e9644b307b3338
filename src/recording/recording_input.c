/* SPDX-License-Identifier: MIT */
/*
 * Reads a perf.data sequentially. It uses read(2), not mmap(2): a file that shrinks meanwhile then
 * causes a short read instead of a signal, and memory is limited to one window.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "recording/region_format.h"
#include "recording/recording_input.h"

/* A record is at most 64 KiB; the window is small enough for a second-level cache. */
enum { PEEK_MAX = 65536, WINDOW = 4 * PEEK_MAX };

bool perfdata_unfinished(int fd)
{
	struct {
		char magic[8];
		/* the beginning written by perfdata_write.c */
		uint64_t size, attr_size, sections[6], features[4];
	} head;

	return pread(fd, &head, sizeof(head), 0) == sizeof(head) &&
		!memcmp(head.magic, "PERFILE2", 8) && head.size == sizeof(head) &&
		!(head.features[0] | head.features[1] | head.features[2] | head.features[3]);
}

bool recording_unfinished(int fd)
{
	struct file_head head;

	return perfdata_unfinished(fd) ||
		(pread(fd, &head, sizeof(head), 0) == sizeof(head) &&
		 !memcmp(head.magic, FILE_MAGIC, sizeof(head.magic)) && head.processes);
}

const char *recording_left(const char *part)
{
	struct file_head head;
	int fd = open(part, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool late = fd >= 0 && pread(fd, &head, sizeof(head), 0) == sizeof(head) &&
		!memcmp(head.magic, FILE_MAGIC, sizeof(head.magic)) && head.by_program;

	if (fd >= 0)
		close(fd);
	return late ? "a recording of a process that began to record after 'tare regions' had ended"
		    : "a recording whose recorder was killed";
}

static int fail_open(const char *path, int code, struct tare_error *err)
{
	char part[FILE_PART_ROOM], place[PATH_MAX];

	tare_fail(err, code, "cannot open %s: %s", path, strerror(code));
	if (code == ENOENT && file_place(path, place) > 0) {
		size_t n = file_part_left(place, recording_unfinished, part);

		if (n)
			tare_hint(err,
				  n > 1 ? "%.50s is there: %s; and %zu more" : "%.60s is there: %s",
				  part, recording_left(part), n - 1);
	}
	return -code;
}

int input_open(struct input *in, const char *path, struct tare_error *err)
{
	struct stat st;
	bool std = !strcmp(path, "-");

	*in = (struct input){ .fd = -1, .left = UINT64_MAX };
	in->path = strdup(std ? "standard input" : path);
	in->buf = malloc(WINDOW);
	if (!in->path || !in->buf)
		return tare_fail_nomem(err);
	in->fd = std ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (in->fd < 0)
		return fail_open(in->path, errno, err);
	if (fstat(in->fd, &st) < 0)
		return tare_fail(err, errno, "cannot look at %s: %s", in->path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return tare_fail(err, EISDIR, "%s is a directory", in->path);
	in->seekable = S_ISREG(st.st_mode);
	in->size = in->seekable ? (uint64_t)st.st_size : 0;
	return 0;
}

int input_again(struct input *out, const struct input *in)
{
	*out = (struct input){ .fd = fcntl(in->fd, F_DUPFD_CLOEXEC, 0),
			       .path = strdup(in->path),
			       .seekable = in->seekable,
			       .size = in->size,
			       .buf = malloc(WINDOW),
			       .offset = in->offset,
			       .left = in->left };
	if (out->left != UINT64_MAX)
		out->left += in->end - in->at;
	if (out->fd >= 0 && out->path && out->buf)
		return 0;
	input_close(out);
	return -ENOMEM;
}

void input_close(struct input *in)
{
	if (in->fd >= 0)
		close(in->fd);
	free(in->buf);
	free(in->path);
	*in = (struct input){ .fd = -1 };
}

void input_seek(struct input *in, uint64_t offset, uint64_t n)
{
	in->at = in->end = 0;
	in->offset = offset;
	in->left = n;
}

/* Read once at the end of the window; 0 at the end of the input. */
static ssize_t fill(struct input *in, void *to, size_t n, struct tare_error *err)
{
	ssize_t got;

	if (n > in->left)
		n = (size_t)in->left;
	if (n == 0)
		return 0;
	do {
		got = in->seekable ? pread(in->fd, to, n, (off_t)(in->offset + (in->end - in->at)))
				   : read(in->fd, to, n);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return tare_fail(err, errno, "%s: byte %llu: cannot read: %s", in->path,
				 (unsigned long long)(in->offset + (in->end - in->at)),
				 strerror(errno));
	if (in->left != UINT64_MAX)
		in->left -= (uint64_t)got;
	return got;
}

ssize_t input_peek_on(struct input *in, size_t n, const unsigned char **p, struct tare_error *err)
{
	while (in->end - in->at < n) {
		if (in->at) {
			memmove(in->buf, in->buf + in->at, in->end - in->at);
			in->end -= in->at;
			in->at = 0;
		}

		ssize_t got = fill(in, in->buf + in->end, WINDOW - in->end, err);

		if (got < 0)
			return got;
		if (got == 0)
			break;
		in->end += (size_t)got;
	}
	*p = in->buf + in->at;
	return (ssize_t)(in->end - in->at < n ? in->end - in->at : n);
}

ssize_t input_read(struct input *in, void *buf, size_t n, struct tare_error *err)
{
	size_t have = in->end - in->at;
	size_t done = n < have ? n : have;

	memcpy(buf, in->buf + in->at, done);
	input_take(in, done);
	while (done < n) {
		ssize_t got = fill(in, (char *)buf + done, n - done, err);

		if (got < 0)
			return got;
		if (got == 0)
			break;
		done += (size_t)got;
		in->offset += (uint64_t)got;
	}
	return (ssize_t)done;
}

int64_t input_skip(struct input *in, uint64_t n, struct tare_error *err)
{
	uint64_t have = in->end - in->at;
	uint64_t done = n < have ? n : have;

	input_take(in, (size_t)done);
	if (done == n)
		return (int64_t)done;
	if (in->seekable) {
		uint64_t more = n - done;
		uint64_t in_file = in->size > in->offset ? in->size - in->offset : 0;

		if (more > in->left)
			more = in->left;
		if (more > in_file)
			more = in_file;
		in->offset += more;
		if (in->left != UINT64_MAX)
			in->left -= more;
		return (int64_t)(done + more);
	}
	while (done < n) {
		size_t want = n - done < WINDOW ? (size_t)(n - done) : WINDOW;
		ssize_t got;

		in->at = in->end = 0;
		got = fill(in, in->buf, want, err);
		if (got < 0)
			return got;
		if (got == 0)
			break;
		in->offset += (uint64_t)got;
		done += (uint64_t)got;
	}
	return (int64_t)done;
}

uint64_t input_rest(struct input *in)
{
	const unsigned char *p = NULL;

	if (in->seekable) {
		uint64_t in_file = in->size > in->offset ? in->size - in->offset : 0;
		uint64_t wanted = in->left == UINT64_MAX ? UINT64_MAX
							 : in->left + (in->end - in->at);

		return in_file < wanted ? in_file : wanted;
	}
	input_peek(in, PEEK_MAX, &p, NULL);
	return in->end - in->at;
}

int input_at(const struct input *in, uint64_t offset, void *buf, size_t n, struct tare_error *err)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = pread(in->fd, (char *)buf + done, n - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return tare_fail(err, errno, "%s: byte %llu: cannot read: %s", in->path,
					 (unsigned long long)(offset + done), strerror(errno));
		if (got == 0)
			return tare_fail(err, ENODATA,
					 "%s: byte %llu: the file ends, %zu bytes short", in->path,
					 (unsigned long long)(offset + done), n - done);
		done += (size_t)got;
	}
	return 0;
}

int input_spool(struct input *in, struct tare_error *err)
{
	FILE *tmp = tmpfile();
	const unsigned char *p = NULL;
	ssize_t n;
	int ret = 0;

	if (!tmp)
		return tare_fail(err, errno, "%s: cannot make a temporary file: %s", in->path,
				 strerror(errno));
	while ((n = input_peek(in, PEEK_MAX, &p, err)) > 0) {
		if (fwrite(p, 1, (size_t)n, tmp) != (size_t)n)
			break;
		input_take(in, (size_t)n);
	}
	if (n < 0)
		ret = (int)n;
	else if (n > 0 || fflush(tmp) == EOF)
		ret = tare_fail(err, errno, "%s: byte %llu: cannot copy to a temporary file: %s",
				in->path, (unsigned long long)in->offset, strerror(errno));
	if (ret == 0) {
		int fd = fcntl(fileno(tmp), F_DUPFD_CLOEXEC, 0);

		if (fd < 0) {
			ret = tare_fail(err, errno, "%s: %s", in->path, strerror(errno));
		} else {
			close(in->fd);
			in->fd = fd;
			in->seekable = true;
			in->size = in->offset;
			input_seek(in, 0, UINT64_MAX);
		}
	}
	fclose(tmp);
	return ret;
}
