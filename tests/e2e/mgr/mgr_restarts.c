/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_restarts.c - a manager is started and stopped a hundred times in one process, like one that
 * loses its leadership. It serves each time, and the number of descriptors does not grow. A
 * sanitizer detects lost memory.
 */
#include <check.h>
#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "mgr/mgr.h"
#include "tests/e2e/mgr/mgrrig.h"
#include "tests/run_suite.h"

#define TIMES 100u
#define WARM 10u

static struct mgrrig rig;
static atomic_bool ready;

static void sink(void *arg, enum log_level level, const char *msg)
{
	if (!strncmp(msg, "ready:", 6))
		atomic_store(&ready, true);
}

static unsigned int count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void serve_once(const struct mgr_conf *conf, unsigned int i)
{
	static const struct log log = { LOG_LV_INFO, sink, NULL };
	struct mgrc c = { 0 };
	struct mgr *mgr;
	char name[16];

	atomic_store(&ready, false);
	ck_assert_int_eq(mgr_start(conf, &log, NULL, &mgr), 0);
	rig_until(atomic_load(&ready));
	mgrc_open(&c, &rig.addr, 0);
	snprintf(name, sizeof(name), "f%u", i);
	ck_assert_int_eq(mgrc_make(&c, name, 100), 0);
	mgrc_close(&c, true);
	mgr_stop(mgr);
}

START_TEST(restarts)
{
	struct mgr_conf conf;
	unsigned int fds = 0;
	char err[256];

	rig_open(&rig);
	ck_assert_int_eq(mgr_conf_load(rig.conf, MGR_INDEX_NONE, &conf, err,
				       sizeof(err)),
			 0);
	for (unsigned int i = 0; i < TIMES; i++) {
		serve_once(&conf, i);
		if (i == WARM)
			fds = count_descriptors();
	}
	ck_assert_uint_le(count_descriptors(), fds);
	mgr_conf_free(&conf);
	rig_close(&rig);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_restarts");
	TCase *tc = tcase_create("restarts");

	tcase_set_timeout(tc, 240);
	tcase_add_test(tc, restarts);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
