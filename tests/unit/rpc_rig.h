/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rpc_rig.h - a server with a counter and a client, in one thread.
 *
 * The server: APPEND adds len to a counter and returns the old value, so a repeated execution is
 * visible.  WRITE and READ move bytes of one object.  RELEASE, RESIZE and LOCK (EAGAIN) are held
 * until the test answers them.  READLINK returns 3000 bytes, PING zeros, and every other request
 * gets status 0.
 */
#ifndef RPC_RIG_H
#define RPC_RIG_H

#include <check.h>

#include "common/util/clock.h"
#include "common/comm/rpc.h"

#define RIG_OBJECT (1u << 20)
#define RIG_HELD 80
#define RIG_FSID 0x1234567890abcdefull

struct rig_op; /* a request with bulk data at the server */

struct rig {
	struct tp_dev *dev;
	/* options of the fabrics of a rig on "pvfs" */
	const char *coption, *soption;
	unsigned int more; /* further devices of the client's first transport */
	struct fabric cfabric, sfabric;
	/* used by rig_io() instead of the key of its mr */
	struct rail_mem *area;
	struct sizes inline_max, fast_max; /* of the client */
	bool bounce; /* reads may be received in another buffer */
	bool reply_optional; /* reads may end without a reply */
	bool apart; /* bulk data of the client uses an endpoint of its own */
	bool carry; /* the client moves data if the server asks */
	unsigned int carry_parts; /* maximum at a time; 0: no limit */
	bool lend; /* the server asks clients to move data */
	enum pins_mode pins; /* of the client */
	unsigned int patience_ms; /* of the peer */
	/* of the peer; sattr has that of the server */
	const struct prover *prover;
	enum seal_mode seal; /* of the peer; sattr has that of the server */
	enum wire_role role; /* of the peer; 0: CLIENT */
	uint32_t hails; /* WIRE_FT_* of the peer */
	uint32_t index; /* index of the iod that the peer expects */
	bool manager; /* the peer expects a manager */
	struct rpc_ctx *cctx, *sctx;
	struct rpc_server *server;
	struct rpc_server_attr sattr;
	struct rpc_service service;
	struct addr addr;
	struct rpc_peer *peer;
	struct rpc_cred cred;
	uint64_t fsid, session;
	/* of the server */
	uint64_t counter;
	unsigned int executed;
	struct rpc_req *held[RIG_HELD];
	unsigned int nheld;
	bool busy; /* APPENDs that may not wait are rejected */
	unsigned int sent_back;
	bool mute; /* PINGs are held, too */
	unsigned int opened, closed, clean, freed, aborted;
	int open_status;
	uint32_t features; /* features of the session that opened last */
	uint64_t seed_seq; /* session_open() seeds slot 0 with the seq 77 */
	unsigned int write_flags;
	uint8_t *object;
	struct rail_mem object_mem;
	unsigned int bulks; /* bulks in flight */
	unsigned int carried; /* WRITEs whose data was in the message */
	unsigned int fresh;
	/* an APPEND that the callback on_fresh starts */
	struct rig_call *at_fresh;
	/* logs of both ends */
	struct log log;
	char text[65536];
	size_t text_len;
};

struct rig_call {
	struct rpc_call call;
	uint64_t msg[1024];
	struct iovec data[RPC_DATA_MAX];
	bool finished;
	unsigned int times;
	uint64_t offset; /* result of an APPEND */
	uint64_t done; /* result of a READ or WRITE */
	/* for rig_io(): the data may be received elsewhere, and is copied here */
	void *bounce;
	struct rig *rig;
};

/* dev is "mock", "tcp" or "pvfs".  *rig is zeroed except for what the test has set. */
void rig_open(struct rig *rig, const char *dev);
void rig_close(struct rig *rig);
void rig_server_open(struct rig *rig);
void rig_server_close(struct rig *rig);
struct rpc_peer *rig_peer_open(struct rig *rig);
/* One round on each side. */
void rig_turn(struct rig *rig);
#define RIG_PATIENCE_MS 60000u /* a longer wait counts as a hang */
/* Turns until cond is true. */
#define rig_until(rig, cond)                                                   \
	do {                                                                   \
		uint64_t end_ = clock_after_ms(RIG_PATIENCE_MS);               \
		while (!(cond)) {                                              \
			rig_turn(rig);                                         \
			ck_assert_msg(clock_now() < end_, "never: %s\n%s",     \
				      #cond, (rig)->text);                     \
		}                                                              \
	} while (0)
#define RIG_TURNS 50u /* within so many turns, everything in flight arrives */
/* Turns for ms, and at least RIG_TURNS times. */
void rig_for_ms(struct rig *rig, unsigned int ms);
/* Returns how often the log contains text. */
unsigned int rig_logged(const struct rig *rig, const char *text);

void rig_call_init(struct rig *rig, struct rig_call *c, unsigned int ms);
void rig_prepare_append(struct rig *rig, struct rig_call *c, uint64_t len,
			unsigned int ms);
void rig_append(struct rig *rig, struct rig_call *c, uint64_t len,
		unsigned int ms);
void rig_release(struct rig *rig, struct rig_call *c, unsigned int ms);
/* Moves one region from or to n pieces of mr of equal size, or inline if mr is NULL. */
void rig_io(struct rig *rig, struct rig_call *c, unsigned int op, uint64_t off,
	    uint8_t *buf, uint64_t len, const struct tp_mr *mr, unsigned int n,
	    unsigned int ms);
/* Runs one APPEND to its end; returns its status. */
int rig_append_now(struct rig *rig, uint64_t len, uint64_t *offset,
		   unsigned int ms);
/* Sends the reply to the oldest held request. */
void rig_answer(struct rig *rig);

#endif
