/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_connect.c - both ends of a connect, and messages that arrive on the socket later:
 *
 *	IDLE --connect--> CONNECTING --room--> HELLO --ACCEPT--> UP
 *	IDLE --accept-----------------------------------------> UP
 *
 * and from each of them to BROKEN.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/transport/local/local.h"

/* delay before the next try when the listener's queue is full */
#define AGAIN_MS 5
/* number of unread bytes at which the socket is read; it holds some hundreds */
#define BELLS_MAX 64u

static void connection_up(struct local_ep *ep, enum local_of side)
{
	ep->side = side;
	local_out_init(&ep->out, &ep->shm, side);
	local_in_init(&ep->in, &ep->shm, side);
	memcpy(ep->nonce, ep->shm.ctl->nonce, LOCAL_NONCE);
	local_reach_admit_peer(ep);
	ep->state = LOCAL_EP_UP;
	tp_pending_queue(&ep->cq->sock.events, &ep->started, TP_EV_ESTABLISHED,
			 0);
	local_ep_activate(ep);
}

/* Without the peer's table we cannot access its memory directly. That is no error. */
static void map_table(struct local_ep *ep, int fd)
{
	if (local_table_map(fd, &ep->table))
		log_info(ep->ep.dev->log, "%s: its table cannot be mapped",
			 ep->peer);
}

/* Takes over the descriptors of ACCEPT. */
static int adopt_shared(struct local_ep *ep, struct local_fds *fds)
{
	int rc = local_shm_map(&ep->shm, fds->fd[LOCAL_FD_SHM]);

	ep->bell = local_fds_take(fds, LOCAL_FD_BELL);
	if (!rc && fds->fd[LOCAL_FD_TABLE] >= 0)
		map_table(ep, fds->fd[LOCAL_FD_TABLE]);
	return rc;
}

/* As local_ep_break(), but the event is REJECTED. */
static void connection_rejected(struct local_ep *ep)
{
	local_ep_break(ep, -ECONNREFUSED, 0);
	tp_pending_drop(&ep->cq->sock.events, &ep->ended);
	tp_pending_queue(&ep->cq->sock.events, &ep->started, TP_EV_REJECTED,
			 -ECONNREFUSED);
}

static bool is_valid_accept(const struct local_hello *hello)
{
	return hello->type == LOCAL_ACCEPT &&
	       (hello->has & LOCAL_ACCEPT_FDS) == LOCAL_ACCEPT_FDS;
}

static void hello_received(struct local_ep *ep, const struct local_hello *hello,
			   struct local_fds *fds)
{
	int rc = 0;

	sock_timer_clear(&ep->cq->sock, &ep->timer);
	tp_private_set(&ep->priv, hello->priv, hello->priv_len);
	if (hello->type == LOCAL_REJECT) {
		connection_rejected(ep);
		return;
	}
	if (is_valid_accept(hello))
		rc = adopt_shared(ep, fds);
	if (rc || !is_valid_accept(hello)) {
		log_warn(ep->ep.dev->log, "%s: an invalid accept", ep->peer);
		local_ep_break(ep, rc ?: -EPROTO, 0);
		return;
	}
	connection_up(ep, LOCAL_CONNECTOR);
}

static void connect_answer(struct local_ep *ep)
{
	const struct local_giver from = local_ep_giver(ep);
	const char *why = "closed before it accepted";
	struct local_hello hello;
	struct local_fds fds;
	int rc = local_hello_recv(&from, ep->fd, &hello, &fds, &why);

	if (rc == -EAGAIN)
		return;
	if (rc == 0) {
		hello_received(ep, &hello, &fds);
		local_fds_close(&from, &fds);
		return;
	}
	log_info(ep->ep.dev->log, "%s: %s", ep->peer, why);
	local_ep_break(ep, rc, 0);
}

/* Each bell raises an edge, whether it is read or not; so many are read at a time. */
static void bell_received(struct local_ep *ep)
{
	if (ep->side == LOCAL_ACCEPTOR) {
		local_ep_refuse(ep, -EPROTO, 0, "data after its hello");
		return;
	}
	if (++ep->bells < BELLS_MAX)
		return;
	ep->bells = 0;
	local_ep_receive_passed(ep);
}

