/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp.h - private header of the tcp provider, which implements transport.h over sockets.
 *
 * Progress. A cq owns an epoll set of edge-triggered sources. An edge makes its endpoint "ready"
 * (to be read, on cq->ready) until a short read. Posting makes it "dirty" (to be flushed, on
 * cq->dirty) until all is sent or the socket is full. A completion puts it on cq->done, from where
 * tp_cq_poll() collects completions. Completions are stored in the rings of the requests, so no
 * queue can overflow.
 *
 * Remote access to memory: see tcp_mr.c. An access holds the registration for at most one system
 * call.
 */
#ifndef TCP_H
#define TCP_H

#include "common/util/clock.h"
#include "common/util/container.h"
#include "common/transport/tcp/tcp_ep.h"

#endif
