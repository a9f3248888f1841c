/* SPDX-License-Identifier: BSD-2-Clause */
/* checks.h - the checks of the table, a few in a file, and what they parse. */
#ifndef DOCTOR_CHECKS_H
#define DOCTOR_CHECKS_H

#include "client/tools/doctor/doctor.h"
#include "common/util/log.h"

#define CONF_DEFAULT "/etc/pvfs/pvfs.conf"

typedef void check_fn(const struct doctor *d, const struct subject *s);

/* kernel.c */
check_fn check_dirty, check_tcp, check_huge, check_memory, check_yama,
	check_clock;
/* NAME of /proc/meminfo in bytes (huge pages: their number); -ENOENT, -EINVAL. */
int meminfo(const struct doctor *d, const char *name, uint64_t *bytes);

/* limits.c */
check_fn check_memlock, check_descriptors, check_daemons;
/* A line of /proc/PID/limits; UINT64_MAX: unlimited.  -EINVAL */
int limits_parse(const char *text, const char *name, uint64_t *soft,
		 uint64_t *hard);

/* rdma.c */
check_fn check_rdma_port, check_rdma_gid, check_rdma_mtu, check_rdma_cm;
/* "4: ACTIVE" is one that is up. */
bool rdma_state_is_up(const char *state);
/* 0: not a GID, or nobody's; 1: link-local alone; 2: an address of the network. */
int rdma_gid_kind(const char *gid);

/* use.c */
check_fn check_use, check_mounted;

/* mount.c */
check_fn check_fuse, check_shm;
/* A line of fstab shows a PVFS file system. */
bool fstab_has_pvfs(char *line);

/* names.c */
#define NAMES_FIX                                                              \
	"look at the servers in /etc/resolv.conf and the services in "         \
	"/etc/nsswitch.conf (sssd, ldap); hosts and users that matter in "     \
	"/etc/hosts and /etc/passwd"
check_fn check_users, check_host;
/* Else check_host() says so, and nothing more is to be said of the way there. */
bool host_has_address(const struct subject *s);

/* A log whose lines are findings: words of other rooms, whose fix stands in them. */
struct found_log {
	const struct doctor *d;
	unsigned int n; /* lines */
};
struct log found_log(struct found_log *f);
/*
 * What stands behind the last "; " of a line, or the last ": " of one of pvfstab, is its
 * fix: the line is cut there.  It itself if it has neither.
 */
const char *conf_fix(char *line);

/* key.c */
check_fn check_key, check_munge;
/* 0: munged of this host listens; -errno. */
int munged_reach(const struct doctor *d);
/* Where auth=munge stands, and munge_socket there, "": none: finds that munged does not listen. */
void munged_find(const struct doctor *d, const char *where, const char *said);
/* Clients prove themselves by it, it is not there, and need not be: a host of iods alone,
 * whose programs no server but its own serves.  May wait for the name service. */
bool munge_needless(const struct doctor *d);
/* Root becomes the user whose key that is, as the servers are: they take no other's. */
void key_user(const char *path);

/* same_key.c */
check_fn check_same_key;

/* server.c */
check_fn check_reach, check_ways, check_version, check_space, check_ahead;
#define ROOM_LEAST (64ull << 20)
#define ROOM_FIX                                                               \
	"remove files, or what else lies on that disk; a larger disk: df, du"
#define INODES_LEAST 1000u
#define INODES_FIX                                                             \
	"remove small files, or what else lies on that disk; more inodes: "    \
	"mkfs.ext4 -i, xfs, mount -o remount,nr_inodes= of a tmpfs: df -i"
/* Free for users, of all: too little of it. */
bool space_is_low(uint64_t left, uint64_t all, uint64_t least);

/* storage.c */
check_fn check_storage, check_room, check_errors, check_fsync;

/* unmounted.c: what of path is a mount point of fstab where nothing is mounted; 0: none. */
size_t unmounted_above(const struct doctor *d, const char *path);

/* tab.c */
check_fn check_tab;
/* Where pvfstab asks for a key; else check_tab() says so, and no server was asked. */
bool tab_has_key(const struct doctor *d, const struct subject *s);

/* whole_conf.c */
check_fn check_conf, check_iods;
#define SAME_FIX                                                               \
	"copy the right pvfs.conf to all server hosts, restart the servers "   \
	"whose file was another one"
/* Descriptors that a daemon may come to use: who is "pvfs-mgr" or "pvfs-iod". */
uint64_t conf_files(const struct doctor *d, const char *who);

#endif