static void ep_edge(struct sock_src *src, uint32_t events)
{
	struct local_ep *ep = container_of(src, struct local_ep, src);

	if (ep->state == LOCAL_EP_HELLO) {
		connect_answer(ep);
		if (ep->state != LOCAL_EP_UP)
			return;
	}
	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		ep->eof = true;
	else
		bell_received(ep);
	local_ep_activate(ep);
}

static int attach_socket(struct local_ep *ep, int fd)
{
	int rc;

	ep->src.ready = ep_edge;
	rc = sock_cq_add(&ep->cq->sock, fd, &ep->src, EPOLLIN | EPOLLRDHUP);
	if (rc)
		return rc;
	ep->fd = fd;
	TAILQ_INSERT_TAIL(&ep->cq->open, ep, open_link);
	return 0;
}

/*
 * Returns the descriptor of this device's table if the peer may access our memory; -1: it may not.
 */
static int own_table(struct local_ep *ep)
{
	struct local_dev *dev = local_dev(ep->ep.dev);

	return local_guest_allowed(dev, &ep->id) ? dev->mrs.fd : -1;
}

/* Logs one warning for all servers of that user. */
static void log_untrusted(struct local_ep *ep)
{
	struct local_dev *dev = local_dev(ep->ep.dev);
	uid_t uid = ep->id.uid;
	bool known = atomic_exchange(&dev->untrusted_uid, uid) == uid;

	log_msg(dev->dev.log, known || dev->probe ? LOG_LV_INFO : LOG_LV_WARN,
		"%s: not trusted: its server runs as user %u, neither root "
		"nor ours; if it should be, write server_user=%u in pvfstab",
		ep->peer, uid, uid);
}

/*
 * Any user can listen under an abstract name. So trust only listeners of root, our own user, and
 * the configured server user.
 */
static bool is_trusted(struct local_ep *ep)
{
	const struct local_dev *dev = local_dev(ep->ep.dev);
	uid_t uid = ep->id.uid;

	if (uid == 0 || uid == geteuid() || uid == dev->owner)
		return true;
	log_untrusted(ep);
	return false;
}

static int send_connect(struct local_ep *ep, int fd)
{
	struct local_fds fds = LOCAL_NO_FDS;
	int rc = local_sock_peer(fd, &ep->id);

	if (rc)
		return rc;
	if (!is_trusted(ep))
		return -EACCES;
	fds.fd[LOCAL_FD_TABLE] = own_table(ep);
	if (ep->group)
		ep->group = local_group_client_share(ep->cq,
						     &fds.fd[LOCAL_FD_WAKEUP],
						     &fds.fd[LOCAL_FD_PAGE]);
	return local_hello_send(fd, LOCAL_CONNECT, ep->priv.data, ep->priv.len,
				&fds);
}

static void close_socket(struct local_ep *ep, int fd)
{
	const struct local_giver from = local_ep_giver(ep);

	local_sock_close(&from, fd);
}

/* Tries one name. -EAGAIN: the listener's queue is full. */
static int try_name(struct local_ep *ep, const struct local_name *name)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&name->sun, name->len))
		rc = -errno;
	if (!rc)
		rc = send_connect(ep, fd);
	if (!rc)
		rc = attach_socket(ep, fd);
	if (rc)
		close_socket(ep, fd);
	return rc;
}

static void try_names(struct local_ep *ep)
{
	int rc, why = -ECONNREFUSED;

	for (; ep->name_next < ep->nnames; ep->name_next++) {
		rc = try_name(ep, &ep->name[ep->name_next]);
		if (rc == 0) {
			ep->state = LOCAL_EP_HELLO;
			return;
		}
		if (rc == -EAGAIN) {
			sock_timer_set(&ep->cq->sock, &ep->again,
				       clock_after_ms(AGAIN_MS));
			return;
		}
		if (why != -EACCES)
			why = rc;
	}
	log_debug(ep->ep.dev->log, "%s: cannot connect: %s", ep->peer,
		  strerror(-why));
	local_ep_break(ep, why, 0);
}

static void try_again(struct sock_timer *timer)
{
	try_names(container_of(timer, struct local_ep, again));
}

