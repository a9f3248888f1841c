/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_rig.h - the local provider on one side; on the other a bare socket and
 * the shared memory, to do with what the protocol allows, or not.
 */
#ifndef LOCAL_RIG_H
#define LOCAL_RIG_H

#include "common/transport/local/local.h"

#define RAW_PATIENCE_MS 60000u /* after this a wait counts as a hang */

struct local_rig {
	struct tp_dev *dev;
	struct tp_cq *cq;
	struct tp_listener *listener;
	struct addr addr;
	struct tp_ep *ep; /* the newest */
	struct tp_identity id; /* of its peer */
	struct tp_event last; /* of ep */
	bool gone; /* ep */
	unsigned int nwc;
	struct tp_wc wc; /* the newest */
};

/* A raw client: its socket and shared memory. */
struct raw {
	int fd, bell;
	struct local_shm shm;
	struct local_out out;
	struct local_in in;
};

/* -errno. */
int local_rig_open(struct local_rig *rig);
void local_rig_close(struct local_rig *rig);
/* One poll; accepts with recvs receives of len bytes at mr. */
void local_rig_turn(struct local_rig *rig, const struct tp_mr *mr, uint32_t len,
		    unsigned int recvs);
/* A socket without a word said; -errno. */
int raw_connect(const struct local_rig *rig);
/* With the handshake done, which gives give: rig->ep is its other end.  -errno. */
int raw_give(struct local_rig *rig, struct raw *raw, const struct tp_mr *mr,
	     uint32_t len, unsigned int recvs, const struct local_fds *give);
/* The same with a table: the rig's own. */
int raw_open(struct local_rig *rig, struct raw *raw, const struct tp_mr *mr,
	     uint32_t len, unsigned int recvs);
void raw_close(struct raw *raw);
/* One record as it should be put. */
void raw_put(struct raw *raw, const struct local_head *head, const void *data);

#endif
