/* SPDX-License-Identifier: BSD-2-Clause */
/* checks.h - the checks of the table, a few per file, and their parsers. */
#ifndef DOCTOR_CHECKS_H
#define DOCTOR_CHECKS_H

#include "client/tools/admin/doctor/doctor.h"
#include "common/util/log.h"

#define CONF_DEFAULT "/etc/pvfs/pvfs.conf"

typedef void check_fn(const struct doctor *d, const struct subject *s);

/* kernel.c */
check_fn check_dirty, check_tcp, check_huge, check_memory, check_yama,
	check_clock;
/*
 * Sets *bytes to the value of name in /proc/meminfo; for huge pages, their number.  Returns 0;
 * -ENOENT: there is no such line; -EINVAL: it has no number; or the error of host_read().
 */
int meminfo(const struct doctor *d, const char *name, uint64_t *bytes);

/* limits.c */
check_fn check_memlock, check_descriptors, check_daemons;
/* Parses a line of /proc/PID/limits; UINT64_MAX: unlimited.  0 or -EINVAL. */
int limits_parse(const char *text, const char *name, uint64_t *soft,
		 uint64_t *hard);
/*
 * Returns the configuration of a daemon with these arguments, len bytes with a NUL after each
 * and one more at the end, as in /proc/PID/cmdline.  It is a part of args or CONF_DEFAULT.
 */
const char *limits_daemon_conf(const char *args, size_t len);

/* rdma.c */
check_fn check_rdma_port, check_rdma_gid, check_rdma_mtu, check_rdma_cm;
/* Whether the state of an RDMA port is "active", as in "4: ACTIVE". */
bool rdma_state_is_up(const char *state);
/*
 * Returns what a GID of an RDMA port is.  0: none, or an empty one; 1: link-local; 2: an address of
 * the network.
 */
int rdma_gid_kind(const char *gid);

/* use.c */
check_fn check_use, check_mounted;

/* mount.c */
check_fn check_fuse, check_shm;
/* Whether the line of fstab names a PVFS file system.  Changes line. */
bool fstab_has_pvfs(char *line);
/*
 * If a directory above path is a mount point in fstab and nothing is mounted there, returns the
 * length of that part of path; otherwise 0.
 */
size_t unmounted_above(const struct doctor *d, const char *path);

/* names.c */
#define NAMES_FIX                                                              \
	"look at the servers in /etc/resolv.conf and the services in "         \
	"/etc/nsswitch.conf (sssd, ldap); hosts and users that matter in "     \
	"/etc/hosts and /etc/passwd"
check_fn check_users, check_host;
/*
 * Returns whether the name of the server's host has an address.  If not, check_host() reports that,
 * and other checks skip the server.
 */
bool host_has_address(const struct subject *s);

/* A log whose lines become findings of the doctor.  Each line contains its remedy. */
struct found_log {
	const struct doctor *d;
	unsigned int n; /* lines */
};
struct log found_log(struct found_log *f);
/*
 * Cuts the remedy off line and returns it: the text after the last "; ", or, in a line about
 * pvfstab, after the last ": ".  Returns line itself if it contains neither.
 */
const char *conf_fix(char *line);

/* key.c */
check_fn check_key, check_munge, check_same_key;
/* Tries to connect to munged of this host.  0: it listens; or -errno. */
int munged_reach(const struct doctor *d);
/*
 * Reports a finding if munged does not listen on this host.  where: the place of the setting
 * auth=munge, for the message; configured: the munge_socket of that setting, "": the default.
 */
void munged_find(const struct doctor *d, const char *where,
		 const char *configured);
/*
 * Returns true if clients authenticate with munge, and munged does not run on this host but need
 * not, because the manager runs on another host.  May wait for the name service.
 */
bool munge_needless(const struct doctor *d);

/* server.c */
check_fn check_managers;
check_fn check_reach, check_ways, check_version, check_space, check_ahead;
#define ROOM_LEAST (64ull << 20)
#define ROOM_FIX                                                               \
	"remove files, or what else lies on that disk; a larger disk: df, du"
#define INODES_LEAST 1000u
#define INODES_FIX                                                             \
	"remove small files, or what else lies on that disk; more inodes: "    \
	"mkfs.ext4 -i, xfs, mount -o remount,nr_inodes= of a tmpfs: df -i"
/* Whether too little of the space is left for users. */
bool space_is_low(uint64_t left, uint64_t all, uint64_t least);

/* storage.c */
check_fn check_storage, check_room, check_errors, check_fsync;

/* pvfstab.c */
check_fn check_tab;
/*
 * Returns false if pvfstab names a key file that cannot be read.  Then check_tab() reports that,
 * and the doctor has asked no server.
 */
bool tab_has_key(const struct doctor *d, const struct subject *s);

/* pvfs_conf.c */
check_fn check_conf, check_iods;
#define SAME_FIX                                                               \
	"copy the right pvfs.conf to all server hosts, restart the servers "   \
	"whose file was another one"
/* Returns the limit of open files of the daemon who, "pvfs-mgr" or "pvfs-iod"; 0: unknown. */
uint64_t conf_files(const struct doctor *d, const char *who);

#endif
