/* SPDX-License-Identifier: BSD-2-Clause */
/* fairq.c - the turns of clients. */
#include <stddef.h>

#include "server/store/fairq.h"

void fairq_init(struct fairq *q, unsigned int share)
{
	q->share = share;
	TAILQ_INIT(&q->first);
	TAILQ_INIT(&q->more);
}

void fairq_client_init(struct fairq_client *client)
{
	STAILQ_INIT(&client->items);
	client->running = 0;
	client->list = NULL;
}

static struct fairq_list *list_for(struct fairq *q,
				   const struct fairq_client *client)
{
	if (STAILQ_EMPTY(&client->items) || client->running >= q->share)
		return NULL;
	return client->running ? &q->more : &q->first;
}

/* Moves the client to the end of the list where it belongs.  In the same list it keeps its
 * place. */
static void place(struct fairq *q, struct fairq_client *client)
{
	struct fairq_list *list = list_for(q, client);

	if (list == client->list)
		return;
	if (client->list)
		TAILQ_REMOVE(client->list, client, link);
	if (list)
		TAILQ_INSERT_TAIL(list, client, link);
	client->list = list;
}

void fairq_put(struct fairq *q, struct fairq_client *client,
	       struct fairq_item *item)
{
	item->client = client;
	STAILQ_INSERT_TAIL(&client->items, item, link);
	place(q, client);
}

bool fairq_ready(const struct fairq *q, bool more)
{
	return !TAILQ_EMPTY(&q->first) || (more && !TAILQ_EMPTY(&q->more));
}

struct fairq_item *fairq_take(struct fairq *q, bool more)
{
	struct fairq_client *client = TAILQ_FIRST(&q->first);
	struct fairq_item *item;

	if (!client && more)
		client = TAILQ_FIRST(&q->more);
	if (!client)
		return NULL;
	item = STAILQ_FIRST(&client->items);
	STAILQ_REMOVE_HEAD(&client->items, link);
	client->running++;
	TAILQ_REMOVE(client->list, client, link);
	client->list = NULL;
	place(q, client);
	return item;
}

void fairq_done(struct fairq *q, struct fairq_client *client)
{
	client->running--;
	place(q, client);
}
