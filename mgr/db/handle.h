/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handle.h - internal and external handles.  Internal handles are numbers, as in the
 * keys of the database.  External handles appear on the wire, in names of objects, in
 * st_ino and in log lines.  Only these functions translate.  An external handle is
 * never used internally.
 */
#ifndef HANDLE_H
#define HANDLE_H

#include <stdint.h>

struct store;

/*
 * Convert an internal handle to the external one, or back.  The external one is little-endian, as
 * on the wire.  0 stays 0.
 */
uint64_t handle_to_wire(const struct store *st, uint64_t handle);
uint64_t handle_from_wire(const struct store *st, uint64_t wire);
/* Convert in the same way, with the external handle as a number, for log lines and tools. */
uint64_t handle_external(const struct store *st, uint64_t handle);
uint64_t handle_internal(const struct store *st, uint64_t shown);

/* The permutation is Speck64/128. key[0] is used first. */
#define HANDLE_ROUNDS 27
struct handle_cipher {
	uint32_t round[HANDLE_ROUNDS];
};
void handle_cipher_init(struct handle_cipher *c, const uint32_t key[4]);
uint64_t handle_encipher(const struct handle_cipher *c, uint64_t plain);
uint64_t handle_decipher(const struct handle_cipher *c, uint64_t text);

#endif
