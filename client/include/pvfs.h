/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvfs.h - access to PVFS files from an application, without a kernel mount.
 *
 * A line in pvfstab(5) "mounts" a file system.  The table is the file that the
 * environment variable PVFSTAB_FILE names, or /etc/pvfstab.  Neither the kernel nor root
 * is involved.  Each call below has the parameters, the return value and the errno of the
 * ordinary call that its name contains.  If the path lies outside every PVFS mount, or if
 * pvfs_open() did not return the descriptor, the library passes the call on to the
 * ordinary call.  A program can therefore use these calls for all its files.
 *
 * Descriptors are real descriptor numbers of the process, so they never collide with
 * others.  Use them with the pvfs_ calls only, and close them with pvfs_close(); read(2),
 * write(2) and similar calls on them fail with EBADF.  They survive fork(2): from then on
 * the child has its own file offset.  Descriptors without FD_CLOEXEC also survive
 * execve(2) if the new program uses the library.  They keep their offsets and flags, and,
 * in the same process, their locks.
 *
 * Any number of threads may use all calls concurrently.  The calls are not
 * async-signal-safe, and a program must not rely on them as cancellation points.  A
 * thread that is cancelled in a call leaves no lock that others would wait for.  There is
 * no client cache: once a write has returned, every client sees it.
 *
 * A call that succeeds leaves errno unchanged.  In addition to the ordinary errors, every
 * call on a PVFS object may fail with:
 * - ETIMEDOUT: a server did not answer in time; a line on stderr names it.  The limit is
 *   the mount option timeout=, the environment variable PVFS_TIMEOUT, or else 30 seconds.
 *   It covers the whole call, whichever servers the call asks.  In a data transfer, each
 *   reply restarts it.  A wait for a lock has no limit.  A call takes longer than the
 *   limit while a server may still access the caller's memory: it returns when the server
 *   has released the memory, or has ended.
 * - ECONNABORTED: in calls that change something: the servers ended this client's session
 *   during the call because the client was disconnected for too long; or a server was
 *   unavailable for too long.  The change may have been made or not, and a write may have
 *   been made in part.
 * - ESTALE: the file no longer exists: another process removed it, and no process has it
 *   open for writing.  An open directory that was removed lists nothing, pvfs_fstat()
 *   shows no link, and a name in it gives ENOENT.
 * - EIO: a server or its disk failed.  In writes and truncations also: an iod restarted
 *   during the call and may have executed the request before, and other clients have
 *   changed the same bytes since.
 * - EFAULT: in reads and writes: a buffer is not mapped.  A write may have changed the
 *   file in part.  If a buffer is unmapped during a write, the process may receive
 *   SIGSEGV or SIGBUS instead.
 * - EPROTO: a server does not speak this version of the protocol.
 * - EPROTOTYPE: another service listens at the address of a server.
 * - ENOMEM: not enough memory.
 */
#ifndef PVFS_H
#define PVFS_H

/* The tables have their comments in columns, formatted by hand. */
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

/*
 * The library needs a 64-bit off_t, and the matching struct stat and struct dirent.  On
 * 32-bit hosts, compile with -D_FILE_OFFSET_BITS=64; without it, the array size here is
 * negative.
 */
typedef char pvfs_needs_64_bit_off_t[sizeof(off_t) == 8 ? 1 : -1];

/* The library's version, such as "0.9.0".  A static string: do not free it. */
const char *pvfs_version(void);

/* ---- files ---- */

/* Additional flags of pvfs_open(). */
#define O_META 00100000000	/* p1: struct pvfs_filestat *, for a new file */
#define O_PART 00200000000	/* next pointer: struct fpart * */

/*
 * Striping of a file.  In a field for a new file, -1 (or 0 for pcount and ssize) means
 * the default of the file system.
 */
struct pvfs_filestat {
	int32_t base;		/* index of the first iod */
	int32_t pcount;		/* number of iods, 1 to all */
	int32_t ssize;		/* stripe size in bytes, 64 to 2^30 */
	int32_t soff;		/* unused, 0 */
	int32_t bsize;		/* unused, 0 */
};

/*
 * A partition: the part of a file that a descriptor sees, in bytes.  Byte n of the
 * partition is byte offset + n / gsize * stride + n % gsize of the file.  A gsize of 0
 * means: from offset to the end of the file.
 *
 *   offset  gsize          gsize          gsize
 *   |-----> [=====]--------[=====]--------[=====]
 *           |--- stride -->|--- stride -->|
 */
struct fpart {
	int64_t offset;		/* first byte of the first group, >= 0 */
	int64_t gsize;		/* bytes in a group, >= 0 */
	int64_t stride;		/* bytes from the start of one group to the next; >= gsize */
	int64_t gstride;	/* unused, 0 */
	int64_t ngroups;	/* unused, 0 */
};

/*
 * int pvfs_open(path, flags, mode_t mode, void *p1, void *p2);
 *
 * Opens a file or directory, like open(2).  flags: O_RDONLY, O_WRONLY, O_RDWR, O_CREAT,
 * O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY, O_NOFOLLOW, O_CLOEXEC, O_SYNC, O_DSYNC.  On
 * PVFS, O_TMPFILE and O_PATH fail with EOPNOTSUPP; other flags are ignored.  mode is
 * required with O_CREAT, O_META or O_PART.  The pointers follow: with O_META the striping
 * of a file that this call creates (ignored if the file exists), with O_PART the
 * partition.  With both flags, the pointer for O_META comes first.  The structs are read
 * only during the call.  A partition also works on an ordinary file.
 *
 * Returns a descriptor, which the caller closes with pvfs_close(), or -1 with errno: the
 * errors of open(2), and EINVAL for an impossible striping or partition.
 */
