/* SPDX-License-Identifier: BSD-2-Clause */
/* store_errors.c - errors of Berkeley DB: their translation, their log lines, the failed store. */
#include <errno.h>

#include "mgr/db/db_int.h"

/* ENOSPC or EDQUOT. */
static bool is_full_error(int err)
{
	return err == ENOSPC || err == EDQUOT;
}

bool store_may_log(struct store *st)
{
	return atomic_fetch_add(&st->errors_logged, 1) < STORE_ERRORS_MAX;
}

static int report_out_of_space(struct store *st, const char *what)
{
	atomic_store(&st->was_full, true);
	if (store_may_log(st))
		log_error(st->log, "database %s: %s: no space left; free some",
			  st->home, what);
	return -ENOSPC;
}

int store_error(struct store *st, int ret, const char *what)
{
	if (!ret)
		return 0;
	if (ret == DB_NOTFOUND)
		return -ENOENT;
	if (ret == DB_KEYEXIST)
		return -EEXIST;
	if (is_full_error(ret) && !atomic_load(&st->failed))
		return report_out_of_space(st, what);
	if (!atomic_exchange(&st->failed, true))
		log_error(st->log, "database %s: %s: %s", st->home, what,
			  db_strerror(ret));
	return -EIO;
}

bool store_failed(const struct store *st)
{
	return atomic_load(&st->failed);
}

bool store_was_full(const struct store *st)
{
	return atomic_load(&st->was_full);
}

const struct log *store_log(const struct store *st)
{
	return st->log;
}
