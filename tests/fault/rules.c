/* SPDX-License-Identifier: BSD-2-Clause */
/* rules.c - the text form of rules, and their counts. */
#include <errno.h>
#include <string.h>

#include "common/transport/fault/fault_rule.h"
#include "tests/fault/faults.h"

static const struct {
	const char *text;
	struct fault_rule rule;
} good[] = {
	{ "send:reset", { FAULT_SEND, FAULT_RESET } },
	{ "send:reset:after=100", { FAULT_SEND, FAULT_RESET, .after = 100 } },
	{ " write , write_imm : corrupt : at=8 : min=4096 # why",
	  { FAULT_WRITE | FAULT_WRITE_IMM, FAULT_CORRUPT, .min = 4096,
	    .at = 8 } },
	{ "post:delay:ms=20:every=10:count=always",
	  { FAULT_POST, FAULT_DELAY, .every = 10, .count = FAULT_ALWAYS,
	    .ms = 20 } },
	{ "connect:refuse:count=3:port=7001",
	  { FAULT_CONNECT, FAULT_REFUSE, .count = 3, .port = 7001 } },
	{ "read:fail:error=EIO", { FAULT_READ, FAULT_FAIL, .error = -EIO } },
	{ "any:kill:after=7", { FAULT_ANY, FAULT_KILL, .after = 7 } },
	{ "post:drop", /* valid actions of a group */
	  { FAULT_SEND | FAULT_WRITE | FAULT_WRITE_IMM, FAULT_DROP } },
	{ "any:refuse", { FAULT_CONNECT | FAULT_ACCEPT, FAULT_REFUSE } },
	{ "recv:stall:ms=1", { FAULT_RECV, FAULT_STALL, .ms = 1 } },
	{ "recv:vanish", { FAULT_RECV, FAULT_VANISH } },
};

START_TEST(parse_good)
{
	struct fault_rule rule[2];
	char err[200];

	ck_assert_int_eq(
		fault_rule_parse(good[_i].text, rule, 2, err, sizeof(err)), 1);
	ck_assert_uint_eq(rule->ops, good[_i].rule.ops);
	ck_assert_int_eq(rule->action, good[_i].rule.action);
	ck_assert_uint_eq(rule->after, good[_i].rule.after);
	ck_assert_uint_eq(rule->every, good[_i].rule.every);
	ck_assert_uint_eq(rule->count, good[_i].rule.count);
	ck_assert_uint_eq(rule->min, good[_i].rule.min);
	ck_assert_uint_eq(rule->at, good[_i].rule.at);
	ck_assert_uint_eq(rule->ms, good[_i].rule.ms);
	ck_assert_int_eq(rule->error, good[_i].rule.error);
	ck_assert_uint_eq(rule->port, good[_i].rule.port);
}
END_TEST

static const struct {
	const char *text, *named; /* the message must contain this text */
} bad[] = {
	{ "send", "no action" },
	{ "send:explode", "explode" },
	{ "semd:reset", "operations" },
	{ "send,:semd:reset", "semd" },
	{ "read:drop", "action" },
	{ "send,read:drop", "action" },
	{ "atomic:corrupt", "action" },
	{ "connect:reset", "action" },
	{ "mr_reg:delay:ms=1", "action" },
	{ "send:delay", "ms=" },
	{ "send:stall:ms=0", "ms=" },
	{ "send:reset:after", "after" },
	{ "send:reset:after=", "after=" },
	{ "send:reset:after=x", "after=x" },
	{ "send:reset:after=-1", "after=-1" },
	{ "send:reset:after=99999999999999999999", "after=9" },
	{ "send:reset:port=70000", "port=70000" },
	{ "send:delay:ms=5000000000", "ms=5" },
	{ "send:fail:error=EWRONG", "error=EWRONG" },
	{ "send:reset:what=1", "what=1" },
	{ "send:reset;send:what", "rule 2" },
};

START_TEST(parse_bad)
{
	struct fault_rule rule[4];
	char err[200] = "";

	ck_assert_int_eq(fault_rule_parse(bad[_i].text, rule, 4, err,
					  sizeof(err)),
			 -EINVAL);
	ck_assert_msg(strstr(err, bad[_i].named), "\"%s\" lacks \"%s\"", err,
		      bad[_i].named);
}
END_TEST

