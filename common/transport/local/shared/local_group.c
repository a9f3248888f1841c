/* SPDX-License-Identifier: BSD-2-Clause */
/* local_group.c - the wake-up socket (gong) and the shared page of a group of servers. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/transport/local/shared/local_group.h"
#include "common/transport/local/shared/local_shm.h"

#define PAGE_LEN 4096u

_Static_assert(sizeof(struct local_page) <= PAGE_LEN, "one page");

/*
 * The kernel chooses the name. The socket is connected to itself, so strangers cannot send to it.
 */
static int own_peer(struct local_gong *gong)
{
	struct sockaddr *sa = (struct sockaddr *)&gong->name;

	gong->name.sun_family = AF_UNIX;
	gong->len = sizeof(gong->name);
	if (bind(gong->fd, sa, offsetof(struct sockaddr_un, sun_path)) ||
	    getsockname(gong->fd, sa, &gong->len) ||
	    connect(gong->fd, sa, gong->len))
		return -errno;
	return 0;
}

int local_gong_open(struct local_gong *gong)
{
	int rc;

	gong->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			  0);
	if (gong->fd < 0)
		return -errno;
	rc = own_peer(gong);
	if (!rc)
		return 0;
	close(gong->fd);
	gong->fd = -1;
	return rc;
}

/* A path could later name another socket. */
static bool has_abstract_name(struct local_gong *gong, int fd)
{
	gong->len = sizeof(gong->name);
	return !getsockname(fd, (struct sockaddr *)&gong->name, &gong->len) &&
	       gong->name.sun_family == AF_UNIX &&
	       gong->len > offsetof(struct sockaddr_un, sun_path) + 1 &&
	       gong->len <= sizeof(gong->name) && !gong->name.sun_path[0];
}

/* An eventfd would be enough, but its other holders can make a write to it block. */
int local_gong_take(struct local_gong *gong, int fd)
{
	socklen_t len = sizeof(int);
	int type;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) ||
	    type != SOCK_DGRAM || !has_abstract_name(gong, fd))
		return -EPROTO;
	gong->fd = fd;
	return 0;
}

/* Each datagram raises an edge, whether it is read or not. */
void local_gong_strike(const struct local_gong *gong)
{
	sendto(gong->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL,
	       (const struct sockaddr *)&gong->name, gong->len);
}

/*
 * Sends last: the edge of a datagram that was read already is lost for servers that had not polled.
 */
void local_gong_renew(const struct local_gong *gong)
{
	unsigned int i;
	char c;

	for (i = 0; i < 4 * LOCAL_STRIKES; i++)
		if (recv(gong->fd, &c, sizeof(c), MSG_DONTWAIT) < 0)
			break;
	local_gong_strike(gong);
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
