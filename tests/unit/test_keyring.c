/* SPDX-License-Identifier: BSD-2-Clause */
/* test_keyring.c - key files: which are accepted, how one is created, and how keys change. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/key_rig.h"
#include "tests/run_suite.h"
#include "common/trust/secret.h"

static struct key_rig rig;
static char logged[4096];

static void keep(void *arg, enum log_level level, const char *msg)
{
	strncat(logged, msg, sizeof(logged) - strlen(logged) - 1);
	strncat(logged, "\n", sizeof(logged) - strlen(logged) - 1);
}

static const struct log keeper = { LOG_LV_DEBUG, keep, NULL };

static void setup(void)
{
	logged[0] = '\0';
	key_rig_open(&rig);
}

static void teardown(void)
{
	key_rig_close(&rig);
}

/* ---- files ---- */

static const struct {
	const char *text, *says; /* NULL: the file is accepted */
} files[] = {
	{ KEY_A "\n", NULL },
	{ KEY_A, NULL },
	{ "# ours\n\n" KEY_A "\n# the next\n" KEY_B "\n", NULL },
	{ "AABBCCDD00112233445566778899aabbccddeeff00112233445566778899aabb\n",
	  NULL },
	{ "", "line 1: no key" },
	{ "# none\n", "line 1: no key" },
	{ "secret\n", "line 1: no key" },
	{ KEY_A "0\n", "line 1: no key" },
	{ KEY_A "\r\n", "line 1: no key" },
	{ " " KEY_A "\n", "line 1: no key" },
	{ KEY_A "\ng0112233445566778899aabbccddeeff00112233445566778899aabbccdd"
		"eeff\n",
	  "line 2: no key" },
	{ "0000000000000000000000000000000000000000000000000000000000000000\n",
	  "not all zero" },
	{ KEY_A "\n" KEY_A "\n", "line 2: the same key as above" },
	{ KEY_A "\n" KEY_B "\n" KEY_C "\n", "line 3: more than two keys" },
};

START_TEST(test_files)
{
	struct keyring *ring = NULL;
	int rc;

	key_rig_write(&rig, files[_i].text);
	rc = keyring_open(rig.path, false, &keeper, &ring);
	if (!files[_i].says) {
		ck_assert_int_eq(rc, 0);
		keyring_close(ring);
		return;
	}
	ck_assert_int_eq(rc, -EINVAL);
	ck_assert_ptr_null(ring);
	ck_assert_msg(strstr(logged, files[_i].says), "%s", logged);
}
END_TEST

/* Checks that neither key is in the log. */
static void check_quiet(void)
{
	ck_assert_ptr_null(strstr(logged, "00112233"));
	ck_assert_ptr_null(strstr(logged, "ffeeddcc"));
}

START_TEST(test_unsafe)
{
	static const mode_t modes[] = { 0640, 0604, 0660, 0601,
					0777, 0620, 0602, 0610 };
	struct keyring *ring = NULL;

	key_rig_write(&rig, KEY_A "\n");
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		logged[0] = '\0';
		ck_assert_int_eq(chmod(rig.path, modes[i]), 0);
		ck_assert_int_eq(keyring_open(rig.path, true, &keeper, &ring),
				 -EPERM);
		ck_assert_ptr_nonnull(strstr(logged, "chmod 600"));
	}
	ck_assert_int_eq(chmod(rig.path, 0400), 0);
	ck_assert_int_eq(keyring_open(rig.path, true, &keeper, &ring), 0);
	keyring_close(ring);
	check_quiet();
}
END_TEST

START_TEST(test_another_owner)
{
	struct keyring *ring = NULL;

	if (geteuid()) {
		puts("skip: another owner: only root gives files away");
		return;
	}
	key_rig_write(&rig, KEY_A "\n");
	ck_assert_int_eq(chown(rig.path, 4321, 0), 0);
	ck_assert_int_eq(keyring_open(rig.path, true, &keeper, &ring), -EPERM);
	ck_assert_ptr_nonnull(strstr(logged, "another user"));
}
END_TEST

