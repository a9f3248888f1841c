/* SPDX-License-Identifier: BSD-2-Clause */
/* wire_dirent.c - checks directory records, which arrive outside of the reply. */
#include <string.h>

#include "common/wire/wire.h"

static bool is_name(const char *name, size_t len)
{
	return len && len <= WIRE_NAME_MAX && !name[len] &&
	       !memchr(name, '\0', len) && !memchr(name, '/', len);
}

bool wire_dirent_ok(const struct wire_dirent *d, size_t left, size_t fixed)
{
	size_t reclen, len;

	if (left < fixed)
		return false;
	reclen = le16toh(d->reclen);
	len = le16toh(d->name_len);
	return reclen <= left && reclen % 8 == 0 && fixed + len + 1 <= reclen &&
	       le64toh(d->cookie) <= INT64_MAX &&
	       is_name((const char *)d + fixed, len);
}
