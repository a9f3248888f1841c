/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * provider.h - the tables that a provider implements. transport.c forwards each call of transport.h
 * to struct tp_ops of the object's device, or to struct tp_extra_ops, which has the operations that
 * only some transports have. If an operation is NULL, transport.c calls the one of missing.c, which
 * returns -EOPNOTSUPP or does nothing. The structures of providers begin with those below.
 */
#ifndef PROVIDER_H
#define PROVIDER_H

#include <stdbool.h>
#include <stdatomic.h>

#include "common/transport/tp_seal.h"
#include "common/transport/transport.h"

struct tp_ops {
	const char *name;
	bool several; /* the provider supports tp_dev_attr.nth */
	const struct tp_extra_ops *extra; /* NULL if there are none */
	int (*dev_open)(const struct tp_dev_attr *attr, struct tp_dev **dev);
	void (*dev_close)(struct tp_dev *dev);
	int (*mr_reg)(struct tp_dev *dev, void *addr, size_t len,
		      unsigned int access, struct tp_mr **mr);
	void (*mr_dereg)(struct tp_mr *mr);
	int (*mr_only)(struct tp_mr *mr, struct tp_ep *ep);
	int (*cq_open)(struct tp_dev *dev, unsigned int depth,
		       struct tp_cq **cq);
	void (*cq_close)(struct tp_cq *cq);
	void (*cq_abandon)(struct tp_cq *cq);
	int (*cq_poll)(struct tp_cq *cq, struct tp_wc *wc, int n);
	int (*cq_event)(struct tp_cq *cq, struct tp_event *ev);
	int (*cq_wait)(struct tp_cq *cq, uint64_t deadline);
	void (*cq_wake)(struct tp_cq *cq);
	int (*cq_fd)(struct tp_cq *cq);
	int (*cq_arm)(struct tp_cq *cq);
	int (*listen)(struct tp_cq *cq, const struct addr *addr, int backlog,
		      struct tp_listener **listener);
	void (*listener_addr)(const struct tp_listener *l, struct addr *addr);
	void (*unlisten)(struct tp_listener *listener);
	void (*reject)(struct tp_conn_req *req, const void *priv,
		       unsigned int len);
	int (*ep_open)(struct tp_cq *cq, const struct tp_ep_attr *attr,
		       struct tp_ep **ep);
	int (*accept)(struct tp_ep *ep, struct tp_conn_req *req,
		      const void *priv, unsigned int len);
	int (*connect)(struct tp_ep *ep, const struct addr *addr,
		       const void *priv, unsigned int len, uint64_t deadline);
	void (*ep_close)(struct tp_ep *ep);
	int (*post_recv)(struct tp_ep *ep, const struct tp_recv_wr *wr);
	int (*post_send)(struct tp_ep *ep, const struct tp_send_wr *wr);
};

/* Operations that only some transports have. missing.c has the behaviour without them. */
struct tp_extra_ops {
	/* local: sleeping together with a group of servers, identities, descriptors */
	void (*cq_hold)(struct tp_cq *cq);
	void (*cq_release)(struct tp_cq *cq);
	void (*ep_join)(struct tp_ep *ep);
	int (*req_identity)(const struct tp_conn_req *req,
			    struct tp_identity *id);
	int (*ep_identity)(const struct tp_ep *ep, struct tp_identity *id);
	int (*ep_pass)(struct tp_ep *ep, const int *fd, unsigned int n);
	int (*ep_take)(struct tp_ep *ep, int *fd, unsigned int n);
	uint32_t (*ep_carry_max)(const struct tp_ep *ep);
	/* tcp: connections over a stream */
	unsigned int (*ep_quiet_ms)(const struct tp_ep *ep);
	int (*ep_seal)(struct tp_ep *ep, struct sealer *sealer,
		       unsigned int behind);
	/* verbs: receives that endpoints share */
	int (*srq_open)(struct tp_cq *cq, unsigned int max_wr, void *context,
			struct tp_srq **srq);
	void (*srq_close)(struct tp_srq *srq);
	int (*srq_post_recv)(struct tp_srq *srq, const struct tp_recv_wr *wr);
	int (*srq_limit)(struct tp_srq *srq, unsigned int limit);
};

/* missing.c */
extern const struct tp_ops tp_missing;
extern const struct tp_extra_ops tp_missing_extra;

struct tp_dev {
	const struct tp_ops *ops;
	const struct tp_extra_ops *extra; /* ops->extra; set by transport.c */
	const struct log *log;
	const char *unit; /* see tp_dev_unit(); NULL if it is the only device */
	bool pins; /* see tp_dev_pins() */
	unsigned int serves; /* see tp_dev_serves() */
	/* TP_FLAWS counters; NULL if the device cannot seal */
	atomic_uint_least64_t *flaws;
	/* number of endpoints opened so far; transport.c counts */
	atomic_uint_least64_t eps;
	/* present number of registrations; transport.c counts */
	atomic_uint mrs;
	atomic_size_t mr_bytes;
};
struct tp_cq {
	struct tp_dev *dev;
};
struct tp_listener {
	struct tp_dev *dev;
};
struct tp_conn_req {
	struct tp_dev *dev;
	bool scarce; /* see tp_req_scarce() */
	/* for tp_req_peer() and tp_req_private(); valid as long as the request is */
	const char *peer;
	const void *priv;
	unsigned int priv_len;
};
struct tp_srq {
	struct tp_dev *dev;
	void *context;
};
struct tp_ep {
	struct tp_dev *dev;
	void *context;
	/* for tp_ep_peer(); set by ep_open(), its text may change later */
	const char *peer;
	uint64_t serial; /* number of this ep on its device, from 1; set by transport.c */
	bool hushed; /* the next connect does not log an unknown host */
};

/* The tables that transport.c chooses from. */
extern const struct tp_ops tcp_ops;
extern const struct tp_ops local_ops;
extern const struct tp_ops verbs_ops; /* if HAVE_VERBS */

#ifdef HAVE_VERBS
#define PROVIDERS "local, verbs or tcp"
#else
#define PROVIDERS "local or tcp"
#endif

/* Opens the device inner and wraps it; see fault.h. */
#define FAULT_PREFIX "fault+"
int fault_dev_open(const char *inner, const struct tp_dev_attr *attr,
		   struct tp_dev **dev);

#endif
