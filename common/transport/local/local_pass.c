/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_pass.c - descriptors that an acceptor passes to its connector, on the socket, among the
 * bells. They arrive before the message that mentions them, which is put into the ring afterwards.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/transport/local/local.h"

int local_ep_pass(struct tp_ep *base, const int *fd, unsigned int n)
{
	struct local_ep *ep = container_of(base, struct local_ep, ep);

	if (ep->state != LOCAL_EP_UP)
		return -ENOTCONN;
	if (ep->side != LOCAL_ACCEPTOR || !n || n > TP_PASS_MAX)
		return -EOPNOTSUPP;
	return local_fds_send(ep->fd, fd, n);
}

bool local_pass_read(struct local_ep *ep)
{
	const struct local_giver from = local_ep_giver(ep);
	int rc;

	do {
		rc = local_fds_recv(&from, ep->fd, ep->passed, TP_PASS_MAX,
				    &ep->npassed);
	} while (rc > 0);
	if (rc)
		local_ep_refuse(ep, -EPROTO, 0,
				"descriptors that nobody asked for");
	return !rc;
}

static int hand_out(struct local_ep *ep, int *fd, unsigned int n)
{
	if (n > ep->npassed)
		n = ep->npassed;
	memcpy(fd, ep->passed, n * sizeof(*fd));
	ep->npassed -= n;
	memmove(ep->passed, ep->passed + n, ep->npassed * sizeof(*fd));
	return (int)n;
}

int local_ep_take(struct tp_ep *base, int *fd, unsigned int n)
{
	struct local_ep *ep = container_of(base, struct local_ep, ep);

	if (ep->side != LOCAL_CONNECTOR || ep->state != LOCAL_EP_UP)
		return -EOPNOTSUPP;
	if (ep->npassed < n && !local_pass_read(ep))
		return -EPROTO;
	return hand_out(ep, fd, n);
}

void local_pass_leave(struct local_ep *ep)
{
	const struct local_giver from = local_ep_giver(ep);

	while (ep->npassed)
		local_drop(&from, ep->passed[--ep->npassed]);
}

void local_pass_abandon(struct local_ep *ep)
{
	while (ep->npassed)
		close(ep->passed[--ep->npassed]);
}
