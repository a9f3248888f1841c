/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_ticket.c - the age of a session's ticket, and asking the keeper for another one.
 * session_auth.c gets it.
 */
#include <errno.h>
#include <poll.h>

#include "client/lib/session/client_session_int.h"

#define RENEW_MIN_NS (100 * CLOCK_NS_PER_MS)
#define LIFE_MAX_NS (UINT64_C(30) * 86400 * 1000000000)
/* A younger ticket was not made with a key that the servers no longer have. */
#define PROVE_YOUNG_MS 1000u
/* Rejected capabilities cause at most one new ticket in this time. */
#define PROVE_PAUSE_MS 10000u
#define PROVE_WAIT_MS 5000u
#define PROVE_LOOK_MS 5

/* Before half of the lifetime has passed, and spread over the clients of a job. */
static uint64_t part_of_life(const struct session *s)
{
	uint64_t life = s->ticket_ns / 8;

	if (life > LIFE_MAX_NS / 8)
		life = LIFE_MAX_NS / 8;
	return 3 * life + life / 1024 * (s->first % 1024);
}

uint64_t ticket_due(const struct session *s)
{
	return clock_now() + part_of_life(s) + RENEW_MIN_NS;
}

uint64_t ticket_retry_at(const struct session *s)
{
	return clock_now() + part_of_life(s) / 8 + RENEW_MIN_NS;
}

static bool prove_soon(struct session *s, uint64_t since, unsigned int ms)
{
	if (!s->auth || clock_now() - since < ms * CLOCK_NS_PER_MS)
		return false;
	return keeper_hurry(&s->keeper);
}

void session_renew_ticket_soon(struct session *s)
{
	prove_soon(s, atomic_load(&s->ticket_at), PROVE_PAUSE_MS);
}

int session_await_ticket(struct session *s)
{
	uint64_t since = atomic_load(&s->ticket_at);
	uint64_t until = clock_after_ms(PROVE_WAIT_MS);
	uint64_t late = session_deadline(s);
	bool asked = prove_soon(s, since, PROVE_YOUNG_MS);

	if (late < until)
		until = late;
	while (asked && atomic_load(&s->ticket_at) == since) {
		if (clock_now() >= until)
			return -ETIMEDOUT;
		poll(NULL, 0, PROVE_LOOK_MS);
	}
	return asked ? 0 : -EAGAIN;
}
