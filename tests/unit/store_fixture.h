/* SPDX-License-Identifier: BSD-2-Clause */
/* store_fixture.h - the manager's database in a directory of its own. */
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "mgr/db/store.h"

struct store_fixture {
	char dir[64];
	struct log_file out;
	struct log log;
	struct store *st; /* NULL: closed */
};

static inline void store_fx_open(struct store_fixture *fx)
{
	struct store_attr attr = { .dir = fx->dir,
				   .cache_size = 1 << 20,
				   .log = &fx->log };

	ck_assert_int_eq(store_open(&attr, &fx->st), 0);
}

/* Does nothing if the test has failed while the store was closed. */
static inline void store_fx_close(struct store_fixture *fx)
{
	store_close(fx->st);
	fx->st = NULL;
}

static inline void store_fx_setup(struct store_fixture *fx)
{
	snprintf(fx->dir, sizeof(fx->dir), "/tmp/pvfs-st-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(fx->dir));
	fx->out = (struct log_file){ stderr, "test" };
	fx->log = (struct log){ LOG_LV_WARN, log_to_file, &fx->out };
	store_fx_open(fx);
}

static inline void store_fx_teardown(struct store_fixture *fx)
{
	char cmd[128];

	store_close(fx->st);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", fx->dir);
	ck_assert_int_eq(system(cmd), 0);
}

static inline int store_fx_put_row(struct store_fixture *fx, uint32_t n)
{
	uint8_t key[8];

	key_u64(key, n);
	return store_put(fx->st, STORE_META, key, 8, &n, sizeof(n));
}

static inline void store_fx_commit_row(struct store_fixture *fx, uint32_t n)
{
	ck_assert_int_eq(store_begin(fx->st), 0);
	ck_assert_int_eq(store_fx_put_row(fx, n), 0);
	ck_assert_int_eq(store_commit(fx->st), 0);
}

#endif
