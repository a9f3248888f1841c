/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_base.c - measures the limits of the machine, with the simplest possible code. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/huge.h"
#include "tests/bench/plain_pair.h"

#define STORED_UNIT 262144u /* bytes that an iod writes at a time */

static int send_all(int s, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(s, buf, len);

		if (n <= 0)
			return -1;
		buf += n;
		len -= (size_t)n;
	}
	return 0;
}

static int recv_all(int s, char *buf, size_t len)
{
	while (len) {
		ssize_t n = read(s, buf, len);

		if (n <= 0)
			return -1;
		buf += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Receives `bytes` bytes, and writes them to fd unless it is -1. */
static int drain(int s, char *buf, uint64_t call, uint64_t bytes, int fd)
{
	off_t off = 0;

	for (uint64_t n; bytes; bytes -= n, off += (off_t)n) {
		n = call < bytes ? call : bytes;
		if (recv_all(s, buf, n))
			return -1;
		if (fd >= 0 && pwrite(fd, buf, n, off) != (ssize_t)n)
			return -1;
	}
	return 0;
}

static void sink(int s, char *buf, uint64_t call, uint64_t bytes, int fd)
{
	char done = 1;

	if (drain(s, buf, call, bytes, fd))
		_exit(1);
	_exit(write(s, &done, 1) == 1 ? 0 : 1);
}

/* Measures a stream. unit: bytes per receive; fd: the file to write to, or -1. */
static double stream(uint64_t call, uint64_t bytes, uint64_t unit, int fd)
{
	char *buf = huge_alloc(call > unit ? call : unit), done;
	double start, secs = -1;
	int s[2];
	pid_t pid;

	bytes -= bytes % call;
	if (!buf || !plain_pair(s))
		return -1;
	memset(buf, 1, call);
	pid = fork();
	if (pid == 0)
		sink(s[1], buf, unit, bytes, fd);
	close(s[1]);
	start = bench_now();
	for (uint64_t left = bytes; left; left -= call)
		if (send_all(s[0], buf, call))
			break;
	if (read(s[0], &done, 1) == 1)
		secs = bench_now() - start;
	close(s[0]);
	waitpid(pid, NULL, 0);
	free(buf);
	return secs > 0 ? (double)bytes / secs : -1;
}

double bench_stream(uint64_t call, uint64_t bytes)
{
	return stream(call, bytes, call, -1);
}

double bench_stored(uint64_t call, uint64_t bytes, const char *dir, bool over)
{
	char path[4096], fill[STORED_UNIT];
	double rate = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/stored", dir);
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	if (fd < 0)
		return -1;
	memset(fill, 2, sizeof(fill));
	for (uint64_t at = 0; over && at < bytes; at += sizeof(fill))
		if (pwrite(fd, fill, sizeof(fill), (off_t)at) < 0)
			goto close_file;
	rate = stream(call, bytes, STORED_UNIT, fd);
close_file:
	close(fd);
	unlink(path);
	return rate;
}

static void echo(int s, char *buf, size_t request, size_t answer)
{
	while (!recv_all(s, buf, request) && !send_all(s, buf, answer))
		;
	_exit(0);
}

double bench_pingpong(size_t request, size_t answer, unsigned int n)
{
	char buf[65536] = { 0 };
	double start, secs;
	int s[2];
	pid_t pid;

	if (!plain_pair(s))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(s[0]);
		echo(s[1], buf, request, answer);
	}
	close(s[1]);
	start = bench_now();
	for (unsigned int i = 0; i < n; i++)
		if (send_all(s[0], buf, request) || recv_all(s[0], buf, answer))
			return -1;
	secs = bench_now() - start;
	close(s[0]);
	waitpid(pid, NULL, 0);
	return secs / n;
}

double bench_flush(const char *dir, unsigned int n)
{
	char path[4096], block[4096] = { 1 };
	double start, secs;
	int fd;

	snprintf(path, sizeof(path), "%s/bench-flush", dir);
	fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
	if (fd < 0)
		return -1;
	unlink(path);
	for (unsigned int i = 0; i < n; i++)
		if (pwrite(fd, block, sizeof(block), i * 4096) < 0)
			return -1;
	fsync(fd);
	start = bench_now();
	for (unsigned int i = 0; i < n; i++)
		if (pwrite(fd, block, sizeof(block), i * 4096) < 0 ||
		    fdatasync(fd))
			return -1;
	secs = bench_now() - start;
	close(fd);
	return n / secs;
}
