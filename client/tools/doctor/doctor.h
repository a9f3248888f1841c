/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doctor.h - looks for what is wrong, and changes nothing.
 *
 * A check is a function in a table (table.c).  Each runs in a process of its own with a
 * deadline, so that one that stands still, with a disk or the name service, holds up
 * nothing and nobody: checks may block, leak and end as they like.
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/util/addr.h"

#define DOCTOR_MOUNT                                                           \
	"/.pvfs-doctor" /* where pvfs.conf's file system is for libpvfs */
#define DOCTOR_TEXT 1024u

/* A server, as the configuration or its manager names it. */
struct subject {
	char name[16]; /* "mgr", "iod 3" */
	char section[16]; /* "mgr", "iod.3", of pvfs.conf */
	bool mgr;
	uint32_t index; /* of an iod */
	struct addr addr;
	char uri[ADDR_STRLEN];
	char mount[PATH_MAX]; /* of pvfstab, for libpvfs */
	char storage[PATH_MAX]; /* "": not known here */
};

struct doctor {
	const char *root; /* of /proc, /sys, /dev, /etc/fstab: "" */
	const char *conf; /* pvfs.conf, or NULL: a client */
	const char *pvfstab; /* ... whose mounts these are */
	unsigned int timeout_s; /* of each check */
	uint64_t fsid; /* of conf; 0: not known */
	char key[PATH_MAX]; /* of conf; "": none */
	char auth[16]; /* of conf; "" */
	char seal[16]; /* of conf, or what it is without; "" on a client */
	char munge_socket[108];
	unsigned int nsubjects;
	struct subject *subject;
	unsigned int nmounted;
	struct subject *mounted; /* of this host: name and mount alone */
	int out; /* where a check's words go */
};

/* What a check is for, and which subjects it has. */
enum check_of {
	OF_NODE, /* this host, once */
	OF_CONF, /* pvfs.conf, once */
	OF_TAB, /* pvfstab, once, on a client */
	OF_SERVER, /* each server */
	OF_MOUNT, /* each mount of pvfstab, on a client: its manager */
	OF_MOUNTED, /* each mount of this host */
	OF_STORAGE, /* each server of this host, and pvfs.conf */
};

struct check {
	const char *name;
	enum check_of of;
	const char *looks; /* at what, for --list */
	/* s: NULL for those that run once */
	void (*run)(const struct doctor *d, const struct subject *s);
	const char *late; /* what it means that it has not ended */
	const char *late_fix; /* NULL: it could not look */
	bool reaches; /* who is found by it is not there for those that follow */
	bool follows;
};

extern const struct check doctor_checks[];
extern const unsigned int doctor_nchecks;

/* ---- what a check says ---- */

/* A finding: what is wrong, and how to mend it. */
void doctor_find(const struct doctor *d, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* What is so, and right: for --verbose and --json. */
void doctor_note(const struct doctor *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* It could not look, and why. */
void doctor_unseen(const struct doctor *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- job.c ---- */

enum said_kind { SAID_FOUND = 'F', SAID_UNSEEN = 'U', SAID_NOTE = 'N' };
struct said {
	enum said_kind kind;
	const char *what, *fix; /* fix: "" unless something was found */
};
struct job {
	const struct check *check;
	const struct subject *s;
	int pid, fd;
	uint64_t deadline;
	bool over;
	char *words; /* what it said: "F" WHAT NUL FIX NUL ... */
	size_t len, room;
};
struct jobs {
	unsigned int n;
	struct job *job;
	const struct subject *first; /* of them all */
	bool *away; /* for each: a check that reaches it has failed */
};
/* All checks that apply but those whose names stand in skip.  -ENOMEM */
int jobs_make(const struct doctor *d, const char *skip, struct jobs *jobs);
/* 0; -errno: no process could be made. */
int jobs_run(struct doctor *d, struct jobs *jobs);
void jobs_free(struct jobs *jobs);
/* The next of what it said; *at begins with 0. */
bool job_said(const struct job *job, size_t *at, struct said *said);

/* ---- subject.c ---- */

/* Those of d->conf; -errno, a line in err. */
int subjects_of_conf(struct doctor *d, char *err, size_t errlen);
/* Those of the mounts of pvfstab, as far as their managers tell them in time. */
int subjects_of_tab(struct doctor *d);
/* The addresses of its host are this host's.  May wait for the name service. */
bool subject_is_here(const struct subject *s);
/* Makes d->conf the mount DOCTOR_MOUNT of libpvfs, in all checks. */
int subjects_mount(const struct doctor *d);

/* ---- mount.c ---- */

/* Fills mounted; -ENOMEM. */
int mounted_find(struct doctor *d);

/* ---- report.c ---- */

/* The exit status.  verbose: what is right, too. */
int doctor_report(const struct doctor *d, const struct jobs *jobs, bool json,
		  bool verbose);

/* ---- host.c: files of the host, below root ---- */

/* The text of a file, less its last newline; -errno. */
int host_read(const struct doctor *d, char *buf, size_t len, const char *fmt,
	      ...) __attribute__((format(printf, 4, 5)));
/* A number in a file. */
int host_number(const struct doctor *d, uint64_t *n, const char *path);
/* The path below root, in buf (PATH_MAX). */
const char *host_path(const struct doctor *d, char *buf, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* fn for each name in the directory until one answers not 0; that, or -errno. */
int host_each(const struct doctor *d, const char *dir,
	      int (*fn)(void *arg, const char *name), void *arg);

/* ---- rdma.c ---- */

/* An RDMA device has a port that is up. */
bool rdma_is_there(const struct doctor *d);

#endif
