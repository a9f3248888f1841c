/* SPDX-License-Identifier: BSD-2-Clause */
/* mailbox.h - hands things to a progress thread from any other. */
#ifndef MAILBOX_H
#define MAILBOX_H

#include <pthread.h>
#include <sys/queue.h>

#include "common/comm/rpc.h"

struct mail {
	void (*deliver)(struct mail *mail); /* on the mailbox's thread */
	STAILQ_ENTRY(mail) link; /* private */
};

struct mailbox {
	struct rpc_ctx *ctx; /* woken by the first mail */
	pthread_mutex_t lock;
	STAILQ_HEAD(mails, mail) mails; /* lock */
};

void mailbox_init(struct mailbox *box, struct rpc_ctx *ctx);
void mailbox_destroy(struct mailbox *box);
void mailbox_post(struct mailbox *box, struct mail *mail);
/* Delivers what is there, in order. */
void mailbox_drain(struct mailbox *box);

#endif
