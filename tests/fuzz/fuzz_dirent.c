/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_dirent.c - records of directory entries: each accepted input can be walked. */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "common/wire/wire.h"

static void walk(const uint8_t *buf, size_t len, size_t fixed)
{
	const struct wire_dirent *d = (const void *)buf;
	const char *name;
	size_t at = 0;

	while (wire_dirent_ok(d, len - at, fixed)) {
		name = (const char *)d + fixed;
		FUZZ_SURE(strlen(name) == le16toh(d->name_len));
		FUZZ_SURE(!strchr(name, '/'));
		fuzz_touch(d, le16toh(d->reclen));
		at += le16toh(d->reclen);
		FUZZ_SURE(at <= len && at % 8 == 0);
		d = (const void *)(buf + at);
	}
}

void fuzz_one(const uint8_t *data, size_t len)
{
	void *buf = fuzz_copy(data, len);

	walk(buf, len, sizeof(struct wire_dirent));
	walk(buf, len, sizeof(struct wire_direntplus));
	free(buf);
}

static size_t put(uint8_t *at, size_t fixed, const char *name)
{
	size_t len = strlen(name), reclen = wire_pad(fixed + len + 1);
	struct wire_dirent *d = (void *)at;

	memset(at, 0, reclen);
	d->cookie = htole64(len + 7);
	d->reclen = htole16((uint16_t)reclen);
	d->name_len = htole16((uint16_t)len);
	memcpy(at + fixed, name, len);
	return reclen;
}

static void seed(size_t fixed)
{
	uint64_t buf[128];
	uint8_t *at = (uint8_t *)buf;
	size_t n = 0;

	n += put(at + n, fixed, ".");
	n += put(at + n, fixed, "..");
	n += put(at + n, fixed, "seven77");
	n += put(at + n, fixed, "a name that is somewhat longer");
	fuzz_seed(buf, n);
}

void fuzz_seeds(void)
{
	seed(sizeof(struct wire_dirent));
	seed(sizeof(struct wire_direntplus));
}