int pvfs_open(const char *path, int flags, ...);
int pvfs_open64(const char *path, int flags, ...);
/* pvfs_open() with O_WRONLY | O_CREAT | O_TRUNC.  Returns a descriptor. */
int pvfs_creat(const char *path, mode_t mode);
/* Closes fd and releases the record locks of the process on its file.  Returns 0, or -1: EBADF. */
int pvfs_close(int fd);

/*
 * Identifies a file or directory independently of its names.  May be sent to other
 * processes.
 */
struct pvfs_handle {
	uint64_t fsid;		/* of the file system */
	uint64_t handle;	/* never reused */
	uint64_t reserved[2];	/* set to 0 */
};

/*
 * Sets *handle to that of the file that fd has open.  Returns 0, or -1: EBADF: fd is not
 * open; ENOTTY: fd is not on PVFS.
 */
int pvfs_get_handle(int fd, struct pvfs_handle *handle);
/*
 * Opens the object of a handle, without another lookup of its path.  path only selects
 * the mount.  flags are those of pvfs_open(), without O_CREAT, O_EXCL and O_TRUNC.  The
 * permissions of the object are checked, those of the directories above it are not.
 * Returns a descriptor for pvfs_close(), or -1:
 * - ESTALE: the object no longer exists.
 * - EXDEV: path is not on the file system of the handle.
 * - EINVAL: flags has O_CREAT, O_EXCL, O_TRUNC, O_META or O_PART, or the handle is 0.
 * - EACCES, EISDIR, ENOTDIR: as pvfs_open().
 */
int pvfs_open_handle(const char *path, const struct pvfs_handle *handle,
		     int flags);

/*
 * Read or write len bytes, or the iovcnt buffers of iov, at the offset of fd or at byte
 * off.  Return the number of bytes.  Requests are transferred whole: fewer bytes than
 * requested are transferred only at the end of the file.  A write reports its own errors;
 * close has no errors of data to report.  Through a partition, offsets count the bytes of
 * the partition.  With O_APPEND, each write is appended in one piece, also among clients.
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
 * List I/O: transfers between pieces of memory and pieces of the file, each side in the
 * order of its arrays.  Lengths and file offsets are in bytes.  Both sides must have the
 * same total length, but may be cut differently.  The number of pieces is not limited.
 * The calls neither use nor change the offset of fd; file offsets count the bytes of its
 * partition.
 *
 * The result is that of transferring the pieces one after the other.  If pieces of a
 * write overlap, or memory pieces of a read overlap, the later piece wins.  Pieces of
 * length 0 are skipped.  A read returns the number of bytes before the first byte, in
 * list order, that lies at or beyond the end of the file.  All pieces before the end of
 * the file are read nevertheless; memory for bytes beyond the end is left unchanged.  A
 * write that fails may have written any part of the list.  The transfer is not atomic
 * among clients, but nothing outside the pieces is ever written.
 *
 * Memory piece i is part of the larger buffer that allocation_offsets[i] and
 * allocation_lengths[i] describe (ICPP 2003, section 5).  This buffer is registered once,
 * instead of each piece.  All of it must be mapped memory of the process.
 *
 * Return the bytes transferred, or -1:
 * - EINVAL: a count, offset or length is negative; the totals differ; the total is above
 *   INT_MAX (64-bit forms: SSIZE_MAX); a piece of memory lies outside its allocation; or
 *   a write to a descriptor with O_APPEND.
 * - EFBIG, EOVERFLOW: a piece ends beyond the largest offset.
 * - The errors of pvfs_pread() and pvfs_pwrite().
 */
int pvfs_read_list(int fd, int mem_count, char *mem_offsets[],
		   int mem_lengths[], int file_count, int64_t file_offsets[],
		   int32_t file_lengths[]);
int pvfs_write_list(int fd, int mem_count, char *mem_offsets[],
		    int mem_lengths[], int file_count, int64_t file_offsets[],
		    int32_t file_lengths[]);
/* The same calls with allocation hints. */
int pvfs_read_list_hints(int fd, int mem_count, char *mem_offsets[],
			 int mem_lengths[], char *allocation_offsets[],
			 int allocation_lengths[], int file_count,
			 int64_t file_offsets[], int32_t file_lengths[]);
int pvfs_write_list_hints(int fd, int mem_count, char *mem_offsets[],
			  int mem_lengths[], char *allocation_offsets[],
			  int allocation_lengths[], int file_count,
			  int64_t file_offsets[], int32_t file_lengths[]);
/* The 64-bit forms.  allocation_offsets and allocation_lengths may both be NULL: no hints. */
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
 * Fills *counters with the totals of this process's list calls on the file system of fd.
 * Reads and writes through a partition are included, because they run as list calls.
 * Returns 0, or -1: ENOTTY: fd is not on PVFS.
 */
