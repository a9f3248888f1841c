/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_acceptor.c - the descriptors that an acceptor watches in addition to the socket: its bell,
 * the wake-up socket of the client's group, and the end of the process that connected.  The socket
 * alone is not enough: a forked child also has it open, and may outlive the process by years
 * without sending anything.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/transport/local/local.h"

static void bell_ready(struct sock_src *src, uint32_t events)
{
	local_ep_activate(container_of(src, struct local_ep, bell_src));
}

static int listen_at_bell(struct local_ep *ep, int fd)
{
	return sock_cq_add(&ep->cq->sock, fd, &ep->bell_src, EPOLLIN);
}

/* Each write raises an edge; the counter is never read. */
int local_acceptor_open_bell(struct local_ep *ep)
{
	ep->bell_src.ready = bell_ready;
	ep->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return ep->bell < 0 ? -errno : listen_at_bell(ep, ep->bell);
}

int local_acceptor_join_group(struct local_ep *ep, struct local_fds *fds)
{
	int rc;

	if (fds->fd[LOCAL_FD_WAKEUP] < 0)
		return 0;
	rc = local_group_page_map(&ep->page, fds->fd[LOCAL_FD_PAGE]);
	if (!rc)
		rc = local_group_wakeup_adopt(&ep->wakeup,
					      fds->fd[LOCAL_FD_WAKEUP]);
	if (!rc) {
		local_fds_take(fds, LOCAL_FD_WAKEUP);
		rc = listen_at_bell(ep, ep->wakeup.fd);
	}
	if (rc)
		log_warn(ep->ep.dev->log, "%s: its group is none", ep->peer);
	return rc;
}

static void stop_listening(struct local_ep *ep, int fd)
{
	if (fd >= 0)
		sock_cq_del(&ep->cq->sock, fd, &ep->bell_src);
}

void local_acceptor_close_bells(struct local_ep *ep)
{
	const struct local_giver from = local_ep_giver(ep);

	if (ep->side == LOCAL_ACCEPTOR) {
		stop_listening(ep, ep->bell);
		stop_listening(ep, ep->wakeup.fd);
	}
	if (ep->bell >= 0)
		close(ep->bell);
	ep->bell = -1;
	if (ep->wakeup.fd >= 0)
		local_drop(&from, ep->wakeup.fd);
	ep->wakeup.fd = -1;
	local_group_page_unmap(ep->page);
	ep->page = NULL;
}

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

static void process_gone(struct local_ep *ep)
{
	ep->eof = true;
	local_ep_activate(ep);
}

static void process_ready(struct sock_src *src, uint32_t events)
{
	process_gone(container_of(src, struct local_ep, process_src));
}

/*
 * Uses the process id if the kernel has no SO_PEERPIDFD. The id may meanwhile belong to another
 * process. This does no harm: a process that ended so early never sends HELLO, and is not served.
 */
static int process_open(const struct local_ep *ep)
{
	socklen_t len = sizeof(int);
	int fd;

	if (!getsockopt(ep->fd, SOL_SOCKET, SO_PEERPIDFD, &fd, &len))
		return fd;
	if (errno != ENOPROTOOPT)
		return errno == EINVAL ? -ESRCH : -errno;
	if (!ep->id.pid)
		return -ENODATA;
	fd = (int)syscall(SYS_pidfd_open, ep->id.pid, 0);
	return fd < 0 ? -errno : fd;
}

void local_acceptor_watch_process(struct local_ep *ep)
{
	int rc = process_open(ep);

	if (rc == -ESRCH) {
		process_gone(ep);
		return;
	}
	ep->process = rc;
	ep->process_src.ready = process_ready;
	if (rc >= 0)
		rc = sock_cq_add(&ep->cq->sock, ep->process, &ep->process_src,
				 EPOLLIN);
	if (rc < 0)
		log_info(ep->ep.dev->log,
			 "%s: its end is not noticed while a child of it has "
			 "the socket: %s",
			 ep->peer, strerror(-rc));
}

void local_acceptor_unwatch_process(struct local_ep *ep)
{
	if (ep->process < 0)
		return;
	sock_cq_del(&ep->cq->sock, ep->process, &ep->process_src);
	close(ep->process);
	ep->process = -1;
}
