/* SPDX-License-Identifier: BSD-2-Clause */
/* session_groups.c - lists of groups: those of sessions, and those that GROUPS brings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/trust/mac.h"
#include "mgr/auth/mgr_auth_int.h"

/* ---- GROUPS ---- */

/* Whether the list has the groups of the session's own user, and only the client states them. */
static bool is_own_list(struct rpc_session *session, uint64_t number)
{
	const struct rpc_session_info *info = rpc_session_info(session);

	return !info->proved && caller_lacks_list(session) &&
	       wire_groups_list(info->cred.groups) == number;
}

static int put_part(struct mgr *mgr, struct caller *caller,
		    const struct rpc_req *rpc)
{
	const struct wire_groups *part = rpc->msg.body;
	const le32 *from = rpc->msg.tail[0].ptr;
	struct group_lists *lists = &mgr->auth->lists;
	uint64_t number = le64toh(part->list);
	struct group_list *list = group_lists_find(lists, &caller->lists,
						   number);
	uint32_t gid[WIRE_GROUPS_PART], n = le32toh(part->n);
	int rc = 0;

	if (!list)
		rc = group_lists_add(lists, &caller->lists, number,
				     le32toh(part->total), &list);
	if (!rc && list->total != le32toh(part->total))
		rc = -EINVAL;
	if (rc)
		return rc;
	for (uint32_t i = 0; i < n; i++)
		gid[i] = le32toh(from[i]);
	return group_list_put(list, le32toh(part->first), gid, n);
}

bool session_groups_handle_request(struct mgr *mgr, struct rpc_req *rpc)
{
	struct caller *caller = caller_of(rpc->session);
	const struct wire_groups *part = rpc->msg.body;
	int rc = -EPERM;

	if (rpc->op != WIRE_GROUPS)
		return false;
	if ((caller->root && caller->place.speaks) ||
	    is_own_list(rpc->session, le64toh(part->list)))
		rc = put_part(mgr, caller, rpc);
	auth_reply(rpc, rc);
	return true;
}

/* ---- lists of sessions ---- */

/* Users can choose their groups, and a ticket only holds the number: so it must be a secret. */
static uint64_t make_number(const struct mgr_auth *auth, const uint32_t *gid,
			    uint32_t n)
{
	const struct mac_field field = { gid, n * sizeof(*gid) };
	uint8_t code[MAC_LEN];
	uint64_t number;

	mac_make(auth->list_key, "pvfs list of groups", &field, 1, code);
	memcpy(&number, code, sizeof(number));
	return number;
}

/* Sessions with the same groups use one list. */
static int share_list(struct mgr *mgr, const uint32_t *gid, uint32_t n,
		      struct group_list **list)
{
	struct group_lists *lists = &mgr->auth->lists;
	uint64_t number = make_number(mgr->auth, gid, n);

	*list = group_lists_find(lists, &lists->own, number);
	if (!*list)
		return group_lists_take(lists, &lists->own, number, gid, n,
					list);
	group_list_pin(lists, *list);
	return 0;
}

int session_groups_name_list(struct mgr *mgr, const uint32_t *gid, uint32_t n,
			     struct admitted *who, struct group_list **list)
{
	int rc = share_list(mgr, gid, n, list);

	if (!rc)
		who->ngroups = wire_groups_name(who->groups,
						(*list)->key.number);
	return rc;
}

static int find_ticket_list(struct mgr *mgr, uint64_t number,
			    struct group_list **out)
{
	struct group_lists *lists = &mgr->auth->lists;
	struct group_list *list = group_lists_find(lists, &lists->own, number);

	if (!list)
		return -WIRE_ENOGROUPS;
	group_list_pin(lists, list);
	*out = list;
	return 0;
}

static int adopt_client_list(struct mgr *mgr, struct caller *caller,
			     uint64_t number, struct group_list **out)
{
	struct group_lists *lists = &mgr->auth->lists;
	struct group_list *list = group_lists_find(lists, &caller->lists,
						   number);
	int rc;

	if (!group_list_whole(list))
		return -WIRE_ENOGROUPS;
	group_list_pin(lists, list); /* its copy must not replace it */
	rc = share_list(mgr, list->gid, list->total, out);
	group_list_unpin(lists, list);
	if (!rc)
		group_lists_forget(lists, &caller->lists);
	return rc;
}

/* The list comes from the ticket, the kernel or the client. */
static int find_own_list(struct mgr *mgr, struct rpc_req *rpc,
			 struct group_list **list)
{
	const struct rpc_session_info *info = rpc_session_info(rpc->session);
	uint64_t number = wire_groups_list(info->cred.groups);
	struct tp_identity id;

	if (info->until)
		return find_ticket_list(mgr, number, list);
	if (!rpc_req_identity(rpc, &id))
		return share_list(mgr, id.groups, id.ngroups, list);
	return adopt_client_list(mgr, caller_of(rpc->session), number, list);
}

int session_groups_resolve(struct mgr *mgr, struct rpc_req *rpc)
{
	struct caller *caller = caller_of(rpc->session);
	struct group_list *list;
	int rc;

	if (!caller_lacks_list(rpc->session))
		return 0;
	rc = find_own_list(mgr, rpc, &list);
	if (rc)
		return rc;
	caller->list = list;
	caller_set_cred(caller, &rpc_session_info(rpc->session)->cred);
	return 0;
}

void session_groups_set(struct caller *caller, struct group_list *list)
{
	struct group_lists *lists = &caller->mgr->auth->lists;

	if (list)
		group_list_pin(lists, list);
	group_list_unpin(lists, caller->list);
	caller->list = list;
}

int session_groups_find(struct caller *caller, uint64_t number,
			struct ns_cred *cred)
{
	struct group_list *list = group_lists_find(&caller->mgr->auth->lists,
						   &caller->lists, number);

	if (!group_list_whole(list))
		return -WIRE_ENOGROUPS;
	caller_set_list(cred, list);
	return 0;
}

void session_groups_release(struct caller *caller)
{
	session_groups_set(caller, NULL);
	group_lists_forget(&caller->mgr->auth->lists, &caller->lists);
}
