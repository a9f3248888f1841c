/* SPDX-License-Identifier: BSD-2-Clause */
/* local_group.c - the wake-up socket and the shared page of a group of servers. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/transport/local/shared/local_group.h"
#include "common/transport/local/shared/local_shm.h"

#define PAGE_LEN 4096u

_Static_assert(sizeof(struct local_group_page) <= PAGE_LEN, "one page");

/*
 * The kernel chooses the name. The socket is connected to itself, so no other socket can send to
 * it.
 */
static int own_peer(struct local_group_wakeup *wakeup)
{
	struct sockaddr *sa = (struct sockaddr *)&wakeup->name;

	wakeup->name.sun_family = AF_UNIX;
	wakeup->len = sizeof(wakeup->name);
	if (bind(wakeup->fd, sa, offsetof(struct sockaddr_un, sun_path)) ||
	    getsockname(wakeup->fd, sa, &wakeup->len) ||
	    connect(wakeup->fd, sa, wakeup->len))
		return -errno;
	return 0;
}

int local_group_wakeup_open(struct local_group_wakeup *wakeup)
{
	int rc;

	wakeup->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			    0);
	if (wakeup->fd < 0)
		return -errno;
	rc = own_peer(wakeup);
	if (!rc)
		return 0;
	close(wakeup->fd);
	wakeup->fd = -1;
	return rc;
}

/* A path could later name another socket. */
static bool has_abstract_name(struct local_group_wakeup *wakeup, int fd)
{
	wakeup->len = sizeof(wakeup->name);
	return !getsockname(fd, (struct sockaddr *)&wakeup->name,
			    &wakeup->len) &&
	       wakeup->name.sun_family == AF_UNIX &&
	       wakeup->len > offsetof(struct sockaddr_un, sun_path) + 1 &&
	       wakeup->len <= sizeof(wakeup->name) && !wakeup->name.sun_path[0];
}

/* An eventfd would be enough, but its other holders can make a write to it block. */
int local_group_wakeup_adopt(struct local_group_wakeup *wakeup, int fd)
{
	socklen_t len = sizeof(int);
	int type;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) ||
	    type != SOCK_DGRAM || !has_abstract_name(wakeup, fd))
		return -EPROTO;
	wakeup->fd = fd;
	return 0;
}

/* Each datagram raises an edge, whether it is read or not. */
void local_group_wakeup_send(const struct local_group_wakeup *wakeup)
{
	sendto(wakeup->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL,
	       (const struct sockaddr *)&wakeup->name, wakeup->len);
}

/*
 * Empties the socket and then wakes all servers once more: servers that had not yet polled lose the
 * edge of a datagram that was read.
 */
void local_group_wakeup_renew(const struct local_group_wakeup *wakeup)
{
	unsigned int i;
	char c;

	for (i = 0; i < 4 * LOCAL_WAKEUPS_UNREAD; i++)
		if (recv(wakeup->fd, &c, sizeof(c), MSG_DONTWAIT) < 0)
			break;
	local_group_wakeup_send(wakeup);
}

static int map_page(struct local_group_page **page, int fd)
{
	void *p = mmap(NULL, PAGE_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       0);

	if (p == MAP_FAILED)
		return -errno;
	*page = p;
	return 0;
}

int local_group_page_create(struct local_group_page **page)
{
	int fd = local_memfd("pvfs-local-group", PAGE_LEN, F_SEAL_SEAL), rc;

	if (fd < 0)
		return fd;
	rc = map_page(page, fd);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int local_group_page_map(struct local_group_page **page, int fd)
{
	int rc = local_memfd_check(fd, PAGE_LEN);

	return rc ? rc : map_page(page, fd);
}

void local_group_page_unmap(struct local_group_page *page)
{
	if (page)
		munmap(page, PAGE_LEN);
}
