/* SPDX-License-Identifier: BSD-2-Clause */
/* local_group.c - the gong and the page of a group of servers. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "local_group.h"
#include "local_shm.h"

#define PAGE_LEN 4096u

_Static_assert(sizeof(struct local_page) <= PAGE_LEN, "one page");

/* A name that the kernel chooses, and the socket its own peer. */
static int own_peer(int fd)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(sun);

	if (bind(fd, (struct sockaddr *)&sun,
		 offsetof(struct sockaddr_un, sun_path)) ||
	    getsockname(fd, (struct sockaddr *)&sun, &len) ||
	    connect(fd, (struct sockaddr *)&sun, len))
		return -errno;
	return 0;
}

int local_gong_open(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	rc = own_peer(fd);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

static int option(int fd, int name)
{
	int value;
	socklen_t len = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, name, &value, &len) ? -errno : value;
}

/* An eventfd would do, but a write to one can be made to block. */
int local_gong_check(int fd)
{
	return option(fd, SO_DOMAIN) == AF_UNIX &&
			       option(fd, SO_TYPE) == SOCK_DGRAM
		       ? 0
		       : -EPROTO;
}

/* An edge comes with each datagram, read or not. */
void local_gong_strike(int fd)
{
	send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* The strike comes last: an edge whose datagram was read is none for those who
 * had not yet looked. */
void local_gong_renew(int fd)
{
	unsigned int i;
	char c;

	for (i = 0; i < 4 * LOCAL_STRIKES; i++)
		if (recv(fd, &c, sizeof(c), MSG_DONTWAIT) < 0)
			break;
	local_gong_strike(fd);
}

static int map(struct local_page **page, int fd)
{
	void *p = mmap(NULL, PAGE_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       0);

	if (p == MAP_FAILED)
		return -errno;
	*page = p;
	return 0;
}

int local_page_create(struct local_page **page)
{
	int fd = local_memfd("pvfs-local-group", PAGE_LEN, F_SEAL_SEAL), rc;

	if (fd < 0)
		return fd;
	rc = map(page, fd);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int local_page_map(struct local_page **page, int fd)
{
	int rc = local_memfd_check(fd, PAGE_LEN);

	return rc ? rc : map(page, fd);
}

void local_page_unmap(struct local_page *page)
{
	if (page)
		munmap(page, PAGE_LEN);
}
