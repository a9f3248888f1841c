/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvforge.c - a replacement for libpvfs-auth.so ($PVFS_FORGE_REAL) that changes credentials:
 *
 * 	PVFS_FORGE_SAVE=FILE	writes the credential to FILE, and does not send it
 * 	PVFS_FORGE_WORD=FILE	sends the content of FILE instead
 * 	PVFS_FORGE_TWICE=FILE	sends the credential, and also writes it to FILE
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/auth/client_auth.h"

static const struct client_auth_ops *real(void)
{
	const char *name = getenv("PVFS_FORGE_REAL");
	void *so = name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
	const struct client_auth_ops *(*ops)(void) = NULL;

	if (!so)
		abort();
	*(void **)&ops = dlsym(so, CLIENT_AUTH_SYMBOL);
	return ops();
}

static void write_word(const char *path, const void *word, size_t len)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(word, 1, len, f) != len || fclose(f))
		abort();
}

static uint32_t read_word(const char *path, char *word)
{
	FILE *f = fopen(path, "r");
	size_t len;

	if (!f)
		abort();
	len = fread(word, 1, WIRE_WORD_MAX, f);
	fclose(f);
	while (len && word[len - 1] == '\n')
		len--;
	return (uint32_t)len;
}

static int forge(struct client_auth *auth, const struct client_auth_way *way,
		 const struct wire_challenge_rep *rep, struct wire_auth *body,
		 void *word)
{
	const char *save = getenv("PVFS_FORGE_SAVE");
	const char *other = getenv("PVFS_FORGE_WORD");
	const char *twice = getenv("PVFS_FORGE_TWICE");
	int rc = real()->word(auth, way, rep, body, word);

	if (rc)
		return rc;
	if (save || twice)
		write_word(save ? save : twice, word, le32toh(body->len));
	if (other)
		body->len = htole32(read_word(other, word));
	return save ? -EPERM : 0;
}

__attribute__((visibility("default"))) const struct client_auth_ops *
pvfs_client_auth_3(void)
{
	static struct client_auth_ops ops;

	ops = *real();
	ops.word = forge;
	return &ops;
}
