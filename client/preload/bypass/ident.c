/* SPDX-License-Identifier: BSD-2-Clause */
/* ident.c - see ident.h. */
#include "client/preload/bypass/ident.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x4000U
#endif

/* Not statx(), because paths/ replaces it. */
static long query_statx(int fd, int flags, unsigned int mask, struct statx *st)
{
	return syscall(SYS_statx, fd, "", AT_EMPTY_PATH | flags, mask, st);
}

bool ident_get(int fd, struct ident *id)
{
	struct statx st;

	if (query_statx(fd, AT_STATX_DONT_SYNC,
			STATX_TYPE | STATX_INO | STATX_MNT_ID |
				STATX_MNT_ID_UNIQUE,
			&st))
		return false;
	if (!S_ISREG(st.stx_mode) || st.stx_dev_major)
		return false;
	*id = (struct ident){ (uint64_t)st.stx_dev_major << 32 |
				      st.stx_dev_minor,
			      st.stx_ino, st.stx_mnt_id };
	return true;
}

void ident_refresh(int fd)
{
	struct statx st;

	query_statx(fd, AT_STATX_FORCE_SYNC, STATX_SIZE, &st);
}
