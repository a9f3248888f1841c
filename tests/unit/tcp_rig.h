/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_rig.h - the tcp provider on one side, a bare socket on the other that
 * says what it likes, right or wrong.
 */
#ifndef TCP_RIG_H
#define TCP_RIG_H

#include <check.h>

#include "common/transport/tcp/tcp.h"

#define RIG_PATIENCE_MS 60000u /* after this a wait counts as a hang */
#define RIG_EPS 8
#define RIG_KEPT 256

struct rig {
	struct tp_dev *dev;
	struct tp_cq *cq;
	struct tp_listener *listener;
	struct addr addr;
	struct log log;
	char text[4096]; /* the log, the newest line last */
	struct tp_ep *ep[RIG_EPS]; /* accepted, in order */
	struct tp_event last[RIG_EPS]; /* of each */
	unsigned int neps, nrequests;
	bool gone[RIG_EPS];
	struct tp_wc wc[RIG_KEPT];
	unsigned int nwc;
};

/* 0: the defaults.  Requests are accepted as they come. */
void rig_open(struct rig *rig, unsigned int handshake_ms,
	      unsigned int dead_peer_ms);
void rig_close(struct rig *rig);
void rig_turn(struct rig *rig);

/* Turns until cond holds; fails the test when it does not for long. */
#define rig_until(rig, cond)                                                   \
	do {                                                                   \
		uint64_t stop_ = clock_after_ms(RIG_PATIENCE_MS);              \
		while (!(cond)) {                                              \
			rig_turn(rig);                                         \
			ck_assert_msg(clock_now() < stop_, "never: %s\n%s",    \
				      #cond, (rig)->text);                     \
		}                                                              \
	} while (0)

/* A connected socket without a word said. */
int raw_connect(struct rig *rig);
/* With the handshake done; its ep is the newest of the rig. */
int raw_open(struct rig *rig);
/* All of it, while the rig turns. */
void raw_send(struct rig *rig, int fd, const void *data, size_t len);
void raw_hello(struct rig *rig, int fd);
/* Head, nseg segments; the payload is the caller's to send. */
void raw_frame(struct rig *rig, int fd, const struct tcp_frame *frame,
	       const struct tcp_seg *seg);
/* Exactly len bytes; false: the connection ended before. */
bool raw_recv(struct rig *rig, int fd, void *data, size_t len);
/* The head of the next frame; false: the connection ended. */
bool raw_head(struct rig *rig, int fd, struct tcp_frame *frame);
/* Reads on until the end; the code of the NAK if there was one, else 0. */
uint32_t raw_end(struct rig *rig, int fd);

#endif
