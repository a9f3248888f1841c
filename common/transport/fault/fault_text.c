/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_text.c - parses rules. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/fault/fault_rule.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *name;
	unsigned int ops;
} op_names[] = {
	{ "send", FAULT_SEND },		  { "write", FAULT_WRITE },
	{ "write_imm", FAULT_WRITE_IMM }, { "read", FAULT_READ },
	{ "atomic", FAULT_ATOMIC },	  { "recv", FAULT_RECV },
	{ "post_recv", FAULT_POST_RECV }, { "connect", FAULT_CONNECT },
	{ "accept", FAULT_ACCEPT },	  { "mr_reg", FAULT_MR_REG },
	{ "post", FAULT_POST },		  { "any", FAULT_ANY },
};

#define WIRE (FAULT_POST | FAULT_RECV)
#define CONN (FAULT_CONNECT | FAULT_ACCEPT)

/* The operations that suit an action. */
static const struct {
	const char *name;
	unsigned int ops;
} actions[] = {
	[FAULT_DROP] = { "drop",
			 FAULT_SEND | FAULT_WRITE | FAULT_WRITE_IMM | CONN },
	[FAULT_DELAY] = { "delay", FAULT_POST | CONN },
	[FAULT_CORRUPT] = { "corrupt", (WIRE) & ~FAULT_ATOMIC },
	[FAULT_RESET] = { "reset", WIRE },
	[FAULT_FAIL] = { "fail", FAULT_POST | FAULT_POST_RECV | FAULT_CONNECT |
					 FAULT_MR_REG },
	[FAULT_REFUSE] = { "refuse", CONN },
	[FAULT_VANISH] = { "vanish", WIRE },
	[FAULT_KILL] = { "kill", FAULT_ANY },
	[FAULT_STALL] = { "stall", WIRE | CONN },
};

const char *fault_op_name(enum fault_op op)
{
	size_t i;

	for (i = 0; i < COUNT(op_names); i++)
		if (op_names[i].ops == op)
			return op_names[i].name;
	return "?";
}

const char *fault_action_name(enum fault_action action)
{
	return actions[action].name;
}

int fault_rule_check(const struct fault_rule *rule)
{
	bool timed = rule->action == FAULT_DELAY || rule->action == FAULT_STALL;

	if (rule->action >= COUNT(actions) || !rule->ops)
		return -EINVAL;
	if (rule->ops & ~actions[rule->action].ops)
		return -EINVAL;
	return rule->error > 0 || (timed && !rule->ms) ? -EINVAL : 0;
}

/* Parses "send,write" or a group; of a group only the operations that suit the action count. */
static int parse_ops(char *text, struct fault_rule *rule)
{
	unsigned int named = 0, meant = 0;
	char *name, *save = NULL;
	size_t i;

	name = strtok_r(text, ",", &save);
	for (; name; name = strtok_r(NULL, ",", &save)) {
		for (i = 0; i < COUNT(op_names); i++)
			if (!strcmp(name, op_names[i].name))
				break;
		if (i == COUNT(op_names))
			return -EINVAL;
		named |= op_names[i].ops;
		if (op_names[i].ops & (op_names[i].ops - 1)) /* a group */
			meant |= op_names[i].ops & actions[rule->action].ops;
		else
			meant |= op_names[i].ops;
	}
	rule->ops = meant;
	return named && meant ? 0 : -EINVAL;
}

static int parse_action(const char *name, struct fault_rule *rule)
{
	size_t i;

	for (i = 0; i < COUNT(actions); i++) {
		if (!strcmp(name, actions[i].name)) {
			rule->action = (enum fault_action)i;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_error(const char *name, struct fault_rule *rule)
{
	const char *known;
	int e;

	for (e = 1; e < 200; e++) {
		known = strerrorname_np(e);
		if (known && !strcmp(name, known)) {
			rule->error = -e;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_number(const char *text, uint64_t max, uint64_t *val)
{
	char *end;

	errno = 0;
	*val = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || *val > max)
		return -EINVAL;
	return 0;
}

static int parse_numeric(const char *key, uint64_t val, struct fault_rule *rule)
{
	if (!strcmp(key, "after"))
		rule->after = val;
	else if (!strcmp(key, "every"))
		rule->every = val;
	else if (!strcmp(key, "count"))
		rule->count = val;
	else if (!strcmp(key, "min"))
		rule->min = val;
	else if (!strcmp(key, "at"))
		rule->at = val;
	else if (!strcmp(key, "ms") && val <= UINT32_MAX)
		rule->ms = (uint32_t)val;
	else if (!strcmp(key, "port") && val <= UINT16_MAX)
		rule->port = (uint16_t)val;
	else
		return -EINVAL;
	return 0;
}

static int parse_key(char *text, struct fault_rule *rule)
{
	char *value = strchr(text, '=');
	uint64_t val;
	int rc;

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	if (!strcmp(text, "error")) {
		rc = parse_error(value, rule);
	} else if (!strcmp(text, "count") && !strcmp(value, "always")) {
		rule->count = FAULT_ALWAYS;
		rc = 0;
	} else {
		rc = parse_number(value, UINT64_MAX - 1, &val);
		if (!rc)
			rc = parse_numeric(text, val, rule);
	}
	value[-1] = '=';
	return rc;
}

/* Parses one rule. *wrong is the part that does not fit. */
static int parse_rule(char *text, struct fault_rule *rule, const char **wrong)
{
	char *save = NULL, *ops = strtok_r(text, ":", &save);
	char *action = strtok_r(NULL, ":", &save), *key;
	int rc;

	memset(rule, 0, sizeof(*rule));
	*wrong = action ? action : "no action";
	rc = action ? parse_action(action, rule) : -EINVAL;
	if (rc)
		return rc;
	*wrong = "the operations";
	rc = parse_ops(ops, rule);
	while (!rc && (key = strtok_r(NULL, ":", &save))) {
		*wrong = key;
		rc = parse_key(key, rule);
	}
	if (rc)
		return rc;
	*wrong = "the action does not go with the operations, or needs ms=";
	return fault_rule_check(rule);
}

/* Removes comments and blanks in place. */
static void squeeze(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '#')
			while (text[1] && text[1] != '\n')
				text++;
		else if (*text != ' ' && *text != '\t' && *text != '\r')
			*to++ = *text;
	}
	*to = '\0';
}

int fault_rule_parse(const char *text, struct fault_rule *rules,
		     unsigned int max, char *err, size_t errlen)
{
	char *copy = strdup(text), *one, *save = NULL;
	const char *wrong = "";
	unsigned int n = 0;
	int rc = 0;

	if (!copy)
		return -ENOMEM;
	squeeze(copy);
	one = strtok_r(copy, ";\n", &save);
	for (; one && !rc; one = strtok_r(NULL, ";\n", &save)) {
		rc = n < max ? parse_rule(one, &rules[n], &wrong) : -ENOSPC;
		if (!rc)
			n++;
	}
	if (rc == -EINVAL)
		snprintf(err, errlen,
			 "fault rule %u: %s; write OPS:ACTION[:KEY=VALUE]...",
			 n + 1, wrong);
	else if (rc)
		snprintf(err, errlen, "more than %u fault rules", max);
	free(copy);
	return rc ? rc : (int)n;
}
