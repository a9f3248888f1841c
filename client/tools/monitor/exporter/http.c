/* SPDX-License-Identifier: BSD-2-Clause */
/* http.c - see http.h. */
#include "client/tools/monitor/exporter/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/tools/monitor/exporter/conns.h"
#include "client/tools/monitor/exporter/page.h"
#include "common/util/number.h"

#define BACKLOG 64
/* for a further connection, another one is closed: conns.h */
#define CONNS_MAX 128
#define CONNS_MHD                                                              \
	384 /* ... including those whose thread has yet to notice the end */
#define LIFE_MS 10000 /* ms after which a connection ends, whatever it sends */
#define REQUEST_MAX 16384 /* bytes: its first line and headers */
#define STACK (256u << 10)
#define BLOCK 16384 /* bytes sent at a time */
#define MISDIRECTED 421 /* older headers of libmicrohttpd have no name */

struct http {
	struct MHD_Daemon *mhd;
	struct collect *collect;
	struct conns conns;
	const struct host_names *hosts;
	const struct log *log;
};

/* ---- the listening socket ---- */

/* Splits text into host and port.  0 or -EINVAL. */
static int split_address(const char *text, char host[64], char port[8])
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	uint64_t number;

	if (!len || len >= 64 || strlen(colon + 1) >= 8 || !colon[1])
		return -EINVAL;
	if (*text == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	} else if (memchr(text, ':', len)) {
		return -EINVAL;
	}
	memcpy(host, text, len);
	host[len] = '\0';
	strcpy(port, colon + 1);
	return len && !number_parse(port, 65535, &number) ? 0 : -EINVAL;
}

static int listen_on(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1,
	    rc;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (!bind(fd, ai->ai_addr, ai->ai_addrlen) && !listen(fd, BACKLOG))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int http_listen(const char *text)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICHOST |
						    AI_NUMERICSERV };
	struct addrinfo *ai;
	char host[64], port[8];
	int rc = split_address(text, host, port);

	if (rc || getaddrinfo(host, port, &hints, &ai))
		return -EINVAL;
	rc = listen_on(ai);
	freeaddrinfo(ai);
	return rc;
}