struct pvfs_list_counters {
	uint64_t requests;	/* requests sent to servers */
	uint64_t packed;	/* bytes copied into messages */
	uint64_t placed;	/* bytes transferred in place */
	uint64_t registrations;	/* registrations of the caller's memory */
	uint64_t reserved[4];
};
int pvfs_list_counters(int fd, struct pvfs_list_counters *counters);

/*
 * Fills *counters with how the reads and writes of this process on the file system of fd
 * moved their data.  Each request to one iod counts once.  Returns 0, or -1: ENOTTY: fd is
 * not on PVFS.
 */
struct pvfs_way_counters {
	uint64_t in_message; /* the data was part of the message */
	uint64_t fast_rdma; /* through buffers that both ends have registered */
	uint64_t by_server; /* the iod read or wrote the caller's memory by RDMA */
	uint64_t without; /* no request: this process used the object itself (direct=) */
	uint64_t unanswered; /* of by_server: reads that ended when their last bytes arrived */
	uint64_t reserved[3];
};
int pvfs_way_counters(int fd, struct pvfs_way_counters *counters);

/*
 * Moves the offset of fd and returns the new offset in bytes, like lseek(2).  whence:
 * SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE.  Through a partition, everything up
 * to the end counts as data.
 */
int64_t pvfs_lseek(int fd, int64_t off, int whence);
int64_t pvfs_lseek64(int fd, int64_t off, int whence);
/*
 * Set the size of the file in bytes, also through a partition.  Return 0, or -1: EINVAL: size is
 * negative or fd is not open for writing; EFBIG: size is too large.
 */
int pvfs_ftruncate(int fd, int64_t size);
int pvfs_ftruncate64(int fd, int64_t size);
/*
 * Allocates or releases space for the bytes [off, off + len) of the file, like
 * fallocate(2).  The offset counts bytes of the file, also through a partition.  mode is
 * 0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_ZERO_RANGE with or without FALLOC_FL_KEEP_SIZE, or
 * FALLOC_FL_PUNCH_HOLE with it.  Returns 0, or -1: EOPNOTSUPP: another mode, or the file
 * system of an iod does not support it.  After an error, part of the range may be done.
 * The size of the file has not grown then, except possibly after ETIMEDOUT and
 * ECONNABORTED.
 */
int pvfs_fallocate(int fd, int mode, int64_t off, int64_t len);
/*
 * Copies up to len bytes from fd_in to fd_out, like copy_file_range(2).  Each side uses
 * the offset that its pointer names, and advances it; with NULL, it uses the offset of
 * its descriptor.  Offsets are those of pvfs_pread() and pvfs_pwrite(): they count bytes
 * of the partition, if there is one.  flags must be 0.  Returns the number of bytes
 * copied; a long call may copy fewer than possible, and 0 means the end of fd_in.  -1:
 * - EXDEV: only one of the files is on PVFS.
 * - EINVAL: the ranges overlap in one file, or an ordinary file has a partition.
 *
 * After an error, some bytes may have been written.
 */
ssize_t pvfs_copy_file_range(int fd_in, int64_t *off_in, int fd_out,
			     int64_t *off_out, size_t len, unsigned int flags);

/*
 * Counters of a file: PVFS_COUNTERS numbers stored with the file, for programs on any
 * number of hosts.  Each is 0 at first.  The number of a counter selects the iod that
 * stores it.  The counters are removed with the file; calls that change its data, size or
 * name leave them unchanged.
 *
 * pvfs_fetch_add() adds add to a counter atomically among all clients.  It stores the
 * previous value in *old (may be NULL), on success only.  With an add of 0, it reads the
 * counter through any descriptor of the file; otherwise, the file must be open for
 * writing.
 *
 * No call is executed twice.  No two calls that add 1 or more get the same value, even if
 * the iod is killed or its host loses power.  Values may be skipped, though: a call that
 * fails may have been executed.  After a power failure, more values may be skipped: at
 * most 64 times the amount of one call, or 1024.
 *
 * Returns 0, or -1:
 * - EBADF: fd is not open, or not open for writing.
 * - ENOTTY: fd is not on PVFS.
 * - EINVAL: fd is not a regular file, or counter is not below PVFS_COUNTERS.
 * - EOVERFLOW: the sum does not fit int64_t; the counter is unchanged.
 * - ENOENT: the file was removed.
 * - ECONNABORTED, ETIMEDOUT: unknown whether the call was executed, because the iod
 *   restarted meanwhile or the session ended.
 * - EOPNOTSUPP: the iod is of an earlier version.
 * - Errors of the iod's disk.
 */
#define PVFS_COUNTERS 8u
int pvfs_fetch_add(int fd, unsigned int counter, int64_t add, int64_t *old);
/*
 * Sets the counter to value.  When the call returns, the value is on the disk of the iod.
 * old and errors: as pvfs_fetch_add().
 */
int pvfs_counter_set(int fd, unsigned int counter, int64_t value,
		     int64_t *old);
/*
 * Return 0 when all iods of the file have its data on stable storage, or -1: EBADF: fd is
 * not open; EIO: an iod could not write the data; the errors at the top of this header.
 */
int pvfs_fsync(int fd);
int pvfs_fdatasync(int fd);

/*
 * Duplicate a descriptor, like dup(2) and dup2(2).  The copies share the offset, the
 * flags and the partition.
 */
