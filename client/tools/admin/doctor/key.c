/* SPDX-License-Identifier: BSD-2-Clause */
/* key.c - the servers' key, and munged if clients authenticate with it. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/tools/admin/doctor/checks.h"
#include "common/trust/key_file.h"

#define MUNGE_SOCKET "/run/munge/munge.socket.2"

void key_user(const char *path)
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
	key_user(d->key);
	if (access(d->key, R_OK) || (geteuid() && sb.st_uid != geteuid()))
		doctor_unseen(d, "%s: only user %u and root read it", d->key,
			      (unsigned int)sb.st_uid);
	else if (!key_file_read(d->key, &log, &keys))
		explicit_bzero(&keys, sizeof(keys));
}

static const char *munge_socket(const char *said)
{
	return said[0] ? said : MUNGE_SOCKET;
}

static int reach_munged(const char *socket_said)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	snprintf(to.sun_path, sizeof(to.sun_path), "%s",
		 munge_socket(socket_said));
	rc = connect(fd, (struct sockaddr *)&to, sizeof(to)) ? -errno : 0;
	close(fd);
	return rc;
}

int munged_reach(const struct doctor *d)
{
	return reach_munged(d->munge_socket);
}

void munged_find(const struct doctor *d, const char *where, const char *said)
{
	int rc = reach_munged(said);

	if (rc)
		doctor_find(d,
			    "systemctl enable --now munge, with the same "
			    "/etc/munge/munge.key on all hosts; munge_socket "
			    "if it listens elsewhere",
			    "%s, and munged is not reached at %s: %s", where,
			    munge_socket(said), strerror(-rc));
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
