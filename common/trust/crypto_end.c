/* SPDX-License-Identifier: BSD-2-Clause */
/* crypto_end.c - see crypto_end.h. */
#include "common/trust/crypto_end.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_bool over;

static void end(void)
{
	atomic_store(&over, true);
}

/*
 * libcrypto registers no cleanup here. If the program made it register one before, end() runs
 * before that cleanup, because exit handlers run in reverse order.
 */
static void begin(void)
{
	OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
	atexit(end);
}

void crypto_keep(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin);
}

/* After its cleanup, OPENSSL_init_crypto() returns 0. */
bool crypto_is_gone(void)
{
	return atomic_load(&over) && !OPENSSL_init_crypto(0, NULL);
}
