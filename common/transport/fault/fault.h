/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault.h - a provider around another one that makes things go wrong.
 *
 * tp_dev_open("fault+tcp") opens a tcp device wrapped in this one.  With no
 * rules it changes nothing.  Rules come from the environment variable
 * PVFS_FAULT when the device is opened, and at any time from fault_set() and
 * fault_add().  For tests: it copies every request and is not fast.
 *
 * A rule in text is OPS:ACTION[:KEY=VALUE]..., rules are separated by ';' or
 * newlines, '#' starts a comment:
 *
 *	send:reset:after=100		the 101st SEND finds the connection gone
 *	write,write_imm:corrupt:at=8	one write has byte 8 changed
 *	post:delay:ms=20:every=10:count=always
 *	connect:refuse:count=3
 *
 * PVFS_FAULT=@PATH names a file with rules.  It is read again whenever it
 * changed (and counts start anew); without the file there are no rules.
 *
 * Rules are looked at in their order.  Each counts the operations it fits;
 * the first that is due acts, and at most one acts on an operation.
 */
#ifndef FAULT_H
#define FAULT_H

#include <stddef.h>
#include <stdint.h>

#include "common/transport/transport.h"

/* Operations, to be or-ed; in text by these names in lower case. */
enum fault_op {
	FAULT_SEND = 0x1,
	FAULT_WRITE = 0x2,
	FAULT_WRITE_IMM = 0x4,
	FAULT_READ = 0x8,
	FAULT_ATOMIC = 0x10,
	FAULT_RECV = 0x20, /* a message or immediate that arrived */
	FAULT_POST_RECV = 0x40, /* tp_post_recv() */
	FAULT_CONNECT = 0x80, /* tp_connect() */
	FAULT_ACCEPT = 0x100, /* a connect request that arrived */
	FAULT_MR_REG = 0x200, /* tp_mr_reg() */
};
/* "post": whatever tp_post_send() takes; "any": all for which it makes sense */
#define FAULT_POST                                                             \
	(FAULT_SEND | FAULT_WRITE | FAULT_WRITE_IMM | FAULT_READ | FAULT_ATOMIC)
#define FAULT_ANY 0x3ffu

enum fault_action {
	/*
	 * SEND, WRITE, WRITE_IMM: completes well and does nothing.  CONNECT,
	 * ACCEPT: stays without an answer.
	 */
	FAULT_DROP,
	/*
	 * FAULT_POST: the chain and what is posted behind it leave ms later.
	 * CONNECT: starts ms later.  ACCEPT: is reported ms later.
	 */
	FAULT_DELAY,
	/* One byte changes: of a copy that is sent, of what READ brought, of a
	 * message received.  The byte is at, or the last one if at is behind. */
	FAULT_CORRUPT,
	/*
	 * FAULT_POST, RECV: the connection breaks instead: the first request
	 * outstanding ends with -ECONNRESET, the others are flushed,
	 * DISCONNECTED has -ECONNRESET.  What was posted before may arrive.
	 */
	FAULT_RESET,
	/* FAULT_POST, POST_RECV, CONNECT, MR_REG: the call returns error
	 * (0: -ENOBUFS; CONNECT -ENETUNREACH; MR_REG -ENOMEM), does nothing. */
	FAULT_FAIL,
	/* CONNECT: as if nobody listened.  ACCEPT: rejected without data. */
	FAULT_REFUSE,
	/*
	 * FAULT_POST, RECV: from here on, as if the peer's host had lost its
	 * power: nothing leaves, nothing arrives, nothing completes; after ms
	 * (0: the device's dead_peer_ms) it ends as with RESET, with
	 * -ETIMEDOUT.
	 */
	FAULT_VANISH,
	/* Everything: this process gets SIGKILL: it is the peer of others. */
	FAULT_KILL,
	/* FAULT_POST, RECV, CONNECT, ACCEPT: the cq stands still for ms, like
	 * that of a process which does not run. */
	FAULT_STALL,
};

#define FAULT_ALWAYS UINT64_MAX

/* Every field but the first two may be 0. */
struct fault_rule {
	unsigned int ops;
	enum fault_action action;
	uint64_t after; /* this many operations pass first */
	uint64_t every; /* then each every-th is hit; 0: each */
	uint64_t count; /* so many are hit; 0: 1; or FAULT_ALWAYS */
	uint64_t min; /* fits only operations of min bytes or more */
	uint64_t at; /* CORRUPT: byte */
	uint32_t ms; /* DELAY, STALL: required; VANISH */
	int error; /* FAIL: negative errno; text: error=EIO */
	uint16_t port; /* fits only connections whose peer has it */
};

/*
 * All from any thread.  dev: a device opened as "fault+..."; -EINVAL if not.
 *
 * Replaces all rules by those of text ("": none).  -EINVAL, and a message
 * with the part that is wrong in err, if it does not parse; the rules in
 * force stay.
 */
int fault_set(struct tp_dev *dev, const char *text, char *err, size_t errlen);
/*
 * Adds a rule behind the others.  Returns its number, from 1 (rules of
 * fault_set() are numbered as written); -ENOSPC: no more than 64.
 */
int fault_add(struct tp_dev *dev, const struct fault_rule *rule);
/* How often rule number id has acted; 0 for one that does not exist. */
uint64_t fault_hits(struct tp_dev *dev, int id);

#endif
