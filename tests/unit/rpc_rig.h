/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rpc_rig.h - a server that counts and a client, in one thread.
 *
 * The server: APPEND adds len to a counter and answers the old value, so a repeated execution
 * shows.  WRITE and READ move bytes of one object.  RELEASE, RESIZE and LOCK (EAGAIN) are held
 * until the test answers them.  READLINK answers 3000 bytes, PING zeros, and everything else gets
 * status 0.
 */
#ifndef RPC_RIG_H
#define RPC_RIG_H

#include <check.h>

#include "common/util/clock.h"
#include "common/comm/rpc.h"

#define RIG_OBJECT (1u << 20)
#define RIG_HELD 80
#define RIG_FSID 0x1234567890abcdefull

struct rig_op; /* a bulk request on the server */

struct rig {
	struct tp_dev *dev;
	const char *coption, *soption; /* fabrics of a rig on "pvfs" */
	unsigned int more; /* devices of the first transport, the client's */
	struct fabric cfabric, sfabric;
	struct rail_mem *area; /* of rig_io(), instead of its mr's key */
	struct sizes inline_max, fast_max; /* the client's */
	bool bounce; /* reads may land elsewhere */
	bool reply_optional; /* reads may end without a reply */
	bool apart; /* bulk data of the client over an endpoint of its own */
	bool carry; /* the client may be asked to move data */
	unsigned int carry_parts; /* at a time; 0: many */
	bool lend; /* the server asks for that */
	enum pins_mode pins; /* of the client */
	unsigned int patience_ms; /* the peer's */
	const struct prover *prover; /* the peer's; the server's is in sattr */
	enum seal_mode seal; /* likewise */
	enum wire_role role; /* the peer's; 0: CLIENT */
	uint32_t hails; /* its WIRE_FT_* */
	uint32_t index; /* of the iod that the peer wants */
	bool manager; /* the peer takes the server for one */
	struct rpc_ctx *cctx, *sctx;
	struct rpc_server *server;
	struct rpc_server_attr sattr;
	struct rpc_service service;
	struct addr addr;
	struct rpc_peer *peer;
	struct rpc_cred cred;
	uint64_t fsid, session;
	/* the server's */
	uint64_t counter;
	unsigned int executed;
	struct rpc_req *held[RIG_HELD];
	unsigned int nheld;
	bool busy; /* APPENDs that may not wait are sent back */
	unsigned int sent_back;
	bool mute; /* PINGs are held, too */
	unsigned int opened, closed, clean, freed, aborted;
	int open_status;
	uint32_t features; /* of the session that opened last */
	uint64_t seed_seq; /* session_open() seeds slot 0 with 77 */
	unsigned int write_flags;
	uint8_t *object;
	struct rail_mem object_mem;
	unsigned int bulks; /* under way */
	unsigned int carried; /* WRITEs whose data came along */
	unsigned int fresh;
	struct rig_call *at_fresh; /* an APPEND begun by that callback */
	/* logs of both */
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
	uint64_t offset; /* of an APPEND */
	uint64_t done; /* of READ, WRITE */
	void *bounce; /* of rig_io(): may land elsewhere, to be copied here */
	struct rig *rig;
};

/* dev "mock", "tcp" or "pvfs".  Zeroed but for what the test chose in *rig. */
void rig_open(struct rig *rig, const char *dev);
void rig_close(struct rig *rig);
void rig_server_open(struct rig *rig);
void rig_server_close(struct rig *rig);
struct rpc_peer *rig_peer_open(struct rig *rig);
/* One round on each side. */
void rig_turn(struct rig *rig);
#define RIG_PATIENCE_MS 60000u /* after this a wait counts as a hang */
/* Turns until cond. */
#define rig_until(rig, cond)                                                   \
	do {                                                                   \
		uint64_t end_ = clock_after_ms(RIG_PATIENCE_MS);               \
		while (!(cond)) {                                              \
			rig_turn(rig);                                         \
			ck_assert_msg(clock_now() < end_, "never: %s\n%s",     \
				      #cond, (rig)->text);                     \
		}                                                              \
	} while (0)
#define RIG_TURNS 50u /* in which all that is under way arrives */
/* And for RIG_TURNS at least. */
void rig_for_ms(struct rig *rig, unsigned int ms);
/* How often the log has this. */
unsigned int rig_logged(const struct rig *rig, const char *text);

void rig_call_init(struct rig *rig, struct rig_call *c, unsigned int ms);
void rig_prepare_append(struct rig *rig, struct rig_call *c, uint64_t len,
			unsigned int ms);
void rig_append(struct rig *rig, struct rig_call *c, uint64_t len,
		unsigned int ms);
void rig_release(struct rig *rig, struct rig_call *c, unsigned int ms);
/* One region, n pieces of mr of equal size, or inline when mr is NULL. */
void rig_io(struct rig *rig, struct rig_call *c, unsigned int op, uint64_t off,
	    uint8_t *buf, uint64_t len, const struct tp_mr *mr, unsigned int n,
	    unsigned int ms);
/* Runs one APPEND to its end; returns its status. */
int rig_append_now(struct rig *rig, uint64_t len, uint64_t *offset,
		   unsigned int ms);
/* Answers the oldest held request. */
void rig_answer(struct rig *rig);

#endif
