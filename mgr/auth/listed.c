/* SPDX-License-Identifier: BSD-2-Clause */
/* listed.c - groups that are a list: those of sessions, and what GROUPS brings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/auth/auth_int.h"
#include "common/trust/mac.h"

/* ---- GROUPS ---- */

/* Nothing else says in which groups it is. */
static bool is_own(struct rpc_session *session, uint64_t number)
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
	struct group_lists *lists = &mgr->auths->lists;
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

bool listed_take(struct mgr *mgr, struct rpc_req *rpc)
{
	struct caller *caller = caller_of(rpc->session);
	const struct wire_groups *part = rpc->msg.body;
	int rc = -EPERM;

	if (rpc->op != WIRE_GROUPS)
		return false;
	if ((caller->root && caller->place.speaks) ||
	    is_own(rpc->session, le64toh(part->list)))
		rc = put_part(mgr, caller, rpc);
	auth_answer(rpc, rc);
	return true;
}

/* ---- those of sessions ---- */

/* Users choose their groups, and a ticket has no more than the number: it is a secret. */
static uint64_t number_of(const struct auths *auths, const uint32_t *gid,
			  uint32_t n)
{
	const struct mac_field field = { gid, n * sizeof(*gid) };
	uint8_t code[MAC_LEN];
	uint64_t number;

	mac_make(auths->list_key, "pvfs list of groups", &field, 1, code);
	memcpy(&number, code, sizeof(number));
	return number;
}

/* Many sessions are in the same groups. */
static int share(struct mgr *mgr, const uint32_t *gid, uint32_t n,
		 struct group_list **list)
{
	struct group_lists *lists = &mgr->auths->lists;
	uint64_t number = number_of(mgr->auths, gid, n);

	*list = group_lists_find(lists, &lists->own, number);
	if (!*list)
		return group_lists_take(lists, &lists->own, number, gid, n,
					list);
	group_list_pin(lists, *list);
	return 0;
}

int listed_name(struct mgr *mgr, const uint32_t *gid, uint32_t n,
		struct admitted *who, struct group_list **list)
{
	int rc = share(mgr, gid, n, list);

	if (!rc)
		who->ngroups = wire_groups_name(who->groups,
						(*list)->key.number);
	return rc;
}

static int from_ticket(struct mgr *mgr, uint64_t number,
		       struct group_list **out)
{
	struct group_lists *lists = &mgr->auths->lists;
	struct group_list *list = group_lists_find(lists, &lists->own, number);

	if (!list)
		return -WIRE_ENOGROUPS;
	group_list_pin(lists, list);
	*out = list;
	return 0;
}

static int from_client(struct mgr *mgr, struct caller *caller, uint64_t number,
		       struct group_list **out)
{
	struct group_lists *lists = &mgr->auths->lists;
	struct group_list *list = group_lists_find(lists, &caller->lists,
						   number);
	int rc;

	if (!group_list_whole(list))
		return -WIRE_ENOGROUPS;
	group_list_pin(lists, list); /* it does not make room for its copy */
	rc = share(mgr, list->gid, list->total, out);
	group_list_unpin(lists, list);
	if (!rc)
		group_lists_forget(lists, &caller->lists);
	return rc;
}

/* Whose word it is: the ticket's, the kernel's, its own. */
static int find_own(struct mgr *mgr, struct rpc_req *rpc,
		    struct group_list **list)
{
	const struct rpc_session_info *info = rpc_session_info(rpc->session);
	uint64_t number = wire_groups_list(info->cred.groups);
	struct tp_identity id;

	if (info->until)
		return from_ticket(mgr, number, list);
	if (!rpc_req_identity(rpc, &id))
		return share(mgr, id.groups, id.ngroups, list);
	return from_client(mgr, caller_of(rpc->session), number, list);
}

int listed_own(struct mgr *mgr, struct rpc_req *rpc)
{
	struct caller *caller = caller_of(rpc->session);
	struct group_list *list;
	int rc;

	if (!caller_lacks_list(rpc->session))
		return 0;
	rc = find_own(mgr, rpc, &list);
	if (rc)
		return rc;
	caller->list = list;
	caller_is(caller, &rpc_session_info(rpc->session)->cred);
	return 0;
}

void listed_set(struct caller *caller, struct group_list *list)
{
	struct group_lists *lists = &caller->mgr->auths->lists;

	if (list)
		group_list_pin(lists, list);
	group_list_unpin(lists, caller->list);
	caller->list = list;
}

int listed_find(struct caller *caller, uint64_t number, struct ns_cred *cred)
{
	struct group_list *list = group_lists_find(&caller->mgr->auths->lists,
						   &caller->lists, number);

	if (!group_list_whole(list))
		return -WIRE_ENOGROUPS;
	caller_set_list(cred, list);
	return 0;
}

void listed_forget(struct caller *caller)
{
	listed_set(caller, NULL);
	group_lists_forget(&caller->mgr->auths->lists, &caller->lists);
}
