/* SPDX-License-Identifier: BSD-2-Clause */
/* fair_queue.c - the turns of clients. */
#include <stddef.h>

#include "server/store/fair_queue.h"

void fair_queue_init(struct fair_queue *q, unsigned int share)
{
	q->share = share;
	TAILQ_INIT(&q->first);
	TAILQ_INIT(&q->more);
}

void fair_queue_client_init(struct fair_queue_client *client)
{
	STAILQ_INIT(&client->items);
	client->running = 0;
	client->list = NULL;
}

static struct fair_queue_list *list_for(struct fair_queue *q,
					const struct fair_queue_client *client)
{
	if (STAILQ_EMPTY(&client->items) || client->running >= q->share)
		return NULL;
	return client->running ? &q->more : &q->first;
}

/* Moves the client to the end of the list where it belongs.  In the same list it keeps its
 * place. */
static void requeue_client(struct fair_queue *q,
			   struct fair_queue_client *client)
{
	struct fair_queue_list *list = list_for(q, client);

	if (list == client->list)
		return;
	if (client->list)
		TAILQ_REMOVE(client->list, client, link);
	if (list)
		TAILQ_INSERT_TAIL(list, client, link);
	client->list = list;
}

void fair_queue_put(struct fair_queue *q, struct fair_queue_client *client,
		    struct fair_queue_item *item)
{
	item->client = client;
	STAILQ_INSERT_TAIL(&client->items, item, link);
	requeue_client(q, client);
}

bool fair_queue_has_item(const struct fair_queue *q, bool more)
{
	return !TAILQ_EMPTY(&q->first) || (more && !TAILQ_EMPTY(&q->more));
}

struct fair_queue_item *fair_queue_take(struct fair_queue *q, bool more)
{
	struct fair_queue_client *client = TAILQ_FIRST(&q->first);
	struct fair_queue_item *item;

	if (!client && more)
		client = TAILQ_FIRST(&q->more);
	if (!client)
		return NULL;
	item = STAILQ_FIRST(&client->items);
	STAILQ_REMOVE_HEAD(&client->items, link);
	client->running++;
	TAILQ_REMOVE(client->list, client, link);
	client->list = NULL;
	requeue_client(q, client);
	return item;
}

void fair_queue_item_done(struct fair_queue *q,
			  struct fair_queue_client *client)
{
	client->running--;
	requeue_client(q, client);
}
