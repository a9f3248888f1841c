/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_rig.h - the tcp provider on one side, and on the other a raw socket whose bytes the test
 * chooses, valid or not.
 */
#ifndef TCP_RIG_H
#define TCP_RIG_H

#include <check.h>

#include "common/transport/tcp/tcp.h"

#define RIG_PATIENCE_MS 60000u /* a longer wait counts as a hang */
#define RIG_EPS 8
#define RIG_KEPT 256

struct rig {
	struct tp_dev *dev;
	struct tp_cq *cq;
	struct tp_listener *listener;
	struct addr addr;
	struct log log;
	char text[4096]; /* the log, with the newest line at the end */
	struct tp_ep *ep[RIG_EPS]; /* accepted endpoints, in order */
	struct tp_event last[RIG_EPS]; /* the last event of each */
	unsigned int neps, nrequests;
	bool gone[RIG_EPS];
	struct tp_wc wc[RIG_KEPT];
	unsigned int nwc;
};

/* An argument of 0 means the default.  Requests are accepted as they arrive. */
void rig_open(struct rig *rig, unsigned int handshake_ms,
	      unsigned int dead_peer_ms);
void rig_close(struct rig *rig);
void rig_turn(struct rig *rig);

/* Turns until cond is true; fails after a long time. */
#define rig_until(rig, cond)                                                   \
	do {                                                                   \
		uint64_t stop_ = clock_after_ms(RIG_PATIENCE_MS);              \
		while (!(cond)) {                                              \
			rig_turn(rig);                                         \
			ck_assert_msg(clock_now() < stop_, "never: %s\n%s",    \
				      #cond, (rig)->text);                     \
		}                                                              \
	} while (0)

/* Returns a connected socket on which nothing was sent. */
int raw_connect(struct rig *rig);
/* Connects with the handshake; its ep is the newest of the rig. */
int raw_open(struct rig *rig);
/* Sends all bytes while the rig turns. */
void raw_send(struct rig *rig, int fd, const void *data, size_t len);
void raw_hello(struct rig *rig, int fd);
/* Sends a head with nseg segments; the caller sends the payload. */
void raw_frame(struct rig *rig, int fd, const struct tcp_frame *frame,
	       const struct tcp_seg *seg);
/* Reads exactly len bytes.  Returns false if the connection ended before. */
bool raw_recv(struct rig *rig, int fd, void *data, size_t len);
/* Reads the head of the next frame.  Returns false if the connection ended. */
bool raw_head(struct rig *rig, int fd, struct tcp_frame *frame);
/* Reads until the end of the connection.  Returns the code of the NAK, or 0. */
uint32_t raw_end(struct rig *rig, int fd);

#endif
