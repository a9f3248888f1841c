/* SPDX-License-Identifier: BSD-2-Clause */
/* run_queue.c - see run_queue.h. */
#include "mgr/request/run_queue.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/hash_table.h"

struct run_session {
	UT_hash_handle hh;
	uint64_t id;
	struct run_user *user;
	TAILQ_HEAD(, run_item) items; /* never empty between two calls */
	TAILQ_ENTRY(run_session) link;
};

struct run_user {
	UT_hash_handle hh;
	uint32_t uid;
	/* work that was charged to the user and not yet covered by the budgets of rounds */
	uint64_t spent;
	struct run_session *sessions; /* sessions with items, by id */
	/* the same sessions, in order of turns */
	TAILQ_HEAD(, run_session) turns;
};

struct run_queue {
	run_fn *run;
	size_t n; /* items */
	/* users with items, or that ran since the last round */
	struct run_user *users;
};

int run_queue_open(run_fn *run, struct run_queue **out)
{
	struct run_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	q->run = run;
	*out = q;
	return 0;
}

static struct run_user *find_or_make_user(struct run_queue *q, uint32_t uid)
{
	struct run_user *user;

	HASH_FIND(hh, q->users, &uid, sizeof(uid), user);
	if (user || !(user = calloc(1, sizeof(*user))))
		return user;
	user->uid = uid;
	TAILQ_INIT(&user->turns);
	HASH_ADD(hh, q->users, uid, sizeof(user->uid), user);
	if (user->hh.tbl)
		return user;
	free(user);
	return NULL;
}

static struct run_session *find_or_make_session(struct run_user *user,
						uint64_t id)
{
	struct run_session *s;

	HASH_FIND(hh, user->sessions, &id, sizeof(id), s);
	if (s || !(s = calloc(1, sizeof(*s))))
		return s;
	s->id = id;
	s->user = user;
	TAILQ_INIT(&s->items);
	HASH_ADD(hh, user->sessions, id, sizeof(s->id), s);
	if (!s->hh.tbl) {
		free(s);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&user->turns, s, link);
	return s;
}

static void free_session(struct run_session *s)
{
	HASH_DEL(s->user->sessions, s);
	TAILQ_REMOVE(&s->user->turns, s, link);
	free(s);
}

static void free_user(struct run_queue *q, struct run_user *user)
{
	struct run_session *s;

	while ((s = TAILQ_FIRST(&user->turns)))
		free_session(s);
	HASH_DEL(q->users, user);
	free(user);
}

void run_queue_close(struct run_queue *q)
{
	struct run_user *user, *next;

	if (!q)
		return;
	HASH_ITER(hh, q->users, user, next)
		free_user(q, user);
	free(q);
}

int run_queue_put(struct run_queue *q, struct run_item *item,
		  const struct run_owner *owner)
{
	struct run_user *user = find_or_make_user(q, owner->uid);
	struct run_session *s = user ? find_or_make_session(user,
							    owner->session)
				     : NULL;

	if (!s)
		return -ENOMEM;
	item->session = s;
	TAILQ_INSERT_TAIL(&s->items, item, link);
	q->n++;
	return 0;
}

void run_queue_leave(struct run_queue *q, struct run_item *item)
{
	struct run_session *s = item->session;

	q->n--;
	TAILQ_REMOVE(&s->items, item, link);
	item->session = NULL;
	if (TAILQ_EMPTY(&s->items))
		free_session(s);
}

void run_queue_admit(struct run_queue *q, struct run_item *item,
		     const struct run_owner *owner)
{
	struct run_user *user = find_or_make_user(q, owner->uid);
	bool waits = user &&
		     (!TAILQ_EMPTY(&user->turns) || user->spent >= RUN_BUDGET);
	uint64_t work;

	if (waits && !run_queue_put(q, item, owner))
		return;
	work = q->run(item);
	if (user)
		user->spent += work;
}

/* Takes the next item of the user; its session goes to the end of the user's turns. */
static struct run_item *take_next(struct run_queue *q, struct run_user *user)
{
	struct run_session *s = TAILQ_FIRST(&user->turns);
	struct run_item *item = TAILQ_FIRST(&s->items);

	TAILQ_REMOVE(&user->turns, s, link);
	TAILQ_INSERT_TAIL(&user->turns, s, link);
	run_queue_leave(q, item);
	return item;
}

static void serve_user(struct run_queue *q, struct run_user *user)
{
	user->spent -= user->spent < RUN_BUDGET ? user->spent : RUN_BUDGET;
	while (user->spent < RUN_BUDGET && !TAILQ_EMPTY(&user->turns))
		user->spent += q->run(take_next(q, user));
}

/* A user without requests stays for one more round, because allocating a user costs time. */
void run_queue_round(struct run_queue *q)
{
	struct run_user *user, *next;

	HASH_ITER(hh, q->users, user, next)
		if (user->spent || !TAILQ_EMPTY(&user->turns))
			serve_user(q, user);
		else
			free_user(q, user);
}

bool run_queue_waits(const struct run_queue *q)
{
	return q->n;
}
