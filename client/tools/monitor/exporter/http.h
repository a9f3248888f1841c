/* SPDX-License-Identifier: BSD-2-Clause */
/* http.h - serves /, /status, /metrics and /health. */
#ifndef EXPORTER_HTTP_H
#define EXPORTER_HTTP_H

#include "client/tools/monitor/exporter/collect.h"
#include "client/tools/monitor/exporter/host.h"

struct http;

/*
 * Listens at "127.0.0.1:9797", "[::1]:9797" or "0.0.0.0:0": only numbers.  Returns the
 * descriptor, which the caller owns; -EINVAL: text is wrong; or -errno of socket(2),
 * bind(2), listen(2).
 */
int http_listen(const char *text);
/* Writes the address of the socket, "127.0.0.1:41234", into buf.  0 or -errno. */
int http_address(int fd, char *buf, size_t len);
/*
 * Takes over fd, which listens, even if it fails.  c, hosts and log must outlive it.  0
 * or -errno.
 */
int http_open(int fd, struct collect *c, const struct host_names *hosts,
	      const struct log *log, struct http **http);
/* Called after collect_stop(), because waiting requests delay it. */
void http_close(struct http *http);

#endif
