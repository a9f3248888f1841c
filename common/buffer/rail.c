/* SPDX-License-Identifier: BSD-2-Clause */
/* rail.c - registers memory with the devices that need it. */
#include "rail.h"

int rail_mem_reg(struct rail_mem *mem, const struct rails *rails,
		 unsigned int rail)
{
	return tp_mr_reg(rails->dev[rail], mem->addr, mem->len, mem->access,
			 &mem->mr[rail]);
}

int rail_mem_reg_all(struct rail_mem *mem, const struct rails *rails)
{
	unsigned int i;
	int rc;

	for (i = 0; i < rails->n; i++) {
		rc = rail_mem_on(mem, rails, i);
		if (rc) {
			rail_mem_fini(mem);
			return rc;
		}
	}
	return 0;
}

void rail_mem_fini(struct rail_mem *mem)
{
	unsigned int i;

	for (i = 0; i < RAILS_MAX; i++) {
		if (mem->mr[i])
			tp_mr_dereg(mem->mr[i]);
		mem->mr[i] = NULL;
	}
}
