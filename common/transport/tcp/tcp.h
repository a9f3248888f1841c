/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp.h - the inside of the tcp provider: verbs meaning over a socket.
 *
 * Progress.  A cq owns an epoll set of edge-triggered sources.  An edge makes
 * its endpoint "ready" (to be read, on cq->ready) until a short read; posting
 * makes it "dirty" (to be flushed, on cq->dirty) until all is sent or the
 * socket is full.  What completes puts it on cq->done, from where
 * tp_cq_poll() harvests.  Completions live in the rings of the requests, so
 * that no queue can overflow.
 *
 * Remote access to memory.  See tcp_mr.c: an access takes a use of the
 * registration for the duration of one system call at most.
 */
#ifndef TCP_H
#define TCP_H

#include "common/util/clock.h"
#include "common/util/container.h"
#include "common/transport/tcp/tcp_ep.h"

#endif
