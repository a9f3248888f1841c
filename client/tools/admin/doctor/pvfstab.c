/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfstab.c - pvfstab: unusable lines, and options that do not fit each other. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/admin/doctor/checks.h"
#include "common/trust/key_file.h"
#include "client/lib/mount/pvfstab.h"

static bool allows_transport(const struct mount *m, const char *transport)
{
	return !m->fabric[0] || !strcmp(m->fabric, "auto") ||
	       strstr(m->fabric, transport);
}

static bool has_rdma(const struct mount *m)
{
	static const struct rdma_opt none;

	return memcmp(&m->rdma, &none, sizeof(none)) != 0;
}

static void check_fabric(const struct doctor *d, const struct mount *m)
{
	const char *only = fabric_only(m->fabric);

	if (has_rdma(m) && (!allows_transport(m, "verbs") ||
			    (strcmp(m->mgr[0].scheme, FABRIC_ANY) != 0 &&
			     strcmp(m->mgr[0].scheme, "verbs") != 0)))
		doctor_find(d, "verbs in fabric=, or take rdma_* out",
			    "%s: rdma_* has no effect: fabric= or transport= "
			    "leaves out verbs",
			    m->where);
	if (m->server_uid && !allows_transport(m, "local"))
		doctor_find(d, "local in fabric=, or take server_user= out",
			    "%s: server_user= has no effect: fabric= leaves "
			    "out local",
			    m->where);
	if (only && strcmp(m->mgr[0].scheme, FABRIC_ANY) != 0 &&
	    strcmp(m->mgr[0].scheme, only) != 0)
		doctor_find(d, "take transport= out: fabric= is enough",
			    "%s: transport=%s and fabric=%s leave nothing",
			    m->where, m->mgr[0].scheme, m->fabric);
}

bool tab_has_key(const struct doctor *d, const struct subject *s)
{
	const struct mount *m;
	const char *rest;
	struct pvfstab tab;
	struct keys keys;
	int rc = pvfstab_load(d->pvfstab, 30000, NULL, &tab);

	if (rc)
		return true;
	m = pvfstab_find(&tab, s->mount, &rest);
	if (m && m->auth == AUTH_KEY)
		rc = key_file_read(m->key, NULL, &keys);
	pvfstab_free(&tab);
	explicit_bzero(&keys, sizeof(keys));
	return !rc;
}

static void check_auth(const struct doctor *d, const struct mount *m)
{
	struct found_log f = { d, 0 };
	const struct log log = found_log(&f);
	char where[DOCTOR_TEXT];
	struct keys keys;
	int rc;

	if (m->key[0] && m->auth != AUTH_KEY)
		doctor_find(d, "auth=key next to it, or take key= out",
			    "%s: key= has no effect without auth=key",
			    m->where);
	if (m->munge_socket[0] && m->auth != AUTH_MUNGE)
		doctor_find(d,
			    "auth=munge next to it, or take munge_socket= out",
			    "%s: munge_socket= has no effect without "
			    "auth=munge",
			    m->where);
	if (m->auth == AUTH_MUNGE) {
		snprintf(where, sizeof(where), "%s: auth=munge", m->where);
		munged_find(d, where, m->munge_socket);
	}
	if (m->auth != AUTH_KEY)
		return;
	rc = key_file_read(m->key, &log, &keys);
	if (!rc)
		explicit_bzero(&keys, sizeof(keys));
	else if (rc == -ENOENT)
		doctor_find(d,
			    "copy the servers' key there, for whoever runs the "
			    "programs, with mode 0600",
			    "%s: key=%s is not there", m->where, m->key);
}

static void check_timeouts(const struct doctor *d, const struct mount *m)
{
	unsigned int dead = m->dead_peer_ms ? m->dead_peer_ms : 30000;

	if (m->dead_peer_ms && m->timeout_ms < dead / 2)
		doctor_find(d,
			    "dead_peer= below timeout=, or a longer timeout=",
			    "%s: calls fail after %u s, long before a server "
			    "that is silent is taken for gone (dead_peer=%u)",
			    m->where, m->timeout_ms / 1000, dead / 1000);
}

void check_tab(const struct doctor *d, const struct subject *s)
{
	struct found_log f = { d, 0 };
	const struct log log = found_log(&f);
	struct pvfstab tab;
	int rc;

	(void)s;
	if (access(d->pvfstab, R_OK) && errno == ENOENT) {
		doctor_find(d,
			    "pvfs-mkconf --pvfstab writes its line: "
			    "manager:/ /pvfs pvfs port=3000 0 0; or set "
			    "PVFSTAB_FILE, or -c for a server's host",
			    "there is no %s", d->pvfstab);
		return;
	}
	rc = pvfstab_load(d->pvfstab, 30000, &log, &tab);
	if (rc)
		return; /* it was logged */
	if (!tab.n && !f.n)
		doctor_find(d,
			    "write a line: manager:/ /pvfs pvfs port=3000 "
			    "0 0",
			    "%s names no mount", d->pvfstab);
	for (unsigned int i = 0; i < tab.n; i++) {
		check_fabric(d, &tab.mount[i]);
		check_auth(d, &tab.mount[i]);
		check_timeouts(d, &tab.mount[i]);
	}
	pvfstab_free(&tab);
}
