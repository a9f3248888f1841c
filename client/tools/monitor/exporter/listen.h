/* SPDX-License-Identifier: BSD-2-Clause */
/* listen.h - the listening socket for an address written as ADDR:PORT. */
#ifndef EXPORTER_LISTEN_H
#define EXPORTER_LISTEN_H

#include <stddef.h>

/*
 * Listens at "127.0.0.1:9797", "[::1]:9797" or "0.0.0.0:0": only numbers.  Returns the
 * descriptor, which the caller owns; -EINVAL: text is wrong; or -errno of socket(2),
 * bind(2), listen(2).
 */
int listen_at(const char *text);
/* Writes the address of the socket, "127.0.0.1:41234", into buf.  0 or -errno. */
int listen_name(int fd, char *buf, size_t len);

#endif
