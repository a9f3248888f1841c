/* SPDX-License-Identifier: BSD-2-Clause */
/* keyring.c - see keyring.h. */
#include "common/trust/keyring.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <sodium/core.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/trust/mac.h"
#include "common/trust/handshake_int.h"
#include "common/trust/sealing.h"
#include "common/trust/secret.h"

/* The keys of a ring, and the keys derived from them. */
struct ring_keys {
	struct keys keys;
	struct fast_mac fast[KEYS_MAX]; /* for capabilities */
};

struct keyring {
	struct prover prover;
	char *path;
	const struct log *log;
	pthread_mutex_t lock; /* protects the rest */
	struct ring_keys *keys; /* in secret memory */
	uint32_t id[KEYS_MAX];
	_Atomic uint32_t losses; /* read without the lock */
};

/* The name of a key; it does not reveal the key. */
static uint32_t name_key(const uint8_t *key)
{
	uint8_t mac[MAC_LEN];
	uint32_t first;

	mac_make(key, "pvfs key name 1", NULL, 0, mac);
	memcpy(&first, mac, sizeof(first));
	return le32toh(first);
}

static int name_all(const struct keys *keys, uint32_t id[KEYS_MAX])
{
	for (unsigned int i = 0; i < keys->n; i++)
		id[i] = name_key(keys->key[i]);
	/* probability: 1 in 4 billion */
	return keys->n > 1 && id[0] == id[1] ? -EEXIST : 0;
}

static void derive_fast_keys(struct ring_keys *all)
{
	uint8_t key[MAC_KEY_LEN];

	for (unsigned int i = 0; i < all->keys.n; i++) {
		mac_make(all->keys.key[i], "pvfs capability key 1", NULL, 0,
			 key);
		fast_mac_begin(&all->fast[i], key);
	}
	explicit_bzero(key, sizeof(key));
}

static bool has_key(const struct keys *keys, const uint8_t *key)
{
	for (unsigned int i = 0; i < keys->n; i++)
		if (!memcmp(keys->key[i], key, sizeof(keys->key[i])))
			return true;
	return false;
}

static bool loses_key(const struct keys *before, const struct keys *now)
{
	for (unsigned int i = 0; i < before->n; i++)
		if (!has_key(now, before->key[i]))
			return true;
	return false;
}

static void set_keys(struct keyring *ring, const struct ring_keys *all,
		     const uint32_t id[KEYS_MAX])
{
	pthread_mutex_lock(&ring->lock);
	if (loses_key(&ring->keys->keys, &all->keys))
		atomic_fetch_add(&ring->losses, 1);
	*ring->keys = *all;
	memcpy(ring->id, id, sizeof(ring->id));
	pthread_mutex_unlock(&ring->lock);
	if (all->keys.n > 1)
		log_info(ring->log,
			 "key %s: %08x is in use, %08x is accepted, too",
			 ring->path, id[0], id[1]);
	else
		log_info(ring->log, "key %s: %08x is in use", ring->path,
			 id[0]);
}

static int load_keys(struct keyring *ring)
{
	struct ring_keys *all = secret_new(sizeof(*all));
	uint32_t id[KEYS_MAX] = { 0 };
	int rc = all ? key_file_read(ring->path, ring->log, &all->keys)
		     : -ENOMEM;

	if (!rc) {
		derive_fast_keys(all);
		rc = name_all(&all->keys, id);
		if (rc)
			log_error(ring->log, "key %s: %s", ring->path,
				  "its two keys have one name; make another "
				  "one");
	}
	if (!rc)
		set_keys(ring, all, id);
	secret_free(all, sizeof(*all));
	return rc;
}

int keyring_reload(struct keyring *ring)
{
	int rc = load_keys(ring);

	if (rc == -ENOENT)
		log_error(ring->log, "key %s: there is no such file",
			  ring->path);
	return rc;
}

static int load_or_make(struct keyring *ring, bool make)
{
	int rc = load_keys(ring);

	if (rc == -ENOENT && make) {
		rc = key_file_make(ring->path, ring->log);
		if (!rc) /* the name may be a dangling link */
			rc = keyring_reload(ring);
		if (!rc)
			log_info(ring->log,
				 "key %s is new: all servers need the same "
				 "file; copy it to their hosts, with its mode, "
				 "or, if they have one, theirs to here",
				 ring->path);
	} else if (rc == -ENOENT) {
		log_error(ring->log,
			  "key %s: there is none; copy it from the host of a "
			  "server, with its mode",
			  ring->path);
	}
	return rc;
}

uint32_t keyring_losses(const struct keyring *ring)
{
	return atomic_load(&ring->losses);
}

void keyring_close(struct keyring *ring)
{
	if (!ring)
		return;
	secret_free(ring->keys, sizeof(*ring->keys));
	pthread_mutex_destroy(&ring->lock);
	free(ring->path);
	free(ring);
}

void keyring_mac(struct keyring *ring, const char *label,
		 const struct mac_field *field, unsigned int n, uint32_t *id,
		 uint8_t mac[MAC_LEN])
{
	pthread_mutex_lock(&ring->lock);
	mac_make(ring->keys->keys.key[0], label, field, n, mac);
	*id = ring->id[0];
	pthread_mutex_unlock(&ring->lock);
}

