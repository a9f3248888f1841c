/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-cat - writes files to standard output. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <pvfs.h>
#include "client/tools/common/tool.h"

#define CAT_BLOCK (1u << 20) /* /proc/sys refuses reads of 4 MiB: ENOMEM */

static int set_option(void *arg, int opt, const char *val)
{
	return -1;
}

static const struct tool tool = {
	.name = "pvfs-cat",
	.usage = "FILE...",
	.help = "Writes files to standard output.\n",
	.shorts = "",
	.option = set_option,
};

static int write_out(const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		buf += n;
		len -= (size_t)n;
	}
	return 0;
}

static int cat_fd(int fd, const char *path, char *buf)
{
	ssize_t n;

	while ((n = pvfs_read(fd, buf, CAT_BLOCK)) > 0)
		if (write_out(buf, (size_t)n))
			return tool_fail(&tool, "standard output");
	return n < 0 ? tool_fail(&tool, path) : 0;
}

/* Whether fd is the file that standard output writes.  Then reading it would never end. */
static bool is_output(int fd)
{
	struct stat in, out;

	return !pvfs_fstat(fd, &in) && !pvfs_fstat(STDOUT_FILENO, &out) &&
	       S_ISREG(in.st_mode) && in.st_size && tool_same_file(&in, &out);
}

static int cat_path(const char *path, char *buf)
{
	int fd = pvfs_open(path, O_RDONLY), status;

	if (fd < 0)
		return tool_fail(&tool, path);
	status = is_output(fd) ? tool_say(&tool,
					  "%s: input file is output file", path)
			       : cat_fd(fd, path, buf);
	pvfs_close(fd);
	return status;
}

int main(int argc, char **argv)
{
	int i = tool_options(&tool, argc, argv, NULL), status = 0;
	char *buf;

	if (i == argc)
		tool_usage(&tool);
	if (tool_need_mount(&tool))
		return 1;
	buf = malloc(CAT_BLOCK);
	if (!buf)
		return tool_fail(&tool, "buffer");
	for (; i < argc; i++)
		status |= cat_path(argv[i], buf);
	free(buf);
	return status;
}
