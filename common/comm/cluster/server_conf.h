/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server_conf.h - the configuration file of the cluster, which all servers read, and the settings
 * that more than one of them uses.
 */
#ifndef SERVER_CONF_H
#define SERVER_CONF_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/util/addr.h"
#include "common/wire/security_mode.h"
#include "common/wire/wire.h"
#include "common/util/conf.h"
#include "common/util/log.h"

#define SERVER_SOCKET_MAX 108u /* size of sun_path in sockaddr_un */

/* Calls conf_load(), and returns -EINVAL for a section or key that no server has. */
int server_conf_load(const char *path, struct conf **file, char *err,
		     size_t errlen);

/*
 * Each of these functions reads one setting from the section in.  Returns 0, or -EINVAL if the
 * value is wrong: then in->err has the file, the cause and the remedy.  If an
 * optional setting is missing, the output stays unchanged.
 */
int server_conf_fsid(const struct conf_section *in, uint64_t *fsid);
int server_conf_address(const struct conf_section *in, uint16_t port,
			struct addr *addr);
/*
 * The configured managers: either one, in [mgr], or an odd number, in [mgr.0], [mgr.1] ...  No two
 * managers may have the same address, or the same directory on one host.
 */
struct server_mgrs {
	unsigned int n;
	bool numbered; /* [mgr.0] exists */
	struct addr addr[WIRE_MGR_MAX];
};
/* in: any section.  Sets *mgrs on success only. */
int server_conf_managers(const struct conf_section *in,
			 struct server_mgrs *mgrs);
/*
 * Writes the hosts of the managers to buf, of max bytes, in the form of the setting `from` of
 * [mgr].  Returns 0 or -ENAMETOOLONG.
 */
int server_mgrs_hosts(const struct server_mgrs *mgrs, char *buf, size_t max);
struct server_addrs {
	struct server_mgrs mgrs;
	uint32_t niods;
	struct addr *iod; /* niods of them; the caller frees it */
};
/*
 * Sets *all to the addresses of all servers in the file of the section in.  Returns 0; -EINVAL: the
 * iods are not numbered from 0 without a gap, or two servers have the same address; -ENOMEM.
 */
int server_conf_addresses(const struct conf_section *in,
			  struct server_addrs *all);
/*
 * The minimum of max_sessions and host_sessions.  The manager and other iods need sessions at an
 * iod.  With fewer sessions per host, clients on the host of such a server could get none.
 */
#define SERVER_SESSIONS_MIN 8
/*
 * Returns the host_sessions of a server with max_sessions max.  asked is the configured value, or
 * SERVER_HOST_SESSIONS: not configured.
 */
#define SERVER_HOST_SESSIONS UINT_MAX
unsigned int server_host_sessions(unsigned int asked, unsigned int max);
int server_conf_storage(const struct conf_section *in, char dir[PATH_MAX]);
/* Optional.  Sets path to "" if the key is missing. */
int server_conf_key(const struct conf_section *in, char path[PATH_MAX]);
/*
 * How clients authenticate, from [filesystem]; AUTH_SYS if the setting is missing.  All other modes
 * require a key file, whose path is key (server_conf_key()).
 */
struct server_auth {
	enum auth_mode mode;
	uint32_t key_user; /* the uid of all holders of the key */
	char munge_socket[SERVER_SOCKET_MAX]; /* "": munge's default */
	unsigned int ticket_life; /* seconds */
	bool caps; /* iods require capabilities */
	enum seal_mode seal; /* the default depends on the mode */
};
int server_conf_auth(const struct conf_section *in, const char *key,
		     struct server_auth *auth);
/* Optional. */
int server_conf_log_level(const struct conf_section *in, enum log_level *level);
/* Optional. */
int server_conf_session_timeout(const struct conf_section *in,
				unsigned int *ms);

#endif
