/* SPDX-License-Identifier: BSD-2-Clause */
/* node_serve.c - the daemons of a node. */
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/tools/job/parts/memory.h"
#include "client/tools/job/node/node.h"
#include "client/tools/job/parts/proc.h"

#define MGR_MEMORY (2ull << 30) /* bytes, the limit for names */

const char *const node_program[NODE_DAEMONS] = { "pvfs-iod", "pvfs-mgr",
						 "pvfs-fuse" };

int node_memory(struct node *n)
{
	uint64_t size = n->conf.size ? n->conf.size : memory_half();

	n->memory[NODE_IOD] = memory_make(size);
	if (n->memory[NODE_IOD] >= 0 && !n->rank)
		n->memory[NODE_MGR] = memory_make(MGR_MEMORY);
	if (n->memory[NODE_IOD] >= 0 && (n->rank || n->memory[NODE_MGR] >= 0))
		return 0;
	/* a folder with a name, which only the size of /dev/shm limits */
	snprintf(n->place.storage, JOB_PATH, "/dev/shm/pvfs-job-%u.%s.node.%u",
		 (unsigned int)geteuid(), n->place.job.id, n->rank);
	return 0;
}

static int storage_of(const struct node *n, int which, char *out)
{
	static const char *const name[] = { "iod", "mgr" };

	if (!n->place.storage[0]) {
		snprintf(out, JOB_PATH, "/proc/self/fd/%d", n->memory[which]);
		return 0;
	}
	if (snprintf(out, JOB_PATH, "%s/%s", n->place.storage, name[which]) >=
	    (int)JOB_PATH)
		return -ENAMETOOLONG;
	return mkdir(out, 0700) && errno != EEXIST ? -errno : 0;
}

static void user_name(char *out, size_t len)
{
	const struct passwd *pw = getpwuid(geteuid());

	if (pw)
		snprintf(out, len, "%s", pw->pw_name);
	else
		snprintf(out, len, "%u", (unsigned int)geteuid());
}

static void conf_to(const struct node *n, FILE *f, const char *fsid,
		    const char *iod, const char *mgr)
{
	char user[JOB_NAME];

	user_name(user, sizeof(user));
	fprintf(f,
		"[filesystem]\nid = %s\nkey = %s/key\nauth = key\n"
		"key_user = %s\n[mgr]\naddress = pvfs://%s:%u\n"
		"storage = %s\n",
		fsid, n->place.folder, user, n->mgr.ip, n->mgr.port, mgr);
	for (unsigned int i = 0; i < n->n; i++)
		fprintf(f, "[iod.%u]\naddress = pvfs://%s:%u\nstorage = %s\n",
			i, n->peer[i].ip, n->peer[i].port,
			i == n->rank ? iod : "/nowhere");
}

static int write_conf(const struct node *n, const char *fsid, char *path)
{
	char iod[JOB_PATH], mgr[JOB_PATH] = "/nowhere";
	FILE *f;
	int rc = storage_of(n, NODE_IOD, iod);

	if (!rc && !n->rank)
		rc = storage_of(n, NODE_MGR, mgr);
	if (rc)
		return rc;
	snprintf(path, JOB_PATH + 16, "%s/pvfs.conf", n->place.folder);
	f = fopen(path, "wex");
	if (!f)
		return -errno;
	conf_to(n, f, fsid, iod, mgr);
	return fclose(f) ? -errno : 0;
}

/* Sets argv[0]. */
static int start_daemon(struct node *n, int which, char **argv)
{
	const char *name = node_program[which];
	char path[JOB_PATH];
	struct spawn s = {
		.argv = argv,
		.death = SIGKILL,
		.env = { { "NOTIFY_SOCKET", n->notify_name },
			 { "PVFS_JOB_ID", n->place.job.id } },
		.keep = which < NODE_FUSE && !n->place.storage[0]
				? n->memory[which]
				: 0,
	};
	struct node_daemon *d = &n->d[which];
	int rc = job_program(name, path);

	if (rc)
		return rc;
	argv[0] = path;
	if (n->conf.log)
		rc = snprintf(d->log, JOB_PATH, "%s/%s.node.%u.%s.log",
			      n->conf.log, n->place.job.id, n->rank, name);
	else
		rc = snprintf(d->log, JOB_PATH, "%s/%s.log", n->place.folder,
			      name);
	if (rc >= (int)JOB_PATH)
		return -ENAMETOOLONG;
	s.log = d->log;
	rc = proc_spawn(&s);
	if (rc < 0)
		return rc;
	d->pid = rc;
	return 0;
}

static int run_iod(struct node *n, char *conf)
{
	char index[16];
	char *argv[] = { NULL, "--config", conf, "--index", index, NULL };

	snprintf(index, sizeof(index), "%u", n->rank);
	return start_daemon(n, NODE_IOD, argv);
}

static int run_mgr(struct node *n, char *conf)
{
	char *argv[] = { NULL, "--config", conf, NULL };

	return start_daemon(n, NODE_MGR, argv);
}

/* Looks on this host: the head's host may have the program. */
static bool lacks_program(struct node *n, const char *name)
{
	char path[JOB_PATH];

	if (!job_program(name, path))
		return false;
	link_say(&n->head,
		 "fail no %s next to pvfs-job, in PATH or in PVFS_BUILD: "
		 "install pvfs-server there\n",
		 name);
	return true;
}

int node_serve(struct node *n, const char *fsid)
{
	char conf[JOB_PATH + 16];
	int rc;

	if (lacks_program(n, node_program[NODE_IOD]) ||
	    (!n->rank && lacks_program(n, node_program[NODE_MGR])))
		return 0; /* the head was told */
	rc = place_tab(&n->place, n->key, &n->mgr);
	if (!rc)
		rc = write_conf(n, fsid, conf);
	if (!rc)
		rc = run_iod(n, conf);
	if (!rc && !n->rank)
		rc = run_mgr(n, conf);
	return rc;
}

int node_mount(struct node *n)
{
	char tab[JOB_PATH + 16];
	char *argv[] = { NULL, "/pvfs", n->place.mount, "-f", NULL };

	if (!n->place.mount[0])
		return -EALREADY;
	if (access("/dev/fuse", R_OK | W_OK))
		return -errno;
	if (mount_is_ours(n->place.mount))
		return -EBUSY;
	snprintf(tab, sizeof(tab), "%s/pvfstab", n->place.folder);
	setenv("PVFSTAB_FILE", tab, 1);
	return start_daemon(n, NODE_FUSE, argv);
}

int node_copy(struct node *n, unsigned int port)
{
	char at[64], tab[JOB_PATH + 16], log[JOB_PATH + 16];
	int rc;

	snprintf(at, sizeof(at), "%s:%u", n->head_addr.ip, port);
	snprintf(tab, sizeof(tab), "%s/pvfstab", n->place.folder);
	snprintf(log, sizeof(log), "%s/copier.log", n->place.folder);
	rc = copier_start(&n->place.job, n->key, at, log, tab);
	return rc < 0 ? rc : 0;
}
