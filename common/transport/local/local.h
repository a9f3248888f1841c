/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local.h - the inside of the local provider: verbs meaning between two
 * processes of one host.
 *
 * Messages go through a ring in shared memory (local_ring.h).  One-sided
 * operations are carried out by the one who posts them, with
 * process_vm_readv() and process_vm_writev() against the peer's table of
 * registrations (local_reach.c); where the kernel or the peer's owner does
 * not allow that, and for atomics always, they go through the ring and the
 * peer's progress carries them out (local_rx.c).
 *
 * Progress.  A "hot" endpoint is looked at by every poll.  A "cold" one has
 * told its peer that it sleeps: the peer rings the bell (to an acceptor an
 * eventfd, to a connector a byte on the socket), and the edge in the cq's epoll
 * set makes it hot.  One bell may do for several (local_group.h).  An endpoint cools down
 * when its cq goes to sleep.  So two ends that are awake need no system call,
 * and a thousand idle connections cost nothing.
 */
#ifndef LOCAL_H
#define LOCAL_H

#include "common/util/clock.h"
#include "common/transport/local/local_ep.h"

#endif
