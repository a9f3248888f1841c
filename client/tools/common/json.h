/* SPDX-License-Identifier: BSD-2-Clause */
/* json.h - short names over json-c for the tools' --json output. */
#ifndef TOOL_JSON_H
#define TOOL_JSON_H

#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>

static inline void json_str(struct json_object *o, const char *key,
			    const char *val)
{
	json_object_object_add(o, key, json_object_new_string(val));
}

static inline void json_u64(struct json_object *o, const char *key,
			    uint64_t val)
{
	json_object_object_add(o, key, json_object_new_uint64(val));
}

static inline void json_yes(struct json_object *o, const char *key, int val)
{
	json_object_object_add(o, key, json_object_new_boolean(val));
}

static inline void json_num(struct json_object *o, const char *key, double val)
{
	json_object_object_add(o, key, json_object_new_double(val));
}

/* Prints o on one line and releases it. */
static inline void json_line(struct json_object *o)
{
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

#endif
