/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json_out.h - short names over json-c for the programs' --json output.
 *
 * A name can be any bytes, but JSON is UTF-8. A string that is not UTF-8 has U+FFFD for each
 * invalid byte. KEY_hex then follows, with all bytes of the string, two digits each.
 */
#ifndef JSON_OUT_H
#define JSON_OUT_H

#include <inttypes.h>
#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/json/utf8.h"

static inline void json_add_text(struct json_object *o, const char *key,
				 struct printbuf *text)
{
	json_object_object_add(o, key, json_object_new_string(text->buf));
	printbuf_free(text);
}

/* Adds key and KEY_hex for a string that is not UTF-8. */
static inline void json_str_bytes(struct json_object *o, const char *key,
				  const char *val)
{
	struct printbuf *text = printbuf_new(), *hex = printbuf_new(),
			*name = printbuf_new();
	size_t n;

	for (const char *s = val; *s; s += n ? n : 1) {
		n = utf8_char(s);
		printbuf_memappend(text, n ? s : "\xef\xbf\xbd",
				   n ? (int)n : 3);
	}
	for (const char *s = val; *s; s++)
		sprintbuf(hex, "%02x", (unsigned char)*s);
	sprintbuf(name, "%s_hex", key);
	json_add_text(o, key, text);
	json_add_text(o, name->buf, hex);
	printbuf_free(name);
}

static inline void json_str(struct json_object *o, const char *key,
			    const char *val)
{
	const char *s = val;

	while (*s && utf8_char(s))
		s += utf8_char(s);
	if (*s)
		json_str_bytes(o, key, val);
	else
		json_object_object_add(o, key, json_object_new_string(val));
}

/*
 * Adds a number of up to 64 bits as a string, because programs read JSON numbers as doubles and
 * would round it.
 */
static inline void json_id(struct json_object *o, const char *key, uint64_t val)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, val);
	json_str(o, key, text);
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

/* Prints o on one line and frees it. */
static inline void json_line(struct json_object *o)
{
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

#endif
