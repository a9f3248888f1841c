/* SPDX-License-Identifier: BSD-2-Clause */
/* local_rig.c - see local_rig.h. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/local_rig.h"
#include "tests/stranger.h"

int local_rig_open(struct local_rig *rig)
{
	const struct addr any = { .scheme = "local", .host = "127.0.0.1" };
	int rc;

	memset(rig, 0, sizeof(*rig));
	rc = tp_dev_open("local", NULL, &rig->dev);
	if (!rc)
		rc = tp_cq_open(rig->dev, 4096, &rig->cq);
	if (!rc)
		rc = tp_listen(rig->cq, &any, 64, &rig->listener);
	if (!rc)
		tp_listener_addr(rig->listener, &rig->addr);
	return rc;
}

void local_rig_close(struct local_rig *rig)
{
	if (rig->ep)
		tp_ep_close(rig->ep);
	tp_unlisten(rig->listener);
	tp_cq_close(rig->cq);
	tp_dev_close(rig->dev);
}

static void take_request(struct local_rig *rig, struct tp_conn_req *req,
			 const struct tp_mr *mr, uint32_t len,
			 unsigned int recvs)
{
	unsigned int i;

	if (is_stranger(req)) {
		tp_reject(req, NULL, 0);
		return;
	}
	tp_req_identity(req, &rig->id);
	if (tp_ep_open(rig->cq, NULL, &rig->ep)) {
		tp_reject(req, NULL, 0);
		return;
	}
	for (i = 0; i < recvs; i++) {
		struct tp_recv_wr wr = {
			i, { (char *)mr->addr + i * len, len, mr->lkey }
		};

		tp_post_recv(rig->ep, &wr);
	}
	rig->gone = false;
	tp_accept(rig->ep, req, NULL, 0);
}

void local_rig_turn(struct local_rig *rig, const struct tp_mr *mr, uint32_t len,
		    unsigned int recvs)
{
	struct tp_event ev;

	if (tp_cq_poll(rig->cq, &rig->wc, 1) == 1)
		rig->nwc++;
	while (tp_cq_event(rig->cq, &ev) == 1) {
		if (ev.type == TP_EV_CONNECT_REQUEST) {
			take_request(rig, ev.req, mr, len, recvs);
		} else if (ev.ep == rig->ep) {
			rig->last = ev;
			rig->gone |= ev.type == TP_EV_DISCONNECTED;
		}
	}
}

int raw_connect(const struct local_rig *rig)
{
	struct local_name name[LOCAL_NAMES];
	int n = local_names(&rig->addr, false, name), fd;

	if (n < 1)
		return -EHOSTUNREACH;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&name->sun, name->len) == 0)
		return fd;
	close(fd);
	return -ECONNREFUSED;
}

int raw_give(struct local_rig *rig, struct raw *raw, const struct tp_mr *mr,
	     uint32_t len, unsigned int recvs, const struct local_fds *give)
{
	const struct local_giver from = local_giver(rig->dev, geteuid());
	uint64_t give_up = clock_after_ms(RAW_PATIENCE_MS);
	struct local_fds got;
	struct local_hello hello;
	const char *why;
	int rc;

	memset(raw, 0, sizeof(*raw));
	raw->fd = raw_connect(rig);
	if (raw->fd < 0)
		return raw->fd;
	rc = local_hello_send(raw->fd, LOCAL_CONNECT, NULL, 0, give);
	if (rc)
		return rc;
	do {
		local_rig_turn(rig, mr, len, recvs);
		rc = local_hello_recv(&from, raw->fd, &hello, &got, &why);
	} while (rc == -EAGAIN && clock_now() < give_up);
	if (rc)
		return rc;
	rc = local_shm_map(&raw->shm, got.fd[LOCAL_FD_SHM]);
	raw->bell = local_fds_take(&got, LOCAL_FD_BELL);
	local_fds_close(&from, &got);
	if (rc)
		return rc;
	local_out_init(&raw->out, &raw->shm, LOCAL_CONNECTOR);
	local_in_init(&raw->in, &raw->shm, LOCAL_CONNECTOR);
	return 0;
}

int raw_open(struct local_rig *rig, struct raw *raw, const struct tp_mr *mr,
	     uint32_t len, unsigned int recvs)
{
	struct local_fds give = LOCAL_NO_FDS;

	/* a table is a table */
	give.fd[LOCAL_FD_TABLE] = local_dev(rig->dev)->mrs.fd;
	return raw_give(rig, raw, mr, len, recvs, &give);
}

void raw_close(struct raw *raw)
{
	local_shm_unmap(&raw->shm);
	close(raw->bell);
	close(raw->fd);
}

void raw_put(struct raw *raw, const struct local_head *head, const void *data)
{
	uint32_t size = head->size < LOCAL_PIECE ? head->size : LOCAL_PIECE;
	int rc;
	uint8_t *p = local_out_room(&raw->out, size, &rc);

	if (!p)
		return;
	memcpy(p, head, sizeof(*head));
	if (data)
		memcpy(p + sizeof(*head), data, size);
	local_out_put(&raw->out, size);
	local_out_publish(&raw->out);
}
