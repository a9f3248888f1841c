/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job.h - a file system for the time of a job.
 *
 *	pvfs-job start --- head -+- launcher (fork, mpiexec, srun)
 *				 '- sweeper
 *	on each node: supervisor -+- pvfs-iod, pvfs-mgr, pvfs-fuse, copiers
 *				  '- sweeper
 *
 * The head runs where the job was started.  Supervisors connect to it, and end with
 * that connection.  All that they start ends with them.  A sweeper removes the files
 * and mounts of a head or supervisor that was killed.
 *
 * A supervisor and the head send lines (link.h) after the greeting (greet.h).  From the
 * head to a supervisor:
 *
 *	mgr ADDRESS		where the manager will listen
 *	iod N ADDRESS		where iod N will listen; a line for each node, in order
 *	go FSID			start the daemons; FSID: 16 hexadecimal digits
 *	mount			mount the file system
 *	copy PORT		start a copier that connects to this port of the head's host
 *	tick			each second; answered by tock
 *	stop			remove everything and end
 *
 * From a supervisor to the head:
 *
 *	here HOST IP IODPORT MGRPORT STORAGE
 *				the first line: the ports are reserved; STORAGE is bounded or
 *				unbounded (memory), or disk
 *	up			its daemons serve
 *	fail TEXT		they cannot be started, so the job cannot: TEXT says why
 *	lost TEXT		a daemon has ended that had served
 *	mounted, nomount TEXT	the result of mount
 *	nocopy TEXT		the copier cannot be started
 *	tock			the answer to tick
 *	ends			the answer to stop, before it begins to end
 *	gone			everything was removed; the last line
 */
#ifndef JOB_H
#define JOB_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/trust/mac.h"
#include "client/tools/common/tool.h"

#define JOB_ID_MAX 48u
#define JOB_PATH 512u /* of folders, bytes */
#define JOB_NODES_MAX 1023u /* as many iods as a file system may have */
#define JOB_NAME 256u /* of hosts, bytes */
#define JOB_STOP_MS 1700u /* ms; time limit for the end of a job */

/* A job, by its id, and its folder on this host. */
struct job {
	char id[JOB_ID_MAX + 1];
	char path[JOB_PATH];
};

/* The settings of a job; also the options of a supervisor. */
struct job_conf {
	const char *storage; /* NULL: memory */
	uint64_t size; /* bytes of memory on each node */
	const char *mount; /* NULL: none */
	const char *log; /* folder that keeps logs, or NULL */
	uint64_t lost_s; /* time without the head, after which nodes end */
};

extern const struct tool job_tool;

/*
 * ident.c: fills *job with the job named given, or by PVFS_JOB_ID or SLURM_JOB_ID.  Without a name:
 * if make is set a new job, otherwise the only job of this user on this host.  Returns 0, or 1
 * after a message.
 */
int job_find(struct job *job, const char *given, bool make);
/* Sets out (JOB_PATH bytes) to the path of name in the job's directory.  0 or -ENAMETOOLONG. */
int job_path(const struct job *job, const char *name, char *out);
bool job_is_id(const char *text);

/*
 * programs.c: sets out to the file of the program name, such as "pvfs-iod": in PVFS_BUILD, next to
 * this program, or in PATH.  Returns 0 or -ENOENT.
 */
int job_program(const char *name, char *out);
/* The same for a library that is preloaded, but not in PATH. */
int job_library(const char *name, char *out);
/* Gets this program's own file.  0 or -ENOENT. */
int job_self(char *out);

/* greet.c: 64 hexadecimal digits. */
void job_key_text(const uint8_t key[MAC_KEY_LEN], char out[65]);
int job_key_parse(const char *text, uint8_t key[MAC_KEY_LEN]);
/*
 * Starts a copier, which connects to at, "ADDRESS:PORT", and writes its output to log.  tab: its
 * pvfstab; NULL: that of this process.  Returns the process id, or -errno.
 */
pid_t copier_start(const struct job *job, const uint8_t key[MAC_KEY_LEN],
		   char *at, const char *log, const char *tab);
/* The commands; each returns an exit status. */
int cmd_start(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_env(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_stage(int argc, char **argv);
int cmd_node(int argc, char **argv);
int cmd_copier(int argc, char **argv);

#endif
