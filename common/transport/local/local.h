/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local.h - private header of the local provider, which implements transport.h between two
 * processes of one host.
 *
 * Messages go through a ring in shared memory (local_ring.h). The process that posts a one-sided
 * operation executes it with process_vm_readv() or process_vm_writev(), and checks the peer's table
 * of registrations (local_reach.c). If the kernel or the peer's owner forbids that, and for all
 * atomics, the operation goes through the ring and the peer's progress executes it (local_rx.c).
 *
 * Progress. Every poll checks a "hot" endpoint. A "cold" endpoint has told its peer that it sleeps.
 * The peer then rings the bell: an eventfd wakes an acceptor, a byte on the socket wakes a
 * connector. The edge in the cq's epoll set makes the endpoint hot. One bell may wake several
 * endpoints (local_group.h). An endpoint becomes cold when its cq goes to sleep. So two awake ends
 * need no system call, and a thousand idle connections cost nothing.
 */
#ifndef LOCAL_H
#define LOCAL_H

#include "common/util/clock.h"
#include "common/transport/local/local_ep.h"

#endif
