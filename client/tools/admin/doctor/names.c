/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c - the name service: users, groups, hosts, and which host is this one. */
#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/tools/admin/doctor/checks.h"
#include "common/util/clock.h"

#define SLOW_MS 2000u

void check_users(const struct doctor *d, const struct subject *s)
{
	uint64_t began = clock_now(), ms;
	struct passwd *pw = getpwuid(getuid());
	gid_t group[1024];
	int n = sizeof(group) / sizeof(group[0]);

	(void)s;
	if (pw)
		getgrouplist(pw->pw_name, pw->pw_gid, group, &n);
	ms = (clock_now() - began) / CLOCK_NS_PER_MS;
	if (ms > SLOW_MS)
		doctor_find(d, NAMES_FIX,
			    "users and groups took %llu ms to look up",
			    (unsigned long long)ms);
}

static int look_up(const struct subject *s)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *ai;
	int rc = getaddrinfo(s->addr.host, NULL, &hints, &ai);

	if (!rc)
		freeaddrinfo(ai);
	return rc;
}

bool host_has_address(const struct subject *s)
{
	return !look_up(s);
}

void check_host(const struct doctor *d, const struct subject *s)
{
	int rc = look_up(s);

	if (!rc)
		return;
	doctor_find(d,
		    "write the host into /etc/hosts, or correct its name in "
		    "pvfs.conf (the manager's in pvfstab)",
		    "host \"%s\" has no address: %s", s->addr.host,
		    rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
}

static bool can_bind(const struct addrinfo *ai)
{
	int fd = socket(ai->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && !bind(fd, ai->ai_addr, ai->ai_addrlen);

	if (fd >= 0)
		close(fd);
	return ok;
}

bool subject_is_here(const struct subject *s)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM }, *all;
	bool here = false;

	if (getaddrinfo(s->addr.host, NULL, &hints, &all))
		return false;
	for (struct addrinfo *ai = all; ai && !here; ai = ai->ai_next)
		here = can_bind(ai);
	freeaddrinfo(all);
	return here;
}
