/* SPDX-License-Identifier: BSD-2-Clause */
/* ad_pvfs_file.c - open with striping hints, close, delete; size, flush, features and locks. */
#include <errno.h>
#include <fcntl.h>

#include <pvfs.h>

#include "romio-adio/ad_pvfs.h"

/* ---- open ---- */

/* Stripe sizes in bytes: see pvfs.h. */
#define SSIZE_LEAST 64
#define SSIZE_MOST (1 << 30)

/* Converts ROMIO's access mode to flags of pvfs_open(). */
static int open_flags(int mode)
{
	int flags = 0;

	if (mode & ADIO_CREATE)
		flags |= O_CREAT;
	if (mode & ADIO_EXCL)
		flags |= O_EXCL;
	if (mode & ADIO_RDWR)
		flags |= O_RDWR;
	else if (mode & ADIO_WRONLY)
		flags |= O_WRONLY;
	return flags;
}

static mode_t open_perm(int perm)
{
	mode_t mask;

	if (perm != ADIO_PERM_NULL)
		return (mode_t)perm;
	mask = umask(022);
	umask(mask);
	return 0666 & ~mask;
}

static int value_within(int value, int lo, int hi, int otherwise)
{
	return value >= lo && value <= hi ? value : otherwise;
}

/*
 * Returns the striping that the hints request.  Hints are advice, so an impossible value is left
 * out, and the file system chooses.
 */
static struct pvfs_filestat striping_from_hints(const ADIO_File fd)
{
	int niods = pvfs_servers(fd->filename, NULL, 0) - 1;

	return (struct pvfs_filestat){
		.base = value_within(fd->hints->start_iodevice, 0, niods - 1,
				     -1),
		.pcount = value_within(fd->hints->striping_factor, 1, niods,
				       -1),
		.ssize = value_within(fd->hints->striping_unit, SSIZE_LEAST,
				      SSIZE_MOST, -1),
	};
}

static void set_info_number(ADIO_File fd, const char *key, int value)
{
	char text[MPI_MAX_INFO_VAL + 1];

	snprintf(text, sizeof(text), "%d", value);
	ADIOI_Info_set(fd->info, key, text);
}

/* Stores the actual striping in the file's info. */
static void show_striping(ADIO_File fd)
{
	struct pvfs_filestat st;

	if (pvfs_ioctl(fd->fd_sys, GETMETA, &st) != 0)
		return;
	fd->hints->start_iodevice = st.base;
	fd->hints->striping_factor = st.pcount;
	fd->hints->striping_unit = st.ssize;
	fd->blksize = st.ssize;
	set_info_number(fd, "start_iodevice", st.base);
	set_info_number(fd, "striping_factor", st.pcount);
	set_info_number(fd, "striping_unit", st.ssize);
}

static int open_as(const ADIO_File fd, int flags,
		   const struct pvfs_handle *handle)
{
	struct pvfs_filestat st;

	if (handle)
		return pvfs_open_handle(fd->filename, handle, flags);
	st = striping_from_hints(fd);
	return pvfs_open(fd->filename, flags | O_META, open_perm(fd->perm),
			 &st);
}

/*
 * Opens a file.  Two-phase collective writing must read the data in holes of its buffer.  So a file
 * that is opened only for writing is opened for reading, too, if its permissions allow that.
 */
static int open_file(const ADIO_File fd, int mode,
		     const struct pvfs_handle *handle)
{
	int flags = open_flags(mode), sys;

	if ((flags & O_ACCMODE) != O_WRONLY)
		return open_as(fd, flags, handle);
	sys = open_as(fd, (flags & ~O_ACCMODE) | O_RDWR, handle);
	if (sys < 0 && errno == EACCES)
		sys = open_as(fd, flags, handle);
	return sys;
}

/* Opens on this rank.  Returns 0 or a positive errno. */
static int open_here(ADIO_File fd, int mode, const struct pvfs_handle *handle)
{
	fd->fd_direct = -1;
	fd->fd_sys = open_file(fd, mode, handle);
	if (fd->fd_sys < 0)
		return errno;
	fd->fp_ind = fd->fp_sys_posn = 0;
	if (mode & ADIO_APPEND)
		fd->fp_ind = pvfs_lseek(fd->fd_sys, 0, SEEK_END);
	show_striping(fd);
	return 0;
}

static int open_code(const ADIO_File fd, int err)
{
	return err ? ADIOI_Err_create_code("pvfs_open", fd->filename, err)
		   : MPI_SUCCESS;
}

void ad_pvfs_open(ADIO_File fd, int *error_code)
{
	*error_code = open_code(fd, open_here(fd, fd->access_mode, NULL));
}

/* The message from the first rank to the others. */
struct opened {
	struct pvfs_handle handle;
	int err;
	int known; /* handle is set; 0 for an ordinary file */
};

static void open_first(ADIO_File fd, int mode, struct opened *opened)
{
	opened->err = open_here(fd, mode, NULL);
	if (!opened->err)
		opened->known = pvfs_get_handle(fd->fd_sys, &opened->handle) ==
				0;
}

/*
 * Opens the file on a rank that got the handle.  Opens it by path if the handle cannot be used,
 * because mounts may differ between nodes.
 */
