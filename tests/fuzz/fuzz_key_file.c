/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_key_file.c - the text of key files: any text gives keys, or a line that says what is wrong.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "common/trust/key_file.h"

static const char *const seeds[] = {
	"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n",
	"# the keys\n\n"
	"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n"
	"FFEEDDCCBBAA99887766554433221100FFEEDDCCBBAA99887766554433221100",
	"0011\n",
};

static void count(void *arg, enum log_level level, const char *msg)
{
	++*(unsigned int *)arg;
}

static int file_of(const uint8_t *data, size_t len)
{
	int fd = memfd_create("key", MFD_CLOEXEC);

	FUZZ_SURE(fd >= 0 && !fchmod(fd, 0600));
	FUZZ_SURE(!len || write(fd, data, len) == (ssize_t)len);
	return fd;
}

void fuzz_one(const uint8_t *data, size_t len)
{
	static const uint8_t zeros[MAC_KEY_LEN];
	struct keys keys = { .n = 7 };
	unsigned int lines = 0;
	const struct log log = { LOG_LV_DEBUG, count, &lines };
	int fd = file_of(data, len), rc;
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = key_file_read(path, &log, &keys);
	FUZZ_SURE(lines == (rc ? 1 : 0));
	FUZZ_SURE(rc ? keys.n == 7 : keys.n >= 1 && keys.n <= KEYS_MAX);
	for (unsigned int i = 0; !rc && i < keys.n; i++)
		FUZZ_SURE(memcmp(keys.key[i], zeros, sizeof(zeros)));
	close(fd);
}

void fuzz_seeds(void)
{
	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
		fuzz_seed(seeds[i], strlen(seeds[i]));
}
