/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_mr.c - registrations: wraps the inner ones. */
#include <errno.h>
#include <stdlib.h>

#include "common/transport/fault/fault_priv.h"

int fault_mr_reg(struct tp_dev *dev, void *addr, size_t len,
		 unsigned int access, struct tp_mr **mr)
{
	struct fault_rule rule;
	struct fault_mr *m;
	int rc;

	if (fault_hit(dev, FAULT_MR_REG, len, 0, &rule))
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

void fault_mr_dereg(struct tp_mr *mr)
{
	struct fault_mr *m = fault_of(mr, struct fault_mr, mr);

	tp_mr_dereg(m->inner);
	free(m);
}

int fault_mr_only(struct tp_mr *mr, struct tp_ep *ep)
{
	struct tp_ep *inner = ((const struct fault_ep *)ep)->inner;
	struct fault_mr *m = fault_of(mr, struct fault_mr, mr);
	int rc = inner ? tp_mr_only(m->inner, inner) : -ENOTCONN;

	m->mr.rkey = m->inner->rkey;
	return rc;
}
