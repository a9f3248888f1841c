/* SPDX-License-Identifier: BSD-2-Clause */
/* addresses.c - the addresses of this host. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "client/tools/job/head/head.h"

static bool is_for_others(const struct ifaddrs *i)
{
	return i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
	       i->ifa_flags & IFF_UP && !(i->ifa_flags & IFF_LOOPBACK);
}

/* Gets all of them: it is unknown which one the others use. */
int own_addresses(char *out, size_t len, bool local)
{
	struct ifaddrs *all = NULL;
	size_t at = 0;

	if (!local && getifaddrs(&all))
		return -errno;
	out[0] = '\0';
	for (const struct ifaddrs *i = all; i && at + 64 < len;
	     i = i->ifa_next) {
		const struct sockaddr_in *sa = (const void *)i->ifa_addr;
		char ip[INET_ADDRSTRLEN];

		if (!is_for_others(i) ||
		    !inet_ntop(AF_INET, &sa->sin_addr, ip, sizeof(ip)))
			continue;
		at += (size_t)snprintf(out + at, len - at, "%s%s",
				       at ? "," : "", ip);
	}
	if (all)
		freeifaddrs(all);
	if (!at)
		snprintf(out, len, "127.0.0.1");
	return 0;
}
