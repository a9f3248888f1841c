/* SPDX-License-Identifier: BSD-2-Clause */
/* key_file.c - see key_file.h. */
#include "common/trust/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/random_id.h"
#include "common/trust/secret.h"

#define FILE_MAX 4096u
#define HEX_LEN ((size_t)2 * MAC_KEY_LEN)

/* ---- reading ---- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_key(const char *text, size_t len, uint8_t *key)
{
	int hi, lo, all = 0;

	if (len != HEX_LEN)
		return false;
	for (size_t i = 0; i < MAC_KEY_LEN; i++) {
		hi = hex_digit(text[2 * i]);
		lo = hex_digit(text[2 * i + 1]);
		if (hi < 0 || lo < 0)
			return false;
		key[i] = (uint8_t)(hi << 4 | lo);
		all |= key[i];
	}
	return all;
}

static const char *add_line(struct keys *keys, const char *line, size_t len)
{
	if (!len || *line == '#')
		return NULL;
	if (keys->n == KEYS_MAX)
		return "more than two keys; keep the one in use first, and one "
		       "more";
	if (!parse_key(line, len, keys->key[keys->n]))
		return "no key; a key is 64 hexadecimal digits, not all zero";
	if (keys->n && mac_equal(keys->key[0], keys->key[1]))
		return "the same key as above";
	keys->n++;
	return NULL;
}

/* Parses text, which ends with a NUL. Returns the error, in line *number, or NULL. */
static const char *parse_lines(const char *text, struct keys *keys,
			       unsigned int *number)
{
	const char *why = NULL;
	size_t len;

	for (*number = 1; !why && *text; ++*number) {
		len = strcspn(text, "\n");
		why = add_line(keys, text, len);
		text += len + (text[len] == '\n');
	}
	if (*number > 1)
		--*number;
	if (!why && !keys->n)
		why = "no key; copy that of the other servers here, or, if "
		      "there is none, remove the file, and the next start "
		      "makes one";
	return why;
}

static const char *why_unsafe(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "is no regular file";
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return "belongs to another user: chown it to root, or to the "
		       "user of this program";
	if (st->st_mode & 077)
		return "may be read or written by others: chmod 600 it, and "
		       "if they may have read it, make a new key";
	if (st->st_size >= FILE_MAX)
		return "is longer than 4 KiB: no key file";
	return NULL;
}

static int check_file(int fd, const char *path, const struct log *log)
{
	const char *why;
	struct stat st;
	int rc;

	if (fstat(fd, &st)) {
		rc = -errno;
		log_error(log, "key %s: %s", path, strerror(-rc));
		return rc;
	}
	why = why_unsafe(&st);
	if (why)
		log_error(log, "key %s %s", path, why);
	return why ? -EPERM : 0;
}

static int read_text(int fd, char *text)
{
	size_t have = 0;
	ssize_t n;

	do {
		n = read(fd, text + have, FILE_MAX - 1 - have);
		if (n < 0 && errno != EINTR)
			return -errno;
		have += n > 0 ? (size_t)n : 0;
	} while (n && have < FILE_MAX - 1);
	text[have] = '\0';
	return strlen(text) == have ? 0 : -EINVAL;
}

static int parse_text(const char *text, const char *path, const struct log *log,
		      struct keys *keys)
{
	unsigned int number;
	const char *why;

	keys->n = 0;
	why = parse_lines(text, keys, &number);
	if (why)
		log_error(log, "key %s, line %u: %s", path, number, why);
	return why ? -EINVAL : 0;
}

/* Text and keys are in secret memory only, until they are copied to the caller. */
static int read_keys(int fd, const char *path, const struct log *log,
		     struct keys *out)
{
	const size_t len = FILE_MAX + sizeof(struct keys);
	char *text = secret_new(len);
	struct keys *keys = text ? (void *)(text + FILE_MAX) : NULL;
	int rc = text ? read_text(fd, text) : -ENOMEM;

	if (rc)
		log_error(log, "key %s: %s", path,
			  rc == -EINVAL ? "has a NUL: no key file"
					: strerror(-rc));
	else
		rc = parse_text(text, path, log, keys);
	if (!rc)
		*out = *keys;
	secret_free(text, len);
	return rc;
}

int key_file_read(const char *path, const struct log *log, struct keys *keys)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int rc = fd < 0 ? -errno : check_file(fd, path, log);

	if (fd < 0 && rc != -ENOENT)
		log_error(log, "key %s: %s%s", path, strerror(-rc),
			  rc == -EACCES ? "; run this as the user whose key "
					  "it is"
					: "");
	if (!rc)
		rc = read_keys(fd, path, log, keys);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* ---- creation ---- */

static void format_key(const uint8_t *key, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < MAC_KEY_LEN; i++) {
		text[2 * i] = digits[key[i] >> 4];
		text[2 * i + 1] = digits[key[i] & 15];
	}
	text[HEX_LEN] = '\n';
}

static int write_key(int fd)
{
	const size_t len = MAC_KEY_LEN + HEX_LEN + 1;
	uint8_t *key = secret_new(len);
	char *text = (char *)key + MAC_KEY_LEN;
	int rc = key ? random_bytes(key, MAC_KEY_LEN) : -ENOMEM;
	ssize_t n;

	if (!rc) {
		format_key(key, text);
		n = write(fd, text, HEX_LEN + 1);
		if (n < 0)
			rc = -errno;
		else if ((size_t)n < HEX_LEN + 1)
			rc = -ENOSPC;
		else if (fsync(fd))
			rc = -errno;
	}
	secret_free(key, len);
	return rc;
}

/* Makes the file's name survive a loss of power. */
static int sync_folder(const char *path)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int len = slash ? (int)(slash - path) + 1 : 1, fd, rc;

	snprintf(folder, sizeof(folder), "%.*s", len, slash ? path : ".");
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = fsync(fd) ? -errno : 0;
	close(fd);
	return rc;
}

static int create_file(const char *path)
{
	char tmp[PATH_MAX];
	int n = snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path), fd, rc;

	if (n >= (int)sizeof(tmp))
		return -ENAMETOOLONG;
	fd = mkostemp(tmp, O_CLOEXEC); /* 0600 */
	if (fd < 0)
		return -errno;
	rc = write_key(fd);
	close(fd);
	if (!rc && link(tmp, path) && errno != EEXIST)
		rc = -errno;
	unlink(tmp);
	return rc ? rc : sync_folder(path);
}

int key_file_make(const char *path, const struct log *log)
{
	int rc = create_file(path);

	if (rc)
		log_error(log, "cannot make the key %s: %s", path,
			  strerror(-rc));
	return rc;
}
