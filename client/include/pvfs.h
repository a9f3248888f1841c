/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvfs.h - the PVFS file system from an application, without a mount.
 *
 * "Mounting" is a line in pvfstab(5) (the file named by the environment
 * variable PVFSTAB_FILE, else /etc/pvfstab); neither the kernel nor root is
 * involved.  Every call below has the parameters, the return value and the
 * errno of the ordinary call that its name contains.  A path outside every
 * PVFS mount, and a descriptor that pvfs_open() did not give, is passed on to
 * the ordinary call, so that a program may use these calls for all its files.
 *
 * Descriptors are real descriptor numbers of the process, so they never
 * collide with others; they are to be used with the pvfs_ calls only and are
 * closed with pvfs_close().  read(2), write(2) and the like answer EBADF.
 * They survive fork: the child has its own offset from then on.  Those without
 * FD_CLOEXEC survive exec, too, in programs that use the library, with their
 * offsets and flags, and in the same process with their locks.
 *
 * All calls may be used from any number of threads at a time.  They are not
 * async-signal-safe and are no cancellation points to rely on; a thread that is
 * cancelled in one leaves nothing that others would wait for.  There is no
 * client cache: a write that returned is seen by every client.
 *
 * A call that succeeds leaves errno as it was.
 * Besides the ordinary errors every call on a PVFS object may fail with
 *   ETIMEDOUT  a server did not answer in time (mount option timeout=, the
 *              environment variable PVFS_TIMEOUT, else 30 seconds); a line on
 *              stderr names it.  The time counts from the beginning of the call,
 *              whatever that asks of whom; a transfer's goes on with each answer,
 *              and a wait for a lock has none.  One thing goes before it: memory
 *              that a server may still touch is given back when that server has
 *              left it, or has ended, however late that is
 *   ECONNABORTED  of calls that change something: the servers ended this
 *              client's session (it was away for too long) while the call was
 *              on its way, or a server was away for too long; the change was
 *              made, or not, a write also in part
 *   ESTALE     the file is gone: another process removed it, and nobody has
 *              it open for writing
 *   EIO        a server or its disk failed; of writes and truncations
 *              also: an iod was started anew during the call, which it may
 *              have carried out before, and others have changed the same bytes
 *              since
 *   EFAULT     of reads and writes: a buffer is not there; a write may have
 *              changed the file in part.  A buffer that goes away during a
 *              write may be a signal instead (SIGSEGV, SIGBUS)
 *   EPROTO     a server does not speak this version of the protocol
 *   EPROTOTYPE another service listens at the address of a server
 *   ENOMEM     no memory
 */
#ifndef PVFS_H
#define PVFS_H

/* Tables, their comments in columns: laid out by hand. */
/* clang-format off */

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <utime.h>

