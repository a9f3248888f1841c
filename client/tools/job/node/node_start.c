/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * node_start.c - the start of a supervisor: its job and rank, and the way to the head.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/number.h"
#include "client/tools/job/parts/greet.h"
#include "client/tools/job/node/node.h"
#include "client/tools/job/parts/proc.h"

#define MEET_MS 20000u /* ms for trying all addresses of the head */
#define MEET_ONE_MS 6000u

static int set_option(void *arg, int opt, const char *val)
{
	struct job_conf *c = arg;

	if (opt == 's')
		c->size = tool_number(val);
	else if (opt == 'd')
		c->storage = val;
	else if (opt == 'm')
		c->mount = val;
	else if (opt == 'l')
		c->log = val;
	else
		c->lost_s = tool_number(val);
	return 0;
}

static const struct tool_value values[] = {
	{ 's', 0, 1ull << 50, NULL },
	{ 't', 1, 86400, NULL },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-job node",
	.usage = "[-s SIZE] [-d DIR] [-m DIR] [-l DIR] [-t S]",
	.help = "A supervisor, as pvfs-job start has it started.\n",
	.shorts = "s:d:m:l:t:",
	.values = values,
	.option = set_option,
};

static const char *env_or_empty(const char *name)
{
	const char *val = secure_getenv(name);

	return val ? val : "";
}

/* Each launcher numbers its processes; inside Slurm other variables may be set, too. */
static int find_rank(struct node *n)
{
	const char *how = env_or_empty("PVFS_JOB_LAUNCHER"), *text;
	uint64_t rank;

	text = env_or_empty(!strcmp(how, "srun")      ? "SLURM_PROCID"
			    : !strcmp(how, "mpiexec") ? "PMI_RANK"
						      : "PVFS_JOB_RANK");
	if (number_parse(text, JOB_NODES_MAX - 1, &rank))
		return -EINVAL;
	n->rank = (unsigned int)rank;
	return 0;
}

static int read_key(struct node *n)
{
	int rc = job_key_parse(env_or_empty("PVFS_JOB_KEY"), n->key);

	unsetenv("PVFS_JOB_KEY"); /* the daemons have it in a file */
	return rc;
}

/* The kernel chooses the name, and identifies the sender of each message. */
static int open_notify(struct node *n)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(sa);
	int on = 1;

	n->notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			   0);
	if (n->notify < 0 ||
	    bind(n->notify, (struct sockaddr *)&sa, sizeof(sa_family_t)) ||
	    setsockopt(n->notify, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) ||
	    getsockname(n->notify, (struct sockaddr *)&sa, &len))
		return -errno;
	snprintf(n->notify_name, sizeof(n->notify_name), "@%.*s",
		 (int)(len - sizeof(sa_family_t) - 1), sa.sun_path + 1);
	return 0;
}

/* Only one supervisor per host mounts. */
static void claim_mount(struct node *n)
{
	char path[JOB_PATH];

	if (!n->conf.mount || job_path(&n->place.job, "mount.lock", path))
		return;
	mkdir(n->place.job.path, 0700);
	n->mount_lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	if (n->mount_lock >= 0 && !flock(n->mount_lock, LOCK_EX | LOCK_NB))
		snprintf(n->place.mount, JOB_PATH, "%s", n->conf.mount);
}

/* A folder that the user named must exist, or its data would be lost silently. */
static int check_folder(const struct node *n, const char *option,
			const char *dir)
{
	if (!dir || !access(dir, W_OK | X_OK))
		return 0;
	return tool_say(&job_tool, "node %u: %s %s: %s", n->rank, option, dir,
			strerror(errno));
}

static int check_folders(const struct node *n)
{
	int rc = check_folder(n, "--storage", n->conf.storage);

	if (!rc && n->conf.log)
		mkdir(n->conf.log, 0700);
	return rc ? rc : check_folder(n, "--log", n->conf.log);
}

