/* SPDX-License-Identifier: BSD-2-Clause */
/* local_admit.c - lets the peer access our memory while the connection lives. */
#include <unistd.h>

#include "common/transport/local/local.h"

void local_guest_admit(struct local_ep *ep)
{
	struct local_dev *dev = local_dev(ep->ep.dev);

	if (local_guest_allowed(dev, &ep->id))
		ep->guest = local_guest_new(dev, ep->in.peer, ep->fd,
					    ep->id.uid, ep->peer);
	if (!ep->guest)
		return;
	ep->own = ep->id.uid == geteuid();
	atomic_store(&ep->out.me->probe, (uintptr_t)ep->nonce);
}

/*
 * A peer that checks after ended is set does not access our memory. A peer that checked before is
 * seen as busy. The end of the socket tells the peer, which can still report its own end.
 */
bool local_guest_leave(struct local_ep *ep)
{
	struct local_guest *g = ep->guest;

	if (!g)
		return false;
	ep->guest = NULL;
	atomic_store(&ep->out.me->ended, 1);
	return local_guest_end(local_dev(ep->ep.dev), g, &ep->shm);
}
