/* SPDX-License-Identifier: BSD-2-Clause */
/* local_called.c - an acceptor: what wakes it, and the group that it belongs to. */
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/transport/local/local.h"

static void rung(struct sock_src *src, uint32_t events)
{
	local_ep_heat(container_of(src, struct local_ep, bell_src));
}

static int listen_to(struct local_ep *ep, int fd)
{
	return sock_cq_add(&ep->cq->sock, fd, &ep->bell_src, EPOLLIN);
}

/* Each write raises an edge; the counter is never read. */
int local_called_enter(struct local_ep *ep)
{
	ep->bell_src.ready = rung;
	ep->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return ep->bell < 0 ? -errno : listen_to(ep, ep->bell);
}

int local_called_join(struct local_ep *ep, struct local_fds *fds)
{
	int rc;

	if (fds->fd[LOCAL_FD_GONG] < 0)
		return 0;
	rc = local_page_map(&ep->page, fds->fd[LOCAL_FD_PAGE]);
	if (!rc)
		rc = local_gong_take(&ep->gong, fds->fd[LOCAL_FD_GONG]);
	if (!rc) {
		local_fds_take(fds, LOCAL_FD_GONG);
		rc = listen_to(ep, ep->gong.fd);
	}
	if (rc)
		log_warn(ep->ep.dev->log, "%s: its group is none", ep->peer);
	return rc;
}

static void leave(struct local_ep *ep, int fd)
{
	if (fd >= 0)
		sock_cq_del(&ep->cq->sock, fd, &ep->bell_src);
}

void local_called_leave(struct local_ep *ep)
{
	const struct local_giver from = local_ep_giver(ep);

	if (ep->side == LOCAL_ACCEPTOR) {
		leave(ep, ep->bell);
		leave(ep, ep->gong.fd);
	}
	if (ep->bell >= 0)
		close(ep->bell);
	ep->bell = -1;
	if (ep->gong.fd >= 0)
		local_drop(&from, ep->gong.fd);
	ep->gong.fd = -1;
	local_page_unmap(ep->page);
	ep->page = NULL;
}