int pvfs_dup(int fd);
int pvfs_dup2(int fd, int newfd);
/*
 * fcntl(2).  Commands on PVFS; others fail with EINVAL:
 * - F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL.
 * - F_SETFL: changes O_APPEND.
 * - F_GETLK, F_SETLK, F_SETLKW and their F_OFD_ forms: record locks among all clients.
 *
 * Record locks count bytes of the file, also through a partition.  A wait lasts as long
 * as the manager responds.  If a signal handler installed without SA_RESTART runs, the
 * wait ends with EINTR and the lock is not taken.  F_SETLKW fails with EDEADLK if the
 * wait would never end; as on Linux, this covers processes, not open files.  F_GETLK sets
 * l_pid to -1.  ENOLCK: the file has too many locks.
 *
 * Locks are lost when the servers end the client's session.  From then on, calls on a
 * descriptor that held locks fail with ESTALE.  The record locks of a process belong to
 * all its descriptors of the file, including those that it opens after the loss.  Once
 * the process has closed one of these descriptors, the others work again.
 */
int pvfs_fcntl(int fd, int cmd, ...);
/* flock(2) among all clients.  Does not conflict with record locks.  EINTR: as pvfs_fcntl(). */
int pvfs_flock(int fd, int operation);

/* Commands of pvfs_ioctl(). */
#define GETPART 0x5601	/* data: struct fpart *, written */
#define SETPART 0x5602	/* data: struct fpart *, read; sets the offset to 0 */
#define GETMETA 0x5603	/* data: struct pvfs_filestat *, written; PVFS only */
/*
 * Executes one of these commands on fd, without asking a server.  Returns 0, or -1:
 * - EBADF: fd is not open.
 * - EINVAL: the partition is impossible; SETPART on a directory or a descriptor with
 *   O_APPEND; or GETMETA on an object that is not a regular file.
 * - ENOTTY: fd is on PVFS, and cmd is none of these commands.
 */
int pvfs_ioctl(int fd, int cmd, void *data);

/*
 * Maps a private copy of the present content of the file; len and off are in bytes of the
 * file, also through a partition.  Only MAP_PRIVATE works on PVFS.  The caller owns the
 * mapping and releases it with pvfs_munmap() or munmap(2).  MAP_FAILED:
 * - ENODEV: not a regular file, or MAP_SHARED.
 * - EACCES: fd is not open for reading.
 * - EINVAL: len is 0, or off is negative or not a multiple of the page size.
 * - The errors of pvfs_pread().
 */
void *pvfs_mmap(void *addr, size_t len, int prot, int flags, int fd,
		int64_t off);
int pvfs_munmap(void *addr, size_t len);

/* ---- attributes ---- */

/*
 * Attributes, like stat(2).  st_ino is the handle.  st_dev identifies the file system; it
 * is the same through a path of pvfstab(5) and through any mount of the file system on
 * this host.  The kernel uses other numbers for such a mount, so compare st_dev only
 * among results of these calls.  st_blksize is the stripe size times the number of iods
 * of the file.  st_blocks is the space that the file takes on the iods; for a closed file
 * without holes it is computed from the size.
 */
int pvfs_stat(const char *path, struct stat *st);
int pvfs_lstat(const char *path, struct stat *st);
int pvfs_fstat(int fd, struct stat *st);
/*
 * Space and type of the file system, like statfs(2).  f_type is PVFS_SUPER_MAGIC.  The
 * space is the sum of all iods; iods that share a disk count once.  A file on all iods
 * can use niods times the smallest share.
 */
#define PVFS_SUPER_MAGIC 0x20030872
int pvfs_statfs(const char *path, struct statfs *st);
int pvfs_fstatfs(int fd, struct statfs *st);
/*
 * Check access like access(2).  mode: F_OK, or a combination of R_OK, W_OK and X_OK.  The
 * server checks the effective user and group of the process.
 */
int pvfs_access(const char *path, int mode);
/* Change permissions, owner and size, as the ordinary calls.  size is in bytes. */
int pvfs_chmod(const char *path, mode_t mode);
int pvfs_fchmod(int fd, mode_t mode);
int pvfs_chown(const char *path, uid_t uid, gid_t gid);
int pvfs_lchown(const char *path, uid_t uid, gid_t gid);
int pvfs_fchown(int fd, uid_t uid, gid_t gid);
int pvfs_truncate(const char *path, int64_t size);
int pvfs_truncate64(const char *path, int64_t size);
/* Set the times.  times: access time, then modification time; NULL: the current time. */
int pvfs_utime(const char *path, const struct utimbuf *times);
int pvfs_utimes(const char *path, const struct timeval *times);
/* tv_nsec may be UTIME_NOW or UTIME_OMIT.  times: as above. */
int pvfs_utimens(const char *path, const struct timespec *times);
int pvfs_lutimens(const char *path, const struct timespec *times);
int pvfs_futimens(int fd, const struct timespec *times);

/*
 * Extended attributes, like setxattr(2), getxattr(2), listxattr(2) and removexattr(2).
 * Files and directories take names with the prefix user.; root also sets trusted. and
 * security.  An object has at most 48 attributes, with values of at most 4096 bytes;
 * beyond that, calls fail with ENOSPC.  Other prefixes fail with EOPNOTSUPP.  Attributes
 * are removed with their object.  system.posix_acl_access and system.posix_acl_default
 * are access control lists: the owner sets them, and the manager enforces them.
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

/* A call without a comment behaves like the system call of that name.  The umask applies. */
int pvfs_mkdir(const char *path, mode_t mode);
/*
 * Creates a regular file, FIFO or socket, and for root also a device, like mknod(2); a
 * device fails with EPERM for other users.  PVFS stores only the name and attributes of
 * special files.  The kernel of each host serves them through a mount; pvfs_open() on
 * them fails with ENXIO.
 */