static void too_late(struct sock_timer *timer)
{
	struct local_ep *ep = container_of(timer, struct local_ep, timer);

	log_debug(ep->ep.dev->log, "%s: not connected in time", ep->peer);
	local_ep_break(ep, -ETIMEDOUT, 0);
}

int local_connect(struct tp_ep *base, const struct addr *addr, const void *priv,
		  unsigned int len, uint64_t deadline)
{
	struct local_ep *ep = container_of(base, struct local_ep, ep);
	int n;

	if (ep->state != LOCAL_EP_IDLE || len > TP_PRIVATE_MAX)
		return -EINVAL;
	if (ep->cq->sock.lost)
		return -EBADFD;
	n = local_names(addr, false, ep->name);
	if (n < 0)
		return n;
	ep->nnames = n;
	ep->state = LOCAL_EP_CONNECTING;
	tp_private_set(&ep->priv, priv, len);
	snprintf(ep->peer, sizeof(ep->peer), "local %s:%u", addr->host,
		 addr->port);
	ep->timer.fire = too_late;
	ep->again.fire = try_again;
	if (deadline != CLOCK_NEVER)
		sock_timer_set(&ep->cq->sock, &ep->timer, deadline);
	try_names(ep);
	return 0;
}

static int send_accept(struct local_ep *ep, int shm_fd, const void *priv,
		       unsigned int len)
{
	struct local_fds fds = LOCAL_NO_FDS;

	fds.fd[LOCAL_FD_SHM] = shm_fd;
	fds.fd[LOCAL_FD_BELL] = ep->bell;
	fds.fd[LOCAL_FD_TABLE] = own_table(ep);
	return local_hello_send(ep->fd, LOCAL_ACCEPT, priv, len, &fds);
}

/*
 * Returns the size of the ring.  If a peer's memory cannot be accessed directly, its ring has room
 * for bulk data (local_reach.c).
 */
static uint32_t ring_for(const struct local_ep *ep, const struct local_req *req)
{
	bool reach = req->fds.fd[LOCAL_FD_TABLE] >= 0 &&
		     req->id.uid == geteuid() &&
		     !local_dev(ep->ep.dev)->no_reach;

	return reach ? LOCAL_RING : LOCAL_RING_BULK;
}

static int accept_request(struct local_ep *ep, struct local_req *req,
			  const void *priv, unsigned int len)
{
	int shm_fd;
	int rc = local_shm_create(&ep->shm, ring_for(ep, req), &shm_fd);

	if (rc)
		return rc;
	rc = attach_socket(ep, req->sock.fd);
	if (rc)
		goto unmap;
	req->sock.fd = -1;
	ep->id = req->id;
	ep->groups = req->groups;
	req->groups = NULL;
	if (req->fds.fd[LOCAL_FD_TABLE] >= 0)
		map_table(ep, req->fds.fd[LOCAL_FD_TABLE]);
	connection_up(ep, LOCAL_ACCEPTOR);
	local_acceptor_watch_process(ep);
	rc = local_acceptor_open_bell(ep);
	if (!rc)
		rc = local_acceptor_join_group(ep, &req->fds);
	if (!rc)
		rc = send_accept(ep, shm_fd, priv, len);
	if (rc)
		local_ep_break(ep, rc == -EPIPE ? -ECONNRESET : rc, 0);
	close(shm_fd);
	return 0;
unmap:
	local_shm_unmap(&ep->shm);
	close(shm_fd);
	return rc;
}

int local_accept(struct tp_ep *base, struct tp_conn_req *base_req,
		 const void *priv, unsigned int len)
{
	struct local_ep *ep = container_of(base, struct local_ep, ep);
	struct local_req *req = container_of(base_req, struct local_req,
					     sock.req);
	int rc = -EINVAL, gone;

	if (ep->state != LOCAL_EP_IDLE || len > TP_PRIVATE_MAX)
		goto free_req;
	snprintf(ep->peer, sizeof(ep->peer), "%s", req->sock.peer);
	gone = sock_req_check(&req->sock);
	if (gone) {
		local_ep_break(ep, gone, 0);
		rc = 0;
	} else {
		rc = accept_request(ep, req, priv, len);
	}
free_req:
	sock_req_free(&req->sock);
	return rc;
}
