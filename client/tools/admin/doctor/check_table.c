/* SPDX-License-Identifier: BSD-2-Clause */
/* check_table.c - all checks, in the order of the report. */
#include "client/tools/admin/doctor/checks.h"

#define DISK_LATE "the disk or file system below does not answer"
#define DISK_FIX                                                               \
	"look at dmesg, and whether the server it comes from (NFS, iSCSI) is " \
	"up; processes in state D wait for it"
#define USE_LATE "a listing, or a new file and its data, takes too long"
#define USE_FIX                                                                \
	"pvfs-stats and pvfs-top show which server is slow; its log, its disk"
#define MOUNTED_FIX                                                            \
	"pvfs-ping shows whether its servers answer; its pvfs-fuse may stand " \
	"still (State in /proc/PID/status, kill -CONT); last, umount -f and "  \
	"mount it again"
#define NAMES_LATE "the name service does not answer"

const struct check doctor_checks[] = {
	{ "conf", OF_CONF, "pvfs.conf as pvfs-conf check does", check_conf },
	{ "pvfstab", OF_TAB, "lines of pvfstab, options that do not fit",
	  check_tab },
	{ "users", OF_NODE, "the name service: this user and his groups",
	  check_users, NAMES_LATE, NAMES_FIX },
	{ "host", OF_SERVER, "the name service: hosts of servers", check_host,
	  NAMES_LATE, NAMES_FIX },
	{ "key", OF_CONF, "the servers' key: there, owner, mode, text",
	  check_key },
	{ "munge", OF_CONF, "munged, where auth = munge", check_munge,
	  "munged does not answer", "systemctl restart munge" },
	{ "reach", OF_SERVER, "a round trip to each server", check_reach,
	  .reaches = true },
	{ "ways", OF_SERVER, "the same over each transport, and the choice",
	  check_ways, .follows = true },
	{ "same", OF_STORAGE, "servers: file system and key as here",
	  check_same_key, .follows = true },
	{ "iods", OF_CONF, "the manager's iods are those of pvfs.conf",
	  check_iods },
	{ "version", OF_SERVER, "releases of the servers", check_version,
	  .follows = true },
	{ "managers", OF_SERVER, "several managers: all run, vote and follow",
	  check_managers, .follows = true },
	{ "daemons", OF_CONF, "servers of this host that stand still",
	  check_daemons },
	{ "storage", OF_STORAGE, "storage: there, mode, whose", check_storage,
	  DISK_LATE, DISK_FIX },
	{ "room", OF_STORAGE, "storage: space, inodes, read-only", check_room,
	  DISK_LATE, DISK_FIX },
	{ "errors", OF_STORAGE, "storage: errors that ext4 counted",
	  check_errors, DISK_LATE, DISK_FIX },
	{ "fsync", OF_STORAGE, "storage: how long a flush takes", check_fsync,
	  DISK_LATE, DISK_FIX },
	{ "space", OF_SERVER, "space and inodes, as each server says",
	  check_space, .follows = true },
	{ "ahead", OF_SERVER, "the manager's clock is not ahead of here",
	  check_ahead, .follows = true },
	{ "use", OF_MOUNT, "ls, a new file on all iods, its data, rm",
	  check_use, USE_LATE, USE_FIX, .follows = true },
	{ "mounted", OF_MOUNTED, "the same through each mount of this host",
	  check_mounted, "the mount does not answer", MOUNTED_FIX },
	{ "clock", OF_NODE, "somebody sets this host's clock", check_clock },
	{ "descriptors", OF_NODE, "ulimit -n, of servers and here",
	  check_descriptors },
	{ "memlock", OF_NODE, "ulimit -l, where there is RDMA", check_memlock },
	{ "rdma-port", OF_NODE, "ports of RDMA devices are up",
	  check_rdma_port },
	{ "rdma-gid", OF_NODE, "... have addresses", check_rdma_gid },
	{ "rdma-mtu", OF_NODE, "... have an MTU for RoCE, and one",
	  check_rdma_mtu },
	{ "rdma-cm", OF_NODE, "/dev/infiniband/rdma_cm", check_rdma_cm },
	{ "memory", OF_NODE, "memory that is left", check_memory },
	{ "huge-pages", OF_NODE, "memory that nobody gets", check_huge },
	{ "shm", OF_NODE, "/dev/shm", check_shm },
	{ "ptrace", OF_NODE, "Yama, for one copy over local", check_yama },
	{ "dirty", OF_CONF, "vm.dirty_*", check_dirty },
	{ "tcp", OF_NODE, "congestion control, windows", check_tcp },
	{ "fuse", OF_NODE, "/dev/fuse, fusermount3, where there is a mount",
	  check_fuse },
};
const unsigned int doctor_nchecks = sizeof(doctor_checks) /
				    sizeof(doctor_checks[0]);
