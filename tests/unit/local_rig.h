/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_rig.h - the local provider on one side; on the other side a raw socket and the shared
 * memory, so that a test can break the protocol.
 */
#ifndef LOCAL_RIG_H
#define LOCAL_RIG_H

#include "common/transport/local/local.h"

#define RAW_PATIENCE_MS 60000u /* a longer wait counts as a hang */

struct local_rig {
	struct tp_dev *dev;
	struct tp_cq *cq;
	struct tp_listener *listener;
	struct addr addr;
	struct tp_ep *ep; /* the newest endpoint */
	struct tp_identity id; /* identity of its peer */
	struct tp_event last; /* the last event of ep */
	bool gone; /* ep is closed */
	unsigned int nwc;
	struct tp_wc wc; /* the newest completion */
};

/* A raw client: its socket and its shared memory. */
struct raw {
	int fd, bell;
	struct local_shm shm;
	struct local_out out;
	struct local_in in;
};

/* -errno. */
int local_rig_open(struct local_rig *rig);
void local_rig_close(struct local_rig *rig);
/* Polls once; accepts connections, with recvs receives of len bytes at mr. */
void local_rig_turn(struct local_rig *rig, const struct tp_mr *mr, uint32_t len,
		    unsigned int recvs);
/* Connects, and sends nothing.  Returns a socket or -errno. */
int raw_connect(const struct local_rig *rig);
/*
 * Connects, with the descriptors of `give` in the hello; rig->ep is the other end.  Returns 0 or
 * -errno.
 */
int raw_give(struct local_rig *rig, struct raw *raw, const struct tp_mr *mr,
	     uint32_t len, unsigned int recvs, const struct local_fds *give);
/* The same with a memory table: that of the rig. */
int raw_open(struct local_rig *rig, struct raw *raw, const struct tp_mr *mr,
	     uint32_t len, unsigned int recvs);
void raw_close(struct raw *raw);
/* Puts one valid record. */
void raw_put(struct raw *raw, const struct local_head *head, const void *data);

#endif