int pvfs_mknod(const char *path, mode_t mode, dev_t dev);
int pvfs_rmdir(const char *path);
int pvfs_unlink(const char *path);
/* Fails with EXDEV unless both paths are on the same mount, or both are outside all mounts. */
int pvfs_rename(const char *from, const char *to);
/*
 * Renames from to to, like renameat2(2).  flags is one of:
 * - 0: replaces to if it exists.
 * - RENAME_NOREPLACE: fails with EEXIST if to exists.
 * - RENAME_EXCHANGE: exchanges the two names atomically; both must exist.
 *
 * EINVAL: flags is another value, or the manager's release does not have this call.
 */
int pvfs_rename2(const char *from, const char *to, unsigned int flags);
int pvfs_link(const char *from, const char *to);
int pvfs_symlink(const char *target, const char *path);
ssize_t pvfs_readlink(const char *path, char *buf, size_t len);

/*
 * As openat(2) and the corresponding calls.  A relative path starts at the directory that
 * dir has open, even if that directory was moved since.  With AT_FDCWD, it starts at the
 * current directory of the process.  Other flags than these fail with EINVAL:
 * - pvfs_fstatat(): AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH; AT_NO_AUTOMOUNT has no effect.
 * - pvfs_faccessat(): AT_SYMLINK_NOFOLLOW; AT_EACCESS has no effect, because the effective
 *   user is always checked.
 * - pvfs_fchmodat(), pvfs_fchownat(), pvfs_utimensat(): AT_SYMLINK_NOFOLLOW.
 * - pvfs_unlinkat(): AT_REMOVEDIR.
 * - pvfs_linkat(): AT_SYMLINK_FOLLOW, which fails with EOPNOTSUPP if from is a symlink on
 *   PVFS.  AT_EMPTY_PATH has no effect with a path on PVFS; with an empty path and a
 *   descriptor of PVFS, the call fails with EINVAL.
 *
 * ENOTDIR: dir is not a directory; EBADF: dir is not open.
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
 * Fills buf, of len bytes and aligned like struct dirent, with complete records of the
 * directory fd.  Returns the number of bytes, 0 at the end.  d_off is a position for
 * pvfs_lseek().  -1: EINVAL: len is too small for the next entry; ENOTDIR: fd is not a
 * directory.
 */
ssize_t pvfs_getdents(int fd, void *buf, size_t len);

/*
 * Directory streams, like opendir(3), for directories on PVFS and others.  The entry that
 * pvfs_readdir() returns is valid until the next call on the same dir.  NULL with errno
 * unchanged means the end of the directory.  The caller releases dir with
 * pvfs_closedir(), which also closes its descriptor.
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
 * All of these fail with EFAULT if an address, or a result to fill, is NULL.
 */

/* Returns 1 if path lies on a PVFS mount, whether or not path exists; otherwise 0. */
int pvfs_is_pvfs(const char *path);
/* Returns 1 if fd is a descriptor of a PVFS file; otherwise 0. */
int pvfs_is_pvfs_fd(int fd);

/*
 * Copies the mount point of line number index (from 0) of pvfstab into dir, at most len
 * bytes including the NUL.  Returns 0, or -1: ENOENT: there is no such line; ERANGE: len
 * is too small.  Asks no server.
 */
int pvfs_mount_point(unsigned int index, char *dir, size_t len);

enum pvfs_role { PVFS_MGR = 1, PVFS_IOD = 2 };

struct pvfs_server {
	/* "tcp://host:7000"; of several managers "pvfs://host1:3000,host2:3000,host3:3000" */
	char uri[288];
	enum pvfs_role role;
	int index;		/* of the iod; 0 for the manager */
};

/*
 * Fills *mgr with the manager of the mount that contains path, without asking a server.  If
 * pvfstab names several managers, mgr->uri lists as many as fit.  A call that gets this uri
 * asks the manager that leads.  Returns 0, or -1: ENODEV: path is on no mount.
 */
int pvfs_manager(const char *path, struct pvfs_server *mgr);
/*
 * Lists the servers of the mount that contains path: the manager first, then the iods in
 * order.  Fills at most max entries of list and returns the total number; list may be
 * NULL if max is 0.  Asks the manager if this process has not done so before.  -1:
 * ENODEV: path is on no mount; EINVAL: max is negative; errors of the manager.
 */
int pvfs_servers(const char *path, struct pvfs_server *list, int max);
/*
 * pvfs_servers() for tools of administrators.  If no earlier call of this process asked the
 * servers of the mount, even a full server accepts the process: it has a reserve for tools.
 */
int pvfs_tool_servers(const char *path, struct pvfs_server *list, int max);

struct pvfs_ping {
	char version[64];	/* version of the server's program */
	char transport[16];	/* transport in use: "local", "verbs", "tcp" */
	uint64_t boot;		/* random, new at each start of the server */
	uint64_t uptime_ns;
	uint64_t requests;	/* requests served since the start */
	uint64_t sessions;	/* connected clients and servers */
	uint64_t connect_ns;	/* nanoseconds until the first answer */
	uint64_t rtt_ns;	/* nanoseconds of a round trip after that, the best of three */
	/* why this transport: "same host; lends objects"; of several managers, which leads */
	char reason[160];
	char seal[8];		/* seal of the connection: "none", "auth", "encrypt" */
	uint64_t reserved[3];
};

