/* SPDX-License-Identifier: BSD-2-Clause */
/* mailbox.c - see mailbox.h. */
#include <stdbool.h>

#include "server/state/mailbox.h"

void mailbox_init(struct mailbox *box, struct rpc_ctx *ctx)
{
	box->ctx = ctx;
	pthread_mutex_init(&box->lock, NULL);
	STAILQ_INIT(&box->mails);
}

void mailbox_destroy(struct mailbox *box)
{
	pthread_mutex_destroy(&box->lock);
}

void mailbox_post(struct mailbox *box, struct mailbox_item *mail)
{
	bool first;

	pthread_mutex_lock(&box->lock);
	first = STAILQ_EMPTY(&box->mails);
	STAILQ_INSERT_TAIL(&box->mails, mail, link);
	pthread_mutex_unlock(&box->lock);
	if (first)
		rpc_ctx_wake(box->ctx);
}

void mailbox_drain(struct mailbox *box)
{
	struct mailbox_items mails = STAILQ_HEAD_INITIALIZER(mails);
	struct mailbox_item *mail;

	pthread_mutex_lock(&box->lock);
	STAILQ_CONCAT(&mails, &box->mails);
	pthread_mutex_unlock(&box->lock);
	while ((mail = STAILQ_FIRST(&mails))) {
		STAILQ_REMOVE_HEAD(&mails, link);
		mail->deliver(mail);
	}
}
