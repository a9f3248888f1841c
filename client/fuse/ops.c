/* SPDX-License-Identifier: BSD-2-Clause */
/* ops.c - the features requested from the kernel, and the table of operations. */
#include "client/fuse/ops.h"

#include "client/fuse/libfuse_compat.h"

#define MAX_WRITE (1u << 20)

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	struct fuse_daemon *d = userdata;
	unsigned int want = FUSE_CAP_POSIX_LOCKS | FUSE_CAP_FLOCK_LOCKS |
			    FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_PARALLEL_DIROPS |
			    FUSE_CAP_ASYNC_DIO | FUSE_CAP_EXPORT_SUPPORT |
			    FUSE_CAP_DONT_MASK;

	/*
	 * Not _AUTO: the kernel then requests attributes only if the program asks for some of them
	 * while it lists.  But find, du and others list the whole directory first.
	 */
	if (d->entry_timeout > 0)
		want |= FUSE_CAP_READDIRPLUS;
	/*
	 * The kernel then evaluates access control lists too, and keeps them with the
	 * attributes.
	 */
	if (d->default_permissions)
		want |= FUSE_CAP_POSIX_ACL;
	if (d->cache == CACHE_OPEN)
		want |= FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_ASYNC_READ;
	d->can_expire_names = libfuse_compat_can_expire(conn);
	conn->want = want & conn->capable;
	conn->max_write = MAX_WRITE;
	conn->max_readahead = MAX_WRITE;
	/*
	 * This limits how many writes of mapped pages, read-aheads and releases of all users the
	 * kernel sends at a time.  Its default is 12.  If 12 of them wait for a server, a release
	 * cannot be sent, so the locks of the closed file are not released.
	 */
	conn->max_background = UINT16_MAX;
	conn->time_gran = 1;
}

const struct fuse_lowlevel_ops ops = {
	.init = op_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.readlink = op_readlink,
	.mknod = op_mknod,
	.mkdir = op_mkdir,
	.unlink = op_unlink,
	.rmdir = op_rmdir,
	.symlink = op_symlink,
	.rename = op_rename,
	.link = op_link,
	.open = op_open,
	.read = op_read,
	.write = op_write,
	.flush = op_flush,
	.release = op_release,
	.fsync = op_fsync,
	.fallocate = op_fallocate,
	.copy_file_range = op_copy_file_range,
	.lseek = op_lseek,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.releasedir = op_releasedir,
	.fsyncdir = op_fsyncdir,
	.statfs = op_statfs,
	.setxattr = op_setxattr,
	.getxattr = op_getxattr,
	.listxattr = op_listxattr,
	.removexattr = op_removexattr,
	.access = op_access,
	.create = op_create,
	.getlk = op_getlk,
	.setlk = op_setlk,
	.flock = op_flock,
	.ioctl = op_ioctl,
};