START_TEST(parse_several)
{
	struct fault_rule rule[3];
	char err[200] = "";

	ck_assert_int_eq(fault_rule_parse("", rule, 3, err, sizeof(err)), 0);
	ck_assert_int_eq(fault_rule_parse("# none\n\n;;\n", rule, 3, err,
					  sizeof(err)),
			 0);
	ck_assert_int_eq(fault_rule_parse("send:reset # a\n\nread:reset;"
					  "write:drop\n",
					  rule, 3, err, sizeof(err)),
			 3);
	ck_assert_uint_eq(rule[0].ops, FAULT_SEND);
	ck_assert_uint_eq(rule[1].ops, FAULT_READ);
	ck_assert_uint_eq(rule[2].ops, FAULT_WRITE);
	ck_assert_int_eq(fault_rule_parse("send:drop;send:drop;send:drop;"
					  "send:drop",
					  rule, 3, err, sizeof(err)),
			 -ENOSPC);
}
END_TEST

/* '1' for each of 30 sends of 100 + i bytes, to port 7, that a rule hits. */
static const struct {
	const char *rule, *hits;
} counting[] = {
	{ "send:drop", "100000000000000000000000000000" },
	{ "send:drop:after=3", "000100000000000000000000000000" },
	{ "send:drop:count=4", "111100000000000000000000000000" },
	{ "send:drop:after=2:count=2", "001100000000000000000000000000" },
	{ "send:drop:every=5:count=always", "000010000100001000010000100001" },
	{ "send:drop:after=4:every=10:count=2",
	  "000000000000010000000001000000" },
	{ "send:drop:min=110:count=always", "000000000011111111111111111111" },
	{ "send:drop:min=110:after=1:count=3",
	  "000000000001110000000000000000" },
	{ "send:drop:port=7:after=1", "010000000000000000000000000000" },
	{ "send:drop:port=8", "000000000000000000000000000000" },
	{ "read:reset", "000000000000000000000000000000" },
	/* the second rule counts sends that the first one hit */
	{ "send:drop:count=2;send:drop:after=1:count=3",
	  "111110000000000000000000000000" },
};

START_TEST(count)
{
	struct fault_table t;
	struct fault_rule rule;
	struct fault_case c = { FAULT_SEND, 100, 7 };
	char hits[31] = "", err[200];
	int i;

	ck_ok(fault_table_init(&t, counting[_i].rule, err, sizeof(err)));
	for (i = 0; i < 30; i++, c.len++)
		hits[i] = fault_table_hit(&t, &c, &rule) ? '1' : '0';
	ck_assert_str_eq(hits, counting[_i].hits);
	fault_table_free(&t);
}
END_TEST

START_TEST(table)
{
	struct fault_case c = { FAULT_SEND, 100, 7 };
	struct fault_rule rule = { FAULT_SEND, FAULT_DROP, .count = 2 };
	struct fault_table t;
	char err[200] = "";
	int i;

	ck_assert_int_eq(fault_table_init(&t, "send:nothing", err, sizeof(err)),
			 -EINVAL);
	ck_ok(fault_table_init(&t, NULL, err, sizeof(err)));
	ck_assert_int_eq(fault_table_add(&t, &rule), 1);
	rule.ops = FAULT_READ;
	ck_assert_int_eq(fault_table_add(&t, &rule), -EINVAL);
	rule.action = FAULT_RESET;
	ck_assert_int_eq(fault_table_add(&t, &rule), 2);
	for (i = 0; i < 5; i++)
		fault_table_hit(&t, &c, &rule);
	ck_assert_uint_eq(fault_table_hits(&t, 1), 2);
	ck_assert_uint_eq(fault_table_hits(&t, 2), 0);
	ck_assert_uint_eq(fault_table_hits(&t, 3), 0);
	ck_assert_uint_eq(fault_table_hits(&t, 0), 0);
	/* An invalid text leaves the rules unchanged. */
	ck_assert_int_eq(fault_table_set(&t, "x", err, sizeof(err)), -EINVAL);
	ck_assert_uint_eq(fault_table_hits(&t, 1), 2);
	ck_ok(fault_table_set(&t, "", err, sizeof(err)));
	ck_assert(!fault_table_hit(&t, &c, &rule));
	rule = (struct fault_rule){ FAULT_SEND, FAULT_DROP };
	for (i = 1; i <= FAULT_RULES_MAX; i++)
		ck_assert_int_eq(fault_table_add(&t, &rule), i);
	ck_assert_int_eq(fault_table_add(&t, &rule), -ENOSPC);
	fault_table_free(&t);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

TCase *case_rules(void)
{
	TCase *tc = tcase_create("rules");

	tcase_set_timeout(tc, 0);
	tcase_add_loop_test(tc, parse_good, 0, COUNT(good));
	tcase_add_loop_test(tc, parse_bad, 0, COUNT(bad));
	tcase_add_test(tc, parse_several);
	tcase_add_loop_test(tc, count, 0, COUNT(counting));
	tcase_add_test(tc, table);
	return tc;
}
