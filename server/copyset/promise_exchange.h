/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * promise_exchange.h - PROMISE: asks the other iods for the promises that this iod needs as a primary
 * (promises.h), and answers them.
 *
 * The first worker asks, four times a lease and after each ASSIGN.  An iod that is primary of no
 * copyset with several members asks nobody, and has no timer.
 */
#ifndef PROMISE_EXCHANGE_H
#define PROMISE_EXCHANGE_H

#include "server/state/worker.h"

struct promise_exchange;

/* w: the worker that asks.  -ENOMEM. */
int promise_exchange_open(struct worker *w, struct promise_exchange **exchange);
/*
 * Cancels the calls in flight.  All workers have stopped, and w is not closed yet.  NULL: nothing
 * happens.
 */
void promise_exchange_close(struct promise_exchange *exchange);
/* Asks now: rows have changed.  May be called from any thread. */
void promise_exchange_start(struct promise_exchange *exchange);

/* The operation PROMISE. */
void op_promise(struct worker *w, struct rpc_req *req);

#endif
