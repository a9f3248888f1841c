/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server_conf.h - the cluster's configuration file, which all servers read,
 * and the settings that more than one of them takes out of it.
 */
#ifndef SERVER_CONF_H
#define SERVER_CONF_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/util/addr.h"
#include "common/wire/auth_mode.h"
#include "common/util/conf.h"
#include "common/util/log.h"
#include "common/wire/seal_mode.h"

#define SERVER_SOCKET_MAX 108u /* of sockaddr_un */

/* conf_load(), and -EINVAL for a section or key that no server knows. */
int server_conf_load(const char *path, struct conf **file, char *err,
		     size_t errlen);

/*
 * Each takes its key out of the section: -EINVAL, and a line with the file,
 * the cause and the fix in err, when it is wrong.  What may be missing is then
 * left alone.
 */
int server_conf_fsid(const struct conf_section *in, uint64_t *fsid);
int server_conf_address(const struct conf_section *in, uint16_t port,
			struct addr *addr);
struct server_addrs {
	struct addr mgr;
	uint32_t niods;
	struct addr *iod; /* niods; the caller frees it */
};
/*
 * Those of the whole file system, in any section: the iods are numbered from
 * 0 on without a gap, and no two servers have one address.  *all is set on
 * success only.
 */
int server_conf_addresses(const struct conf_section *in,
			  struct server_addrs *all);
/*
 * The least that max_sessions may be: the manager has one at each iod, the other iods may,
 * and with fewer host_sessions would keep out who is on the host of one of these.
 */
#define SERVER_SESSIONS_MIN 8
/* host_sessions of max_sessions; asked: what is configured, or SERVER_HOST_SESSIONS: nothing. */
#define SERVER_HOST_SESSIONS UINT_MAX
unsigned int server_host_sessions(unsigned int asked, unsigned int max);
int server_conf_storage(const struct conf_section *in, char dir[PATH_MAX]);
/* May be missing: "". */
int server_conf_key(const struct conf_section *in, char path[PATH_MAX]);
/*
 * How clients prove who they are, in [filesystem]; may be missing: AUTH_SYS.  key: what
 * server_conf_key() found, without which there is no other.
 */
struct server_auth {
	enum auth_mode mode;
	uint32_t key_user; /* uid of who has the key */
	char munge_socket[SERVER_SOCKET_MAX]; /* "": munge's own */
	unsigned int ticket_life; /* seconds */
	bool caps; /* iods want capabilities */
	enum seal_mode seal; /* by default what fits the mode */
};
int server_conf_auth(const struct conf_section *in, const char *key,
		     struct server_auth *auth);
/* May be missing. */
int server_conf_log_level(const struct conf_section *in, enum log_level *level);
/* May be missing. */
int server_conf_session_timeout(const struct conf_section *in,
				unsigned int *ms);

#endif