/*
 * Asks one server, by its URI, through a connection of its own.  With "pvfs://host:port"
 * or "host:port", the call uses the best transport that both ends support; with
 * "tcp://host:port", it uses that one.  Waits at most timeout_ms milliseconds; 0 means
 * the default timeout.  Needs no mount.  uri may list managers, as pvfs_manager() does: then
 * it asks the one that leads.  Writes *ping on success only.  Returns 0, or -1:
 * - EINVAL: uri is not an address.
 * - ECONNREFUSED, immediately: no server listens there.
 * - EACCES: the server is on this host and runs as an untrusted user, and no other
 *   transport is permitted.
 * - ENOSR, EUSERS: the server is full: few descriptors are left, or all places are
 *   taken.  A user that it takes for an administrator gets in all the same.
 * - ENOTCONN: uri lists managers, and none of them leads.
 * - ETIMEDOUT and other errors of the connection.
 */
int pvfs_ping_server(const char *uri, int timeout_ms, struct pvfs_ping *ping);
/*
 * pvfs_ping_server() with the options of the mount that contains path: transport=, fabric=,
 * server_user=, rdma_* and dead_peer=.  So it tests the connection that programs use there.
 * Returns 0, or -1 with an error of pvfs_ping_server(), or:
 * - ENODEV: path is on no mount.
 * - ENXIO: the server belongs to another file system.  The call can tell this only after
 *   another call of the process has asked the mount's manager, such as pvfs_servers().
 */
int pvfs_ping_mount(const char *path, const char *uri, int timeout_ms,
		    struct pvfs_ping *ping);
/*
 * Fills *st with the space of the server's own store, not of the whole file system.
 * Parameters and errors: as pvfs_ping_server().  Iods with the same f_fsid other than 0
 * are on one disk and share its space.
 */
int pvfs_statfs_server(const char *uri, int timeout_ms, struct statfs *st);
/* pvfs_statfs_server() with the options of the mount of path.  Errors: as pvfs_ping_mount(). */
int pvfs_statfs_mount(const char *path, const char *uri, int timeout_ms,
		      struct statfs *st);

/*
 * A metric of a server: a count since its start, or its present state.  name and
 * labels identify the metric.  latency[i] counts the requests that took at least
 * pvfs_latency_ns(i) and less than pvfs_latency_ns(i + 1) nanoseconds, from arrival to
 * reply.
 *
 * PVFS_METRICS_OPS: the metric "requests" of each operation, with the label op: "READ",
 * "GETATTR".  The operations DIRECT_READ and DIRECT_WRITE are transfers without a request, as
 * clients report them.  Clients time only a few of these.  So ns and latency are estimates, and
 * most_ns is the upper end of the last nonzero element of latency.
 *
 * PVFS_METRICS_USERS: the metric "user" of each user and job, with the labels uid and job.  The
 * job is the program's environment variable PVFS_JOB_ID or SLURM_JOB_ID, which the server does
 * not verify.  A row with the label way "direct" counts transfers without a request.  Root, and
 * the user that the server runs as, get the rows of all users; another user gets only his own.
 * A server stores 256 rows.  If a user has no connected program, the server may add his counts
 * to the uid "others".
 *
 * PVFS_METRICS_FILES: the metric "file" of each file (on the manager also of each directory) that
 * was used much recently, with the labels handle and name.  It counts since the server began to
 * track the file.  name is the end of the path by which the file was last opened, at most 96
 * bytes of any value but 0; "": unknown.  Only root, and the user that the server runs as, get
 * these rows.
 *
 * PVFS_METRICS_INSIDE: how the server works inside.
 * - "way", with the labels op ("read", "write", "other"), transport and way: requests by how
 *   their data moved.  "inline": in the message; "fast": by Fast RDMA; "bulk": by RDMA of the
 *   server; "mapped": by RDMA of the server from or to the object itself; "direct": without a
 *   request; "none": the request has no data.
 * - "flush", with the label of: writing to stable storage.
 * - "queue", with the label queue: the time that work items waited for a thread.
 * - Metrics of queues, buffers, caches and the database.  The name of each ends in its unit.
 */
