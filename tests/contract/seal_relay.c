/* SPDX-License-Identifier: BSD-2-Clause */
/* seal_relay.c - see seal_relay.h. */
#include "tests/contract/seal_relay.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/transport/tcp/seal/records.h"
#include "common/transport/tcp/tcp_frame.h"

#define ROOM (4 * RECORD_MAX)

struct stream {
	int from, to;
	bool mine; /* of the direction that is changed */
	bool sealed;
	bool checked; /* its frames have a struct tcp_check */
	unsigned int records;
	uint8_t *buf;
	uint32_t len;
	uint8_t *kept; /* sent after the next one */
	uint32_t kept_len;
};

static uint32_t u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static bool put(int fd, const void *data, size_t len)
{
	return send(fd, data, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* Returns the length of the first unit, or 0 if it is incomplete. */
static uint32_t unit(const struct stream *s)
{
	uint32_t len;

	if (!s->sealed)
		len = s->len < TCP_HEAD_LEN
			      ? UINT32_MAX
			      : TCP_HEAD_LEN + u32(s->buf + 4) +
					(s->checked ? TCP_CHECK_LEN : 0);
	else
		len = s->len < RECORD_HEAD_LEN
			      ? UINT32_MAX
			      : RECORD_HEAD_LEN + u32(s->buf) + SEALER_TAG_LEN;
	return len <= s->len ? len : 0;
}

static bool frame(const struct relay *r, struct stream *s, uint32_t len)
{
	const struct tcp_frame send = { .op = TCP_OP_SEND };
	const struct tcp_check check = { .covered = 0 };
	uint8_t bare[TCP_HEAD_LEN + TCP_CHECK_LEN];
	uint32_t bare_len = TCP_HEAD_LEN + (s->checked ? TCP_CHECK_LEN : 0);

	if (s->buf[0] != TCP_OP_SEALED)
		return put(s->to, s->buf, len);
	s->sealed = true;
	if (s->mine && r->deed == DEED_STRIP)
		return true;
	tcp_frame_put(bare, &send);
	tcp_check_put(bare, &check);
	if (s->mine && r->deed == DEED_BARE && !put(s->to, bare, bare_len))
		return false;
	return put(s->to, s->buf, len);
}

static bool inject(struct stream *s, uint32_t len)
{
	uint8_t made[RECORD_HEAD_LEN + 32 + SEALER_TAG_LEN] = { 32 };

	memcpy(made + 4, s->buf + 4, 4);
	return put(s->to, made, sizeof(made)) && put(s->to, s->buf, len);
}

static void keep(struct stream *s, uint32_t len)
{
	s->kept = malloc(len);
	s->kept_len = len;
	memcpy(s->kept, s->buf, len);
}

static bool act(enum deed deed, struct stream *s, uint32_t len)
{
	static const uint32_t flip[] = { [DEED_FLIP_LEN] = 2,
					 [DEED_FLIP_NUMBER] = 5,
					 [DEED_FLIP_FIRST] = RECORD_HEAD_LEN };

	switch (deed) {
	case DEED_FLIP_LEN:
	case DEED_FLIP_NUMBER:
	case DEED_FLIP_FIRST:
		s->buf[flip[deed]] ^= 0x10;
		break;
	case DEED_FLIP_LAST:
		s->buf[len - SEALER_TAG_LEN - 1] ^= 1;
		break;
	case DEED_FLIP_TAG:
		s->buf[len - 1] ^= 0x80;
		break;
	case DEED_INJECT:
		return inject(s, len);
	case DEED_DROP:
		return true;
	case DEED_REPEAT:
		return put(s->to, s->buf, len) && put(s->to, s->buf, len);
	case DEED_SWAP:
		keep(s, len);
		return true;
	case DEED_CUT:
		put(s->to, s->buf, len / 2);
		return false;
	default:
		break;
	}
	return put(s->to, s->buf, len);
}

static bool record(const struct relay *r, struct stream *s, uint32_t len)
{
	bool ok;

	if (s->mine && s->records++ == r->record)
		return act(r->deed, s, len);
	ok = put(s->to, s->buf, len);
	if (s->kept) {
		ok = ok && put(s->to, s->kept, s->kept_len);
		free(s->kept);
		s->kept = NULL;
	}
	return ok;
}

static bool pass(const struct relay *r, struct stream *s)
{
	ssize_t n = recv(s->from, s->buf + s->len, ROOM - s->len, 0);
	uint32_t len;
	bool ok = n > 0;

	s->len += ok ? (uint32_t)n : 0;
	while (ok && (len = unit(s))) {
		if (!s->sealed && s->buf[0] <= TCP_OP_ACCEPT)
			s->checked = u32(s->buf + 8) & TCP_CHECKS;
		ok = s->sealed ? record(r, s, len) : frame(r, s, len);
		memmove(s->buf, s->buf + len, s->len - len);
		s->len -= len;
	}
	return ok;
}

static int dial(uint16_t port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
		abort();
	return fd;
}

static void *run(void *arg)
{
	struct relay *r = arg;
	int fd[2] = { accept(r->fd, NULL, NULL), dial(r->to) };
	struct stream s[2] = { { .from = fd[0], .to = fd[1] },
			       { .from = fd[1], .to = fd[0] } };
	struct pollfd p[2] = { { fd[0], POLLIN, 0 }, { fd[1], POLLIN, 0 } };
	bool ok = true;

	s[r->dir].mine = true;
	s[0].buf = malloc(ROOM);
	s[1].buf = malloc(ROOM);
	while (ok && poll(p, 2, -1) > 0)
		for (int i = 0; i < 2 && ok; i++)
			if (p[i].revents)
				ok = pass(r, &s[i]);
	for (int i = 0; i < 2; i++) {
		close(fd[i]);
		free(s[i].buf);
		free(s[i].kept);
	}
	return NULL;
}

void relay_start(struct relay *r)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sa);

	r->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(r->fd, (struct sockaddr *)&sa, len) || listen(r->fd, 1) ||
	    getsockname(r->fd, (struct sockaddr *)&sa, &len))
		abort();
	r->port = ntohs(sa.sin_port);
	if (pthread_create(&r->thread, NULL, run, r))
		abort();
}

void relay_stop(struct relay *r)
{
	pthread_join(r->thread, NULL);
	close(r->fd);
}