int http_address(int fd, char *buf, size_t len)
{
	struct sockaddr_storage ss;
	socklen_t size = sizeof(ss);
	char host[64], port[8];

	if (getsockname(fd, (struct sockaddr *)&ss, &size))
		return -errno;
	if (getnameinfo((struct sockaddr *)&ss, size, host, sizeof(host), port,
			sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		return -EINVAL;
	snprintf(buf, len, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
	return 0;
}

/* ---- answers ---- */

#define PLAIN "text/plain; charset=utf-8"
#define JSON "application/json"

static const struct {
	const char *name, *value;
} headers[] = {
	/* one answer per connection, so that each one ends */
	{ MHD_HTTP_HEADER_CONNECTION, "close" },
	{ MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Content-Security-Policy", page_policy },
};

/* Takes over r; NULL: no memory. */
static enum MHD_Result send_response(struct MHD_Connection *conn,
				     unsigned int code, const char *type,
				     struct MHD_Response *r)
{
	enum MHD_Result rc;

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		MHD_add_response_header(r, headers[i].name, headers[i].value);
	if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	rc = MHD_queue_response(conn, code, r);
	MHD_destroy_response(r);
	return rc;
}

static struct MHD_Response *constant_response(const void *body, size_t len)
{
	return MHD_create_response_from_buffer(len, (void *)body,
					       MHD_RESPMEM_PERSISTENT);
}

/* why: a constant */
static enum MHD_Result send_error(struct MHD_Connection *conn,
				  unsigned int code, const char *why)
{
	return send_response(conn, code, PLAIN,
			     constant_response(why, strlen(why)));
}

static enum MHD_Result answer_page(struct MHD_Connection *conn)
{
	return send_response(conn, MHD_HTTP_OK, "text/html; charset=utf-8",
			     constant_response(page_html, page_len));
}

/*
 * A text of a round, which is kept until it was sent.  Many may read it concurrently.
 */
struct shown {
	struct round *round;
	const struct text_buffer *text;
};

static ssize_t shown_read(void *arg, uint64_t at, char *buf, size_t room)
{
	const struct text_buffer *t = ((const struct shown *)arg)->text;
	size_t n = t->len - at < room ? t->len - at : room;

	memcpy(buf, t->s + at, n);
	return (ssize_t)n;
}

static void shown_free(void *arg)
{
	struct shown *s = arg;

	round_put(s->round);
	free(s);
}

/* Takes over round. */
static enum MHD_Result send_text(struct MHD_Connection *conn, unsigned int code,
				 const char *type, struct round *round,
				 const struct text_buffer *t)
{
	struct shown *s = t->failed || !t->s ? NULL : malloc(sizeof(*s));
	struct MHD_Response *r;

	if (!s) {
		round_put(round);
		return send_error(conn, MHD_HTTP_INTERNAL_SERVER_ERROR,
				  "no memory\n");
	}
	*s = (struct shown){ round, t };
	r = MHD_create_response_from_callback(t->len, BLOCK, shown_read, s,
					      shown_free);
	if (!r)
		shown_free(s);
	return send_response(conn, code, type, r);
}

/* Takes over r. */
static enum MHD_Result answer_round(struct MHD_Connection *conn,
				    const char *url, struct round *r)
{
	if (!strcmp(url, "/metrics"))
		return send_text(conn, MHD_HTTP_OK,
				 "text/plain; version=0.0.4; charset=utf-8", r,
				 &r->metrics);
	if (!strcmp(url, "/status"))
		return send_text(conn, MHD_HTTP_OK, JSON, r, &r->status);
	return send_text(conn,
			 r->well ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE,
			 JSON, r, &r->health);
}

static bool is_round(const char *url)
{
	return !strcmp(url, "/metrics") || !strcmp(url, "/status") ||
	       !strcmp(url, "/health");
}

/* Returns the number of the round that a page has; 0: none. */
static uint64_t known_round(struct MHD_Connection *conn)
{
	const char *text = MHD_lookup_connection_value(conn,
						       MHD_GET_ARGUMENT_KIND,
						       "after");

	uint64_t n;

	return text && !number_parse(text, UINT64_MAX, &n) ? n : 0;
}

/* Gets the numeric address that the connection came to; "": unknown. */
static void get_local_address(struct MHD_Connection *conn, char *at,
			      socklen_t len)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct sockaddr_storage ss;
	socklen_t size = sizeof(ss);

	if (!info ||
	    getsockname(info->connect_fd, (struct sockaddr *)&ss, &size) ||
	    getnameinfo((struct sockaddr *)&ss, size, at, len, NULL, 0,
			NI_NUMERICHOST))
		*at = '\0';
	at[strcspn(at, "%")] = '\0'; /* removes the scope of fe80::1%eth0 */
}

/*
 * Whether the request's Host is a name or address of this exporter.  Browsers always send Host, so
 * a request without it is not from a browser and is accepted.
 */
static bool is_meant_for_us(const struct http *h, struct MHD_Connection *conn)
{
	const char *host = MHD_lookup_connection_value(conn, MHD_HEADER_KIND,
						       MHD_HTTP_HEADER_HOST);
	char at[64];

	if (!host)
		return true;
	get_local_address(conn, at, sizeof(at));
	return host_is_ours(h->hosts, host, at);
}

static enum MHD_Result handle_request(void *arg, struct MHD_Connection *conn,
				      const char *url, const char *method,
				      const char *version, const char *data,
				      size_t *size, void **state)
{
	struct http *h = arg;
	struct round *r;

	if (!is_meant_for_us(h, conn))
		return send_error(
			conn, MISDIRECTED,
			"the host that was asked for is none of ours: ask "
			"by address, or see --name\n");
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return send_error(conn, MHD_HTTP_METHOD_NOT_ALLOWED,
				  "GET and HEAD alone\n");
	if (!strcmp(url, "/"))
		return answer_page(conn);
	if (!is_round(url))
		return send_error(conn, MHD_HTTP_NOT_FOUND,
				  "/, /metrics, /health, /status\n");
	r = collect_get(h->collect, known_round(conn));
	if (!r)
		return send_error(conn, MHD_HTTP_SERVICE_UNAVAILABLE,
				  "stops, or no memory\n");
	return answer_round(conn, url, r);
}

/* ---- connections ---- */

static void conn_changed(void *arg, struct MHD_Connection *conn, void **state,
			 enum MHD_ConnectionNotificationCode code)
{
	struct http *h = arg;
	const union MHD_ConnectionInfo *info;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		info = MHD_get_connection_info(
			conn, MHD_CONNECTION_INFO_CONNECTION_FD);
		*state = info ? conns_add(&h->conns, info->connect_fd) : NULL;
	} else if (*state) {
		conns_remove(&h->conns, *state);
	}
}

/* Errors that strangers cause are not logged. */
static void drop_line(void *arg, const char *fmt, va_list ap)
{
}

static struct MHD_Daemon *start_daemon(struct http *h, int fd)
{
	return MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD |
			MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
			MHD_USE_ITC | MHD_USE_ERROR_LOG,
		0, NULL, NULL, handle_request, h, MHD_OPTION_EXTERNAL_LOGGER,
		drop_line, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, CONNS_MHD,
		MHD_OPTION_CONNECTION_TIMEOUT, LIFE_MS / 1000u,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_MAX,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK,
		MHD_OPTION_NOTIFY_CONNECTION, conn_changed, h, MHD_OPTION_END);
}

int http_open(int fd, struct collect *c, const struct host_names *hosts,
	      const struct log *log, struct http **out)
{
	struct http *h = calloc(1, sizeof(*h));
	int rc = h ? conns_open(&h->conns, CONNS_MAX, LIFE_MS) : -ENOMEM;

	if (rc)
		goto free;
	h->collect = c;
	h->hosts = hosts;
	h->log = log;
	h->mhd = start_daemon(h, fd);
	if (h->mhd) {
		*out = h;
		return 0;
	}
	rc = errno ? -errno : -EIO;
	conns_close(&h->conns);
free:
	close(fd);
	free(h);
	return rc;
}

void http_close(struct http *h)
{
	MHD_stop_daemon(h->mhd);
	conns_close(&h->conns);
	free(h);
}
