/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_conf.c - configuration files: any content is either accepted, or rejected with a message
 * that names FILE:LINE.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/util/conf.h"
#include "tests/fuzz/fuzz.h"

static const char *const known[] = { "filesystem.id", "iod.sync",
				     "iod.*.address", NULL };

static int use_section(void *arg, const char *section)
{
	static const char *const keys[] = { "id", "sync", "address", "size" };
	char err[256];
	struct conf_section in = { arg, section, err, sizeof(err) };
	uint64_t size;
	bool on;

	for (unsigned int i = 0; i < 4; i++) {
		const char *val = conf_get(&in, keys[i]);

		if (val)
			fuzz_touch(val, strlen(val) + 1);
		size = 42;
		if (conf_size(&in, keys[i], 1, 1 << 20, &size) == 0)
			FUZZ_SURE(size && (size <= 1 << 20));
		else
			FUZZ_SURE(size == 42 && strlen(err));
		(void)conf_bool(&in, keys[i], &on);
		(void)conf_complain(&in, keys[i], "no");
	}
	return 0;
}

static void load(const char *path)
{
	char err[128] = "";
	struct conf *conf = NULL;
	int rc = conf_load(path, &conf, err, sizeof(err));

	if (rc) {
		FUZZ_SURE(rc == -EINVAL && !conf);
		FUZZ_SURE(!strncmp(err, path, strlen(path)) &&
			  err[strlen(path)] == ':');
		return;
	}
	conf_sections(conf, use_section, conf);
	err[0] = '\0';
	rc = conf_only(conf, known, err, sizeof(err));
	FUZZ_SURE((rc == 0) == (err[0] == '\0'));
	conf_free(conf);
}

void fuzz_one(const uint8_t *data, size_t len)
{
	char path[64];
	int fd = memfd_create("fuzz_conf", MFD_CLOEXEC);

	FUZZ_SURE(fd >= 0);
	FUZZ_SURE(write(fd, data, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	load(path);
	close(fd);
}

void fuzz_seeds(void)
{
	static const char *const text[] = {
		"[filesystem]\nid = 0123456789abcdef\nsize = 64K\n",
		"# c\n[iod]\n  sync = on ; c\n[iod.0]\naddress = tcp://h:1\r\n",
		"\xef\xbb\xbf[iod.1]\naddress: x\nsize = 17T\n[iod]\nsync = 1\n",
		"id = 1\n[a]\nid = 1\nid = 2\n",
		"[a\nrubbish\n=\n[]\n = x\n",
	};
	char longer[300] = "[a]\nid = ";

	for (unsigned int i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		fuzz_seed(text[i], strlen(text[i]));
	memset(longer + strlen(longer), 'x', 250);
	fuzz_seed(longer, strlen(longer));
}
