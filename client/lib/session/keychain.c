/* SPDX-License-Identifier: BSD-2-Clause */
/* keychain.c - see keychain.h. */
#include "client/lib/session/keychain.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/session/client_session_int.h"
#include "client/lib/session/server_call.h"
#include "common/util/clock.h"
#include "common/util/hash_table.h"

#define RIGHTS 2u
#define DUE(life) ((life) / 4) /* half the lifetime of a ticket */
#define RETRY_MS 1000u

/* The capability for one right to a file. */
struct key_slot {
	bool there, stale;
	uint64_t due; /* clock_now() */
	uint8_t cap[WIRE_CAP_LEN];
};

struct key {
	uint64_t handle;
	unsigned int taken;
	struct key_slot slot[RIGHTS];
	UT_hash_handle hh;
	/* RIGHTS for each iod: the connection that has seen the capability; 0: none */
	uint32_t shown[];
};

/*
 * `last` and `spare` save allocations for a program that opens one file after the other.  The
 * key that was dropped last stays in the table, so that the table is not freed.  The key that
 * was dropped before it is reused for the next file.
 */
struct keychain {
	pthread_mutex_t lock;
	uint32_t niods;
	struct key *keys;
	struct key *last; /* in keys, but dropped; or NULL */
	struct key *spare; /* a free key, or NULL */
	uint64_t looks_at; /* clock_now() of keychain_next_look() */
	/* the manager issues capabilities, or an iod asked for one */
	atomic_bool wanted;
	struct rpc_caps_source caps_source;
};

struct keychain *keychain_new(void)
{
	struct keychain *kc = calloc(1, sizeof(*kc));

	if (!kc)
		return NULL;
	pthread_mutex_init(&kc->lock, NULL);
	kc->looks_at = CLOCK_NEVER;
	return kc;
}

void keychain_free(struct keychain *kc)
{
	struct key *key, *next;

	if (!kc)
		return;
	HASH_ITER(hh, kc->keys, key, next) {
		HASH_DEL(kc->keys, key);
		free(key);
	}
	free(kc->spare);
	pthread_mutex_destroy(&kc->lock);
	free(kc);
}

/* Handles are enciphered or counted, so both spread without a hash. */
static unsigned int hash_of(uint64_t handle)
{
	return (unsigned int)(handle ^ handle >> 32);
}

static struct key *key_find(struct keychain *kc, uint64_t handle)
{
	struct key *key;

	HASH_FIND_BYHASHVALUE(hh, kc->keys, &handle, sizeof(handle),
			      hash_of(handle), key);
	return key && key->taken ? key : NULL;
}

static struct key *key_new(struct keychain *kc)
{
	struct key *key = kc->spare;

	kc->spare = NULL;
	return key ? key
		   : malloc(sizeof(*key) +
			    kc->niods * RIGHTS * sizeof(*key->shown));
}

/* Returns the key of that handle if it was dropped last, or a new one. */
static struct key *key_add(struct keychain *kc, uint64_t handle)
{
	struct key *key = kc->last;

	if (key && key->handle == handle) {
		kc->last = NULL;
		return key;
	}
	key = key_new(kc);
	if (!key)
		return NULL;
	memset(key, 0, sizeof(*key));
	key->handle = handle;
	HASH_ADD_BYHASHVALUE(hh, kc->keys, handle, sizeof(handle),
			     hash_of(handle), key);
	if (key->hh.tbl)
		return key;
	kc->spare = key;
	return NULL;
}

/* The key stays in the table; the key that was dropped before it is removed. */
static void key_retire(struct keychain *kc, struct key *key)
{
	struct key *before = kc->last;

	memset(key->slot, 0, sizeof(key->slot));
	kc->last = key;
	if (!before)
		return;
	HASH_DEL(kc->keys, before);
	free(kc->spare);
	kc->spare = before;
}

static uint64_t due_after(uint32_t life_s)
{
	return clock_after_ms(DUE(life_s * UINT64_C(1000)));
}

