/* SPDX-License-Identifier: BSD-2-Clause */
/* http.h - answers /, /status, /metrics and /health. */
#ifndef EXPORTER_HTTP_H
#define EXPORTER_HTTP_H

#include "client/tools/exporter/collect.h"
#include "client/tools/exporter/host.h"

struct http;

/*
 * Takes over fd, which listens, also when it fails; c, hosts and log outlive it.  0, or
 * -errno.
 */
int http_open(int fd, struct collect *c, const struct hosts *hosts,
	      const struct log *log, struct http **http);
/* When collect_stop() was called: requests that wait hold it up. */
void http_close(struct http *http);

#endif
