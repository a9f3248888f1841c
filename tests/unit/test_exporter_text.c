/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_exporter_text.c - the output of pvfs-exporter: foreign text is escaped, whatever its bytes
 * are, and times are in a few buckets, with the counts of a model.
 */
#include <check.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/monitor/exporter/coarse.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "common/json/utf8.h"
#include "client/tools/monitor/exporter/view.h"

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
	/* '/', in a longer form than necessary */
	{ "\xc0\xaf", BAD BAD, BAD BAD },
	{ "\xed\xa0\x80", BAD BAD BAD, BAD BAD BAD }, /* a surrogate */
	{ "\xf4\x90\x80\x80", BAD BAD BAD BAD, BAD BAD BAD BAD },
	{ "\xe2\x82\"", BAD BAD "\\\"", BAD BAD "\"" }, /* cut off */
	{ "\xe2\x82", BAD BAD, BAD BAD },
};

static const char *seen(const struct text_buffer *t)
{
	return t->s ? t->s : "";
}

/* Computes the expected label. */
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
		struct text_buffer label = { 0 };
		char utf8[64];

		text_label(&label, texts[i].from);
		replaced(texts[i].from, utf8);
		ck_assert_str_eq(seen(&label), texts[i].label);
		ck_assert_str_eq(utf8, texts[i].utf8);
		text_free(&label);
	}
}
END_TEST

/* Reverses the escapes of a label. */
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
		struct text_buffer label = { 0 };
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

/* A row that does not fit is left out, and the text says so. */
START_TEST(test_bound)
{
	struct text_buffer t = { 0 };

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

/* The bucket of each single time. */
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
		uint64_t latency[PVFS_LATENCIES] = { 0 };
		const struct pvfs_metric s = { .latency = latency };
		uint64_t want[COARSE] = { 0 }, n[COARSE];
		unsigned int most = rnd_next(&r) % 200;

		for (unsigned int i = 0; i < most; i++) {
			uint64_t ns = rnd_next(&r) >> rnd_next(&r) % 64;

			if (rnd_next(&r) % 4 == 0) /* at a border */
				ns = coarse_ns(rnd_next(&r) % (COARSE - 1)) -
				     rnd_next(&r) % 2;
			latency[fine_bucket(ns)]++;
			want[model_bucket(ns)]++;
		}
		coarse_of(&s, n);
		ck_assert_mem_eq(n, want, sizeof(n));
	}
}
END_TEST

/* Each border is one of the server's, so that no count has to be estimated. */
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

#define LAST (PVFS_LATENCIES - 1)

/* The replies of a server, with the rows one after the other. */
struct says {
	struct pvfs_ping ping;
	struct statfs space;
	uint64_t op[PVFS_LATENCIES], read[PVFS_LATENCIES];
	struct pvfs_metric row[8];
	unsigned int n;
};

static struct pvfs_metric *add(struct says *s, const char *name)
{
	struct pvfs_metric *m = &s->row[s->n++];

	if (s->n > 1)
		m[-1].next = m;
	m->name = name;
	m->help = "";
	m->kind = PVFS_TIMES;
	return m;
}

static void add_label(struct pvfs_metric *m, const char *key, const char *value)
{
	m->label[m->labels].key = key;
	m->label[m->labels++].value = value;
}

static void add_way(struct says *s, const char *op, uint64_t *latency)
{
	struct pvfs_metric *m = add(s, "way");

	add_label(m, "op", op);
	add_label(m, "transport", "local");
	add_label(m, "way", "direct");
	m->n = 4;
	m->latency = latency;
}

static void add_user(struct says *s, const char *uid, const char *job,
		     uint64_t n, uint64_t in)
{
	struct pvfs_metric *m = add(s, "user");

	add_label(m, "uid", uid);
	add_label(m, "job", job);
	m->n = n;
	m->bytes_in = in;
}

static struct says a_server(void)
{
	struct says s = {
		.ping.transport = "tcp",
		.space = { .f_bsize = 4096,
			   .f_blocks = 100,
			   .f_bfree = 50,
			   .f_bavail = 40 },
		.op = { [0] = 2, [LAST] = 1 },
		.read = { 4 },
	};

	strcpy(s.ping.version, EVIL);
	return s;
}

static void add_rows(struct says *s)
{
	struct pvfs_metric *m = add(s, "requests");

	add_label(m, "op", EVIL);
	m->n = 3;
	m->errors = 1;
	m->ns = 1500000000;
	m->latency = s->op;
	add_user(s, "7", EVIL, 5, 0);
	add_user(s, "others", "", 0, 9);
	add_way(s, "read", s->read);
	add_way(s, "write", NULL);
	m = add(s, "moon_phase"); /* a row of a later release */
	m->kind = PVFS_TOTAL;
	m->n = 6;
	m->help = "Of \"the\"\nmoon\\.";
	add_label(m, "side", "far");
	add_label(m, "server", "iod9");
	add_label(m, "le", "1");
	add_label(m, "side", "near");
}

static struct text_buffer written(void (*fn)(const struct view *,
					     struct text_buffer *),
				  struct says *says)
{
	struct view_server s[] = {
		{ .name = "mgr",
		  .is_mgr = true,
		  .address = EVIL,
		  .report = { .ping = &says->ping,
			      .space = &says->space,
			      .rows = says->row } },
		{ .name = "iod0", .address = "x", .reason = EVIL },
	};
	const struct view v = { .mount = EVIL, .server = s, .servers = 2 };
	struct text_buffer t = { 0 };

