/* SPDX-License-Identifier: BSD-2-Clause */
/* mgrrig.c - the program pvfs-mgr and its surroundings, for tests. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/mgr/mgrrig.h"

#define PORTS_FROM 10000u
#define PORTS 20000u /* not in the kernel's range of ephemeral ports */

static bool is_free(int port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr = { htonl(INADDR_LOOPBACK) },
				  .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	must(fd >= 0);
	rc = bind(fd, (struct sockaddr *)&sa, sizeof(sa));
	close(fd);
	return !rc;
}

/* Returns a port that is free now.  The manager uses it over restarts. */
static int free_port(void)
{
	unsigned int n;
	int port;

	do {
		must(getrandom(&n, sizeof(n), 0) == sizeof(n));
		port = (int)(PORTS_FROM + n % PORTS);
	} while (!is_free(port));
	return port;
}

void rig_configure(struct mgrrig *rig)
{
	FILE *f = fopen(rig->conf, "w");

	must(f);
	fprintf(f,
		"[filesystem]\nid = %016llx\n[%s]\n"
		"address = tcp://127.0.0.1:%d\nstorage = %s/mgr\n"
		"[mgr]\ncache_size = 8M\n%s\n",
		(unsigned long long)mgrc_fsid(),
		getenv("PVFS_TEST_GROUP") ? "mgr.0" : "mgr", rig->port,
		rig->dir, rig->more);
	for (int i = 0; i < RIG_IODS; i++)
		fprintf(f, "[iod.%d]\naddress = tcp://127.0.0.1:%d\n", i,
			rig->iod[i].port);
	fclose(f);
}

void rig_open(struct mgrrig *rig)
{
	const char *tmp = getenv("TMPDIR");

	memset(rig, 0, sizeof(*rig));
	rig->log = -1;
	snprintf(rig->dir, sizeof(rig->dir), "%s/pvfs-mgr-XXXXXX",
		 tmp ? tmp : "/tmp");
	must(mkdtemp(rig->dir));
	snprintf(rig->conf, sizeof(rig->conf), "%s/pvfs.conf", rig->dir);
	for (int i = 0; i < RIG_IODS; i++)
		fakeiod_init(&rig->iod[i]);
	rig->port = free_port();
	rig->addr = (struct addr){ .scheme = "tcp",
				   .host = "127.0.0.1",
				   .port = (uint16_t)rig->port };
	rig_configure(rig);
}

void rig_spawn(struct mgrrig *rig)
{
	const char *wrap = getenv("PVFS_MGR_WRAP");
	bool group = getenv("PVFS_TEST_GROUP");
	char index[24];
	int fds[2];

	snprintf(index, sizeof(index), "--index=%u", rig->index);
	rig->said_len = 0;
	must(!pipe2(fds, O_CLOEXEC));
	rig->pid = fork();
	if (!rig->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], 2);
		unsetenv("MALLOC_PERTURB_");
		if (wrap)
			execlp(wrap, wrap, getenv("PVFS_MGR"), "--config",
			       rig->conf, group ? index : NULL, NULL);
		execl(getenv("PVFS_MGR"), "pvfs-mgr", "--config", rig->conf,
		      group ? index : NULL, NULL);
		_exit(127);
	}
	must(rig->pid > 0);
	close(fds[1]);
	if (rig->log >= 0)
		close(rig->log);
	rig->log = fds[0];
}

bool rig_says(struct mgrrig *rig, const char *text)
{
	struct pollfd pfd = { .fd = rig->log, .events = POLLIN };
	ssize_t n;

	for (;;) {
		rig->said[rig->said_len] = '\0';
		if (strstr(rig->said, text))
			return true;
		must(rig->said_len < sizeof(rig->said) - 1);
		if (poll(&pfd, 1, 30000) != 1)
			return false;
		n = read(rig->log, rig->said + rig->said_len,
			 sizeof(rig->said) - 1 - rig->said_len);
		if (n <= 0)
			return false;
		rig->said_len += (size_t)n;
	}
}

void rig_start(struct mgrrig *rig)
{
	rig_spawn(rig);
	if (rig_says(rig, "ready:"))
		return;
	fprintf(stderr, "%s\n", rig->said);
	must(!"the mgr is ready");
}

void rig_serve(struct mgrrig *rig, const char *more, struct mgrc *c)
{
	rig_open(rig);
	must(strlen(more) < sizeof(rig->more));
	strcpy(rig->more, more);
	rig_configure(rig);
	rig_start(rig);
	memset(c, 0, sizeof(*c));
	mgrc_open(c, &rig->addr, 0);
}

static int reap(struct mgrrig *rig)
{
	int status;

	must(waitpid(rig->pid, &status, 0) == rig->pid);
	rig->pid = 0;
	return status;
}

void rig_stop(struct mgrrig *rig)
{
	int status;

	kill(rig->pid, SIGTERM);
	status = reap(rig);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	rig_says(rig, "(what it said last)");
	fprintf(stderr, "%s\n", rig->said);
	must(!"the mgr stops cleanly");
}

void rig_kill(struct mgrrig *rig)
{
	kill(rig->pid, SIGKILL);
	reap(rig);
}

void rig_close(struct mgrrig *rig)
{
	char cmd[128];

	if (rig->pid)
		rig_stop(rig);
	for (int i = 0; i < RIG_IODS; i++)
		fakeiod_destroy(&rig->iod[i]);
	if (rig->log >= 0)
		close(rig->log);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", rig->dir);
	must(!system(cmd));
}
