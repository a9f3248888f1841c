/* SPDX-License-Identifier: BSD-2-Clause */
/* lingering.c - see lingering.h. */
#include <check.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/lingering.h"

static unsigned int count(const char *dir)
{
	DIR *d = opendir(dir);
	unsigned int n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

unsigned int count_fds(void)
{
	return count("/proc/self/fd");
}

unsigned int count_threads(void)
{
	return count("/proc/self/task");
}

static void listen_at_loopback(int fd, struct sockaddr_in *sin)
{
	socklen_t len = sizeof(*sin);

	*sin = (struct sockaddr_in){ .sin_family = AF_INET };
	sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)sin, len), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)sin, &len), 0);
}

int lingering(int *reader)
{
	const struct linger long_time = { .l_onoff = 1, .l_linger = 600 };
	struct sockaddr_in sin;
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int little = 4096;
	char junk[4096] = { 0 };

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof(little));
	setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
	listen_at_loopback(listener, &sin);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	*reader = accept(listener, NULL, NULL);
	ck_assert_int_ge(*reader, 0);
	close(listener);
	while (send(fd, junk, sizeof(junk), MSG_DONTWAIT) > 0)
		;
	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_LINGER, &long_time,
				    sizeof(long_time)),
			 0);
	return fd;
}
