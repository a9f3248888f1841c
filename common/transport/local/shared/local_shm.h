/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_shm.h - the memory that two connected endpoints share: one page of control words, and a
 * ring of records in each direction.
 *
 * The acceptor creates it and passes it to the connector. Each side writes its own struct
 * local_side and reads the other's. It keeps private copies of its own indices, and checks what the
 * other side wrote before use. The memory is sealed against shrinking, so accesses never fault.
 */
#ifndef LOCAL_SHM_H
#define LOCAL_SHM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Bytes of a ring, powers of two. */
#define LOCAL_RING (128u << 10)
#define LOCAL_RING_BULK (512u << 10) /* if bulk data goes through it */
#define LOCAL_ALIGN 64u /* alignment of records */
#define LOCAL_NONCE 16u /* bytes */
#define LOCAL_KEYS 12u /* keys of the memory that one copy accesses */

struct local_side {
	/* about the data that this side sends; one cache line, which the other side polls */
	_Alignas(64) _Atomic uint32_t tail; /* of the ring that this side fills */
	_Atomic uint32_t starved; /* this side waits for room in it */
	_Atomic uint32_t ended; /* 1: this side sends nothing more */
	_Atomic int32_t status; /* the reason, as in TP_EV_DISCONNECTED */
	_Atomic uint32_t cause; /* the other side's request that was rejected */
	/* 1: the server is to wake the other servers of the group; it then sets 0 */
	_Atomic uint32_t relay;
	/* about the data that this side receives */
	/* of the ring that this side drains */
	_Alignas(64) _Atomic uint32_t head;
	/*
	 * not 0: ring the bell, or count down first (LOCAL_COUNTED); the side that does so sets 0
	 */
	_Alignas(64) _Atomic uint32_t asleep;
	/* odd: this side accesses the other's memory with these keys */
	_Alignas(64) _Atomic uint32_t busy;
	_Atomic uint32_t nkeys;
	/* where the nonce is in this side's own memory; 0: direct access is not allowed */
	_Atomic uint64_t probe;
	_Atomic uint32_t key[LOCAL_KEYS];
};
_Static_assert(sizeof(struct local_side) == 256, "a copy dirties one line");

/* Index of a side and its ring. */
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
	/* side i fills ring[i]; each ring is mapped twice in a row, so records never wrap */
	uint8_t *ring[2];
	uint32_t size; /* of each ring */
};

/*
 * Creates shared memory with two rings of size bytes, LOCAL_RING or LOCAL_RING_BULK. The caller
 * passes *fd to the peer and closes it. Returns 0 or -errno.
 */
int local_shm_create(struct local_shm *shm, uint32_t size, int *fd);
/* Maps the memory that the peer created.  -EPROTO: fd is not as local_shm_create() creates it. */
int local_shm_map(struct local_shm *shm, int fd);
void local_shm_unmap(struct local_shm *shm);

/* Creates a sealed memfd of len bytes. Returns fd or -errno. */
int local_memfd(const char *name, size_t len, unsigned int seals);
/* Larger memory of a peer is rejected, because its last close takes long (1 GiB: 0.2 s). */
#define LOCAL_MEMFD_MAX (16u << 20) /* bytes */

/* -EPROTO: not memory of len to LOCAL_MEMFD_MAX bytes with a fixed size. */
int local_memfd_check(int fd, size_t len);
/* Returns whether fd is memory of at most LOCAL_MEMFD_MAX bytes, which is closed quickly. */
bool local_memfd_is_small(int fd);

#endif
