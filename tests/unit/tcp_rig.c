/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_rig.c - see tcp_rig.h. */
#include "tests/unit/tcp_rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

static void keep(void *arg, enum log_level level, const char *msg)
{
	struct rig *rig = arg;
	size_t len = strlen(msg) + 1, have = strlen(rig->text);

	if (have + len + 1 > sizeof(rig->text))
		have = 0;
	snprintf(rig->text + have, sizeof(rig->text) - have, "%s\n", msg);
}

void rig_open(struct rig *rig, unsigned int handshake_ms,
	      unsigned int dead_peer_ms)
{
	struct tp_dev_attr attr = { .handshake_ms = handshake_ms,
				    .dead_peer_ms = dead_peer_ms };

	memset(rig, 0, sizeof(*rig));
	rig->log = (struct log){ LOG_LV_INFO, keep, rig };
	attr.log = &rig->log;
	ck_assert_int_eq(tp_dev_open("tcp", &attr, &rig->dev), 0);
	ck_assert_int_eq(tp_cq_open(rig->dev, 65536, &rig->cq), 0);
	ck_assert_int_eq(tp_listen(rig->cq,
				   &(struct addr){ .host = "127.0.0.1" }, 0,
				   &rig->listener),
			 0);
	tp_listener_addr(rig->listener, &rig->addr);
}

void rig_close(struct rig *rig)
{
	unsigned int i;

	for (i = 0; i < rig->neps; i++)
		tp_ep_close(rig->ep[i]);
	tp_unlisten(rig->listener);
	tp_cq_close(rig->cq);
	tp_dev_close(rig->dev);
}

static void take_request(struct rig *rig, struct tp_conn_req *req)
{
	struct tp_ep_attr attr = { .max_recv_wr = 64, .max_send_wr = 64 };
	unsigned int n = rig->neps;

	rig->nrequests++;
	if (n == RIG_EPS) {
		tp_reject(req, NULL, 0);
		return;
	}
	ck_assert_int_eq(tp_ep_open(rig->cq, &attr, &rig->ep[n]), 0);
	ck_assert_int_eq(tp_accept(rig->ep[n], req, NULL, 0), 0);
	rig->neps++;
}

static void take_event(struct rig *rig, const struct tp_event *ev)
{
	unsigned int i;

	if (ev->type == TP_EV_CONNECT_REQUEST) {
		take_request(rig, ev->req);
		return;
	}
	for (i = 0; i < rig->neps; i++) {
		if (rig->ep[i] != ev->ep)
			continue;
		rig->last[i] = *ev;
		rig->gone[i] = ev->type == TP_EV_DISCONNECTED;
	}
}

void rig_turn(struct rig *rig)
{
	struct tp_event ev;
	int n;

	n = tp_cq_poll(rig->cq, rig->wc + rig->nwc, (int)(RIG_KEPT - rig->nwc));
	rig->nwc += (unsigned int)n;
	while (tp_cq_event(rig->cq, &ev)) {
		take_event(rig, &ev);
		n++;
	}
	if (n == 0)
		tp_cq_wait(rig->cq, clock_after_ms(1));
}

int raw_connect(struct rig *rig)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons(rig->addr.port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

void raw_send(struct rig *rig, int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = send(fd, p, len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			rig_turn(rig);
		} else {
			return; /* the provider had enough */
		}
	}
}

void raw_hello(struct rig *rig, int fd)
{
	uint8_t buf[TCP_HEAD_LEN + TCP_HELLO_LEN];
	struct tcp_frame frame = { .op = TCP_OP_CONNECT };

	frame.len = tcp_hello_put(buf + TCP_HEAD_LEN, NULL, 0);
	tcp_frame_put(buf, &frame);
	raw_send(rig, fd, buf, sizeof(buf));
}

int raw_open(struct rig *rig)
{
	unsigned int before = rig->neps;
	uint8_t hello[TCP_HELLO_LEN];
	struct tcp_frame frame;
	int fd = raw_connect(rig);

	raw_hello(rig, fd);
	rig_until(rig, rig->neps == before + 1);
	ck_assert(raw_head(rig, fd, &frame));
	ck_assert_int_eq(frame.op, TCP_OP_ACCEPT);
	ck_assert(raw_recv(rig, fd, hello, sizeof(hello)));
	return fd;
}

void raw_frame(struct rig *rig, int fd, const struct tcp_frame *frame,
	       const struct tcp_seg *seg)
{
	uint8_t buf[TCP_HEAD_LEN + TCP_SEG_MAX * TCP_SEG_LEN];
	uint32_t i, nseg = seg ? frame->nseg : 0;

	tcp_frame_put(buf, frame);
	for (i = 0; i < nseg; i++)
		tcp_seg_put(buf + TCP_HEAD_LEN + i * TCP_SEG_LEN, &seg[i]);
	raw_send(rig, fd, buf, TCP_HEAD_LEN + nseg * TCP_SEG_LEN);
}

bool raw_recv(struct rig *rig, int fd, void *data, size_t len)
{
	uint64_t stop = clock_after_ms(RIG_PATIENCE_MS);
	char *p = data;

	while (len) {
		ssize_t n = recv(fd, p, len, MSG_DONTWAIT);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			rig_turn(rig);
			ck_assert_msg(clock_now() < stop, "no answer\n%s",
				      rig->text);
		} else {
			return false;
		}
	}
	return true;
}

bool raw_head(struct rig *rig, int fd, struct tcp_frame *frame)
{
	uint8_t head[TCP_HEAD_LEN];
	const char *why;

	if (!raw_recv(rig, fd, head, sizeof(head)))
		return false;
	ck_assert_int_eq(tcp_frame_get(head, frame, &why), 0);
	return true;
}

uint32_t raw_end(struct rig *rig, int fd)
{
	struct tcp_frame frame = { 0 };
	char skip[4096];
	uint32_t nak = 0;

	while (raw_head(rig, fd, &frame)) {
		uint32_t left = frame.op == TCP_OP_READ ? 0 : frame.len;

		if (frame.op == TCP_OP_NAK)
			nak = frame.imm;
		while (left) {
			uint32_t n = left < sizeof(skip) ? left : sizeof(skip);

			if (!raw_recv(rig, fd, skip, n))
				return nak;
			left -= n;
		}
	}
	return nak;
}
