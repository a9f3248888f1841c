/* SPDX-License-Identifier: BSD-2-Clause */
/* crypto_end.c - see crypto_end.h. */
#include "common/trust/crypto_end.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_bool ended;

static void at_program_end(void)
{
	atomic_store(&ended, true);
}

/*
 * libcrypto registers no cleanup here. If the program made it register one before, at_program_end()
 * runs before that cleanup, because exit handlers run in reverse order.
 */
static void keep_libcrypto(void)
{
	OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
	atexit(at_program_end);
}

void crypto_keep(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, keep_libcrypto);
}

/* After its cleanup, OPENSSL_init_crypto() returns 0. */
bool crypto_is_gone(void)
{
	return atomic_load(&ended) && !OPENSSL_init_crypto(0, NULL);
}
