/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handle.h - handles inside (numbers, as in the data base's keys) and outside (on
 * the wire, in the names of objects, in st_ino, in log lines).  Nothing else
 * translates; what is on the wire is never inside.
 */
#ifndef HANDLE_H
#define HANDLE_H

#include <stdint.h>

struct store;

/* Both are little-endian on the wire's side; 0 is 0. */
uint64_t handle_to_wire(const struct store *st, uint64_t handle);
uint64_t handle_from_wire(const struct store *st, uint64_t wire);
/* As numbers, for log lines and tools. */
uint64_t handle_shown(const struct store *st, uint64_t handle);
uint64_t handle_meant(const struct store *st, uint64_t shown);

/* The permutation by itself: Speck64/128, key[0] is used first. */
#define HANDLE_ROUNDS 27
struct handle_cipher {
	uint32_t round[HANDLE_ROUNDS];
};
void handle_cipher_init(struct handle_cipher *c, const uint32_t key[4]);
uint64_t handle_encipher(const struct handle_cipher *c, uint64_t plain);
uint64_t handle_decipher(const struct handle_cipher *c, uint64_t text);

#endif
