/* SPDX-License-Identifier: BSD-2-Clause */
/* local_admit.c - letting the peer reach into our memory, as long as it is one. */
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
 * Who looks after it has ended goes in no more; who looked before is seen to be
 * inside.  The peer is told by the socket's end, and still tells us of its own.
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
