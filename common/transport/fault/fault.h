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
 * The provider checks the rules in order. Each rule counts the operations to which it applies. The
 * first rule that is due acts; at most one rule acts on an operation.
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
	 * FAULT_POST: the chain, and requests that are posted after it, are sent ms later. CONNECT:
	 * the connect starts ms later. ACCEPT: the request is reported ms later.
	 */
	FAULT_DELAY,
	/*
	 * Changes one byte of the data that is sent (in a copy), that a READ has fetched, or that
	 * was received. at is the index of the byte; the last byte if at is beyond the end.
	 */
	FAULT_CORRUPT,
	/*
	 * FAULT_POST, RECV: the connection breaks instead of the operation. The first outstanding
	 * request ends with -ECONNRESET, the others are flushed, and DISCONNECTED has -ECONNRESET.
	 * Requests that were posted before may arrive at the peer.
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
	 * FAULT_POST, RECV: the peer's host seems to lose power: from now on, nothing is sent,
	 * arrives or completes. After ms (0: dead_peer_ms of the device) the connection breaks as
	 * with RESET, but with -ETIMEDOUT.
	 */
	FAULT_VANISH,
	/* Any operation: this process kills itself with SIGKILL, to test its peers. */
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
	uint64_t after; /* operations that pass before the rule is due */
	uint64_t every; /* then the rule acts on every n-th operation; 0: on each */
	uint64_t count; /* operations on which it acts; 0: 1; or FAULT_ALWAYS */
	uint64_t min; /* fits only operations of at least min bytes */
	uint64_t at; /* CORRUPT: index of the byte */
	uint32_t ms; /* required for DELAY and STALL; optional for VANISH */
	int error; /* FAIL: negative errno; in text: error=EIO */
	uint16_t port; /* fits only connections whose peer has this port */
};

/*
 * Any thread may call these functions. If dev was not opened as "fault+...", they return -EINVAL.
 *
 * fault_set() replaces all rules of dev by those in text ("": none). Returns 0, or -EINVAL without
 * a change: text is invalid, and err names the wrong part.
 */
int fault_set(struct tp_dev *dev, const char *text, char *err, size_t errlen);
/*
 * Appends a rule. Returns its number, from 1; the rules of fault_set() have numbers, too. -ENOSPC:
 * there are already 64 rules.
 */
int fault_add(struct tp_dev *dev, const struct fault_rule *rule);
/* How often rule number id acted; 0 if it does not exist. */
uint64_t fault_hits(struct tp_dev *dev, int id);

#endif