/* No iod has seen the new capability. */
static void key_set(struct keychain *kc, struct key *key, unsigned int i,
		    const void *cap, uint32_t life)
{
	struct key_slot *slot = &key->slot[i];
	uint32_t k;

	slot->there = true;
	slot->stale = false;
	slot->due = due_after(life);
	memcpy(slot->cap, cap, WIRE_CAP_LEN);
	for (k = 0; k < kc->niods; k++)
		key->shown[k * RIGHTS + i] = 0;
}

static int key_hold(struct keychain *kc, uint64_t handle, unsigned int rights,
		    const struct wire_caps *caps)
{
	struct key *key = key_find(kc, handle);
	unsigned int i;

	keychain_want(kc);
	if (!key)
		key = key_add(kc, handle);
	if (!key)
		return -ENOMEM;
	key->taken++;
	for (i = 0; i < RIGHTS; i++)
		if (rights >> i & 1)
			key_set(kc, key, i, caps + 1, le32toh(caps->life));
	return 0;
}

unsigned int keychain_rights(uint32_t flags)
{
	return (flags & WIRE_O_READ ? WIRE_NEED_READ : 0) |
	       (flags & WIRE_O_WRITE ? WIRE_NEED_WRITE : 0);
}

/* Returns true if the keeper would look too late for capabilities that were issued now. */
static bool must_look_earlier(struct keychain *kc, const struct wire_caps *caps)
{
	uint64_t due = due_after(le32toh(caps->life));

	if (due >= kc->looks_at)
		return false;
	kc->looks_at = due;
	return true;
}

int keychain_take(struct session *s, uint64_t handle, unsigned int rights,
		  const struct wire_caps *caps)
{
	struct keychain *kc = s->keys;
	bool hurry;
	int rc;

	if (!caps)
		return 0;
	pthread_mutex_lock(&kc->lock);
	rc = key_hold(kc, handle, rights, caps);
	hurry = !rc && must_look_earlier(kc, caps);
	pthread_mutex_unlock(&kc->lock);
	/* with tickets, the keeper looks often enough */
	if (hurry && !s->auth)
		keeper_hurry(&s->keeper);
	return rc;
}

void keychain_want(struct keychain *kc)
{
	atomic_store_explicit(&kc->wanted, true, memory_order_relaxed);
}

void keychain_drop(struct keychain *kc, uint64_t handle)
{
	struct key *key;

	pthread_mutex_lock(&kc->lock);
	key = key_find(kc, handle);
	if (key && --key->taken == 0)
		key_retire(kc, key);
	pthread_mutex_unlock(&kc->lock);
}

static enum keychain_state key_state(const struct key *key, unsigned int rights)
{
	enum keychain_state state = KEY_GOOD;
	unsigned int i;

	for (i = 0; i < RIGHTS; i++) {
		if (!(rights >> i & 1))
			continue;
		if (!key || !key->slot[i].there)
			return KEY_NONE;
		if (key->slot[i].stale)
			state = KEY_STALE;
	}
	return state;
}

enum keychain_state keychain_look(struct keychain *kc, uint64_t handle,
				  unsigned int rights)
{
	enum keychain_state state;

	if (!atomic_load_explicit(&kc->wanted, memory_order_relaxed))
		return KEY_GOOD;
	pthread_mutex_lock(&kc->lock);
	state = key_state(key_find(kc, handle), rights);
	pthread_mutex_unlock(&kc->lock);
	return state;
}

void keychain_refused(struct keychain *kc, uint64_t handle, int status)
{
	struct key *key;
	unsigned int i;

	pthread_mutex_lock(&kc->lock);
	keychain_want(kc);
	key = key_find(kc, handle);
	for (i = 0; key && i < RIGHTS; i++) {
		key->slot[i].stale = true;
		key->slot[i].there &= status == -EKEYREVOKED;
	}
	pthread_mutex_unlock(&kc->lock);
}

