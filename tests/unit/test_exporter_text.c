/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_exporter_text.c - what pvfs-exporter writes: text of others escaped, whatever bytes it
 * is, and times in few buckets, as many as a model counts.
 */
#include <check.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/exporter/coarse.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "common/json/utf8.h"
#include "client/tools/exporter/view.h"

#define BAD "\xef\xbf\xbd"

static const struct {
	const char *from, *label, *utf8;
} texts[] = {
	{ "", "", "" },
	{ "/pvfs", "/pvfs", "/pvfs" },
	{ "a\"b\\c\nd", "a\\\"b\\\\c\\nd", "a\"b\\c\nd" },
	{ "}{,=<script>", "}{,=<script>", "}{,=<script>" },
	{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
	  "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
	  "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ "\xff|\x80|\xc3", BAD "|" BAD "|" BAD, BAD "|" BAD "|" BAD },
	{ "\xc0\xaf", BAD BAD, BAD BAD }, /* '/', longer than it need be */
	{ "\xed\xa0\x80", BAD BAD BAD, BAD BAD BAD }, /* a surrogate */
	{ "\xf4\x90\x80\x80", BAD BAD BAD BAD, BAD BAD BAD BAD },
	{ "\xe2\x82\"", BAD BAD "\\\"", BAD BAD "\"" }, /* cut off */
	{ "\xe2\x82", BAD BAD, BAD BAD },
};

static const char *seen(const struct text *t)
{
	return t->s ? t->s : "";
}

/* As the label should say it. */
static void replaced(const char *s, char *out)
{
	while (*s) {
		size_t n = utf8_char(s);

		memcpy(out, n ? s : BAD, n ?: strlen(BAD));
		out += n ?: strlen(BAD);
		s += n ?: 1;
	}
	*out = '\0';
}

START_TEST(test_escaped)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct text label = { 0 };
		char utf8[64];

		text_label(&label, texts[i].from);
		replaced(texts[i].from, utf8);
		ck_assert_str_eq(seen(&label), texts[i].label);
		ck_assert_str_eq(utf8, texts[i].utf8);
		text_free(&label);
	}
}
END_TEST

/* A label that was read back. */
static void unescape(const char *s, char *out)
{
	while (*s) {
		bool escaped = *s == '\\';

		ck_assert(*s != '"' && *s != '\n');
		s += escaped;
		ck_assert(!escaped || (*s && strchr("n\"\\", *s)));
		*out++ = escaped && *s == 'n' ? '\n' : *s;
		s++;
	}
	*out = '\0';
}

START_TEST(test_any_bytes)
{
	static const char few[] = "\"\\\nna\xc3\xa4\xe2\x82\xac\xf0\x9f\xff";
	struct rnd r = { 1 };

	for (unsigned int i = 0; i < 20000; i++) {
		struct text label = { 0 };
		char from[24], back[128], utf8[128];
		size_t len = rnd_next(&r) % (sizeof(from) - 1);

		for (size_t k = 0; k < len; k++)
			from[k] = few[rnd_next(&r) % (sizeof(few) - 1)];
		from[len] = '\0';
		text_label(&label, from);
		replaced(from, utf8);
		unescape(seen(&label), back);
		ck_assert_str_eq(back, utf8);
		for (const char *s = back; *s; s += utf8_char(s))
			ck_assert_uint_gt(utf8_char(s), 0);
		text_free(&label);
	}
}
END_TEST

/* What has no room is left out, and says so. */
START_TEST(test_bound)
{
	struct text t = { 0 };

	while (!t.failed)
		text_add(&t, "%65536s", "x");
	ck_assert_uint_lt(t.len, TEXT_MAX);
	ck_assert_uint_eq(strlen(t.s), t.len);
	text_add(&t, "y");
	ck_assert_int_eq(t.s[t.len - 1], 'x');
	text_free(&t);
}
END_TEST

/* ---- buckets ---- */

/* Each time one by one. */
static unsigned int model_bucket(uint64_t ns)
{
	unsigned int i = 0;

	while (i < COARSE - 1 && ns >= coarse_ns(i))
		i++;
	return i;
}

static unsigned int fine_bucket(uint64_t ns)
{
	unsigned int i = 0;

	while (i < PVFS_LATENCIES - 1 && ns >= pvfs_latency_ns(i + 1))
		i++;
	return i;
}

