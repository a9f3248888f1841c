/* SPDX-License-Identifier: BSD-2-Clause */
/* plain_pair.c - see plain_pair.h. */
#include "tests/bench/plain_pair.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

static void nodelay(int fd)
{
	const int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static bool listens(int l, struct sockaddr_in *sa)
{
	socklen_t len = sizeof(*sa);

	return !bind(l, (struct sockaddr *)sa, len) && !listen(l, 1) &&
	       !getsockname(l, (struct sockaddr *)sa, &len);
}

bool plain_pair(int fd[2])
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int l = socket(AF_INET, SOCK_STREAM, 0);

	if (l < 0 || !listens(l, &sa))
		return false;
	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (fd[0] < 0 || connect(fd[0], (struct sockaddr *)&sa, sizeof(sa)))
		return false;
	fd[1] = accept(l, NULL, NULL);
	close(l);
	nodelay(fd[0]);
	nodelay(fd[1]);
	return fd[1] >= 0;
}
