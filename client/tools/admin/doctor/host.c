/* SPDX-License-Identifier: BSD-2-Clause */
/* host.c - files of the host, below the given root. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "client/tools/admin/doctor/doctor.h"
#include "common/util/number.h"

static void path_v(const struct doctor *d, char *buf, const char *fmt,
		   va_list ap)
{
	int n = snprintf(buf, PATH_MAX, "%s", d->root);

	if (n >= 0 && n < PATH_MAX)
		vsnprintf(buf + n, PATH_MAX - (size_t)n, fmt, ap);
}

const char *host_path(const struct doctor *d, char *buf, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	path_v(d, buf, fmt, ap);
	va_end(ap);
	return buf;
}

static int read_file(const char *path, char *buf, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	do {
		n = read(fd, buf + have, len - 1 - have);
		have += n > 0 ? (size_t)n : 0;
	} while (n > 0 && have < len - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	while (have && buf[have - 1] == '\n')
		have--;
	buf[have] = '\0';
	return 0;
}

int host_read(const struct doctor *d, char *buf, size_t len, const char *fmt,
	      ...)
{
	char path[PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	path_v(d, path, fmt, ap);
	va_end(ap);
	return read_file(path, buf, len);
}

int host_number(const struct doctor *d, uint64_t *n, const char *path)
{
	char text[64];
	const char *end = text;
	uint64_t got;
	int rc = host_read(d, text, sizeof(text), "%s", path);

	if (rc)
		return rc;
	if (number_scan(&end, UINT64_MAX, &got) ||
	    (*end && *end != ' ' && *end != '\t'))
		return -EINVAL;
	*n = got;
	return 0;
}

int host_each(const struct doctor *d, const char *dir,
	      int (*fn)(void *arg, const char *name), void *arg)
{
	char path[PATH_MAX];
	DIR *all = opendir(host_path(d, path, "%s", dir));
	struct dirent *de;
	int rc = 0;

	if (!all)
		return -errno;
	while (!rc && (de = readdir(all)))
		if (de->d_name[0] != '.')
			rc = fn(arg, de->d_name);
	closedir(all);
	return rc;
}