START_TEST(test_buckets)
{
	struct rnd r = { 2 };

	for (unsigned int round = 0; round < 200; round++) {
		struct pvfs_op_stats s = { 0 };
		uint64_t want[COARSE] = { 0 }, n[COARSE];
		unsigned int most = rnd_next(&r) % 200;

		for (unsigned int i = 0; i < most; i++) {
			uint64_t ns = rnd_next(&r) >> rnd_next(&r) % 64;

			if (rnd_next(&r) % 4 == 0) /* at a border */
				ns = coarse_ns(rnd_next(&r) % (COARSE - 1)) -
				     rnd_next(&r) % 2;
			s.latency[fine_bucket(ns)]++;
			want[model_bucket(ns)]++;
		}
		coarse_of(&s, n);
		ck_assert_mem_eq(n, want, sizeof(n));
	}
}
END_TEST

/* Each border is one of the server's, or something would be guessed. */
START_TEST(test_borders)
{
	for (unsigned int i = 0; i < COARSE - 1; i++)
		ck_assert_uint_eq(pvfs_latency_ns(fine_bucket(coarse_ns(i))),
				  coarse_ns(i));
}
END_TEST

/* ---- whole views ---- */

#define EVIL "</script>\"\\\n\xff<b>"
#define EVIL_HEX "3c2f7363726970743e225c0aff3c623e"

static struct report *a_report(void)
{
	struct report *r = calloc(1, sizeof(*r));

	ck_assert_ptr_nonnull(r);
	strcpy(r->ping.version, EVIL);
	strcpy(r->ping.transport, "tcp");
	r->space = (struct statfs){
		.f_bsize = 4096, .f_blocks = 100, .f_bfree = 50, .f_bavail = 40
	};
	r->ops = 1;
	strcpy(r->op[0].name, EVIL);
	r->op[0].requests = 3;
	r->op[0].errors = 1;
	r->op[0].ns = 1500000000;
	r->op[0].latency[0] = 2;
	r->op[0].latency[PVFS_LATENCIES - 1] = 1;
	r->labels = 2;
	r->label[0] = (struct pvfs_label){ .uid = 7, .requests = 5 };
	strcpy(r->label[0].job, EVIL);
	r->label[1] = (struct pvfs_label){ .flags = PVFS_LABEL_OTHERS,
					   .bytes_in = 9 };
	r->times = 2;
	for (unsigned int i = 0; i < 2; i++) {
		strcpy(r->time[i].transport, "local");
		strcpy(r->time[i].way, "direct");
		strcpy(r->time[i].stats.name, i ? "write" : "read");
		r->time[i].stats.requests = 4;
	}
	r->time[0].stats.latency[0] = 4;
	return r;
}

static struct text written(void (*fn)(const struct view *, struct text *),
			   const struct report *r)
{
	const struct view_server s[] = {
		{ .name = "mgr", .is_mgr = true, .address = EVIL, .report = r },
		{ .name = "iod0", .address = "x", .reason = EVIL },
	};
	const struct view v = { .mount = EVIL, .server = s, .servers = 2 };
	struct text t = { 0 };

	fn(&v, &t);
	ck_assert(!t.failed);
	return t;
}

static void holds(const struct text *t, const char *part)
{
	ck_assert_msg(strstr(t->s, part), "no %s in %s", part, t->s);
}

#define ESCAPED "</script>\\\"\\\\\\n" BAD "<b>"
#define TIMES "pvfs_request_duration_seconds"
#define DIRECT(part, op)                                                       \
	"pvfs_way_duration_seconds" part "{server=\"mgr\",op=\"" op            \
	"\",transport=\"local\",way=\"direct\"}"
#define OF "{server=\"mgr\",op=\"" ESCAPED "\""

START_TEST(test_metrics)
{
	struct report *r = a_report();
	struct text t = written(view_metrics, r);

	holds(&t, "pvfs_mount_info{mount=\"" ESCAPED "\"} 1\n");
	holds(&t, "pvfs_up{server=\"mgr\",role=\"mgr\"} 1\n");
	holds(&t, "pvfs_up{server=\"iod0\",role=\"iod\"} 0\n");
	holds(&t, TIMES "_bucket" OF ",le=\"4.096e-06\"} 2\n");
	holds(&t, TIMES "_bucket" OF ",le=\"4.294967296\"} 2\n");
	holds(&t, TIMES "_bucket" OF ",le=\"+Inf\"} 3\n");
	holds(&t, TIMES "_sum" OF "} 1.500000000\n");
	holds(&t, TIMES "_count" OF "} 3\n");
	holds(&t, "pvfs_request_errors_total" OF "} 1\n");
	holds(&t, "pvfs_space_available_bytes{server=\"mgr\"} 163840\n");
	holds(&t, "pvfs_user_requests_total{server=\"mgr\",uid=\"7\","
		  "job_id=\"" ESCAPED "\"} 5\n");
	holds(&t, "pvfs_user_received_bytes_total{server=\"mgr\","
		  "uid=\"others\",job_id=\"\"} 9\n");
	holds(&t, DIRECT("_count", "read") " 4\n");
	/* of a client that times none by itself */
	ck_assert_ptr_null(strstr(t.s, DIRECT("_count", "write")));
	ck_assert_ptr_null(strstr(t.s, "pvfs_sessions{server=\"iod0\""));
	text_free(&t);
	free(r);
}
END_TEST

