/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_shm.h - the memory that two connected endpoints share: one page of
 * control words and a ring of records each way.
 *
 * The acceptor makes it and passes it to the connector.  Each side writes its
 * own struct local_side and reads the other's, and keeps private copies of
 * its own indices: what the other wrote is a claim, checked before use.  The
 * memory cannot shrink (sealed), so that touching it never faults.
 */
#ifndef LOCAL_SHM_H
#define LOCAL_SHM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Bytes each way, powers of two. */
#define LOCAL_RING (128u << 10)
#define LOCAL_RING_BULK (512u << 10) /* where bulk data goes through it */
#define LOCAL_ALIGN 64u /* of records */
#define LOCAL_NONCE 16u /* bytes */
#define LOCAL_KEYS 12u /* of the memory that one copy touches */

struct local_side {
	/* what it sent; one line, polled by the other */
	_Alignas(64) _Atomic uint32_t tail; /* of the ring it fills */
	_Atomic uint32_t starved; /* waits for room in it */
	_Atomic uint32_t ended; /* 1: nothing more comes */
	_Atomic int32_t status; /* why, as in TP_EV_DISCONNECTED */
	_Atomic uint32_t cause; /* the other's request that was refused */
	/* 1: strike the gong, the others have requests, too; the one who does
	 * makes it 0 */
	_Atomic uint32_t relay;
	/* what it took */
	_Alignas(64) _Atomic uint32_t head; /* of the ring it drains */
	/* not 0: ring the bell, or count first (LOCAL_COUNTED); the one who
	 * does makes it 0 */
	_Alignas(64) _Atomic uint32_t asleep;
	/* odd: it is inside of the other's memory, by these keys */
	_Alignas(64) _Atomic uint32_t busy;
	_Atomic uint32_t nkeys;
	/* where it keeps the nonce in its own memory; 0: stay out */
	_Atomic uint64_t probe;
	_Atomic uint32_t key[LOCAL_KEYS];
};
_Static_assert(sizeof(struct local_side) == 256, "a copy dirties one line");

/* Index of side and ring. */
enum local_of {
	LOCAL_CONNECTOR,
	LOCAL_ACCEPTOR,
};

struct local_ctl {
	uint8_t nonce[LOCAL_NONCE];
	struct local_side side[2];
};

struct local_shm {
	struct local_ctl *ctl;
	/* ring[i] is filled by side i; mapped twice in a row, so that a record
	 * never wraps */
	uint8_t *ring[2];
	uint32_t size; /* of a ring */
};

/* size: of a ring, one of the two; fd: to be passed and closed.  -errno. */
int local_shm_create(struct local_shm *shm, uint32_t size, int *fd);
/* -EPROTO: not what local_shm_create() makes. */
int local_shm_map(struct local_shm *shm, int fd);
void local_shm_unmap(struct local_shm *shm);

/* A sealed memfd of len bytes; fd or -errno. */
int local_memfd(const char *name, size_t len, unsigned int seals);
/* More than any of ours.  A GiB takes the last who has it 0.2 s to give back. */
#define LOCAL_MEMFD_MAX (16u << 20) /* bytes */

/* -EPROTO: not memory of len bytes to LOCAL_MEMFD_MAX that stays as it is. */
int local_memfd_check(int fd, size_t len);
/* It is memory, and closing it takes no longer than closing ours. */
bool local_memfd_is_small(int fd);

#endif
