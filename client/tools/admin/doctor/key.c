/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * key.c - the servers' key, munged if clients authenticate with it, and whether a server
 * serves the file system of pvfs.conf and accepts the key of this host.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/tools/admin/doctor/checks.h"
#include "common/comm/rpc.h"
#include "common/trust/key_file.h"
#include "common/trust/keyring.h"
#include "common/util/clock.h"
#include "common/util/random_id.h"

/* ---- this host ---- */

#define MUNGE_SOCKET "/run/munge/munge.socket.2"

/*
 * If root runs the check, it becomes the owner of that key, like the servers: they accept no
 * other user's key.
 */
static void become_owner(const char *path)
{
	struct stat sb;

	if (!geteuid() && !stat(path, &sb) && sb.st_uid && seteuid(sb.st_uid))
		_exit(1);
}

/* The key must belong to the owner of the storage: the user of the daemons. */
static bool is_foreign(const struct doctor *d, const struct stat *sb)
{
	char fix[PATH_MAX + 64];
	struct stat store;

	for (unsigned int i = 0; i < d->nsubjects; i++) {
		if (stat(d->subject[i].storage, &store) ||
		    store.st_uid == sb->st_uid || !sb->st_uid)
			continue;
		snprintf(fix, sizeof(fix), "chown %u %s",
			 (unsigned int)store.st_uid, d->key);
		doctor_find(d, fix,
			    "%s belongs to user %u, and storage %s to user "
			    "%u",
			    d->key, (unsigned int)sb->st_uid,
			    d->subject[i].storage, (unsigned int)store.st_uid);
		return true;
	}
	return false;
}

void check_key(const struct doctor *d, const struct subject *s)
{
	struct found_log f = { d, 0 };
	const struct log log = found_log(&f);
	struct keys keys;
	struct stat sb;

	(void)s;
	if (!d->key[0])
		return;
	if (stat(d->key, &sb)) {
		if (errno == ENOENT)
			doctor_find(d,
				    "start the manager, which makes it, or "
				    "scp -p it from a server host that has it",
				    "the servers' key %s is not there", d->key);
		else
			doctor_unseen(d, "%s: %s", d->key, strerror(errno));
		return;
	}
	if (is_foreign(d, &sb) || (sb.st_mode & 077))
		return; /* pvfs-conf reports the mode */
	become_owner(d->key);
	if (access(d->key, R_OK) || (geteuid() && sb.st_uid != geteuid()))
		doctor_unseen(d, "%s: only user %u and root read it", d->key,
			      (unsigned int)sb.st_uid);
	else if (!key_file_read(d->key, &log, &keys))
		explicit_bzero(&keys, sizeof(keys));
}

static const char *munge_socket(const char *configured)
{
	return configured[0] ? configured : MUNGE_SOCKET;
}

static int reach_munged(const char *configured)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	snprintf(to.sun_path, sizeof(to.sun_path), "%s",
		 munge_socket(configured));
	rc = connect(fd, (struct sockaddr *)&to, sizeof(to)) ? -errno : 0;
	close(fd);
	return rc;
}

int munged_reach(const struct doctor *d)
{
	return reach_munged(d->munge_socket);
}

void munged_find(const struct doctor *d, const char *where,
		 const char *configured)
{
	int rc = reach_munged(configured);

	if (rc)
		doctor_find(d,
			    "systemctl enable --now munge, with the same "
			    "/etc/munge/munge.key on all hosts; munge_socket "
			    "if it listens elsewhere",
			    "%s, and munged is not reached at %s: %s", where,
			    munge_socket(configured), strerror(-rc));
}

bool munge_needless(const struct doctor *d)
{
	return d->conf && !strcmp(d->auth, "munge") && d->nsubjects &&
	       !subject_is_here(&d->subject[0]) && munged_reach(d);
}

void check_munge(const struct doctor *d, const struct subject *s)
{
	int rc;

	(void)s;
	if (strcmp(d->auth, "munge") != 0)
		return;
	rc = munged_reach(d);
	if (rc && munge_needless(d))
		doctor_note(d,
			    "munged is not reached at %s: %s; of servers the "
			    "manager alone needs it",
			    munge_socket(d->munge_socket), strerror(-rc));
	else
		munged_find(d, "auth = munge", d->munge_socket);
}

