/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault.h - a provider that wraps another one and injects faults.
 *
 * tp_dev_open("fault+tcp") opens a tcp device wrapped in this provider. Without rules it changes
 * nothing. Rules come from the environment variable PVFS_FAULT when the device is opened, and at
 * any time from fault_set() and fault_add(). The provider is for tests: it copies every request and
 * is not fast.
 *
 * A rule in text is OPS:ACTION[:KEY=VALUE]... Rules are separated by ';' or newlines; '#' starts a
 * comment:
 *
 *	send:reset:after=100		the 101st SEND finds the connection gone
 *	write,write_imm:corrupt:at=8	one write has byte 8 changed
 *	post:delay:ms=20:every=10:count=always
 *	connect:refuse:count=3
 *
 * PVFS_FAULT=@PATH names a file with rules. The file is read again whenever it changed, and the
 * counts start again from 0. If the file does not exist, there are no rules.
 *
 * Rules are checked in order. Each counts the operations that it fits. The first rule that is due
 * acts; at most one rule acts on an operation.
 */
#ifndef FAULT_H
#define FAULT_H

#include <stddef.h>
#include <stdint.h>

#include "common/transport/transport.h"

/* Operations, to be or-ed. In text they have these names in lower case. */
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
/* "post": everything that tp_post_send() accepts; "any": all operations that suit the action */
#define FAULT_POST                                                             \
	(FAULT_SEND | FAULT_WRITE | FAULT_WRITE_IMM | FAULT_READ | FAULT_ATOMIC)
#define FAULT_ANY 0x3ffu

enum fault_action {
	/*
	 * SEND, WRITE, WRITE_IMM: completes with success and does nothing. CONNECT, ACCEPT: gets no
	 * answer.
	 */
	FAULT_DROP,
	/*
	 * FAULT_POST: the chain, and what is posted after it, leave ms later. CONNECT: starts ms
	 * later. ACCEPT: is reported ms later.
	 */
	FAULT_DELAY,
	/*
	 * Changes one byte: of a copy that is sent, of the data of a READ, or of a received
	 * message. The byte is at, or the last one if at is past the end.
	 */
	FAULT_CORRUPT,
	/*
	 * FAULT_POST, RECV: the connection breaks instead. The first outstanding request ends with
	 * -ECONNRESET, the others are flushed, and DISCONNECTED has -ECONNRESET. Earlier requests
	 * may arrive.
	 */
	FAULT_RESET,
	/*
	 * FAULT_POST, POST_RECV, CONNECT, MR_REG: the call does nothing and returns error (0:
	 * -ENOBUFS; CONNECT -ENETUNREACH; MR_REG -ENOMEM).
	 */
	FAULT_FAIL,
	/* CONNECT: as if nobody listened. ACCEPT: rejected without data. */
	FAULT_REFUSE,
	/*
	 * FAULT_POST, RECV: from now on, as if the peer's host had lost power: nothing is sent,
	 * nothing arrives, nothing completes. After ms (0: the device's dead_peer_ms) the
	 * connection ends as with RESET, with -ETIMEDOUT.
	 */
	FAULT_VANISH,
	/* Any operation: this process gets SIGKILL. It is the peer of others. */
	FAULT_KILL,
	/*
	 * FAULT_POST, RECV, CONNECT, ACCEPT: the cq stops for ms, as in a process that does not
	 * run.
	 */
	FAULT_STALL,
};

#define FAULT_ALWAYS UINT64_MAX

/* Every field except the first two may be 0. */
struct fault_rule {
	unsigned int ops;
	enum fault_action action;
	uint64_t after; /* this many operations pass first */
	uint64_t every; /* then every n-th is hit; 0: each */
	uint64_t count; /* this many are hit; 0: 1; or FAULT_ALWAYS */
	uint64_t min; /* fits only operations of at least min bytes */
	uint64_t at; /* CORRUPT: index of the byte */
	uint32_t ms; /* required for DELAY and STALL; optional for VANISH */
	int error; /* FAIL: negative errno; in text: error=EIO */
	uint16_t port; /* fits only connections whose peer has this port */
};

/*
 * Any thread may call these functions. dev: a device opened as "fault+..."; -EINVAL if it is not.
 *
 * fault_set() replaces all rules by those of text ("": none). -EINVAL: text does not parse; err has
 * a message with the wrong part, and the current rules stay.
 */
int fault_set(struct tp_dev *dev, const char *text, char *err, size_t errlen);
/*
 * Adds a rule after the others. Returns its number, from 1 (rules of fault_set() are numbered as
 * written). -ENOSPC: there are 64 rules already.
 */
int fault_add(struct tp_dev *dev, const struct fault_rule *rule);
/* How often rule number id acted; 0 if it does not exist. */
uint64_t fault_hits(struct tp_dev *dev, int id);

#endif
