/* SPDX-License-Identifier: BSD-2-Clause */
/* profile_path.c - the name of the profile's file, and creating it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/profile/profile_int.h"

#define STANDARD "pvfs-profile.%h.%p.json"
#define TRIES 99u

/* ---- ranks ---- */

static int env_number(const char *name)
{
	const char *text = name ? secure_getenv(name) : NULL;
	char *end;
	long n;

	if (!text || *text < '0' || *text > '9')
		return -1;
	n = strtol(text, &end, 10);
	return *end || n > INT_MAX ? -1 : (int)n;
}

struct profile_rank profile_rank(void)
{
	static const struct {
		const char *rank, *ranks;
	} from[] = {
		{ "PMI_RANK", "PMI_SIZE" },
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
		{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE" },
		{ "PMIX_RANK", NULL },
		{ "SLURM_PROCID", "SLURM_NTASKS" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		int rank = env_number(from[i].rank);

		if (rank >= 0)
			return (struct profile_rank){
				rank, env_number(from[i].ranks)
			};
	}
	return (struct profile_rank){ -1, -1 };
}

/* ---- names ---- */

/* Relative to the present directory, because the program may change it. */
int profile_path(const char *given, char path[PATH_MAX])
{
	char cwd[PATH_MAX] = "", *to = path;
	const char *from;

	if (!strcmp(given, "1"))
		given = STANDARD;
	if (*given != '/' && !getcwd(cwd, sizeof(cwd)))
		return -errno;
	/* a % in the name of the directory is no pattern */
	for (from = cwd; *from; from++) {
		if (to - path > PATH_MAX - 4)
			return -ENAMETOOLONG;
		if (*from == '%')
			*to++ = '%';
		*to++ = *from;
	}
	if (snprintf(to, (size_t)(path + PATH_MAX - to), "%s%s",
		     *given == '/' ? "" : "/", given) >= path + PATH_MAX - to)
		return -ENAMETOOLONG;
	return 0;
}

static size_t pattern_value(char sign, char *to, size_t room)
{
	struct profile_rank r = profile_rank();
	char host[256] = "";
	int n;

	switch (sign) {
	case 'p':
		n = snprintf(to, room, "%d", (int)getpid());
		break;
	case 'h':
		gethostname(host, sizeof(host) - 1);
		n = snprintf(to, room, "%s", host);
		break;
	case 'r':
		n = r.rank < 0 ? snprintf(to, room, "norank")
			       : snprintf(to, room, "%d", r.rank);
		break;
	case '%':
		n = snprintf(to, room, "%%");
		break;
	default:
		n = snprintf(to, room, "%%%c", sign);
	}
	return (size_t)n;
}

static int path_expand(const char *from, char *to, size_t room)
{
	size_t n = 0;

	while (*from) {
		if (*from == '%' && from[1]) {
			n += pattern_value(from[1], to + n, room - n);
			from += 2;
		} else {
			to[n++] = *from++;
		}
		if (n >= room - 1)
			return -ENAMETOOLONG;
	}
	to[n] = 0;
	return 0;
}

int profile_new_file(const char *name)
{
	int fd = open(name,
		      O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		      0666);

	return fd < 0 ? -errno : fd;
}

/* Tries NAME, NAME.PID, NAME.PID.1, ... */
int profile_create(struct profile *p)
{
	char name[PATH_MAX];
	int rc = path_expand(p->path, name, sizeof(name));
	unsigned int i;

	if (rc)
		return rc;
	rc = -EEXIST;
	snprintf(p->written, sizeof(p->written), "%s", name);
	if (!p->child)
		rc = profile_new_file(p->written);
	for (i = 0; rc == -EEXIST && i < TRIES; i++) {
		snprintf(p->written, sizeof(p->written),
			 i ? "%s.%d.%u" : "%s.%d", name, (int)p->pid, i);
		rc = profile_new_file(p->written);
	}
	if (rc < 0)
		p->written[0] = 0;
	return rc;
}