/* The text that stands under key of what was parsed. */
static const char *text_of(struct json_object *o, const char *key)
{
	return json_object_get_string(json_object_object_get(o, key));
}

START_TEST(test_status)
{
	struct report *r = a_report();
	struct text t = written(view_status, r);
	struct json_object *o = json_tokener_parse(t.s), *s, *op;

	ck_assert_ptr_nonnull(o);
	ck_assert_str_eq(text_of(o, "mount"), "</script>\"\\\n" BAD "<b>");
	s = json_object_array_get_idx(json_object_object_get(o, "servers"), 0);
	op = json_object_array_get_idx(json_object_object_get(s, "ops"), 0);
	ck_assert_str_eq(text_of(op, "op"), text_of(o, "mount"));
	ck_assert_str_eq(text_of(op, "times"),
			 "[ 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 ]");
	holds(&t, "\"users\":[{\"uid\":7,\"job\":\"<\\/script>\\\"\\\\\\n" BAD
		  "<b>\",\"job_hex\":\"" EVIL_HEX
		  "\",\"requests\":5,\"in\":0,\"out\":0},"
		  "{\"job\":\"\",\"requests\":0,\"in\":9,\"out\":0}]");
	json_object_put(o);
	text_free(&t);
	free(r);
}
END_TEST

static void health(const struct view *v, struct text *out)
{
	ck_assert(!view_health(v, out));
}

START_TEST(test_health)
{
	struct report *r = a_report();
	struct text t;

	r->space.f_bavail = 0;
	t = written(health, r);
	holds(&t, "{\"server\":\"mgr\",\"reason\":\"no space is left\"}");
	holds(&t, "{\"server\":\"iod0\",\"reason\":\"<\\/script>\\\"\\\\\\n" BAD
		  "<b>\",\"reason_hex\":\"" EVIL_HEX "\"}");
	text_free(&t);
	free(r);
}
END_TEST

/* All that is told of the users and jobs of so many iods and a manager. */
static size_t labels_size(int wanted, unsigned int iods)
{
	struct report *r = calloc(2,
				  sizeof(*r)); /* of the manager, of an iod */
	struct view_server *s = calloc(iods + 1, sizeof(*s));
	struct view v = { .mount = "/pvfs", .server = s, .servers = iods + 1 };
	struct text out = { 0 };
	size_t len;

	r[0].labels = wanted + 1;
	r[1].labels = 2 * (view_labels(wanted, iods) + 1);
	for (int k = 0; k < PVFS_LABELS; k++) {
		struct pvfs_label l = { .uid = 100000,
					.requests = 1u << 31,
					.bytes_in = 1u << 31,
					.bytes_out = 1u << 31,
					.flags = k % 2 ? PVFS_LABEL_DIRECT
						       : 0 };

		snprintf(l.job, sizeof(l.job), "%d", 4711000 + k);
		r[0].label[k] = r[1].label[k] = l;
	}
	for (unsigned int i = 0; i <= iods; i++) {
		s[i].address = "";
		s[i].report = &r[i > 0];
	}
	view_metrics(&v, &out);
	len = out.len;
	text_free(&out);
	free(s);
	free(r);
	return len;
}

START_TEST(test_labels)
{
	ck_assert_int_eq(view_labels(0, 16), 0);
	ck_assert_int_eq(view_labels(5, 1023), 5);
	ck_assert_int_eq(view_labels(256, 1023), VIEW_LABELS);
	ck_assert_int_eq(view_labels(256, 0), 256);
	ck_assert_int_eq(view_labels(256, 4), 256);
	for (unsigned int iods = 1; iods <= 24; iods++)
		ck_assert_uint_lt(labels_size(256, iods) + iods * 34000,
				  1u << 20);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("exporter_text");
	TCase *tc = tcase_create("exporter_text");

	tcase_add_test(tc, test_escaped);
	tcase_add_test(tc, test_any_bytes);
	tcase_add_test(tc, test_bound);
	tcase_add_test(tc, test_buckets);
	tcase_add_test(tc, test_borders);
	tcase_add_test(tc, test_metrics);
	tcase_add_test(tc, test_labels);
	tcase_add_test(tc, test_status);
	tcase_add_test(tc, test_health);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
