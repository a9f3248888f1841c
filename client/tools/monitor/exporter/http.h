/* SPDX-License-Identifier: BSD-2-Clause */
/* http.h - serves /, /status, /metrics and /health. */
#ifndef EXPORTER_HTTP_H
#define EXPORTER_HTTP_H

#include "client/tools/monitor/exporter/collect.h"
#include "client/tools/monitor/exporter/host.h"

struct http;

/*
 * Takes over fd, which listens, even if it fails.  c, hosts and log must outlive it.  0
 * or -errno.
 */
int http_open(int fd, struct collect *c, const struct host_names *hosts,
	      const struct log *log, struct http **http);
/* Called after collect_stop(), because waiting requests delay it. */
void http_close(struct http *http);

#endif