/* ---- renewal ---- */

/* Capabilities to be renewed, limited to one message. */
struct renewal {
	unsigned int n;
	struct {
		uint64_t handle;
		unsigned int rights;
	} of[WIRE_CAPS_MAX];
	uint8_t cap[WIRE_CAPS_MAX][WIRE_CAP_LEN];
};

static bool is_due(const struct key_slot *slot, uint64_t now)
{
	return slot->there && (slot->stale || now >= slot->due);
}

/* A capability for both rights is renewed once. */
static void renewal_add(struct renewal *r, const struct key *key, uint64_t now)
{
	const struct key_slot *slot = key->slot;
	bool same = slot[0].there && slot[1].there &&
		    !memcmp(slot[0].cap, slot[1].cap, WIRE_CAP_LEN);
	unsigned int i;

	for (i = 0; i < RIGHTS && r->n < WIRE_CAPS_MAX; i++) {
		if (!is_due(&slot[i], now) || (i && same && is_due(slot, now)))
			continue;
		r->of[r->n].handle = key->handle;
		r->of[r->n].rights = same ? (1u << RIGHTS) - 1 : 1u << i;
		memcpy(r->cap[r->n++], slot[i].cap, WIRE_CAP_LEN);
	}
}

static void keychain_due(struct keychain *kc, struct renewal *r)
{
	uint64_t now = clock_now();
	struct key *key, *next;

	r->n = 0;
	pthread_mutex_lock(&kc->lock);
	HASH_ITER(hh, kc->keys, key, next)
		renewal_add(r, key, now);
	pthread_mutex_unlock(&kc->lock);
}

/* The k-th capability; NULL: none. */
static const uint8_t *fresh_one(const struct wire_caps *fresh, unsigned int k)
{
	static const uint8_t none[WIRE_CAP_LEN];
	const uint8_t *cap;

	if (!fresh)
		return NULL;
	cap = (const uint8_t *)(fresh + 1) + k * WIRE_CAP_LEN;
	return memcmp(cap, none, sizeof(none)) ? cap : NULL;
}

static void key_renew(struct keychain *kc, const struct renewal *r,
		      unsigned int k, const struct wire_caps *fresh)
{
	struct key *key = key_find(kc, r->of[k].handle);
	const uint8_t *cap = fresh_one(fresh, k);
	unsigned int i;

	for (i = 0; key && i < RIGHTS; i++) {
		if (!(r->of[k].rights >> i & 1))
			continue;
		/* the file was reopened meanwhile */
		if (memcmp(key->slot[i].cap, r->cap[k], WIRE_CAP_LEN))
			continue;
		if (cap)
			key_set(kc, key, i, cap, le32toh(fresh->life));
		else
			key->slot[i].there = false;
	}
}

/* fresh: one for each in r; NULL: all are lost. */
static void keychain_renewed(struct keychain *kc, const struct renewal *r,
			     const struct wire_caps *fresh)
{
	unsigned int k;

	pthread_mutex_lock(&kc->lock);
	for (k = 0; k < r->n; k++)
		key_renew(kc, r, k, fresh);
	pthread_mutex_unlock(&kc->lock);
}

/*
 * RENEW, before capabilities expire.  The keeper renews them with the ticket, so that no
 * transfer waits for the manager.
 */
static int renewal_take_reply(void *arg, const struct wire_msg *reply)
{
	struct session *s = ((struct session **)arg)[0];
	const struct renewal *r = ((void **)arg)[1];

	if (!reply->caps || le32toh(reply->caps->n) != r->n)
		return -EPROTO;
	keychain_renewed(s->keys, r, reply->caps);
	return 0;
}