static int open_other(ADIO_File fd, int mode, const struct opened *opened)
{
	int err = EXDEV;

	mode &= ~(ADIO_CREATE | ADIO_EXCL);
	if (opened->known)
		err = open_here(fd, mode, &opened->handle);
	return err == EXDEV ? open_here(fd, mode, NULL) : err;
}

/*
 * One rank creates or finds the file; the others open it by its handle.  All ranks return
 * an error of the first one.
 */
void ad_pvfs_open_coll(ADIO_File fd, int rank, int mode, int *error_code)
{
	const int first = fd->hints->ranklist[0];
	struct opened opened = { .err = 0 };
	int err;

	if (rank == first)
		open_first(fd, mode, &opened);
	MPI_Bcast(&opened, sizeof(opened), MPI_BYTE, first, fd->comm);
	err = opened.err;
	if (!err && rank != first)
		err = open_other(fd, mode, &opened);
	fd->access_mode = mode;
	fd->is_open = !err;
	fd->dirty_write = 0;
	*error_code = open_code(fd, err);
}

void ad_pvfs_close(ADIO_File fd, int *error_code)
{
	int err = pvfs_close(fd->fd_sys);

	fd->fd_sys = -1;
	fd->fd_direct = -1;
	*error_code = err ? ADIOI_Err_create_code("pvfs_close", fd->filename,
						  errno)
			  : MPI_SUCCESS;
}

/* ROMIO has removed the prefix of the name.  Another colon belongs to the name. */
void ad_pvfs_delete(const char *name, int *error_code)
{
	*error_code = MPI_SUCCESS;
	if (pvfs_unlink(name) != 0)
		*error_code = ADIOI_Err_create_code("pvfs_unlink", name, errno);
}

/* ---- size, flush and features ---- */

static void get_size(ADIO_File fd, ADIO_Fcntl_t *arg, int *error_code)
{
	struct stat st;

	if (pvfs_fstat(fd->fd_sys, &st) != 0) {
		*error_code = ADIOI_Err_create_code("pvfs_fstat", fd->filename,
						    errno);
		return;
	}
	arg->fsize = st.st_size;
}

void ad_pvfs_fcntl(ADIO_File fd, int op, ADIO_Fcntl_t *arg, int *error_code)
{
	*error_code = MPI_SUCCESS;
	switch (op) {
	case ADIO_FCNTL_GET_FSIZE:
		get_size(fd, arg, error_code);
		break;
	case ADIO_FCNTL_SET_DISKSPACE:
		ADIOI_GEN_Prealloc(fd, arg->diskspace, error_code);
		break;
	case ADIO_FCNTL_SET_ATOMICITY:
		fd->atomicity = arg->atomicity != 0;
		break;
	default:
		*error_code = ADIOI_Err_create_code("ad_pvfs_fcntl",
						    fd->filename, EINVAL);
	}
}

void ad_pvfs_flush(ADIO_File fd, int *error_code)
{
	*error_code = MPI_SUCCESS;
	if (pvfs_fsync(fd->fd_sys) != 0)
		*error_code = ADIOI_Err_create_code("pvfs_fsync", fd->filename,
						    errno);
}

/* One process resizes the file and broadcasts the result. */
void ad_pvfs_resize(ADIO_File fd, ADIO_Offset size, int *error_code)
{
	int rank, err = 0;

	MPI_Comm_rank(fd->comm, &rank);
	if (rank == fd->hints->ranklist[0] &&
	    pvfs_ftruncate(fd->fd_sys, size) != 0)
		err = errno;
	MPI_Bcast(&err, 1, MPI_INT, fd->hints->ranklist[0], fd->comm);
	*error_code = err ? ADIOI_Err_create_code("pvfs_ftruncate",
						  fd->filename, err)
			  : MPI_SUCCESS;
}

int ad_pvfs_feature(ADIO_File fd, int feature)
{
	(void)fd;
	switch (feature) {
	case ADIO_SCALABLE_OPEN:
	case ADIO_SCALABLE_RESIZE:
	case ADIO_TWO_PHASE:
	case ADIO_LOCKS:
	case ADIO_SHARED_FP:
	case ADIO_ATOMIC_MODE:
	case ADIO_IMMEDIATELY_VISIBLE:
		return 1;
	default:
		return 0;
	}
}

/*
 * ---- locks ----
 *
 * ROMIO's lock macros, for atomic mode and shared file pointers.  The manager stores the locks, so
 * they work among nodes and end with a rank that dies.  They belong to the open file, not to the
 * process: two files opened by one rank are different owners.
 */

int ad_pvfs_lock_range(int sys, int cmd, const struct flock *range)
{
	struct flock lock = *range;

	cmd = cmd == F_SETLKW ? F_OFD_SETLKW : F_OFD_SETLK;
	return pvfs_fcntl(sys, cmd, &lock) ? -errno : 0;
}

int ad_pvfs_lock(ADIO_File fd, int cmd, int type, ADIO_Offset off, int whence,
		 ADIO_Offset len)
{
	const struct flock range = { .l_type = (short)type,
				     .l_whence = (short)whence,
				     .l_start = off,
				     .l_len = len };
	int err = len ? ad_pvfs_lock_range(fd->fd_sys, cmd, &range) : 0;

	return err ? ADIOI_Err_create_code("pvfs_fcntl", fd->filename, -err)
		   : MPI_SUCCESS;
}
