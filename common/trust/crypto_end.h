/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crypto_end.h - libcrypto at the end of a program that has it through a library: it
 * takes itself apart at exit(), and who is called later must not use it any more.
 */
#ifndef CRYPTO_END_H
#define CRYPTO_END_H

#include <stdbool.h>

/* Before the first use.  Again does nothing.  It stays, if nobody began before. */
void crypto_keep(void);
/* exit() has begun, and libcrypto may be gone. */
bool crypto_is_over(void);
/* It is: for what was made before and is still in use, so that who ends can say so. */
bool crypto_is_gone(void);

#endif
