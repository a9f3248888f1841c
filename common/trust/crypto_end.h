/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crypto_end.h - libcrypto at the end of a program that has it through a library. It cleans up at
 * exit(), and code that runs later must not use it.
 */
#ifndef CRYPTO_END_H
#define CRYPTO_END_H

#include <stdbool.h>

/*
 * Call it before the first use of libcrypto; further calls do nothing. Prevents the cleanup at
 * exit(), unless the program itself initialised libcrypto before.
 */
void crypto_keep(void);
/*
 * Whether libcrypto has cleaned up, which is final. False during exit() before the cleanup: much is
 * written then (programs flush their buffers), perhaps over a new connection.
 */
bool crypto_is_gone(void);

#endif
