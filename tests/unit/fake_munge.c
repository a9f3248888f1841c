/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_munge.c - see fake_munge.h. */
#include "tests/unit/fake_munge.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A credential is "MUNGE:UID:" and the payload as digits. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t go;
	int says;
	unsigned int uid, calls, contexts, only, cipher;
	bool held;
	char socket[108];
} fake = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER };

void fake_munge_says(int says, unsigned int uid)
{
	pthread_mutex_lock(&fake.lock);
	fake.says = says;
	fake.uid = uid;
	pthread_mutex_unlock(&fake.lock);
}

static void hold(bool held)
{
	pthread_mutex_lock(&fake.lock);
	fake.held = held;
	pthread_cond_broadcast(&fake.go);
	pthread_mutex_unlock(&fake.lock);
}

void fake_munge_hold(void)
{
	hold(true);
}

void fake_munge_go(void)
{
	hold(false);
}

static unsigned int look(const unsigned int *value)
{
	unsigned int v;

	pthread_mutex_lock(&fake.lock);
	v = *value;
	pthread_mutex_unlock(&fake.lock);
	return v;
}

unsigned int fake_munge_calls(void)
{
	return look(&fake.calls);
}

unsigned int fake_munge_contexts(void)
{
	return look(&fake.contexts);
}

const char *fake_munge_socket(void)
{
	return fake.socket;
}

unsigned int fake_munge_only(void)
{
	return look(&fake.only);
}

unsigned int fake_munge_cipher(void)
{
	return look(&fake.cipher);
}

/* ---- what munger.c calls ---- */

static void count(int by)
{
	pthread_mutex_lock(&fake.lock);
	fake.contexts += (unsigned int)by;
	pthread_mutex_unlock(&fake.lock);
}

static void *ctx_create(void)
{
	count(1);
	return malloc(1);
}

static void ctx_destroy(void *ctx)
{
	count(-1);
	free(ctx);
}

static int ctx_set(void *ctx, int opt, ...)
{
	va_list ap;

	va_start(ap, opt);
	pthread_mutex_lock(&fake.lock);
	if (opt == MUNGE_SET_ONLY_UID)
		fake.only = va_arg(ap, uid_t);
	else if (opt == MUNGE_SET_CIPHER)
		fake.cipher = (unsigned int)va_arg(ap, int);
	else
		snprintf(fake.socket, sizeof(fake.socket), "%s",
			 va_arg(ap, char *));
	pthread_mutex_unlock(&fake.lock);
	va_end(ap);
	return MUNGE_OK;
}

static int begin(unsigned int *uid)
{
	int says;

	pthread_mutex_lock(&fake.lock);
	fake.calls++;
	while (fake.held)
		pthread_cond_wait(&fake.go, &fake.lock);
	says = fake.says;
	*uid = fake.uid;
	pthread_mutex_unlock(&fake.lock);
	return says;
}

static int encode(char **cred, void *ctx, const void *buf, int len)
{
	const unsigned char *p = buf;
	unsigned int uid;
	int says = begin(&uid), at;
	char text[512];

	*cred = NULL;
	if (says)
		return says;
	at = snprintf(text, sizeof(text), "MUNGE:%u:", uid);
	for (int i = 0; i < len; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, "%02x",
			       p[i]);
	*cred = strdup(text);
	return MUNGE_OK;
}

static int decode(const char *cred, void *ctx, void **buf, int *len, uid_t *uid,
		  gid_t *gid)
{
	unsigned int mine, his, byte;
	int says = begin(&mine), at = 0;
	unsigned char *out;

	if (sscanf(cred, "MUNGE:%u:%n", &his, &at) != 1 || !at)
		return MUNGE_BAD_CRED;
	out = calloc(1, strlen(cred));
	for (*len = 0; sscanf(cred + at, "%2x", &byte) == 1; at += 2)
		out[(*len)++] = (unsigned char)byte;
	*buf = out;
	*uid = *gid = his;
	return says;
}

int munge_load(const struct log *log, struct munge_library *lib)
{
	*lib = (struct munge_library){ ctx_create, ctx_destroy, ctx_set, encode,
				       decode };
	return 0;
}
