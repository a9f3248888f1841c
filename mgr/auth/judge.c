/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.c - AUTH: who sends it, as the kernel, the key or MUNGE says. */
#include <errno.h>
#include <string.h>

#include "mgr/auth/auth_int.h"

/* ---- groups ---- */

static void ask_groups(struct pool_job *job)
{
	struct proof *p = container_of(job, struct proof, job);

	p->status = groups_ask(&p->who, p->primary, &p->many);
}

static void keep_groups(struct proof *p)
{
	if (!p->status && p->many.gid)
		p->status = listed_name(p->mgr, p->many.gid, p->many.n, &p->who,
					&p->list);
	if (!p->status)
		groups_keep(&p->mgr->auths->groups, &p->who, p->primary);
	proof_judged(p);
}

/* What is kept of him names a list, which may have made room for others. */
static bool find_kept(struct proof *p)
{
	struct group_lists *lists = &p->mgr->auths->lists;

	if (!groups_find(&p->mgr->auths->groups, &p->who, p->primary))
		return false;
	if (!wire_groups_listed(p->who.groups, p->who.ngroups))
		return true;
	p->list = group_lists_find(lists, &lists->own,
				   wire_groups_list(p->who.groups));
	if (p->list)
		group_list_pin(lists, p->list);
	return p->list;
}

static void find_groups(struct proof *p)
{
	if (p->status || find_kept(p))
		proof_judged(p);
	else
		proof_aside(p, ask_groups, keep_groups);
}

/* ---- who ---- */

/* The kernel's word has the groups, too. */
static int judge_kernel(struct proof *p)
{
	struct tp_identity id;

	if (rpc_req_identity(p->rpc, &id))
		return -EOPNOTSUPP;
	p->who = (struct admitted){ .uid = id.uid, .gid = id.gid };
	if (id.ngroups > WIRE_GROUPS_MAX)
		return listed_name(p->mgr, id.groups, id.ngroups, &p->who,
				   &p->list);
	p->who.ngroups = id.ngroups;
	for (uint32_t i = 0; i < id.ngroups; i++)
		p->who.groups[i] = id.groups[i];
	return 0;
}

static int judge_key(struct proof *p)
{
	int rc = pact_check(p->mgr->ring, HANDSHAKE_CALLER, p->seen, p->word,
			    p->len);

	p->who.uid = p->mgr->conf.auth.key_user;
	p->primary = true;
	return rc == -EBADMSG ? -EKEYREJECTED : rc;
}

/* It is of one who is in this cluster; and about this session, or about another? */
static void judge_munge(struct pool_job *job)
{
	struct proof *p = container_of(job, struct proof, job);
	struct munger_word word;
	size_t secret = p->c->pact.here ? MAC_KEY_LEN : 0;
	int rc = munger_decode(p->munger, p->word, p->len, p->deadline, &word);

	if (!rc && (word.len != PACT_LEN + secret ||
		    !mac_equal(word.payload, p->seen)))
		rc = -EKEYREJECTED;
	if (!rc)
		memcpy(p->c->word_key, word.payload + PACT_LEN, secret);
	explicit_bzero(word.payload, sizeof(word.payload));
	p->status = rc;
	if (rc)
		return;
	p->who.uid = word.uid;
	p->who.gid = word.gid;
}

void proof_judge(struct proof *p)
{
	if (p->kind == AUTH_SYS) {
		p->status = judge_kernel(p);
		proof_judged(p);
		return;
	}
	p->status = p->kind == p->mgr->conf.auth.mode ? 0 : -EOPNOTSUPP;
	if (!p->status)
		pact_caller(&p->c->pact, p->seen);
	if (!p->status && p->kind == AUTH_MUNGE) {
		proof_aside(p, judge_munge, find_groups);
		return;
	}
	if (!p->status)
		p->status = judge_key(p);
	find_groups(p);
}
