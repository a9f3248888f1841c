/* SPDX-License-Identifier: BSD-2-Clause */
/* stream.h - connections over a stream of bytes: they can lose their place in it. */
#ifndef STREAM_H
#define STREAM_H

#include "common/transport/transport.h"

/*
 * For how long nothing has come from the peer, though nothing is in flight to it. 0: something is
 * in flight, or this transport cannot lose its place in a stream.
 */
unsigned int tp_ep_quiet_ms(const struct tp_ep *ep);

#endif
