/* SPDX-License-Identifier: BSD-2-Clause */
/* listen.h - the socket at an address that was written as ADDR:PORT. */
#ifndef EXPORTER_LISTEN_H
#define EXPORTER_LISTEN_H

#include <stddef.h>

/*
 * "127.0.0.1:9797", "[::1]:9797", "0.0.0.0:0": numbers alone.  The descriptor, the
 * caller's; -EINVAL it is no such thing; or of socket(2), bind(2), listen(2).
 */
int listen_at(const char *text);
/* Where it listens, "127.0.0.1:41234", into buf; -errno. */
int listen_name(int fd, char *buf, size_t len);

#endif
