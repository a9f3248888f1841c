/* SPDX-License-Identifier: BSD-2-Clause */
/* tool_state.c - what an error says about a server. */
#include <errno.h>
#include <string.h>

#include "client/tools/common/tool.h"

#define FOREIGN                                                                \
	"serves another file system: stop what is there, or correct [iod.N] "  \
	"address or [filesystem] id in the servers' pvfs.conf"
#define OUTSIDE                                                                \
	"this host is in none of its networks ([filesystem] allow), or this "  \
	"user cannot read key= of pvfstab(5); or it is on this host, and its " \
	"user is not trusted: write server_user= in pvfstab(5), if it should " \
	"be"
#define EARLIER "is of an earlier release, which does not count"
#define WAITING                                                                \
	"runs but takes no clients yet: the manager until it has heard from "  \
	"all iods, an iod until it has from the manager, either while it has " \
	"max_sessions; its log says which"

#define ROOM_FOR_TOOLS                                                          \
	"; tools of root, or of the user that runs it, have a reserve: on its " \
	"host, or with auth=key or munge"
#define NO_FILES                                                               \
	"the server has no room: few descriptors are left: raise LimitNOFILE " \
	"of its unit (systemctl edit), or end clients" ROOM_FOR_TOOLS
#define NO_SEATS                                                               \
	"the server has no room: max_sessions, or host_sessions, clients are " \
	"there: raise that in its pvfs.conf, or end clients" ROOM_FOR_TOOLS

bool tool_full(int err)
{
	return err == ENOSR || err == EUSERS;
}

const char *tool_state(int err)
{
	if (!err)
		return "up";
	if (err == EINVAL)
		return "wrong";
	if (err == EAGAIN)
		return "waits";
	if (tool_full(err))
		return "full";
	return err == ENXIO || err == EPROTOTYPE ? "foreign" : "down";
}

const char *tool_cause(int err)
{
	if (err == EACCES)
		return OUTSIDE;
	if (err == EAGAIN)
		return WAITING;
	if (err == ENOSR)
		return NO_FILES;
	if (err == EUSERS)
		return NO_SEATS;
	if (err == ENOSYS)
		return EARLIER;
	if (err == EPROTOTYPE)
		return "not a PVFS server: another service has that port";
	return err == ENXIO ? FOREIGN : strerror(err);
}
