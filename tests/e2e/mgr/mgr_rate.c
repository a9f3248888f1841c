/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_rate.c - measures operations per second of one pvfs-mgr. Not a test.
 *
 * usage: mgr_rate [CLIENTS [N]]; PVFS_MGR names the program
 *
 * A create is an OPEN, whose reply the client awaits, and a RELEASE, whose reply it does not await,
 * as in libpvfs.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/e2e/mgr/mgrrig.h"

#define POSTED 8

struct client {
	struct mgrc c;
	pthread_t thread;
	unsigned int id, n;
	void (*work)(struct client *cl);
	struct rpc_call post[POSTED];
	bool busy[POSTED];
};

static void posted(struct rpc_call *call)
{
	must(!call->status);
	*(bool *)call->arg = false;
}

static void post_release(struct client *cl, const struct mgrc_file *f)
{
	struct wire_release body = { .handle = htole64(f->handle),
				     .open = htole64(f->open) };
	uint64_t buf[32];
	unsigned int i;

	for (i = 0; cl->busy[i]; i = (i + 1) % POSTED)
		if (i == POSTED - 1)
			rpc_ctx_progress(cl->c.ctx, clock_after_ms(100));
	cl->post[i] = (struct rpc_call){ .msg = buf,
					 .deadline = clock_after_ms(20000),
					 .done = posted,
					 .arg = &cl->busy[i] };
	cl->post[i].msg_len = mgrc_build(buf, WIRE_RELEASE, &body, sizeof(body),
					 NULL, 0);
	cl->busy[i] = true;
	rpc_call_start(cl->c.peer, &cl->post[i]);
}

static void name_of(const struct client *cl, unsigned int i, char *name)
{
	sprintf(name, "dir%u/file_number_%u", cl->id, i);
}

static void do_create(struct client *cl)
{
	char name[64];
	struct mgrc_file f;

	for (unsigned int i = 0; i < cl->n; i++) {
		name_of(cl, i, name);
		must(!mgrc_open_file(&cl->c, name,
				     WIRE_O_CREAT | WIRE_O_EXCL | WIRE_O_WRITE,
				     &f));
		post_release(cl, &f);
	}
	for (unsigned int i = 0; i < POSTED; i++)
		while (cl->busy[i])
			rpc_ctx_progress(cl->c.ctx, clock_after_ms(100));
}

static void do_stat(struct client *cl)
{
	struct wire_attr attr;
	char name[64];

	for (unsigned int i = 0; i < cl->n; i++) {
		name_of(cl, i, name);
		must(!mgrc_stat(&cl->c, name, &attr));
		must(le32toh(attr.flags) & WIRE_A_SIZE);
	}
}

static void do_unlink(struct client *cl)
{
	char name[64];

	for (unsigned int i = 0; i < cl->n; i++) {
		name_of(cl, i, name);
		must(!mgrc_unlink(&cl->c, name));
	}
}

static void *run(void *arg)
{
	struct client *cl = arg;

	cl->work(cl);
	return NULL;
}

static double cpu_of(pid_t pid)
{
	unsigned long user, sys;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	must(f && fscanf(f,
			 "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u "
			 "%*u %lu %lu",
			 &user, &sys) == 2);
	fclose(f);
	return (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
}

static void measure(struct mgrrig *rig, const char *what, struct client *cl,
		    unsigned int n, void (*work)(struct client *cl))
{
	uint64_t t = clock_now();
	double cpu = cpu_of(rig->pid), s;
	unsigned int ops = n * cl[0].n;

	for (unsigned int i = 0; i < n; i++) {
		cl[i].work = work;
		must(!pthread_create(&cl[i].thread, NULL, run, &cl[i]));
	}
	for (unsigned int i = 0; i < n; i++)
		pthread_join(cl[i].thread, NULL);
	s = (double)(clock_now() - t) / 1e9;
	printf("%-8s %8.0f/s  mgr %.1f us CPU each\n", what, ops / s,
	       (cpu_of(rig->pid) - cpu) / ops * 1e6);
}

int main(int argc, char **argv)
{
	unsigned int clients = argc > 1 ? (unsigned int)atoi(argv[1]) : 4;
	unsigned int n = argc > 2 ? (unsigned int)atoi(argv[2]) : 10000;
	struct client *cl = calloc(clients, sizeof(*cl));
	struct mgrrig rig;
	char name[32];

	rig_open(&rig);
	strcpy(rig.more, getenv("RATE_CONF") ? getenv("RATE_CONF") : "");
	rig_configure(&rig);
	rig_start(&rig);
	for (unsigned int i = 0; i < clients; i++) {
		mgrc_open(&cl[i].c, &rig.addr, 0);
		cl[i].id = i;
		cl[i].n = n;
		snprintf(name, sizeof(name), "dir%u", i);
		must(!mgrc_mkdir(&cl[i].c, name));
	}
	measure(&rig, "create", cl, clients, do_create);
	measure(&rig, "stat", cl, clients, do_stat);
	measure(&rig, "unlink", cl, clients, do_unlink);
	for (unsigned int i = 0; i < clients; i++)
		mgrc_close(&cl[i].c, true);
	rig_close(&rig);
	free(cl);
	return 0;
}