/* ---- the servers, asked as a server asks another ---- */

struct asking {
	struct keyring *ring;
	struct fabric fabric;
	struct rpc_ctx *ctx;
	struct rpc_peer *peer;
	int status;
	bool over;
};

static void on_done(struct rpc_call *call)
{
	struct asking *a = call->arg;

	a->over = true;
	a->status = call->status;
}

static int send_ping(const struct doctor *d, struct asking *a)
{
	_Alignas(8) uint8_t msg[256];
	struct rpc_call call = { .msg = msg,
				 .deadline = clock_after_ms(d->timeout_s * 500),
				 .done = on_done,
				 .arg = a };
	struct wire_out out;

	wire_begin(&out, msg, sizeof(msg));
	call.msg_len = (size_t)wire_end(&out, WIRE_PING, 0, 0);
	rpc_call_start(a->peer, &call);
	while (!a->over)
		rpc_ctx_progress(a->ctx, call.deadline);
	return a->status;
}

/*
 * An iod is asked in the role of the manager.  The manager is asked in the role of a
 * client, which proves nothing.
 */
static int open_peer(const struct doctor *d, const struct subject *s,
		     struct asking *a)
{
	struct rpc_cred cred = { .name = "pvfs-doctor" };
	struct rpc_peer_attr attr = {
		.addr = s->addr,
		.name = s->name,
		.role = s->mgr || !a->ring ? WIRE_ROLE_CLIENT : WIRE_ROLE_MGR,
		.fsid = d->fsid,
		.cred = &cred,
		.prover = keyring_prover(a->ring),
		.server = s->mgr ? WIRE_ROLE_MGR : WIRE_ROLE_IOD,
		.index = s->index,
		.impatient = true
	};
	int rc = random_id(&attr.session);

	return rc ? rc : rpc_peer_open(a->ctx, &attr, &a->peer);
}

static int ask_server(const struct doctor *d, const struct subject *s,
		      struct asking *a)
{
	struct tp_dev_attr dev = { 0 };
	struct rpc_ctx_attr ctx = { .fabric = &a->fabric };
	int rc;

	if (d->key[0] && keyring_open(d->key, false, NULL, &a->ring))
		return -ENODATA; /* check_key() reports the cause */
	rc = fabric_open(&a->fabric, s->addr.scheme, NULL, &dev);
	if (!rc)
		rc = rpc_ctx_open(&ctx, &a->ctx);
	if (!rc)
		rc = open_peer(d, s, a);
	return rc ? rc : send_ping(d, a);
}

static void close_all(struct asking *a)
{
	if (a->peer)
		rpc_peer_close(a->peer, true);
	if (a->ctx) {
		rpc_ctx_progress(a->ctx, 0); /* sends BYE */
		rpc_ctx_close(a->ctx);
	}
	fabric_close(&a->fabric);
	keyring_close(a->ring);
}

/*
 * Excludes -ENOKEY: both keys were the same, and the server asks who the client is.
 * Excludes -EACCES: the server checks no key of a host outside its networks, and
 * check_reach() reports that.
 */
static bool is_refused(int rc)
{
	return rc == -EKEYREJECTED || rc == -EPERM;
}

void check_same_key(const struct doctor *d, const struct subject *s)
{
	struct asking a = { 0 };
	int rc;

	if (!d->fsid)
		return; /* check_conf() reports it */
	become_owner(d->key);
	rc = ask_server(d, s, &a);
	if (rc == -ENXIO)
		doctor_find(d,
			    "correct [filesystem] id, or the address, in the "
			    "pvfs.conf that is not right; the same file on "
			    "all server hosts",
			    "%s serves another file system, or is another "
			    "server, than pvfs.conf says",
			    s->uri);
	else if (d->key[0] && is_refused(rc))
		doctor_find(d,
			    "scp -p the key from the manager's host to this "
			    "one (or to that server's), then kill -HUP the "
			    "daemons: systemctl kill -s HUP 'pvfs-mgr*' "
			    "'pvfs-iod@*'; or correct the address",
			    "%s does not take the key %s: it has another one, "
			    "or is another server than pvfs.conf says",
			    s->uri, d->key);
	close_all(&a);
}