#define PVFS_LATENCIES 106
#define PVFS_METRIC_LABELS 4
#define PVFS_METRIC_FILES 64
#define PVFS_METRICS_OPS 0x1u
#define PVFS_METRICS_USERS 0x2u
#define PVFS_METRICS_FILES 0x4u
#define PVFS_METRICS_INSIDE 0x8u
#define PVFS_METRICS_ALL 0xfu
enum pvfs_metric_kind {
	PVFS_NOW,		/* n is the present state */
	PVFS_TOTAL,		/* n counts since the server started */
	PVFS_TIMES,		/* something that happened n times since the server started */
};
struct pvfs_metric {
	struct pvfs_metric *next;
	enum pvfs_metric_kind kind;
	unsigned int labels;	/* number of entries in label */
	const char *name;	/* letters and underscores */
	const char *help;	/* one line, or "" */
	struct {
		const char *key;	/* as name */
		const char *value;	/* bytes of any value but 0 */
	} label[PVFS_METRIC_LABELS];
	uint64_t n;
	/* for PVFS_TIMES, else 0 */
	uint64_t errors;	/* number of failures among n */
	uint64_t bytes_in;	/* bytes of data in requests */
	uint64_t bytes_out;	/* bytes of data and bodies in replies */
	uint64_t ns;		/* nanoseconds, all together, */
	uint64_t most_ns;	/* ... and of the longest */
	uint64_t *latency;	/* PVFS_LATENCIES entries; NULL: unknown */
};
/* Returns the value of the label key of metric, or "" if the metric has no such label. */
const char *pvfs_metric_label(const struct pvfs_metric *metric, const char *key);
/* Frees a list.  NULL is permitted. */
void pvfs_metrics_free(struct pvfs_metric *list);
/*
 * Creates *watch, with which the pvfs_watch_ calls ask one server over a connection that stays
 * open.  uri names the server.  path selects the mount whose options apply; NULL: none.  The
 * server need not answer yet.  The caller owns *watch and releases it with pvfs_watch_close().
 * Returns 0, or -1: EINVAL: uri is not an address; ENODEV, ENXIO: as pvfs_ping_mount();
 * ENOMEM.
 */
struct pvfs_watch;
int pvfs_watch_open(const char *path, const char *uri, int timeout_ms,
		    struct pvfs_watch **watch);
/* Closes the connection and frees watch.  NULL is permitted. */
void pvfs_watch_close(struct pvfs_watch *watch);
/*
 * pvfs_ping_server() and pvfs_statfs_server() over the connection of watch.  Each returns
 * within the timeout_ms of pvfs_watch_open().  Only one thread may use a watch at a time, and
 * a child must not use it after fork().  After an error, for example because the server
 * restarted, the watch may be unusable.  The caller then closes it and opens another.
 */
int pvfs_watch_ping(struct pvfs_watch *watch, struct pvfs_ping *ping);
int pvfs_watch_statfs(struct pvfs_watch *watch, struct statfs *st);
/*
 * Sets *list to the metrics of the given groups, a sum of PVFS_METRICS_*.  If n is not 0, the
 * group PVFS_METRICS_FILES has only the n files of handle, at most PVFS_METRIC_FILES, and a
 * manager reports their names.  The numbers are not an atomic snapshot.  The caller owns *list
 * and releases it with pvfs_metrics_free().  Returns the number of metrics, or -1:
 * - EINVAL: groups has unknown bits, or n is too large.
 * - ENOSYS: the release of the server has no metrics.
 * - EPROTO: the server never ends its list.
 * - The errors of pvfs_watch_ping().
 */
int pvfs_watch_metrics(struct pvfs_watch *watch, unsigned int groups,
		       const uint64_t *handle, unsigned int n,
		       struct pvfs_metric **list);
/*
 * A client session, as a manager knows it.  name is "HOST:PID:PROGRAM" of the client's
 * program.  peer is the address from which the client connected; "-": the client has not
 * connected since the manager started.
 */
#define PVFS_SESSION_AWAY 0x1u	/* the client has no connection now */
struct pvfs_session {
	uint64_t id;
	uint64_t age_ns;	/* since its first connection, or the start of the manager */
	unsigned int uid, gid;
	unsigned int opens;	/* files that the client has open for writing, or holds */
	unsigned int locks;
	unsigned int flags;	/* PVFS_SESSION_* */
	unsigned int reserved[3];
	char job[72], name[72], peer[72];
};
/*
 * Asks a manager for its sessions with an id above after, except the session of watch.  Fills
 * at most max entries of list in the order of the ids.  Returns the number of entries, 0 if
 * there are no more, or -1:
 * - EPERM: the caller is neither root nor the user that the manager runs as.
 * - ENOSYS: the server is an iod, or its release does not have this request.
 * - The errors of pvfs_watch_ping().
 */
int pvfs_watch_sessions(struct pvfs_watch *watch, uint64_t after,
			struct pvfs_session *list, int max);

enum pvfs_evict_by {
	PVFS_EVICT_SESSION,	/* selected by session */
	PVFS_EVICT_USER,	/* selected by uid */
	PVFS_EVICT_JOB,		/* selected by text */
	PVFS_EVICT_HOST,	/* selected by text: addresses and networks, or "local" for
				 * this host */
};
struct pvfs_evict {		/* fields that by does not name are 0 */
	enum pvfs_evict_by by;
	uint64_t session;
	unsigned int uid;
	const char *text;
};
#define PVFS_EVICT_IODS 1024
struct pvfs_evicted {
	unsigned int sessions;	/* number of sessions that the call selected */
	unsigned int left;	/* evicted sessions, of this and earlier calls, still to end */
	unsigned int iods;	/* number of iods that have not confirmed it: iod[] */
	uint64_t until_ns;	/* nanoseconds after which these iods reject the sessions by
				 * themselves; 0: not before the manager reaches them */
	unsigned int iod[PVFS_EVICT_IODS];
};
/*
 * Ends the sessions that *what selects, at the manager and at all iods.  Returns 0 when no
 * request of these sessions can be executed any more.  After three quarters of the watch's
 * timeout_ms, the call returns 0 before that: then done->left or done->iods is not 0, and the
 * manager continues.  Returns -1:
 * - EINVAL: *what is inconsistent, or selects the session of watch.
 * - ESRCH: no session matches.
 * - The errors of pvfs_watch_sessions().
 */