static int make_place(struct node *n)
{
	char name[32];
	int rc = check_folders(n);

	if (rc)
		return rc;
	snprintf(name, sizeof(name), "node.%u", n->rank);
	if (n->conf.storage)
		snprintf(n->place.storage, JOB_PATH, "%s/pvfs-job-%u.%s.%s",
			 n->conf.storage, (unsigned int)geteuid(),
			 n->place.job.id, name);
	else
		node_make_memory(n);
	claim_mount(n);
	rc = place_make(&n->place, name);
	return rc ? tool_say(&job_tool, "node %u: its folder %s: %s", n->rank,
			     rc == -EEXIST ? "is there already" : "fails",
			     n->place.folder)
		  : 0;
}

static int connect_to_head(struct node *n, const char *ip, uint64_t deadline)
{
	struct sockaddr_in sa;
	socklen_t len = sizeof(sa);
	uint64_t soon = clock_after_ms(MEET_ONE_MS);
	int rc;

	snprintf(n->head_addr.ip, sizeof(n->head_addr.ip), "%s", ip);
	rc = greet_meet(&n->head, &n->head_addr, n->key, "node", n->rank,
			soon < deadline ? soon : deadline);
	if (rc)
		return rc;
	if (getsockname(n->head.fd, (struct sockaddr *)&sa, &len)) {
		link_close(&n->head);
		return -EIO;
	}
	inet_ntop(AF_INET, &sa.sin_addr, n->iod.ip, sizeof(n->iod.ip));
	return 0;
}

/*
 * "A,B:PORT": uses the first address that answers.  Our end of that connection is our
 * address.
 */
static int find_head(struct node *n)
{
	uint64_t deadline = clock_after_ms(MEET_MS), number;
	char text[1024], *save = NULL, *port, *ip;
	int rc = -EINVAL;

	snprintf(text, sizeof(text), "%s", env_or_empty("PVFS_JOB_HEAD"));
	port = strrchr(text, ':');
	if (!port || number_parse(port + 1, 65535, &number))
		return -EINVAL;
	*port = '\0';
	n->head_addr.port = (unsigned int)number;
	for (ip = strtok_r(text, ",", &save); ip;
	     ip = strtok_r(NULL, ",", &save)) {
		rc = connect_to_head(n, ip, deadline);
		if (!rc)
			return 0;
	}
	return rc;
}

static int reserve_ports(struct node *n)
{
	n->mgr_here = n->iod;
	n->held[NODE_IOD] = port_reserve(n->iod.ip, &n->iod.port);
	if (n->held[NODE_IOD] < 0 || n->rank)
		return n->held[NODE_IOD] < 0 ? n->held[NODE_IOD] : 0;
	n->held[NODE_MGR] = port_reserve(n->iod.ip, &n->mgr_here.port);
	return n->held[NODE_MGR] < 0 ? n->held[NODE_MGR] : 0;
}

static void send_here(struct node *n)
{
	char host[JOB_NAME] = "?";

	gethostname(host, sizeof(host) - 1);
	link_say(&n->head, "here %s %s %u %u %s\n",
		 job_is_id(host) ? host : "?", n->iod.ip, n->iod.port,
		 n->rank ? 0 : n->mgr_here.port,
		 n->conf.storage	    ? "disk"
		 : n->memory[NODE_IOD] >= 0 ? "bounded"
					    : "unbounded");
}

static int start_failed(struct node *n, const char *what, int rc)
{
	tool_say(&job_tool, "node %u: %s: %s", n->rank, what, strerror(-rc));
	return 1;
}

int node_open(struct node *n, int argc, char **argv)
{
	int rc;

	*n = (struct node){ .conf = { .lost_s = 30 },
			    .head = { .fd = -1 },
			    .held = { -1, -1 },
			    .memory = { -1, -1 },
			    .mount_lock = -1,
			    .place = { .sweeper_fd = -1 } };
	if (tool_options(&tool, argc, argv, &n->conf) < argc)
		tool_usage(&tool);
	if (job_find(&n->place.job, NULL, true))
		return 1;
	rc = find_rank(n);
	if (!rc)
		rc = read_key(n);
	if (rc)
		return start_failed(n, "is started by pvfs-job start alone",
				    rc);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	n->signals = proc_signals();
	rc = n->signals < 0 ? n->signals : open_notify(n);
	if (!rc)
		rc = find_head(n);
	if (!rc)
		rc = reserve_ports(n);
	if (rc)
		return start_failed(n, "the way to pvfs-job start", rc);
	if (make_place(n))
		return 1;
	send_here(n);
	return 0;
}
