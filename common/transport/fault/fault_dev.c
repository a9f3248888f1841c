/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_dev.c - the wrapped device with its registrations, and the functions of fault.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/transport/fault/fault_priv.h"

static int fault_mr_reg(struct tp_dev *dev, void *addr, size_t len,
			unsigned int access, struct tp_mr **mr)
{
	struct fault_rule rule;
	struct fault_mr *m;
	int rc;

	if (fault_dev_hit(dev, FAULT_MR_REG, len, 0, &rule))
		return rule.error ? rule.error : -ENOMEM;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	rc = tp_mr_reg(fault_dev(dev)->inner, addr, len, access, &m->inner);
	if (rc) {
		free(m);
		return rc;
	}
	m->mr = *m->inner;
	m->mr.dev = dev;
	*mr = &m->mr;
	return 0;
}

static void fault_mr_dereg(struct tp_mr *mr)
{
	struct fault_mr *m = fault_of(mr, struct fault_mr, mr);

	tp_mr_dereg(m->inner);
	free(m);
}

static int fault_mr_only(struct tp_mr *mr, struct tp_ep *ep)
{
	struct tp_ep *inner = ((const struct fault_ep *)ep)->inner;
	struct fault_mr *m = fault_of(mr, struct fault_mr, mr);
	int rc = inner ? tp_mr_only(m->inner, inner) : -ENOTCONN;

	m->mr.rkey = m->inner->rkey;
	return rc;
}

static int dev_init(struct fault_dev *d, const char *inner,
		    const struct tp_dev_attr *attr)
{
	char err[160] = "";
	int rc;

	d->dev.log = attr ? attr->log : NULL;
	d->dead_peer_ms = attr && attr->dead_peer_ms ? attr->dead_peer_ms
						     : 30000;
	snprintf(d->name, sizeof(d->name), FAULT_PREFIX "%s", inner);
	d->ops = fault_ops;
	d->ops.name = d->name;
	d->dev.ops = &d->ops;
	rc = fault_table_init(&d->table, secure_getenv("PVFS_FAULT"), err,
			      sizeof(err));
	if (rc)
		log_error(d->dev.log, "PVFS_FAULT: %s", err);
	return rc;
}

int fault_dev_open(const char *inner, const struct tp_dev_attr *attr,
		   struct tp_dev **dev)
{
	struct fault_dev *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return -ENOMEM;
	rc = dev_init(d, inner, attr);
	if (rc)
		goto free_dev;
	rc = tp_dev_open(inner, attr, &d->inner);
	if (rc)
		goto free_table;
	d->dev.pins = tp_dev_pins(d->inner);
	d->dev.serves = tp_dev_serves(d->inner);
	d->dev.flaws = d->inner->flaws;
	*dev = &d->dev;
	return 0;
free_table:
	fault_table_free(&d->table);
free_dev:
	free(d);
	return rc;
}

static void fault_dev_close(struct tp_dev *dev)
{
	struct fault_dev *d = fault_dev(dev);

	tp_dev_close(d->inner);
	fault_table_free(&d->table);
	free(d);
}

static const struct tp_extra_ops fault_extra_ops = {
	.cq_hold = fault_cq_hold,
	.cq_release = fault_cq_release,
	.req_identity = fault_req_identity,
	.ep_identity = fault_ep_identity,
	.ep_pass = fault_ep_pass,
	.ep_take = fault_ep_take,
	.ep_carry_max = fault_ep_carry_max,
	.ep_quiet_ms = fault_ep_quiet_ms,
	.ep_join = fault_ep_join,
	.ep_seal = fault_ep_seal,
};

const struct tp_ops fault_ops = {
	.name = "fault",
	.extra = &fault_extra_ops,
	.dev_close = fault_dev_close,
	.mr_reg = fault_mr_reg,
	.mr_dereg = fault_mr_dereg,
	.mr_only = fault_mr_only,
	.cq_open = fault_cq_open,
	.cq_close = fault_cq_close,
	.cq_abandon = fault_cq_abandon,
	.cq_poll = fault_cq_poll,
	.cq_event = fault_cq_event,
	.cq_wait = fault_cq_wait,
	.cq_wake = fault_cq_wake,
	.cq_fd = fault_cq_fd,
	.cq_arm = fault_cq_arm,
	.listen = fault_listen,
	.listener_addr = fault_listener_addr,
	.unlisten = fault_unlisten,
	.reject = fault_reject,
	.ep_open = fault_ep_open,
	.accept = fault_accept,
	.connect = fault_connect,
	.ep_close = fault_ep_close,
	.post_recv = fault_post_recv,
	.post_send = fault_post_send,
};

static struct fault_table *table_of(struct tp_dev *dev)
{
	return dev->ops->dev_close == fault_dev_close ? &fault_dev(dev)->table
						      : NULL;
}

int fault_set(struct tp_dev *dev, const char *text, char *err, size_t errlen)
{
	struct fault_table *t = table_of(dev);

	return t ? fault_table_set(t, text, err, errlen) : -EINVAL;
}

int fault_add(struct tp_dev *dev, const struct fault_rule *rule)
{
	struct fault_table *t = table_of(dev);

	return t ? fault_table_add(t, rule) : -EINVAL;
}

uint64_t fault_hits(struct tp_dev *dev, int id)
{
	struct fault_table *t = table_of(dev);

	return t ? fault_table_hits(t, id) : 0;
}