int pvfs_watch_evict(struct pvfs_watch *watch, const struct pvfs_evict *what,
		     struct pvfs_evicted *done);

/*
 * A member of the group of managers of a file system.  id identifies the member's storage, and
 * address its manager.  A field marked "leader only" is 0 in the answer of another member.
 */
#define PVFS_MEMBER_VOTER 0x1u
#define PVFS_MEMBER_RECENT 0x2u	/* leader only: it has answered within the election timeout */
#define PVFS_MEMBER_FILLED 0x4u	/* leader only: it is getting a copy of the database */
struct pvfs_member {
	uint64_t id;
	uint64_t lag;		/* leader only: entries that it has not confirmed */
	uint64_t filled;	/* leader only: bytes of the copy that were sent to it */
	unsigned int flags;	/* PVFS_MEMBER_* */
	unsigned int reserved[3];
	char address[104];
};
enum pvfs_managers_role {
	PVFS_MANAGERS_FOLLOWER,
	PVFS_MANAGERS_CANDIDATE,
	PVFS_MANAGERS_LEADER,	/* also a manager without a group */
};
#define PVFS_MANAGERS_LEASE 0x1u	/* this manager may answer clients */
#define PVFS_MANAGERS_LOG_FULL 0x2u
#define PVFS_MANAGERS_CHANGE 0x4u	/* a change of the group is going on */
#define PVFS_MEMBERS_MAX 16
struct pvfs_managers {		/* a manager without a group: all 0, except role */
	uint64_t group;		/* random; another one after a forced recovery */
	uint64_t term;
	uint64_t leader;	/* a member; 0: unknown */
	uint64_t self;		/* the member that answers */
	uint64_t first, last;	/* entries in its log */
	uint64_t committed, applied;
	uint64_t log_bytes;	/* on its disk */
	uint64_t log_limit;
	enum pvfs_managers_role role;
	unsigned int flags;	/* PVFS_MANAGERS_* */
	unsigned int n;		/* members */
	unsigned int reserved[3];
	struct pvfs_member member[PVFS_MEMBERS_MAX];
};
enum pvfs_managers_command {
	PVFS_MANAGERS_STATUS,	/* id is 0 */
	PVFS_MANAGERS_REMOVE = 2, /* the member id leaves the group */
	PVFS_MANAGERS_TRANSFER,	/* the member id leads from now on; 0: any other member */
};
/*
 * Executes the command at a manager, and fills *state with the state after it.  REMOVE returns
 * when the group has committed the removal.  TRANSFER returns when the transfer has begun.  If a
 * removed manager runs with an empty storage, it joins the group again under a new id.  Returns
 * 0, or -1:
 * - EINVAL: the command is unknown, or id does not fit it.
 * - EPERM: the command is a change, and the caller is neither root nor the manager's user.
 * - ENOTCONN: this manager does not lead.
 * - EBUSY: another change of the group is in progress.
 * - ENOENT: the group has no member id.
 * - EHOSTDOWN: after REMOVE, the members that are up to date would be no majority.
 * - ENOSPC: the log of the managers is full.
 * - ENOSYS: the server is an iod or has no group, or its release does not have this request.
 * - The errors of pvfs_watch_ping().
 */
int pvfs_watch_managers(struct pvfs_watch *watch,
			enum pvfs_managers_command command, uint64_t id,
			struct pvfs_managers *state);
/*
 * Returns the lower bound, in nanoseconds, of the latencies that element i of
 * pvfs_metric.latency counts.  Returns UINT64_MAX if i is not below PVFS_LATENCIES.
 */
uint64_t pvfs_latency_ns(unsigned int i);

struct pvfs_layout {
	uint64_t handle;
	uint32_t base;		/* index of the first iod */
	uint32_t pcount;	/* number of iods */
	uint32_t ssize;		/* stripe size in bytes */
	uint32_t niods;		/* number of iods of the file system */
};

/*
 * Asks the manager for the striping of the regular file path, and fills *layout.  Returns 0,
 * or -1: ENODEV: path is on no mount; EISDIR: path is a directory; EINVAL: path is another
 * object without data; EOPNOTSUPP: its iods do not follow each other; the errors of pvfs_stat().
 */
int pvfs_layout(const char *path, struct pvfs_layout *layout);
/*
 * Returns the index of the iod that stores byte off of a file with this layout.  Sets *local
 * (may be NULL) to the offset of that byte in the iod's object.  Asks no server.  Returns -1
 * with EINVAL if off is negative or the layout is impossible.
 */
int pvfs_locate(const struct pvfs_layout *layout, int64_t off,
		int64_t *local);

/*
 * Redirects the log lines of the library from stderr to fn; NULL: back to stderr.  level is
 * the highest level that is logged: 0 error, 1 warning, 2 info, 3 debug.  Any thread may call
 * fn.  msg is one line without a newline, and valid until fn returns.  fn must not call this
 * library.  The library uses fn and arg until the process ends.  The program must call this
 * function before any other of the library.  If it does not, the library logs errors and
 * warnings, or as much as the environment variable PVFS_LOG says ("error", "warn", "info",
 * "debug", "none").
 */
void pvfs_set_log(void (*fn)(void *arg, int level, const char *msg),
		  void *arg, int level);

#ifdef __cplusplus
}
#endif

#endif
