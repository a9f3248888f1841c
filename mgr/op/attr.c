/* SPDX-License-Identifier: BSD-2-Clause */
/* attr.c - the reply with the attributes of an inode. */
#include "mgr/op/ops.h"

int op_put_attr(struct op *op, const struct inode *ino)
{
	struct wire_attr_rep rep;

	ns_fill_attr(&op->ns, ino, &rep.attr);
	wire_put(op->out, &rep, sizeof(rep));
	return 0;
}
