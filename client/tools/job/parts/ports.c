/* SPDX-License-Identifier: BSD-2-Clause */
/* ports.c - see ports.h. */
#include "client/tools/job/parts/ports.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/util/random_id.h"

#define FIRST 10000u
#define PORTS 22000u

static int bind_to(int fd, const char *ip, unsigned int port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port) };
	int on = 1;

	if (inet_pton(AF_INET, ip, &sa.sin_addr) != 1)
		return -EINVAL;
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)))
		return -errno;
	/* after bind(), so that others who bind without the option are refused */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return 0;
}

int port_reserve(const char *ip, unsigned int *port)
{
	int fd, rc = -EADDRINUSE;

	for (int try = 0; rc == -EADDRINUSE && try < 200; try++) {
		uint32_t r;
		unsigned int p;

		if (random_bytes(&r, sizeof(r)))
			return -EIO;
		p = FIRST + r % PORTS;
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			return -errno;
		rc = bind_to(fd, ip, p);
		if (!rc) {
			*port = p;
			return fd;
		}
		close(fd);
	}
	return rc;
}