/* The caller holds the lock. The index of the key with that name, or -ENOKEY. */
static int find_key(const struct keyring *ring, uint32_t id)
{
	for (unsigned int i = 0; i < ring->keys->keys.n; i++)
		if (ring->id[i] == id)
			return (int)i;
	return -ENOKEY;
}

int keyring_derive(struct keyring *ring, uint32_t id, const char *label,
		   const struct mac_field *field, unsigned int n,
		   uint8_t mac[MAC_LEN])
{
	int i;

	pthread_mutex_lock(&ring->lock);
	i = find_key(ring, id);
	if (i >= 0)
		mac_make(ring->keys->keys.key[i], label, field, n, mac);
	pthread_mutex_unlock(&ring->lock);
	return i < 0 ? i : 0;
}

int keyring_check(struct keyring *ring, uint32_t id, const char *label,
		  const struct mac_field *field, unsigned int n,
		  const uint8_t mac[MAC_LEN])
{
	uint8_t want[MAC_LEN];
	int rc = keyring_derive(ring, id, label, field, n, want);

	if (!rc && !mac_equal(mac, want))
		rc = -EKEYREJECTED;
	explicit_bzero(want, sizeof(want));
	return rc;
}

void keyring_fast_mac(struct keyring *ring, const void *ptr, size_t len,
		      uint32_t *id, uint8_t mac[MAC_LEN])
{
	pthread_mutex_lock(&ring->lock);
	fast_mac(&ring->keys->fast[0], ptr, len, mac);
	*id = ring->id[0];
	pthread_mutex_unlock(&ring->lock);
}

int keyring_fast_check(struct keyring *ring, uint32_t id, const void *ptr,
		       size_t len, const uint8_t mac[MAC_LEN])
{
	uint8_t want[MAC_LEN];
	int i, rc;

	pthread_mutex_lock(&ring->lock);
	i = find_key(ring, id);
	if (i >= 0)
		fast_mac(&ring->keys->fast[i], ptr, len, want);
	pthread_mutex_unlock(&ring->lock);
	if (i < 0)
		return i;
	rc = mac_equal(mac, want) ? 0 : -EKEYREJECTED;
	explicit_bzero(want, sizeof(want));
	return rc;
}

/* ---- proofs ---- */

static int keyring_prove(void *arg, const struct handshake *shake,
			 enum handshake_side side, const void *msg, size_t len,
			 struct wire_proof *proof)
{
	uint8_t facts[HANDSHAKE_FACTS];
	const struct mac_field field[] = { { facts, sizeof(facts) },
					   { msg, len } };
	struct wire_proof p = { 0 };
	uint32_t id;

	handshake_facts(shake, facts);
	keyring_mac(arg, handshake_label[side], field, 2, &id, p.mac);
	p.key = htole32(id);
	*proof = p;
	return 0;
}

static int keyring_check_proof(void *arg, const struct handshake *shake,
			       enum handshake_side side, const void *msg,
			       size_t len, const struct wire_proof *proof)
{
	uint8_t facts[HANDSHAKE_FACTS];
	const struct mac_field field[] = { { facts, sizeof(facts) },
					   { msg, len } };

	handshake_facts(shake, facts);
	return keyring_check(arg, le32toh(proof->key), handshake_label[side],
			     field, 2, proof->mac);
}

static int keyring_seal(void *ring, const struct handshake *shake,
			enum handshake_side side,
			const struct seal_agreement *agreement,
			struct sealer **sealer)
{
	struct sealing_seeds seeds;
	uint8_t base[MAC_KEY_LEN];
	int rc = sealing_seeds(shake, side, agreement, &seeds);

	if (!rc)
		rc = keyring_derive(ring, agreement->key, SEALING_LABEL,
				    seeds.field, SEALING_SEEDS, base);
	if (!rc)
		rc = sealing_by_base(base, side, agreement->mode, sealer);
	explicit_bzero(&seeds, sizeof(seeds));
	explicit_bzero(base, sizeof(base));
	return rc;
}

int keyring_open(const char *path, bool make, const struct log *log,
		 struct keyring **out)
{
	struct keyring *ring;
	int rc;

	if (sodium_init() < 0) {
		log_error(log, "key %s: libsodium cannot be initialised", path);
		return -EIO;
	}
	ring = calloc(1, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	pthread_mutex_init(&ring->lock, NULL);
	ring->log = log;
	ring->prover =
		(struct prover){ .arg = ring,
				 .prove = keyring_prove,
				 .check = keyring_check_proof,
				 .pair = sealing_pair,
				 .unpair = sealing_unpair,
				 .seal = keyring_seal,
				 .extend_transcript = transcript_extend };
	ring->path = strdup(path);
	ring->keys = secret_new(sizeof(*ring->keys));
	rc = ring->path && ring->keys ? load_or_make(ring, make) : -ENOMEM;
	if (rc)
		keyring_close(ring);
	else
		*out = ring;
	return rc;
}

const struct prover *keyring_prover(const struct keyring *ring)
{
	return ring ? &ring->prover : NULL;
}