	add_rows(says);
	s[0].report.users = view_users(says->row, 9, &s[0].report.user);
	fn(&v, &t);
	free(s[0].report.user);
	ck_assert(!t.failed);
	return t;
}

static void holds(const struct text_buffer *t, const char *part)
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
	struct says says = a_server();
	struct text_buffer t = written(view_metrics, &says);

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
	/* this client does not measure times itself */
	ck_assert_ptr_null(strstr(t.s, DIRECT("_count", "write")));
	ck_assert_ptr_null(strstr(t.s, "pvfs_uptime_seconds{server=\"iod0\""));
	holds(&t, "# HELP pvfs_moon_phase_total Of \"the\"\\nmoon\\\\.\n"
		  "# TYPE pvfs_moon_phase_total counter\n"
		  "pvfs_moon_phase_total{server=\"mgr\",side=\"far\"} 6\n");
	text_free(&t);
}
END_TEST

/* Returns the text under `key` in the parsed JSON. */
static const char *text_of(struct json_object *o, const char *key)
{
	return json_object_get_string(json_object_object_get(o, key));
}

START_TEST(test_status)
{
	struct says says = a_server();
	struct text_buffer t = written(view_status, &says);
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
}
END_TEST

static void health(const struct view *v, struct text_buffer *out)
{
	ck_assert(!view_health(v, out));
}

START_TEST(test_health)
{
	struct says says = a_server();
	struct text_buffer t;

	says.space.f_bavail = 0;
	t = written(health, &says);
	holds(&t, "{\"server\":\"mgr\",\"reason\":\"no space is left\"}");
	holds(&t, "{\"server\":\"iod0\",\"reason\":\"<\\/script>\\\"\\\\\\n" BAD
		  "<b>\",\"reason_hex\":\"" EVIL_HEX "\"}");
	text_free(&t);
}
END_TEST

/* ---- users ---- */

#define USERS 514

struct users {
	char job[USERS][16];
	struct pvfs_metric row[USERS];
};

static void make_users(struct users *u)
{
	for (int k = 0; k < USERS; k++) {
		struct pvfs_metric *m = &u->row[k];

		snprintf(u->job[k], sizeof(u->job[k]), "%d", 4711000 + k);
		m->name = "user";
		m->help = "";
		m->kind = PVFS_TIMES;
		m->n = m->bytes_in = m->bytes_out = 1u << 31;
		m->next = k < USERS - 1 ? &u->row[k + 1] : NULL;
		add_label(m, "uid", "100000");
		add_label(m, "job", u->job[k]);
		if (k % 2)
			add_label(m, "way", "direct");
	}
}

/* Returns the size of the output for users and jobs, for this number of iods and a manager. */
static size_t labels_size(int wanted, unsigned int iods)
{
	struct users *u = calloc(1, sizeof(*u));
	struct view_server *s = calloc(iods + 1, sizeof(*s));
	struct view v = { .mount = "/pvfs", .server = s, .servers = iods + 1 };
	struct says says = a_server();
	struct text_buffer out = { 0 };
	size_t len;

	make_users(u);
	for (unsigned int i = 0; i <= iods; i++) {
		struct report *r = &s[i].report;

		s[i].address = "";
		r->ping = &says.ping;
		r->space = &says.space;
		r->users = i ? view_users(u->row, view_labels(wanted, iods),
					  &r->user)
			     : view_users(u->row, wanted / 2, &r->user);
	}
	view_metrics(&v, &out);
	len = out.len;
	text_free(&out);
	for (unsigned int i = 0; i <= iods; i++)
		free(s[i].report.user);
	free(s);
	free(u);
	return len;
}

/* Sums by kind; users that are not shown are counted as others. */
static void count_users(const struct pvfs_metric *list, int n, uint64_t sum[2])
{
	sum[0] = sum[1] = 0;
	for (int i = 0; i < n; i++)
		sum[pvfs_metric_label(&list[i], "way")[0] != 0] += list[i].n;
}

START_TEST(test_users)
{
	struct users *u = calloc(1, sizeof(*u));
	struct rnd r = { 3 };

	make_users(u);
	for (int round = 0; round < 200; round++) {
		int max = 1 + (int)(rnd_next(&r) % 300), n, shown = 0;
		struct pvfs_metric *user;
		uint64_t want[2], got[2];

		for (int k = 0; k < USERS; k++)
			u->row[k].n = rnd_next(&r) % 50;
		count_users(u->row, USERS, want);
		n = view_users(u->row, max, &user);
		count_users(user, n, got);
		ck_assert_mem_eq(want, got, sizeof(want));
		for (int i = 0; i < n; i++)
			if (strcmp(pvfs_metric_label(&user[i], "uid"),
				   "others"))
				shown++;
			else
				ck_assert_int_eq(max < USERS / 2, 1);
		ck_assert_int_eq(shown, max < USERS / 2 ? 2 * max : USERS);
		/* no user that was left out has made more requests */
		for (int i = 1; i < n; i++)
			ck_assert(user[i].labels != user[i - 1].labels ||
				  user[i].n <= user[i - 1].n ||
				  !strcmp(user[i].label[0].value, "others"));
		free(user);
	}
	free(u);
}
END_TEST

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
	tcase_add_test(tc, test_users);
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
