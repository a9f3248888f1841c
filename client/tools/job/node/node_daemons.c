/* SPDX-License-Identifier: BSD-2-Clause */
/* node_daemons.c - the daemons of a node: their start, their messages and their ends. */
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/tools/job/node/node.h"
#include "client/tools/job/parts/memory.h"
#include "client/tools/job/parts/proc.h"

#define MGR_MEMORY (2ull << 30) /* bytes, the limit for names */

const char *const node_program[NODE_DAEMONS] = { "pvfs-iod", "pvfs-mgr",
						 "pvfs-fuse" };

/*
 * Makes a tmpfs for the storage of each server of this node.  If that fails, the storage is a
 * folder in /dev/shm, which is limited only by the size of /dev/shm.
 */
void node_make_memory(struct node *n)
{
	uint64_t size = n->conf.size ? n->conf.size : memory_half();

	n->memory[NODE_IOD] = memory_make(size);
	if (n->memory[NODE_IOD] >= 0 && !n->rank)
		n->memory[NODE_MGR] = memory_make(MGR_MEMORY);
	if (n->memory[NODE_IOD] >= 0 && (n->rank || n->memory[NODE_MGR] >= 0))
		return;
	node_close_memory(n);
	snprintf(n->place.storage, JOB_PATH, "/dev/shm/pvfs-job-%u.%s.node.%u",
		 (unsigned int)geteuid(), n->place.job.id, n->rank);
}

void node_close_memory(struct node *n)
{
	for (int i = 0; i < 2; i++) {
		if (n->memory[i] >= 0)
			close(n->memory[i]);
		n->memory[i] = -1;
	}
}

/* A file in the folder of the node.  name: at most 15 bytes. */
struct node_file {
	char path[JOB_PATH + 16];
};

static struct node_file file_of(const struct node *n, const char *name)
{
	struct node_file file;

