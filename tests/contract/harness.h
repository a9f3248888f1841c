/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * harness.h - two devices in one process.  Their completions and events are kept until a test takes
 * them.  Every function fails the running test on an error.  Every wait has a deadline, so that a
 * hang is a failure.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/util/addr.h"
#include "common/util/clock.h"
#include "common/transport/transport.h"

#define PATIENCE_MS 30000u /* a longer wait counts as a hang */
#define KEPT 4096u /* maximum number of completions or events not yet taken */

/* Memory of a side, freed with it: size bytes between red zones. */
struct mem {
	LIST_ENTRY(mem) link;
	struct tp_mr *mr;
	uint8_t *p;
	size_t len;
	uint8_t *block;
};

/* A device with one completion queue. */
struct side {
	struct tp_dev *dev;
	struct tp_cq *cq;
	struct tp_wc wc[KEPT];
	unsigned int nwc;
	struct tp_event ev[KEPT];
	unsigned int nev;
	LIST_HEAD(, mem) mems;
};
void side_open(struct side *s, const char *provider, unsigned int depth);
/* Endpoints and listeners must be closed before. */
void side_close(struct side *s);
/* Polls once, and keeps the results.  Returns their number. */
unsigned int side_pump(struct side *s);
/* Takes the first kept completion of ep (NULL: of any endpoint). */
bool side_find_wc(struct side *s, const struct tp_ep *ep, struct tp_wc *wc);
bool side_find_ev(struct side *s, const struct tp_ep *ep, struct tp_event *ev);
/* Drops everything that is kept of ep. */
void side_forget(struct side *s, const struct tp_ep *ep);
/* Posts a receive of len bytes at mem + off. */
void side_recv(struct tp_ep *ep, uint64_t wr_id, const struct mem *m,
	       size_t off, uint32_t len);

/* Two sides; a connects, and b listens. */
struct link {
	LIST_ENTRY(link) link;
	struct world *world;
	struct tp_ep *a, *b;
};
struct world {
	struct side a, b;
	struct tp_listener *listener;
	struct addr addr;
	LIST_HEAD(, link) links;
};
void world_open(struct world *w, const char *provider, unsigned int depth);
void world_close(struct world *w);
/* Polls both sides; sleeps briefly if nothing happens for long. */
void world_pump(struct world *w);

/* Returns the next completion or event of ep on s, while both sides are polled. */
struct tp_wc world_wc(struct world *w, struct side *s, struct tp_ep *ep);
struct tp_event world_ev(struct world *w, struct side *s, struct tp_ep *ep);
/*
 * Returns the next completion of ep's receives or of its send requests, as opcode says, and checks
 * it, except for byte_len and imm.
 */
struct tp_wc expect_wc(struct world *w, struct side *s, struct tp_ep *ep,
		       uint64_t wr_id, enum tp_opcode opcode, int status);
struct tp_event expect_ev(struct world *w, struct side *s, struct tp_ep *ep,
			  enum tp_event_type type);
/* Takes completions of ep until DISCONNECTED, and returns its status. */
int expect_gone(struct world *w, struct side *s, struct tp_ep *ep);
/* Returns a connect request at the listener of w. */
struct tp_conn_req *expect_req(struct world *w);
/* Checks that nothing of ep is kept: neither completion nor event. */
void expect_silence(struct side *s, const struct tp_ep *ep);

/* Returns a connected pair of endpoints, which is closed with the world or by link_close(). */
struct link *link_open(struct world *w, const struct tp_ep_attr *attr);
/* The same before it is connected, for tests that post receives first. */
struct link *link_idle(struct world *w, const struct tp_ep_attr *attr);
void link_start(struct world *w, struct link *l);
void link_close(struct link *l);
/* Checks that a message passes from a to b and back. */
void link_works(struct world *w, struct link *l);

struct mem *mem_new(struct side *s, size_t len, unsigned int access);
void mem_fill(struct mem *m, uint64_t seed);
/* Checks that bytes [off, off + len) are those that mem_fill(seed) makes at `from`. */
void mem_check(const struct mem *m, size_t off, size_t len, uint64_t seed,
	       size_t from);
void mem_check_zero(const struct mem *m);
void pattern(uint8_t *p, size_t len, uint64_t seed, size_t from);

/* These build requests. */
struct tp_sge sge_of(const struct mem *m, size_t off, uint32_t len);
struct tp_send_wr wr_send(uint64_t wr_id, const struct tp_sge *sge);
struct tp_send_wr wr_rdma(enum tp_opcode opcode, uint64_t wr_id,
			  const struct tp_sge *sge, const struct mem *remote,
			  size_t off);

/* Number of open descriptors of this process. */
unsigned int fd_count(void);

/* Deterministic random numbers. */
uint64_t rnd(uint64_t *state);

#define ck_ok(call) ck_assert_int_eq((call), 0)

#endif