#ifdef __cplusplus
extern "C" {
#endif

struct timespec;	/* strict ISO C hides it */

/* struct stat, struct dirent and off_t must be the library's own: on 32-bit
 * hosts compile with -D_FILE_OFFSET_BITS=64.  A negative array size here
 * says that this was forgotten. */
typedef char pvfs_needs_64_bit_off_t[sizeof(off_t) == 8 ? 1 : -1];

/* The library's version, "0.9.0"; static. */
const char *pvfs_version(void);

/* ---- files ---- */

/* More flags of pvfs_open(). */
#define O_META 00100000000	/* p1: struct pvfs_filestat *, for a new file */
#define O_PART 00200000000	/* next: struct fpart * */

/*
 * Striping of a file.  For a new file -1 (or, for pcount and ssize, 0) in a
 * field means the file system's default.
 */
struct pvfs_filestat {
	int32_t base;		/* index of the first iod */
	int32_t pcount;		/* number of iods, 1 to all */
	int32_t ssize;		/* bytes a stripe, 64 to 2^30 */
	int32_t soff;		/* unused, 0 */
	int32_t bsize;		/* unused, 0 */
};

/*
 * A partition: the part of a file that a descriptor sees, in bytes.  Byte
 * n of the partition is byte offset + n / gsize * stride + n % gsize of the
 * file.  gsize 0: from offset to the end.
 *
 *   offset  gsize          gsize          gsize
 *   |-----> [=====]--------[=====]--------[=====]
 *           |--- stride -->|--- stride -->|
 */
struct fpart {
	int64_t offset;		/* first byte of the first group, >= 0 */
	int64_t gsize;		/* bytes of a group, >= 0 */
	int64_t stride;		/* from group to group; >= gsize */
	int64_t gstride;	/* unused, 0 */
	int64_t ngroups;	/* unused, 0 */
};

/*
 * int pvfs_open(path, flags, mode_t mode, void *p1, void *p2);
 *
 * As open(2): flags O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC,
 * O_APPEND, O_DIRECTORY, O_NOFOLLOW, O_CLOEXEC, O_SYNC, O_DSYNC; others are
 * ignored on PVFS (O_TMPFILE and O_PATH: EOPNOTSUPP).  mode is needed with
 * O_CREAT, O_META or O_PART.  Then come the pointers: with O_META the striping
 * of a file that this call creates (ignored for one that exists), with O_PART
 * the partition; with both, O_META's first.  They are read during the call
 * only.  A partition works on ordinary files too.
 *
 * Returns a descriptor, or -1 and errno; EINVAL also for a striping or
 * partition that cannot be.
 */
int pvfs_open(const char *path, int flags, ...);
int pvfs_open64(const char *path, int flags, ...);
int pvfs_creat(const char *path, mode_t mode);
int pvfs_close(int fd);

/* A file or directory, whatever its names; may be sent to other processes. */
struct pvfs_handle {
	uint64_t fsid;		/* of the file system */
	uint64_t handle;	/* never given out again */
	uint64_t reserved[2];	/* 0 */
};

/*
 * What fd has open.  0, or -1: EBADF fd is not open; ENOTTY it is not on PVFS.
 */
int pvfs_get_handle(int fd, struct pvfs_handle *handle);
/*
 * Opens what another process has open, without looking its path up again;
 * path only says on which mount.  flags as pvfs_open(), without O_CREAT,
 * O_EXCL and O_TRUNC.  The permissions of the file are checked, those of the
 * directories above it are not.  Returns a descriptor, or -1: ESTALE it is
 * gone; EXDEV path is not on that file system; EINVAL one of these flags,
 * O_META or O_PART, or a handle of 0; EACCES, EISDIR, ENOTDIR as pvfs_open().
 */
int pvfs_open_handle(const char *path, const struct pvfs_handle *handle,
		     int flags);

/*
 * Whole requests: less than asked is transferred only at the end of the file.
 * Errors of a write come from that write; close has nothing left to report
 * about data.  Through a partition, offsets count the partition's bytes.
 * O_APPEND: each write is put at the end in one piece, also among clients.
 */
ssize_t pvfs_read(int fd, void *buf, size_t len);
ssize_t pvfs_write(int fd, const void *buf, size_t len);
ssize_t pvfs_pread(int fd, void *buf, size_t len, int64_t off);
ssize_t pvfs_pwrite(int fd, const void *buf, size_t len, int64_t off);
ssize_t pvfs_readv(int fd, const struct iovec *iov, int iovcnt);
ssize_t pvfs_writev(int fd, const struct iovec *iov, int iovcnt);
ssize_t pvfs_preadv(int fd, const struct iovec *iov, int iovcnt, int64_t off);
ssize_t pvfs_pwritev(int fd, const struct iovec *iov, int iovcnt, int64_t off);
/*
 * List I/O: pieces of memory against pieces of the file, each side in the order
 * of its arrays; the two sides have the same total.  Neither side's cuts
 * matter to the other.  There is no limit on the counts.  The offset of fd is
 * neither used nor moved; file offsets count the bytes of its partition.
 *
 * The result is that of the pieces one after the other: what overlaps in a
 * write ends as the later piece has it, and so does memory that overlaps in a
 * read.  Pieces of length 0 are passed over.  A read returns the bytes before
 * the first one, in the order of the list, that lies at or behind the end of
 * the file; every piece that lies before the end has been read all the same,
 * and memory for what lies behind it is left as it was.  A write that fails
 * may have written any part of it.  There is no atomicity among clients, but
 * nothing beside the pieces is ever written.
 *
 * allocation_offsets[i] and allocation_lengths[i] (ICPP 2003, section 5) say
 * that memory piece i is part of that larger buffer, which is registered once
 * instead of piece by piece; its whole length must be memory of the process.
 *
 * Return the bytes transferred, or -1: EINVAL a count, offset or length is
 * negative, the totals differ, the total is above INT_MAX (the 64-bit forms:
 * SSIZE_MAX), a piece of memory lies outside of its allocation, or a write to
 * a descriptor with O_APPEND; EFBIG, EOVERFLOW a piece ends behind the
 * largest offset; and what pvfs_pread() and pvfs_pwrite() may answer.
 */
int pvfs_read_list(int fd, int mem_count, char *mem_offsets[],
		   int mem_lengths[], int file_count, int64_t file_offsets[],
		   int32_t file_lengths[]);
int pvfs_write_list(int fd, int mem_count, char *mem_offsets[],
		    int mem_lengths[], int file_count, int64_t file_offsets[],
		    int32_t file_lengths[]);
/* The same with hints; C has no two functions of one name. */
int pvfs_read_list_hints(int fd, int mem_count, char *mem_offsets[],
			 int mem_lengths[], char *allocation_offsets[],
			 int allocation_lengths[], int file_count,
			 int64_t file_offsets[], int32_t file_lengths[]);
int pvfs_write_list_hints(int fd, int mem_count, char *mem_offsets[],
			  int mem_lengths[], char *allocation_offsets[],
			  int allocation_lengths[], int file_count,
			  int64_t file_offsets[], int32_t file_lengths[]);
/* allocation_offsets and allocation_lengths may both be NULL: no hints. */
ssize_t pvfs_read_list64(int fd, size_t mem_count, char *const mem_offsets[],
			 const size_t mem_lengths[],
			 char *const allocation_offsets[],
			 const size_t allocation_lengths[], size_t file_count,
			 const int64_t file_offsets[],
			 const int64_t file_lengths[]);
ssize_t pvfs_write_list64(int fd, size_t mem_count, char *const mem_offsets[],
			  const size_t mem_lengths[],
			  char *const allocation_offsets[],
			  const size_t allocation_lengths[], size_t file_count,
			  const int64_t file_offsets[],
			  const int64_t file_lengths[]);

/*
 * What the list calls of this process on fd's file system did so far (and
 * reads and writes through partitions, which go the same way).  -1: ENOTTY
 * fd is not on PVFS.
 */
struct pvfs_list_counters {
	uint64_t requests;	/* sent to servers */
	uint64_t packed;	/* bytes that were copied into messages */
	uint64_t placed;	/* bytes that were moved in place */
	uint64_t registrations;	/* of the caller's memory */
	uint64_t reserved[4];
};
int pvfs_list_counters(int fd, struct pvfs_list_counters *counters);

/*
 * How the data of reads and writes of this process on fd's file system went so far,
 * in requests to single servers: in the message, through buffers that both ends
 * have registered (Fast RDMA), or fetched and delivered by the server.
 * -1: ENOTTY fd is not on PVFS.
 */
struct pvfs_way_counters {
	uint64_t in_message;
	uint64_t fast_rdma;
	uint64_t by_server;
	uint64_t without; /* any request: by this process itself (direct=) */
	uint64_t unanswered; /* of by_server: reads that ended with their last bytes */
	uint64_t reserved[3];
};
int pvfs_way_counters(int fd, struct pvfs_way_counters *counters);

/*
 * SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE.  Through a partition all is
 * data up to the end.
 */
int64_t pvfs_lseek(int fd, int64_t off, int whence);
int64_t pvfs_lseek64(int fd, int64_t off, int whence);
int pvfs_ftruncate(int fd, int64_t size);
int pvfs_ftruncate64(int fd, int64_t size);
/*
 * Space for [off, off + len) of the file, in bytes, whatever the partition: as
 * fallocate(2).  mode: 0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_ZERO_RANGE with or
 * without it, FALLOC_FL_PUNCH_HOLE with it; else EOPNOTSUPP.  The iods' file
 * systems do it, and may answer EOPNOTSUPP as well.  After an error a part of the
 * range may be done.  The size has not grown then, but nobody knows after
 * ETIMEDOUT and ECONNABORTED.
 */
int pvfs_fallocate(int fd, int mode, int64_t off, int64_t len);
/*
 * copy_file_range(2): up to len bytes from fd_in to fd_out, each at its offset if
 * that is not NULL, which moves on then, else where its descriptor stands.
 * Offsets are those of pvfs_pread() and pvfs_pwrite(), so of the partition, if there is
 * one.  flags: 0.  How many bytes were copied: a long call may do less than it could, and
 * 0 says that fd_in ends there.  EXDEV: only one of them is on PVFS.  EINVAL: parts of one
 * file that overlap, or an ordinary file with a partition.  After an error some may be
 * written.
 */
ssize_t pvfs_copy_file_range(int fd_in, int64_t *off_in, int fd_out,
			     int64_t *off_out, size_t len, unsigned int flags);

/*
 * Counters of a file: PVFS_COUNTERS numbers beside its data, 0 at first, for programs
 * on any number of hosts.  One of its iods keeps each, by the counter's number.  They go
 * with the file, and no call on its data, size or name touches them.
 *
 * Adds to one, in a single step for all who do, and gives what it was before in
 * *old (may be NULL), written on success only.  add 0 reads it, by any descriptor of
 * the file; else it must be open for writing.
 *
 * No call is made twice, and of calls that add 1 or more no two get the same value,
 * also when the iod is killed, or its host loses power.  But values may be left
 * out: those of calls that failed though they were made, and behind a loss of
 * power some more, at most 64 times what a call had added, or 1024.
 *
 * -1: EBADF fd, or it is not open for writing; ENOTTY fd is not on PVFS; EINVAL not a
 * regular file, or counter is not below PVFS_COUNTERS; EOVERFLOW it would pass what
 * an int64_t holds, and is as before; ENOENT the file was removed; ECONNABORTED,
 * ETIMEDOUT the call was made, or not, which nobody knows (the iod was started
 * anew meanwhile, or the session has ended); EOPNOTSUPP the iod is of an
 * earlier version; errors of the iod's disk.
 */
#define PVFS_COUNTERS 8u
int pvfs_fetch_add(int fd, unsigned int counter, int64_t add, int64_t *old);
/*
 * Gives it a value: the next pvfs_fetch_add() finds that, on an iod's disk when this returns.
 * old and errors are as above.
 */
int pvfs_counter_set(int fd, unsigned int counter, int64_t value,
		     int64_t *old);
/* Returns when all servers of the file have it on stable storage. */
int pvfs_fsync(int fd);
int pvfs_fdatasync(int fd);

/* The copies share the offset, the flags and the partition. */
int pvfs_dup(int fd);
int pvfs_dup2(int fd, int newfd);
/*
 * On PVFS: F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL
 * (O_APPEND changes); F_GETLK, F_SETLK, F_SETLKW and their F_OFD_ forms, among
 * all clients; others: EINVAL.  Record locks count bytes of the file, whatever
 * the partition.  A wait lasts as long as the manager answers, or until a
 * signal's handler ran that was installed without SA_RESTART: EINTR, and nothing
 * was taken; F_SETLKW answers
 * EDEADLK if it would never end (among processes, not among open files, as on
 * Linux).  l_pid of what F_GETLK finds is -1.  ENOLCK: the file has
 * too many locks.  Locks are lost when the servers end the client's session:
 * calls on a descriptor that held some answer ESTALE from then on.  Record locks
 * of the process are held by all its descriptors of the file, also by those that
 * it opens after the loss; these are free again once it has closed one of them.
 */
int pvfs_fcntl(int fd, int cmd, ...);
/* Among all clients; beside, not against, record locks.  EINTR as there. */
int pvfs_flock(int fd, int operation);

/* Commands of pvfs_ioctl(). */
#define GETPART 0x5601	/* data: struct fpart *, written */
#define SETPART 0x5602	/* data: struct fpart *, read; the offset becomes 0 */
#define GETMETA 0x5603	/* data: struct pvfs_filestat *, written; PVFS only */
/*
 * 0, or -1: EBADF fd is not open; EINVAL a partition that cannot be, one of a
 * directory or with O_APPEND, or GETMETA of what is not a regular file; ENOTTY
 * another command on a PVFS descriptor.  Local: no server is asked.
 */
int pvfs_ioctl(int fd, int cmd, void *data);

/*
 * On PVFS: a private copy of the file's present content, whatever the
 * partition; the caller's, to be released with pvfs_munmap() or munmap(2).
 * MAP_FAILED: ENODEV not a regular file, or MAP_SHARED; EACCES fd is not open
 * for reading; EINVAL len is 0, or off negative or no multiple of the page
 * size; and what pvfs_pread() may answer.
 */
void *pvfs_mmap(void *addr, size_t len, int prot, int flags, int fd,
		int64_t off);
int pvfs_munmap(void *addr, size_t len);

/* ---- attributes ---- */

/*
 * st_ino is the handle, st_dev is the file system's, through a path of pvfstab(5)
 * and through any mount of it on this host (which the kernel numbers otherwise:
 * compare what these calls give with each other only), st_blksize is the
 * stripe size times the number of iods of the file.  st_blocks is the space that
 * the file takes on the iods; of a closed file without holes it follows from the size.
 */
int pvfs_stat(const char *path, struct stat *st);
int pvfs_lstat(const char *path, struct stat *st);
int pvfs_fstat(int fd, struct stat *st);
/*
 * f_type is PVFS_SUPER_MAGIC; space is that of all iods, once for those on one
 * disk; a file on all iods can use niods times the smallest share.
 */
#define PVFS_SUPER_MAGIC 0x20030872
int pvfs_statfs(const char *path, struct statfs *st);
int pvfs_fstatfs(int fd, struct statfs *st);
/* mode: F_OK or a sum of R_OK, W_OK and X_OK; by the effective user and
 * group, as the server checks them. */
int pvfs_access(const char *path, int mode);
int pvfs_chmod(const char *path, mode_t mode);
int pvfs_fchmod(int fd, mode_t mode);
int pvfs_chown(const char *path, uid_t uid, gid_t gid);
int pvfs_lchown(const char *path, uid_t uid, gid_t gid);
int pvfs_fchown(int fd, uid_t uid, gid_t gid);
int pvfs_truncate(const char *path, int64_t size);
int pvfs_truncate64(const char *path, int64_t size);
/* times: two, access then modification; NULL: now. */
int pvfs_utime(const char *path, const struct utimbuf *times);
int pvfs_utimes(const char *path, const struct timeval *times);
/* tv_nsec may be UTIME_NOW or UTIME_OMIT. */
int pvfs_utimens(const char *path, const struct timespec *times);
int pvfs_lutimens(const char *path, const struct timespec *times);
int pvfs_futimens(int fd, const struct timespec *times);

/*
 * Extended attributes, as setxattr(2) and the others: user. on files and
 * directories, trusted. and security. of root.  48 of an object, values of at
 * most 4096 bytes: ENOSPC beyond.  EOPNOTSUPP: another prefix.  They go
 * with the object.  system.posix_acl_access and system.posix_acl_default are access
 * control lists, which its owner sets and the manager obeys.
 */
int pvfs_setxattr(const char *path, const char *name, const void *value,
		  size_t len, int flags);
int pvfs_lsetxattr(const char *path, const char *name, const void *value,
		   size_t len, int flags);
int pvfs_fsetxattr(int fd, const char *name, const void *value, size_t len,
		   int flags);
ssize_t pvfs_getxattr(const char *path, const char *name, void *value,
		      size_t len);
ssize_t pvfs_lgetxattr(const char *path, const char *name, void *value,
		       size_t len);
ssize_t pvfs_fgetxattr(int fd, const char *name, void *value, size_t len);
ssize_t pvfs_listxattr(const char *path, char *names, size_t len);
ssize_t pvfs_llistxattr(const char *path, char *names, size_t len);
ssize_t pvfs_flistxattr(int fd, char *names, size_t len);
int pvfs_removexattr(const char *path, const char *name);
int pvfs_lremovexattr(const char *path, const char *name);
int pvfs_fremovexattr(int fd, const char *name);

/* ---- names ---- */

int pvfs_mkdir(const char *path, mode_t mode);
/*
 * As mknod(2): regular files, FIFOs, sockets, and, of root, devices (EPERM of
 * others).  These have a name and attributes here, and are served by the
 * kernel of each host through a mount: pvfs_open() answers ENXIO.
 */
int pvfs_mknod(const char *path, mode_t mode, dev_t dev);
int pvfs_rmdir(const char *path);
int pvfs_unlink(const char *path);
/* EXDEV unless both are on the same mount, or both outside of all. */
int pvfs_rename(const char *from, const char *to);
/*
 * As renameat2(2): flags 0, RENAME_NOREPLACE (EEXIST if to is there) or
 * RENAME_EXCHANGE (both are, and take each other's place in one step); EINVAL:
 * others, both, or a manager that is older than this call.
 */
int pvfs_rename2(const char *from, const char *to, unsigned int flags);
int pvfs_link(const char *from, const char *to);
int pvfs_symlink(const char *target, const char *path);
ssize_t pvfs_readlink(const char *path, char *buf, size_t len);

/*
 * As openat(2) and the others: a path that is relative begins at the directory that dir
 * is a descriptor of, wherever that was moved to since it was opened; AT_FDCWD: where the
 * process works.  flags: AT_SYMLINK_NOFOLLOW; pvfs_fstatat() also AT_EMPTY_PATH,
 * pvfs_unlinkat() AT_REMOVEDIR alone, pvfs_linkat() AT_SYMLINK_FOLLOW (EOPNOTSUPP if
 * from is a symlink on PVFS); EINVAL: others.  pvfs_faccessat() asks for the effective user,
 * with AT_EACCESS or without.  ENOTDIR: dir is no directory; EBADF: nothing.
 */
int pvfs_openat(int dir, const char *path, int flags, ...);
int pvfs_fstatat(int dir, const char *path, struct stat *st, int flags);
int pvfs_faccessat(int dir, const char *path, int mode, int flags);
int pvfs_fchmodat(int dir, const char *path, mode_t mode, int flags);
int pvfs_fchownat(int dir, const char *path, uid_t uid, gid_t gid, int flags);
int pvfs_utimensat(int dir, const char *path, const struct timespec *times,
		   int flags);
int pvfs_mkdirat(int dir, const char *path, mode_t mode);
int pvfs_mknodat(int dir, const char *path, mode_t mode, dev_t dev);
int pvfs_unlinkat(int dir, const char *path, int flags);
int pvfs_renameat2(int from_dir, const char *from, int to_dir, const char *to,
		   unsigned int flags);
int pvfs_linkat(int from_dir, const char *from, int to_dir, const char *to,
		int flags);
int pvfs_symlinkat(const char *target, int dir, const char *path);
ssize_t pvfs_readlinkat(int dir, const char *path, char *buf, size_t len);

/*
 * Fills buf, of len bytes and aligned as struct dirent, with whole records;
 * returns the bytes, 0 at the end.  d_off is a position for pvfs_lseek().
 * -1: EINVAL len is too small for the next entry; ENOTDIR.
 */
ssize_t pvfs_getdents(int fd, void *buf, size_t len);

/*
 * As opendir(3) and the others, for directories of PVFS and ordinary ones.
 * The entry of pvfs_readdir() lives until the next call on the same dir;
 * NULL with errno unchanged is the end.  pvfs_closedir() releases dir.
 */
typedef struct pvfs_dir PVFS_DIR;
PVFS_DIR *pvfs_opendir(const char *path);
PVFS_DIR *pvfs_fdopendir(int fd);
struct dirent *pvfs_readdir(PVFS_DIR *dir);
long pvfs_telldir(PVFS_DIR *dir);
void pvfs_seekdir(PVFS_DIR *dir, long pos);
void pvfs_rewinddir(PVFS_DIR *dir);
int pvfs_dirfd(PVFS_DIR *dir);
int pvfs_closedir(PVFS_DIR *dir);

/*
 * ---- mounts, servers and layout, for tools ----
 *
 * EFAULT: NULL where an address is to be, or what a call is to fill.
 */

/* 1: path lies on a PVFS mount (whether or not it exists); 0: it does not. */
int pvfs_is_pvfs(const char *path);
/* 1: fd is a descriptor of a PVFS file; 0: it is not. */
int pvfs_is_pvfs_fd(int fd);

/*
 * Line number index (from 0) of pvfstab: dir gets the mount point, at most
 * len bytes with its NUL, and the call answers 0; -1 with ENOENT when there
 * is no such line, ERANGE when len is too small.  Asks no server.
 */
int pvfs_mount_point(unsigned int index, char *dir, size_t len);

enum pvfs_role { PVFS_MGR = 1, PVFS_IOD = 2 };

struct pvfs_server {
	char uri[288];		/* "tcp://host:7000" */
	enum pvfs_role role;
	int index;		/* of the iod; 0 for the mgr */
};

/*
 * The manager of the mount that path lies on; asks no server.  0, or -1:
 * ENODEV path is on no mount.
 */
int pvfs_manager(const char *path, struct pvfs_server *mgr);
/*
 * The servers of the mount that path lies on, the mgr first, then the iods in
 * order.  Fills at most max of them and returns how many there are; list may
 * be NULL when max is 0.  -1: ENODEV path is on no mount; EINVAL max is
 * negative; errors of the mgr, which is asked if it was not before.
 */
int pvfs_servers(const char *path, struct pvfs_server *list, int max);

struct pvfs_ping {
	char version[64];	/* of the server's program */
	char transport[16];	/* in use: "local", "verbs", "tcp" */
	uint64_t boot;		/* random, new at each start of the server */
	uint64_t uptime_ns;
	uint64_t requests;	/* served since the start */
	uint64_t sessions;	/* connected clients and servers */
	uint64_t connect_ns;	/* until the first answer */
	uint64_t rtt_ns;	/* a round trip after that, the best of three */
	char reason[160];	/* why that: "same host; lends objects" */
	char seal[8];		/* of its connection: "none", "auth", "encrypt" */
	uint64_t reserved[3];
};

/*
 * Asks one server, by its URI ("pvfs://host:port", or "host:port": over the
 * best transport that both ends have; "tcp://host:port": over that one),
 * on a connection of its own; waits at most timeout_ms milliseconds (0: the
 * usual bound).  Needs no mount.  -1: EINVAL not an address; ECONNREFUSED (at
 * once) nobody listens there; EACCES it is on this host, runs as a user that is
 * not trusted, and no other transport may be used; ETIMEDOUT, other errors of
 * the connection.
 * *ping is written on success only.
 */
int pvfs_ping_server(const char *uri, int timeout_ms, struct pvfs_ping *ping);
/*
 * The same, as programs reach that server through the mount that path lies on:
 * with its transport=, fabric=, server_user=, rdma_* and dead_peer= options.
 * -1: ENODEV, too: path is on no mount; ENXIO: the server is one of another
 * file system (which one it should be is known once the mount's mgr was asked
 * for anything, as by pvfs_servers()).
 */
int pvfs_ping_mount(const char *path, const char *uri, int timeout_ms,
		    struct pvfs_ping *ping);
/* The server's own store, not the whole file system; as pvfs_ping_server().
 * Iods with the same f_fsid, not 0, are on one disk and share its space. */
int pvfs_statfs_server(const char *uri, int timeout_ms, struct statfs *st);
/* The same, through the mount that path lies on; as pvfs_ping_mount(). */
int pvfs_statfs_mount(const char *path, const char *uri, int timeout_ms,
		      struct statfs *st);

/*
 * What a server has answered since it started, of one operation of the protocol.
 * latency[i] of the requests took pvfs_latency_ns(i) nanoseconds or more, from their
 * arrival to the reply, and less than pvfs_latency_ns(i + 1).  DIRECT_READ and
 * DIRECT_WRITE are what clients say that they did without a request: ns and latency are made of
 * the few that they timed, and most_ns is where the last of latency that is not 0 ends.
 */
#define PVFS_LATENCIES 106
struct pvfs_op_stats {
	char name[24];		/* "READ", "GETATTR" */
	uint32_t op;		/* its number */
	uint32_t zero;
	uint64_t requests;	/* answered, */
	uint64_t errors;	/* ... with an error */
	uint64_t bytes_in;	/* data of the requests */
	uint64_t bytes_out;	/* data of the replies, and their bodies */
	uint64_t ns;		/* what all took together, */
	uint64_t most_ns;	/* ... and the longest */
	uint64_t latency[PVFS_LATENCIES];
	uint64_t reserved[4];
};

/*
 * Asks one server as pvfs_ping_server() and pvfs_ping_mount() do.  Fills at most max of
 * list, in the order of their numbers, and returns how many there are; list may be NULL
 * when max is 0.  The numbers are not of one moment.  -1: as pvfs_ping_server(); EINVAL
 * max is negative; EPROTO, ECONNRESET the server is of a release that does not count.
 */
int pvfs_stats_server(const char *uri, int timeout_ms,
		      struct pvfs_op_stats *list, int max);
int pvfs_stats_mount(const char *path, const char *uri, int timeout_ms,
		     struct pvfs_op_stats *list, int max);
/*
 * What a user, in a job, has asked a server for since it started.  The job is what his
 * programs had in PVFS_JOB_ID, or SLURM_JOB_ID: nobody proves it.  A server tells root, and
 * the user that it runs as, of all; another user of himself.  It keeps 256 labels; who has
 * no program there any more may be counted among the others.  With PVFS_LABEL_DIRECT: what
 * his programs say that they read and wrote without a request, beside the label's own; its
 * time is made of the few that they timed.
 */
#define PVFS_LABELS 514 /* how many there are at most */
#define PVFS_LABEL_OTHERS 0x1u
#define PVFS_LABEL_DIRECT 0x2u
struct pvfs_label {
	uint32_t uid;		/* 0 of the others */
	uint32_t flags;		/* PVFS_LABEL_* */
	char job[72];		/* "": of none */
	uint64_t requests;	/* answered, */
	uint64_t errors;	/* ... with an error */
	uint64_t bytes_in;	/* data of the requests */
	uint64_t bytes_out;	/* data of the replies, and their bodies */
	uint64_t ns;		/* what all took together */
	uint64_t reserved[4];
};
/*
 * As pvfs_stats_server() and pvfs_stats_mount(), in no order.  -1: as these; ENOSYS the
 * server is of a release that does not know users apart.
 */
int pvfs_labels_server(const char *uri, int timeout_ms,
		       struct pvfs_label *list, int max);
int pvfs_labels_mount(const char *path, const char *uri, int timeout_ms,
		      struct pvfs_label *list, int max);
/*
 * A file, or of the manager a directory, that much was done with at a server lately: what was
 * counted of it there since the server keeps it among the 64 of each of its threads.  So the numbers
 * begin at 0 again when it had lost its place.
 */
#define PVFS_HOT 64
struct pvfs_hot {
	uint64_t handle;
	uint64_t requests;
	uint64_t bytes_in;	/* data of the requests */
	uint64_t bytes_out;	/* data of the replies */
	char name[104];		/* the end of the path by which it was opened last, at most
				 * 96 bytes: any but zero; "": not known */
	uint64_t reserved[2];
};
/*
 * What a server has inside: a queue, its buffers, a cache, its data base; what that is now, or with
 * PVFS_GAUGE_TOTAL what was counted since the server started.
 */
#define PVFS_GAUGES 160 /* how many there are at most */
#define PVFS_GAUGE_TOTAL 0x1u
struct pvfs_gauge {
	char name[32];		/* "zone_used": letters and underscores */
	char by[16];		/* what there are several of: "transport", "queue", "size";
				 * or "" */
	char of[16];		/* ... and which this is: "tcp", "flush", "64KiB" */
	const char *help;	/* one line; the library's */
	uint32_t flags;		/* PVFS_GAUGE_* */
	uint32_t zero;
	uint64_t value;
	uint64_t reserved[2];
};
/*
 * How long a server took for something since it started, in stats: how often, bytes, and times as of
 * operations.  stats.name is "read", "write" or "other" of requests, by the transport that they
 * came over and the way that their data went: "inline" in the message, "fast" by Fast
 * RDMA, "bulk" moved by the server, "mapped" by it, too, from or to the object itself, "direct"
 * without a request, as clients say (times of these are made of few, as those of
 * DIRECT_READ).  "flush" is an object on its way to stable storage, "log" and "checkpoint" the
 * manager's data base, "queue" the time that works waited for a thread.
 */
#define PVFS_TIMES 128 /* how many there are at most */
struct pvfs_times {
	char transport[16];	/* of requests, else "" */
	char way[16];		/* of reads and writes, else "" */
	char queue[16];		/* of "queue", else "" */
	struct pvfs_op_stats stats;
};
/*
 * The same questions to one server again and again, on a connection that stays.  path
 * NULL: by its address alone.  -1: as of pvfs_ping_mount() for an address and a mount;
 * ENOMEM; the server is not needed yet.  *watch is the caller's to pvfs_watch_close().
 */
struct pvfs_watch;
int pvfs_watch_open(const char *path, const char *uri, int timeout_ms,
		    struct pvfs_watch **watch);
/* NULL: nothing happens. */
void pvfs_watch_close(struct pvfs_watch *watch);
/*
 * As the calls above, each within timeout_ms; one thread at a time, and no child after
 * fork().  After an error, as when the server was started anew, it may be of no more
 * use: close it and open another.
 */
int pvfs_watch_ping(struct pvfs_watch *watch, struct pvfs_ping *ping);
int pvfs_watch_statfs(struct pvfs_watch *watch, struct statfs *st);
int pvfs_watch_stats(struct pvfs_watch *watch, struct pvfs_op_stats *list,
		     int max);
int pvfs_watch_labels(struct pvfs_watch *watch, struct pvfs_label *list,
		      int max);
/*
 * The hottest files first; at most max, of PVFS_HOT; returns how many there are.  -1: as of the
 * others; EPERM to who is neither root nor the user that the server runs as; ENOSYS the
 * server is of a release that does not count files.
 */
int pvfs_watch_hot(struct pvfs_watch *watch, struct pvfs_hot *list, int max);
/*
 * Asks a manager for the names of n files, 0 to PVFS_HOT, whose handles are set; those that it
 * does not know keep the name that is there.  0, or -1 as of pvfs_watch_hot().
 */
int pvfs_watch_names(struct pvfs_watch *watch, struct pvfs_hot *list, int n);
/*
 * As pvfs_watch_stats(), at most PVFS_GAUGES and PVFS_TIMES, those of a name together.  -1: ENOSYS
 * the server is of a release that does not tell these.
 */
int pvfs_watch_gauges(struct pvfs_watch *watch, struct pvfs_gauge *list,
		      int max);
int pvfs_watch_times(struct pvfs_watch *watch, struct pvfs_times *list,
		     int max);
/*
 * A client, as a manager knows it.  name: of its program, "HOST:PID:PROGRAM"; peer: where it
 * connected from; "-": that is not known since the manager was started.
 */
#define PVFS_SESSION_AWAY 0x1u	/* it has no connection now */
struct pvfs_session {
	uint64_t id;
	uint64_t age_ns;	/* since the manager has met it, or was started */
	unsigned int uid, gid;
	unsigned int opens;	/* files that it has open for writing, or holds */
	unsigned int locks;
	unsigned int flags;	/* PVFS_SESSION_* */
	unsigned int reserved[3];
	char job[72], name[72], peer[72];
};
/*
 * Asks a manager for those with numbers above after, but for this one: at most max, in
 * the order of their numbers; returns how many; 0: there are no more.  -1: as of
 * pvfs_watch_hot(); ENOSYS the server is an iod, or of a release that cannot.
 */
int pvfs_watch_sessions(struct pvfs_watch *watch, uint64_t after,
			struct pvfs_session *list, int max);

enum pvfs_evict_by {
	PVFS_EVICT_SESSION,	/* session */
	PVFS_EVICT_USER,	/* uid */
	PVFS_EVICT_JOB,		/* text */
	PVFS_EVICT_HOST,	/* text: addresses and networks, or "local": this host's */
};
struct pvfs_evict {		/* what is not meant is 0 */
	enum pvfs_evict_by by;
	uint64_t session;
	unsigned int uid;
	const char *text;
};
#define PVFS_EVICT_IODS 1024
struct pvfs_evicted {
	unsigned int sessions;	/* that it was about */
	unsigned int left;	/* of them, or of others that end: not over yet */
	unsigned int iods;	/* that have not said that they know of it: iod[] */
	uint64_t until_ns;	/* what they had open counts there no longer; 0: until the
				 * iod knows */
	unsigned int iod[PVFS_EVICT_IODS];
};
/*
 * Ends these sessions at a manager and its iods: 0, and *done, when nothing that they had
 * counts any more, or what is left after three quarters of timeout_ms; that goes on then.
 * -1: as of pvfs_watch_sessions(); EINVAL what makes no sense, or is this one; ESRCH
 * there is no such session.
 */
int pvfs_watch_evict(struct pvfs_watch *watch, const struct pvfs_evict *what,
		     struct pvfs_evicted *done);
/* 0 for 0; UINT64_MAX above the last one. */
uint64_t pvfs_latency_ns(unsigned int i);

struct pvfs_layout {
	uint64_t handle;
	uint32_t base;		/* index of the first iod */
	uint32_t pcount;	/* number of iods */
	uint32_t ssize;		/* bytes a stripe */
	uint32_t niods;		/* of the file system */
};

/*
 * How a regular file is striped.  -1: ENODEV path is on no mount; EISDIR,
 * EINVAL not a regular file; errors of the mgr, which is asked.
 */
int pvfs_layout(const char *path, struct pvfs_layout *layout);
/*
 * The iod that keeps byte off of the file, and where in its object, in bytes
 * (local may be NULL).  Pure.  -1: EINVAL off is negative or the layout
 * cannot be.
 */
int pvfs_locate(const struct pvfs_layout *layout, int64_t off,
		int64_t *local);

/*
 * Log lines of the library: level 0 error, 1 warning, 2 info, 3 debug.  fn
 * gets the lines up to that level instead of stderr, from any thread; msg is
 * one line without its end, good until fn returns.  fn, which must make no call
 * of this library, and arg are used until the process ends.  fn NULL: stderr
 * again.  To be called before any other call.  Without it warnings
 * and errors go to stderr; the environment variable PVFS_LOG ("error",
 * "warn", "info", "debug", "none") chooses.
 */
void pvfs_set_log(void (*fn)(void *arg, int level, const char *msg),
		  void *arg, int level);

#ifdef __cplusplus
}
#endif

#endif