START_TEST(test_no_file)
{
	struct keyring *ring = NULL;
	char text[8000];

	ck_assert_int_eq(keyring_open(rig.path, false, &keeper, &ring),
			 -ENOENT);
	ck_assert_ptr_nonnull(strstr(logged, "copy it from the host of a "));
	ck_assert_int_eq(keyring_open(rig.dir, false, &keeper, &ring), -EPERM);
	memset(text, '#', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	key_rig_write(&rig, text);
	ck_assert_int_eq(keyring_open(rig.path, false, &keeper, &ring), -EPERM);
	ck_assert_int_eq(unlink(rig.path), 0);
	ck_assert_int_eq(mkfifo(rig.path, 0600), 0);
	ck_assert_int_eq(keyring_open(rig.path, false, &keeper, &ring), -EPERM);
	ck_assert_ptr_null(ring);
}
END_TEST

/* ---- creation ---- */

static void *maker(void *arg)
{
	struct keyring *ring;

	ck_assert_int_eq(keyring_open(rig.path, true, NULL, &ring), 0);
	return ring;
}

static uint32_t id_of(struct keyring *ring)
{
	uint8_t mac[MAC_LEN];
	uint32_t id;

	keyring_mac(ring, "test", NULL, 0, &id, mac);
	return id;
}

/* Several daemons start at once: one creates the file, and all have the same key. */
START_TEST(test_made_once)
{
	pthread_t thread[8];
	void *ring[8];
	struct stat st;
	int i;

	for (i = 0; i < 8; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, maker, NULL),
				 0);
	for (i = 0; i < 8; i++)
		pthread_join(thread[i], &ring[i]);
	for (i = 0; i < 8; i++)
		ck_assert_uint_eq(id_of(ring[i]), id_of(ring[0]));
	for (i = 0; i < 8; i++)
		keyring_close(ring[i]);
	ck_assert_int_eq(stat(rig.path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_uint_eq(key_rig_files(&rig), 1);
}
END_TEST

START_TEST(test_made_anew)
{
	struct keyring *ring;
	uint32_t first;

	ck_assert_int_eq(keyring_open(rig.path, true, NULL, &ring), 0);
	first = id_of(ring);
	keyring_close(ring);
	ck_assert_int_eq(unlink(rig.path), 0);
	ck_assert_int_eq(keyring_open(rig.path, true, NULL, &ring), 0);
	ck_assert_uint_ne(id_of(ring), first);
	keyring_close(ring);
	ck_assert_int_eq(keyring_open("/proc/none/key", true, &keeper, &ring),
			 -ENOENT);
	ck_assert_ptr_nonnull(strstr(logged, "cannot make the key"));
}
END_TEST

/* A dangling link of another user is not followed to create a key, and the log says so. */
START_TEST(test_link_to_nowhere)
{
	struct keyring *ring = NULL;
	char target[PATH_MAX];

	snprintf(target, sizeof(target), "%s.target", rig.path);
	ck_assert_int_eq(symlink(target, rig.path), 0);
	ck_assert_int_eq(keyring_open(rig.path, true, &keeper, &ring), -ENOENT);
	ck_assert_ptr_null(ring);
	ck_assert_ptr_nonnull(strstr(logged, "there is no such file"));
	ck_assert_int_eq(access(target, F_OK), -1);
	ck_assert_uint_eq(key_rig_files(&rig), 1);
}
END_TEST

/* ---- codes ---- */

static const struct mac_field hello = { "hello", 5 };

static int check(struct keyring *ring, uint32_t id, const uint8_t *mac)
{
	return keyring_check(ring, id, "test", &hello, 1, mac);
}

START_TEST(test_codes)
{
	struct keyring *ring = key_rig_ring(&rig, KEY_A "\n");
	const struct mac_field other = { "hellp", 5 };
	uint8_t mac[MAC_LEN];
	uint32_t id;

	keyring_mac(ring, "test", &hello, 1, &id, mac);
	ck_assert_int_eq(check(ring, id, mac), 0);
	ck_assert_int_eq(check(ring, id ^ 1, mac), -ENOKEY);
	ck_assert_int_eq(keyring_check(ring, id, "tesT", &hello, 1, mac),
			 -EKEYREJECTED);
	ck_assert_int_eq(keyring_check(ring, id, "test", &other, 1, mac),
			 -EKEYREJECTED);
	for (unsigned int bit = 0; bit < 8 * MAC_LEN; bit++) {
		mac[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ck_assert_int_eq(check(ring, id, mac), -EKEYREJECTED);
		mac[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	keyring_close(ring);
}
END_TEST

static void now(struct keyring *ring, const char *text)
{
	key_rig_write(&rig, text);
	ck_assert_int_eq(keyring_reload(ring), 0);
}

/* The steps of a key change: after each step, both ends accept each other. */
START_TEST(test_change)
{
	static const char *const steps[] = { KEY_A "\n", KEY_A "\n" KEY_B "\n",
					     KEY_B "\n" KEY_A "\n",
					     KEY_B "\n" };
	struct keyring *a = key_rig_ring(&rig, steps[0]);
	struct keyring *b = key_rig_ring(&rig, steps[0]);
	uint8_t mac[MAC_LEN], old[MAC_LEN];
	uint32_t id, old_id;

	keyring_mac(a, "test", &hello, 1, &old_id, old);
	for (int i = 1; i < 4; i++) {
		now(a, steps[i]); /* b is one step late */
		keyring_mac(a, "test", &hello, 1, &id, mac);
		ck_assert_int_eq(check(b, id, mac), 0);
		keyring_mac(b, "test", &hello, 1, &id, mac);
		ck_assert_int_eq(check(a, id, mac), 0);
		now(b, steps[i]);
	}
	ck_assert_int_eq(check(a, old_id, old), -ENOKEY);
	keyring_close(a);
	keyring_close(b);
}
END_TEST

/* A key that moves in the file, or is added, invalidates nothing. */
START_TEST(test_losses)
{
	struct keyring *ring = key_rig_ring(&rig, KEY_A "\n");

	now(ring, KEY_A "\n");
	now(ring, KEY_A "\n" KEY_B "\n");
	now(ring, KEY_B "\n" KEY_A "\n");
	ck_assert_uint_eq(keyring_losses(ring), 0);
	now(ring, KEY_B "\n");
	ck_assert_uint_eq(keyring_losses(ring), 1);
	now(ring, KEY_C "\n" KEY_A "\n");
	ck_assert_uint_eq(keyring_losses(ring), 2);
	keyring_close(ring);
}
END_TEST

START_TEST(test_failed_reload)
{
	struct keyring *ring;
	uint32_t id;

	key_rig_write(&rig, KEY_A "\n" KEY_B "\n");
	ck_assert_int_eq(keyring_open(rig.path, false, &keeper, &ring), 0);
	id = id_of(ring);
	key_rig_write(&rig, KEY_C "\nx\n");
	ck_assert_int_eq(keyring_reload(ring), -EINVAL);
	ck_assert_uint_eq(id_of(ring), id);
	ck_assert_int_eq(unlink(rig.path), 0);
	ck_assert_int_eq(keyring_reload(ring), -ENOENT);
	ck_assert_ptr_nonnull(strstr(logged, "there is no such file"));
	ck_assert_uint_eq(id_of(ring), id);
	ck_assert_uint_eq(keyring_losses(ring), 0);
	keyring_close(ring);
	check_quiet();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("keyring");
	TCase *tc = tcase_create("keyring");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_files, 0,
			    (int)(sizeof(files) / sizeof(files[0])));
	tcase_add_test(tc, test_unsafe);
	tcase_add_test(tc, test_another_owner);
	tcase_add_test(tc, test_no_file);
	tcase_add_test(tc, test_made_once);
	tcase_add_test(tc, test_made_anew);
	tcase_add_test(tc, test_link_to_nowhere);
	tcase_add_test(tc, test_codes);
	tcase_add_test(tc, test_change);
	tcase_add_test(tc, test_losses);
	tcase_add_test(tc, test_failed_reload);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
