/* SPDX-License-Identifier: BSD-2-Clause */
/* op_table.c - the table of operations by number. */
#include "mgr/session/file_handover.h"
#include "mgr/session/caps.h"
#include "mgr/session/evict.h"
#include "mgr/locks/lock_waits.h"
#include "mgr/op/mgr_ops.h"

/* One entry per line. */
/* clang-format off */
static op_fn *const ops[] = {
	[WIRE_PING] = op_ping,
	[WIRE_STATFS] = op_statfs,
	[WIRE_MOUNT] = op_mount,
	[WIRE_COPYSETS] = op_copysets,
	[WIRE_GETATTR] = op_getattr,
	[WIRE_OPEN] = op_open,
	[WIRE_RELEASE] = op_release,
	[WIRE_SETATTR] = op_setattr,
	[WIRE_MKDIR] = op_mkdir,
	[WIRE_RMDIR] = op_rmdir,
	[WIRE_UNLINK] = op_unlink,
	[WIRE_UNLINK2] = op_unlink,
	[WIRE_RENAME] = op_rename,
	[WIRE_SYMLINK] = op_symlink,
	[WIRE_READLINK] = op_readlink,
	[WIRE_LINK] = op_link,
	[WIRE_LINK2] = op_link2,
	[WIRE_READDIR] = op_readdir,
	[WIRE_READDIRPLUS] = op_readdir,
	[WIRE_TRUNCATE] = op_truncate,
	[WIRE_ACCESS] = op_access,
	[WIRE_APPEND] = op_append,
	[WIRE_LOCK] = op_lock,
	[WIRE_LOCK_ANY] = op_lock_any,
	[WIRE_RENAME2] = op_rename2,
	[WIRE_MKNOD] = op_mknod,
	[WIRE_SETXATTR] = op_setxattr,
	[WIRE_GETXATTR] = op_getxattr,
	[WIRE_LISTXATTR] = op_listxattr,
	[WIRE_REMOVEXATTR] = op_removexattr,
	[WIRE_GRANT] = op_grant,
	[WIRE_REDEEM] = op_redeem,
	[WIRE_DECLARE] = op_declare,
	[WIRE_RENEW] = op_renew,
	[WIRE_ADOPT] = op_adopt,
	[WIRE_ADOPTED] = op_adopted,
	[WIRE_SESSIONS] = op_sessions,
	[WIRE_EVICT] = op_evict,
};
/* clang-format on */

op_fn *op_find(unsigned int op)
{
	return op < sizeof(ops) / sizeof(ops[0]) ? ops[op] : NULL;
}
