/* SPDX-License-Identifier: BSD-2-Clause */
/* raw_client.h - a client whose messages the test builds, valid or not. */
#ifndef RAW_CLIENT_H
#define RAW_CLIENT_H

#include "tests/unit/rpc_rig.h"

#define RAW_RECVS 24
#define RAW_MSG 4096

struct raw {
	struct rig *rig;
	struct tp_cq *cq;
	struct tp_ep *ep;
	struct tp_mr *mr;
	struct {
		uint64_t in[RAW_RECVS][RAW_MSG / 8];
		uint64_t out[RAW_MSG / 8];
	} * buf;
	struct wire_connect priv;
	bool repost; /* receives are posted again */
	bool established, rejected, disconnected;
	struct wire_accept answer;
	struct wire_hail hail,
		hailed; /* our hail, if not zero, and that of the server */
	unsigned int received; /* number of replies so far, in buf->in[] */
	uint32_t len; /* length of the last reply */
	uint64_t sent; /* buf->out is free again */
};

/* Prepares a connect as session with epoch.  raw->priv can be changed before raw_send(). */
void raw_open(struct raw *raw, struct rig *rig, uint64_t session,
	      uint32_t epoch);
void raw_close(struct raw *raw);
void raw_connect(struct raw *raw);
void raw_turn(struct raw *raw);
#define raw_until(raw, cond)                                                   \
	do {                                                                   \
		uint64_t stop_ = clock_after_ms(10000);                        \
		while (!(cond)) {                                              \
			raw_turn(raw);                                         \
			ck_assert_msg(clock_now() < stop_, "never: %s\n%s",    \
				      #cond, (raw)->rig->text);                \
		}                                                              \
	} while (0)

/*
 * Builds a message in buf->out and returns its length.  Header fields can be changed through
 * raw_hdr() before raw_send().
 */
struct wire_hdr *raw_hdr(struct raw *raw);
size_t raw_hello(struct raw *raw, uint32_t uid);
size_t raw_append(struct raw *raw, unsigned int slot, uint64_t seq);
size_t raw_release(struct raw *raw, unsigned int slot, uint64_t seq);
size_t raw_readlink(struct raw *raw, unsigned int slot, uint64_t seq);
int raw_try(struct raw *raw, size_t len);
void raw_send(struct raw *raw, size_t len);
/* Connects and sends HELLO as the rig's user. */
void raw_greet(struct raw *raw);
/* A row of METRICS; its strings point into raw->buf. */
struct raw_metric {
	const char *name;
	const char *label[2 * WIRE_METRIC_LABELS]; /* key and value */
	unsigned int kind, labels;
	uint64_t n, errors, bytes_in, bytes_out, ns, most;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};
/*
 * Reads all rows of these groups, page by page, by requests with the numbers from `number` on in
 * slot 0.  Returns the number of rows.
 */
unsigned int raw_metrics(struct raw *raw, unsigned int number, uint32_t groups,
			 struct raw_metric *list, unsigned int most);
/*
 * Returns the only row with this name and these label values ("" stands for any or none).  Fails if
 * there is none.
 */
const struct raw_metric *raw_metric_of(const struct raw_metric *list,
				       unsigned int n, const char *name,
				       const char *first, const char *last);
/* Status of the n-th reply (from 0), or 0. */
int raw_status(const struct raw *raw, unsigned int n);

#endif
