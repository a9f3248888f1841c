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
/* It is gone, and will not come back.  That exit() has begun is no such thing: much is written
 * then, as what programs had in buffers, and maybe by a connection that is made for it. */
bool crypto_is_gone(void);

#endif
