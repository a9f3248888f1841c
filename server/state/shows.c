/* SPDX-License-Identifier: BSD-2-Clause */
/* shows.c - see shows.h. */
#include "server/state/shows.h"

#include <string.h>

/* If the transport needs a process for RDMA Reads, a request is as fast. */
static bool serves(const struct iod *iod, const struct tp_dev *dev)
{
	switch (iod->conf.ends) {
	case IOD_WORDS_ON:
		return tp_dev_serves(dev) & TP_ALONE;
	case IOD_WORDS_ALL:
		return true;
	case IOD_WORDS_OFF:
		break;
	}
	return false;
}

bool shows_wanted(const struct iod *iod)
{
	const struct rails *rails = &iod->fabric.rails;

	for (unsigned int i = 0; i < rails->n; i++)
		if (serves(iod, rails->dev[i]))
			return true;
	return false;
}

void shows_open(struct iod *iod)
{
	const struct rails *rails = &iod->fabric.rails;
	struct shown *shown = store_shown(iod->store);
	unsigned int i;
	size_t len;
	void *addr;
	int rc;

	if (!shown)
		return;
	addr = shown_memory(shown, &len);
	for (i = 0; i < rails->n; i++) {
		if (!serves(iod, rails->dev[i]))
			continue;
		rc = tp_mr_reg(rails->dev[i], addr, len,
			       TP_REMOTE_READ | TP_LENT, &iod->shows[i]);
		if (rc)
			log_warn(iod->log,
				 "cannot register %zu KiB with %s: %s; clients "
				 "ask for sizes there",
				 len / 1024, tp_dev_name(rails->dev[i]),
				 strerror(-rc));
	}
}

void shows_close(struct iod *iod)
{
	unsigned int i;

	for (i = 0; i < RAILS_MAX; i++)
		if (iod->shows[i])
			tp_mr_dereg(iod->shows[i]);
}

bool shows_place(struct iod *iod, const struct rpc_req *req, uint64_t handle,
		 struct wire_end_place *place)
{
	const struct tp_mr *mr = iod->shows[rpc_req_rail(req)];
	uint64_t tag;
	size_t at;

	/* one memory key gives access to the sizes of all objects */
	if (!mr || iod->conf.auth.caps ||
	    !(rpc_session_info(req->session)->features & WIRE_FT_ENDS) ||
	    !shown_place(store_shown(iod->store), handle, &at, &tag))
		return false;
	*place = (struct wire_end_place){
		.addr = htole64((uintptr_t)mr->addr + at),
		.tag = htole64(tag),
		.rkey = htole32(mr->rkey),
	};
	return true;
}
