/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doctor.h - pvfs-doctor: finds faults of this host and its servers, and changes no setting.
 *
 * A check is a function in a table (check_table.c).  Each check runs in a separate process with a
 * deadline.  So a check that waits for a disk or the name service delays no other check.  Checks
 * may block, leak and exit.
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/util/addr.h"

#define DOCTOR_MOUNT                                                           \
	"/.pvfs-doctor" /* mount point of pvfs.conf's file system for libpvfs */
#define DOCTOR_TEXT 1024u

/* A server, as the configuration or its manager names it. */
struct subject {
	char name[16]; /* "mgr", "iod 3" */
	char section[16]; /* of pvfs.conf: "mgr", "iod.3" */
	bool mgr;
	uint32_t index; /* of an iod */
	struct addr addr;
	char uri[ADDR_STRLEN];
	char mount[PATH_MAX]; /* mount point in pvfstab, for libpvfs */
	char storage[PATH_MAX]; /* "": unknown here */
};

struct doctor {
	const char *root; /* prefix of /proc, /sys, /dev, /etc/fstab; or "" */
	const char *conf; /* pvfs.conf; NULL: a client's host */
	/* a client's host: pvfstab, whose mounts are examined */
	const char *pvfstab;
	unsigned int timeout_s; /* per check */
	uint64_t fsid; /* id of the file system in conf; 0: unknown */
	char key[PATH_MAX]; /* `key` of conf; "": none */
	char auth[16]; /* `auth` of conf, or "" */
	/* `seal` of conf, or its default; on a client's host "" */
	char seal[16];
	char munge_socket[108];
	unsigned int nsubjects;
	struct subject *subject;
	unsigned int nmounted;
	/* the mounts of this host: name, mount and uri are set */
	struct subject *mounted;
	int out; /* pipe for the results of a check */
};

/* The subject of a check. */
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
	const char *looks; /* what the check examines, in words, for --list */
	/* s is NULL for checks that run once */
	void (*run)(const struct doctor *d, const struct subject *s);
	const char *late; /* text if the check misses its deadline */
	/* the remedy for that; NULL: the check counts as not seen */
	const char *late_fix;
	/* checks with follows skip a subject for which this check reports a fault */
	bool reaches;
	bool follows;
};

extern const struct check doctor_checks[];
extern const unsigned int doctor_nchecks;

/* ---- results of a check ---- */

/* A finding: the fault, and its fix. */
void doctor_find(const struct doctor *d, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A fact that is in order: for --verbose and --json. */
void doctor_note(const struct doctor *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Reports that the check could not examine its subject, and why. */
void doctor_unseen(const struct doctor *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- check_run.c ---- */

enum result_kind { RESULT_FOUND = 'F', RESULT_UNSEEN = 'U', RESULT_NOTE = 'N' };
struct check_result {
	enum result_kind kind;
	const char *what, *fix; /* fix: "" unless it is a finding */
};
struct check_run {
	const struct check *check;
	const struct subject *s;
	int pid, fd;
	uint64_t deadline;
	bool over;
	char *words; /* its results: "F" WHAT NUL FIX NUL ... */
	size_t len, room;
};
struct check_runs {
	unsigned int n;
	struct check_run *run;
	const struct subject *first; /* of all subjects */
	/* for each subject: a check with `reaches` has found a fault */
	bool *away;
};
/* Creates a run for each check that applies, except those in skip.  Returns 0 or -ENOMEM. */
int check_runs_make(const struct doctor *d, const char *skip,
		    struct check_runs *runs);
/* Runs all checks. 0, or -errno: no process could be started. */
int check_runs_run(struct doctor *d, struct check_runs *runs);
void check_runs_free(struct check_runs *runs);
/* Gets the next result; *at starts at 0.  False: there are no more. */
bool check_run_result(const struct check_run *run, size_t *at,
		      struct check_result *result);

/* ---- subject.c ---- */

/* Finds the servers of d->conf.  0; -errno, with a message in err. */
int subjects_of_conf(struct doctor *d, char *err, size_t errlen);
/*
 * Makes the file system of d->conf the mount DOCTOR_MOUNT of libpvfs, for all checks.  0 or -errno.
 */
int subjects_of_tab(struct doctor *d);
/* Makes d->conf the mount DOCTOR_MOUNT of libpvfs, for all checks.  0 or -errno. */
int subjects_mount(const struct doctor *d);

/* ---- names.c ---- */

/*
 * Whether the server runs on this host: an address of its name is an address of this host.  May
 * wait for the name service.
 */
bool subject_is_here(const struct subject *s);

/* Sets d->mounted. 0 or -ENOMEM. */

/* Fills mounted.  0 or -ENOMEM. */
int mounted_find(struct doctor *d);

/* Prints the results, and returns the exit status. verbose: also prints facts that are in order. */

/* Prints the results, and returns the exit status.  verbose: also what is in order. */
int doctor_report(const struct doctor *d, const struct check_runs *runs,
		  bool json, bool verbose);

/* ---- host.c: files of the host, below root ---- */

/* Reads the text of a file, without newlines at the end.  0 or -errno. */
int host_read(const struct doctor *d, char *buf, size_t len, const char *fmt,
	      ...) __attribute__((format(printf, 4, 5)));
/* Reads a number from a file.  0 or -errno. */
int host_number(const struct doctor *d, uint64_t *n, const char *path);
/* Returns the path below root, in buf (PATH_MAX). */
const char *host_path(const struct doctor *d, char *buf, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Calls fn for each name in the directory until it returns other than 0.  Returns that,
 * 0 or -errno.
 */
int host_each(const struct doctor *d, const char *dir,
	      int (*fn)(void *arg, const char *name), void *arg);

/* ---- rdma.c ---- */

/* Whether an RDMA device of this host has an active port. */
bool rdma_is_there(const struct doctor *d);

#endif