static int renewal_send(struct session *s, const struct renewal *r)
{
	const struct wire_caps head = { .n = htole32(r->n) };
	void *arg[] = { s, (void *)(uintptr_t)r };
	struct server_call c;
	int rc;

	server_call_begin(&c, s, s->mgr);
	c.caps = true;
	server_call_put(&c, &head, sizeof(head));
	server_call_put(&c, r->cap, r->n * sizeof(r->cap[0]));
	rc = server_call_run(&c, WIRE_RENEW, renewal_take_reply, arg);
	if (rc == -EKEYREJECTED || rc == -ENOKEY || rc == -EOPNOTSUPP)
		keychain_renewed(s->keys, r, NULL);
	return rc;
}

int keychain_renew(struct session *s)
{
	struct renewal r;
	int rc = 0;

	for (keychain_due(s->keys, &r); !rc && r.n; keychain_due(s->keys, &r))
		rc = renewal_send(s, &r);
	return rc;
}

static uint64_t key_due(const struct key *key)
{
	uint64_t due = CLOCK_NEVER;
	unsigned int i;

	for (i = 0; i < RIGHTS; i++)
		if (key->slot[i].there && key->slot[i].due < due)
			due = key->slot[i].due;
	return due;
}

/*
 * Returns when the keeper must look at the keys again.  A future time that an earlier call
 * returned is never postponed, even if no key needs it any more.  So a program that opens and
 * closes many files does not move the wake-up at each one.
 */
uint64_t keychain_next_look(struct keychain *kc)
{
	uint64_t now = clock_now(), retry = clock_after_ms(RETRY_MS), next;
	struct key *key, *more;

	pthread_mutex_lock(&kc->lock);
	next = kc->looks_at > now ? kc->looks_at : CLOCK_NEVER;
	HASH_ITER(hh, kc->keys, key, more)
		if (key_due(key) < next)
			next = key_due(key);
	if (next < retry)
		next = retry;
	kc->looks_at = next;
	pthread_mutex_unlock(&kc->lock);
	return next;
}

/* ---- sending to iods ---- */

/* The first of the rights that has a capability; RIGHTS: none. */
static unsigned int slot_for(const struct key *key, unsigned int rights)
{
	unsigned int i = 0;

	while (i < RIGHTS && !(key && rights >> i & 1 && key->slot[i].there))
		i++;
	return i;
}

/*
 * Adds the capability after the header, if the iod has not seen it.  Returns how many
 * were added.
 */
static uint32_t key_show(struct keychain *kc, const struct rpc_caps_query *to,
			 const struct wire_need *need, uint8_t *at)
{
	struct key *key = key_find(kc, need->handle);
	unsigned int i = slot_for(key, need->rights);
	uint32_t *shown;

	if (i == RIGHTS || to->index >= kc->niods)
		return 0;
	shown = &key->shown[to->index * RIGHTS + i];
	if (*shown == to->epoch && !to->must)
		return 0;
	*shown = to->epoch;
	memcpy(at, key->slot[i].cap, WIRE_CAP_LEN);
	return 1;
}

static size_t keychain_append_caps(void *arg, const struct rpc_caps_query *to,
				   void *out, size_t room)
{
	struct wire_caps *head = out;
	uint8_t *at = (uint8_t *)(head + 1);
	struct keychain *kc = arg;
	uint32_t n = 0;
	unsigned int i;

	if (room < sizeof(*head) + to->n * WIRE_CAP_LEN)
		return 0;
	pthread_mutex_lock(&kc->lock);
	for (i = 0; i < to->n; i++)
		n += key_show(kc, to, &to->need[i], at + n * WIRE_CAP_LEN);
	pthread_mutex_unlock(&kc->lock);
	*head = (struct wire_caps){ .n = htole32(n) };
	return n ? sizeof(*head) + n * WIRE_CAP_LEN : 0;
}

const struct rpc_caps_source *keychain_caps_source(struct keychain *kc,
						   uint32_t niods)
{
	kc->niods = niods;
	kc->caps_source = (struct rpc_caps_source){ keychain_append_caps, kc };
	return &kc->caps_source;
}
