/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * declare.h - what a session holds at the manager (WIRE_O_HOLD), for sessions that
 * declare it.  The manager keeps that in memory alone, so each of its processes that we
 * meet is told anew, one message after the other (DECLARE).
 *
 * An open is noted where its answer is taken, on the thread that drives, as is the
 * meeting: none is in between.  It is struck out before its RELEASE is posted; should
 * that overtake, the manager knows better.
 */
#ifndef DECLARE_H
#define DECLARE_H

#include <stdint.h>

#include "common/comm/rpc.h"

struct session;
struct declare;

/* NULL: no memory. */
struct declare *declare_new(struct session *s);
/* Its calls have ended; d may be NULL. */
void declare_free(struct declare *d);

/* These do nothing if d is NULL.  -ENOMEM: it is not noted. */
int declare_opened(struct declare *d, uint64_t handle, uint64_t open);
void declare_closed(struct declare *d, uint64_t open);
/* For struct rpc_peer_attr, with a struct declare as its arg. */
void declare_met(void *arg, struct rpc_peer *peer, uint64_t boot);
/*
 * The manager knows who we are now: what it was told when it was met it has not heard.
 * Nothing is open yet.  A failure only means that it keeps rows, as for who does not
 * declare.
 */
void declare_proved(struct session *s);

#endif
