/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mailbox.h - passes work to a progress thread.  Any thread may post; only the progress thread
 * drains.
 */
#ifndef MAILBOX_H
#define MAILBOX_H

#include <pthread.h>
#include <sys/queue.h>

#include "common/comm/rpc.h"

struct mailbox_item {
	void (*deliver)(
		struct mailbox_item *mail); /* called on the mailbox's thread */
	STAILQ_ENTRY(mailbox_item) link; /* private */
};

struct mailbox {
	struct rpc_ctx *ctx; /* woken when a mail comes to an empty mailbox */
	pthread_mutex_t lock;
	STAILQ_HEAD(mailbox_items, mailbox_item) mails; /* under lock */
};

void mailbox_init(struct mailbox *box, struct rpc_ctx *ctx);
void mailbox_destroy(struct mailbox *box);
/* The caller owns mail, and keeps it until deliver() is called. */
void mailbox_post(struct mailbox *box, struct mailbox_item *mail);
/* Calls deliver() of all mails, in the order in which they were posted. */
void mailbox_drain(struct mailbox *box);

#endif