	snprintf(file.path, sizeof(file.path), "%s/%s", n->place.folder, name);
	return file;
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

static void print_conf(const struct node *n, FILE *f, const char *fsid,
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

static int write_conf(const struct node *n, const char *fsid, const char *path)
{
	char iod[JOB_PATH], mgr[JOB_PATH] = "/nowhere";
	FILE *f;
	int rc = storage_of(n, NODE_IOD, iod);

	if (!rc && !n->rank)
		rc = storage_of(n, NODE_MGR, mgr);
	if (rc)
		return rc;
	f = fopen(path, "wex");
	if (!f)
		return -errno;
	print_conf(n, f, fsid, iod, mgr);
	return fclose(f) ? -errno : 0;
}

/* Sets argv[0].  tab: its pvfstab, or NULL. */
static int start_daemon(struct node *n, int which, char **argv, const char *tab)
{
	const char *name = node_program[which];
	char path[JOB_PATH];
	struct spawn s = {
		.argv = argv,
		.death = SIGKILL,
		.env = { { "NOTIFY_SOCKET", n->notify_name },
			 { "PVFS_JOB_ID", n->place.job.id },
			 { tab ? "PVFSTAB_FILE" : NULL, tab } },
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
	return start_daemon(n, NODE_IOD, argv, NULL);
}

static int run_mgr(struct node *n, char *conf)
{
	char *argv[] = { NULL, "--config", conf, NULL };

	return start_daemon(n, NODE_MGR, argv, NULL);
}

const char *node_missing_program(const struct node *n)
{
	char path[JOB_PATH];

	if (job_program(node_program[NODE_IOD], path))
		return node_program[NODE_IOD];
	if (!n->rank && job_program(node_program[NODE_MGR], path))
		return node_program[NODE_MGR];
	return NULL;
}

int node_serve(struct node *n, const char *fsid)
{
	struct node_file conf = file_of(n, "pvfs.conf");
	int rc = place_tab(&n->place, n->key, &n->mgr);

	if (!rc)
		rc = write_conf(n, fsid, conf.path);
	if (!rc)
		rc = run_iod(n, conf.path);
	if (!rc && !n->rank)
		rc = run_mgr(n, conf.path);
	return rc;
}

int node_mount(struct node *n)
{
	char *argv[] = { NULL, "/pvfs", n->place.mount, "-f", NULL };

	if (!n->place.mount[0])
		return -EALREADY;
	if (access("/dev/fuse", R_OK | W_OK))
		return -errno;
	if (mount_is_ours(n->place.mount))
		return -EBUSY;
	return start_daemon(n, NODE_FUSE, argv, file_of(n, "pvfstab").path);
}

int node_copy(struct node *n, unsigned int port)
{
	struct node_file log = file_of(n, "copier.log");
	struct node_file tab = file_of(n, "pvfstab");
	char at[64];
	int rc;

	snprintf(at, sizeof(at), "%s:%u", n->head_addr.ip, port);
	rc = copier_start(&n->place.job, n->key, at, log.path, tab.path);
	return rc < 0 ? rc : 0;
}

/* ---- messages and ends ---- */

static void send_up(struct node *n)
{
	if (n->said_up || !n->d[NODE_IOD].up ||
	    (n->d[NODE_MGR].pid && !n->d[NODE_MGR].up))
		return;
	n->said_up = true;
	for (int i = 0; i < 2; i++)
		if (n->held[i] >= 0) {
			close(n->held[i]);
			n->held[i] = -1;
		}
	link_say(&n->head, "up\n");
}

static void mark_up(struct node *n, pid_t pid)
{
	int i = 0;

	while (i < NODE_FUSE && n->d[i].pid != pid)
		i++; /* pvfs-fuse reports from a child */
	if (n->d[i].up || !n->d[i].pid)
		return;
	n->d[i].up = true;
	if (i == NODE_FUSE)
		link_say(&n->head, "mounted\n");
	else
		send_up(n);
}

static pid_t sender_pid(struct msghdr *m)
{
	struct ucred cred;

	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		if (h->cmsg_level != SOL_SOCKET ||
		    h->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&cred, CMSG_DATA(h), sizeof(cred));
		return cred.uid == geteuid() ? cred.pid : 0;
	}
	return 0;
}

void node_notified(struct node *n)
{
	char text[512], room[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec io = { text, sizeof(text) - 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof(room) };
	ssize_t len = recvmsg(n->notify, &m, MSG_DONTWAIT);
	pid_t pid = len > 0 ? sender_pid(&m) : 0;

	if (!pid)
		return;
	text[len] = '\0';
	if (strstr(text, "READY=1"))
		mark_up(n, pid);
}

/* Gets the last line with an error, or else the last line. */
static void last_words(const char *log, char *out, size_t len)
{
	FILE *f = fopen(log, "re");
	char line[512];
	bool error = false;

	snprintf(out, len, "no word");
	while (f && fgets(line, sizeof(line), f)) {
		bool is = strstr(line, "error: ");

		line[strcspn(line, "\n")] = '\0';
		if (error && !is)
			continue;
		error = is;
		snprintf(out, len, "%s", line);
	}
	if (f)
		fclose(f);
}

static void daemon_ended(struct node *n, int i, int status)
{
	struct node_daemon *d = &n->d[i];
	char words[512];

	d->ended = true;
	last_words(d->log, words, sizeof(words));
	if (i == NODE_FUSE && !d->up)
		link_say(&n->head, "nomount %s\n", words);
	else
		link_say(&n->head, "%s %s %s %d: %s\n", d->up ? "lost" : "fail",
			 node_program[i],
			 WIFSIGNALED(status) ? "was ended by signal"
					     : "ended with",
			 WIFSIGNALED(status) ? WTERMSIG(status)
					     : WEXITSTATUS(status),
			 words);
	d->up = false;
}

void node_child_ended(struct node *n)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == n->place.sweeper)
			n->place.sweeper = 0;
		for (int i = 0; i < NODE_DAEMONS; i++)
			if (pid == n->d[i].pid && !n->d[i].ended)
				daemon_ended(n, i, status);
	}
}
