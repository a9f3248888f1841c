/* SPDX-License-Identifier: BSD-2-Clause */
/* claim.c - whether this is the store that the manager expects, or an empty one. */
#include <errno.h>
#include <string.h>

#include "common/util/random_id.h"
#include "server/store/store_int.h"

/* A stamp with an identity and without an owner: the store was made and never claimed. */
static bool is_new(const struct store *store)
{
	return store->stamp.store && !store->stamp.owner;
}

int store_claim_open(struct store *store, const struct store_attr *attr)
{
	int rc;

	store->stamp = (struct stamp){ attr->fsid, "iod", attr->index };
	rc = random_id(&store->stamp.store);
	store->dirfd = rc ? rc
			  : stamp_open(attr->dir, &store->stamp, attr->log);
	if (store->dirfd < 0)
		return store->dirfd;
	if (attr->lost && !is_new(store)) {
		log_error(attr->log,
			  "--new-store is for an empty folder, and storage %s "
			  "holds a store: start without it, or empty the "
			  "folder first",
			  attr->dir);
		return -EINVAL;
	}
	store->accepted = attr->lost;
	atomic_init(&store->claimed, false);
	return stamp_step(store->dirfd, attr->dir, &store->stamp, attr->log);
}

static enum store_verdict judge(const struct store *store,
				const struct store_claim *claim)
{
	const struct stamp *stamp = &store->stamp;

	if (stamp->owner && stamp->owner != claim->owner)
		return STORE_FOREIGN;
	/* also if the answer to the first claim was lost */
	if (store->accepted)
		return STORE_OURS;
	if (!stamp->store) /* made by a release that did not claim stores */
		return claim->fresh ? STORE_FOREIGN : STORE_OURS;
	if (stamp->owner)
		return claim->store && claim->store != stamp->store
			       ? STORE_REPLACED
			       : STORE_OURS;
	return claim->fresh && !claim->store ? STORE_OURS : STORE_REPLACED;
}

static int keep(struct store *store, const struct store_claim *claim)
{
	struct stamp stamp = store->stamp;
	int rc = 0;

	if (!stamp.store)
		stamp.store = claim->store;
	if (!stamp.store)
		rc = random_id(&stamp.store);
	stamp.owner = claim->owner;
	if (!rc)
		rc = stamp_write(store->dirfd, &stamp);
	if (rc)
		log_error(store->log, "cannot write the stamp: %s",
			  strerror(-rc));
	else
		store->stamp = stamp;
	return rc;
}

int store_claim(struct store *store, const struct store_claim *claim)
{
	int verdict, rc = 0;

	pthread_mutex_lock(&store->claim_lock);
	verdict = judge(store, claim);
	if (verdict == STORE_OURS && !claim->ask) {
		if (!store->stamp.owner)
			rc = keep(store, claim);
		if (!rc)
			atomic_store(&store->claimed, true);
	}
	pthread_mutex_unlock(&store->claim_lock);
	return rc ? rc : verdict;
}

bool store_claimed(const struct store *store)
{
	return atomic_load(&store->claimed);
}

uint64_t store_identity(struct store *store)
{
	uint64_t id;

	pthread_mutex_lock(&store->claim_lock);
	id = store->stamp.store;
	pthread_mutex_unlock(&store->claim_lock);
	return id;
}

bool store_is_new(struct store *store)
{
	bool yes;

	pthread_mutex_lock(&store->claim_lock);
	yes = is_new(store);
	pthread_mutex_unlock(&store->claim_lock);
	return yes;
}
