/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_profile.c - any text is either accepted as a profile, which can be shown, or rejected with a
 * reason.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "client/tools/monitor/profile/prof.h"

static void show(struct prof *all)
{
	struct advice_line *advice;
	char *picture;
	size_t size;
	FILE *out = open_memstream(&picture, &size);
	int n = prof_advice(all, &advice);

	FUZZ_SURE(n >= 0 && out);
	json_object_put(prof_json(all, advice, n));
	prof_svg(all, out);
	fclose(out);
	fuzz_touch(picture, size);
	free(picture);
	free(advice);
}

void fuzz_one(const uint8_t *data, size_t len)
{
	struct prof_process p = { .source = strdup("fuzz") };
	struct prof all = { 0 };
	const char *why = NULL;
	char *text = fuzz_copy(data, len);

	if (prof_parse_text(text, len, &p, &why)) {
		FUZZ_SURE(why);
		prof_process_free(&p);
	} else {
		FUZZ_SURE(!prof_add(&all, &p) && !prof_sum(&all));
		show(&all);
	}
	prof_free(&all);
	free(text);
}

#define WAY                                                                    \
	"{\"bytes\":9,\"histogram\":[1,0,0,0,0,0,0,0,0,0],\"sequential\":1,"   \
	"\"consecutive\":1,\"strided\":0,\"unaligned\":0,\"large\":0,"         \
	"\"large_unaligned\":0,\"sizes\":[{\"bytes\":9,\"count\":1}],"         \
	"\"strides\":[{\"bytes\":-9,\"count\":1}]}"
#define KINDS                                                                  \
	"{\"open\":1,\"close\":1,\"read\":1,\"write\":1,\"list_read\":0,"      \
	"\"list_write\":0,\"stat\":0,\"meta\":0,\"dir\":0,\"lock\":0,"         \
	"\"fsync\":0,\"aio\":0,\"aio_wait\":0}"
#define RECORD                                                                 \
	"\"calls\":" KINDS ",\"ns\":" KINDS ",\"errors\":0,\"list_pieces\":0," \
	"\"reads\":" WAY ",\"writes\":" WAY                                    \
	",\"slowest\":{\"call\":\"write\",\"ns\":5},\"first_ns\":1,"           \
	"\"last_ns\":2"
#define FILE1                                                                   \
	"{\"name\":\"/pvfs/a\",\"id\":\"1-2\",\"stripe\":64,\"iods\":2," RECORD \
	"}"

void fuzz_seeds(void)
{
	static const char text[] =
		"{\"pvfs_profile\":1,\"program\":\"a\",\"pid\":1,\"host\":\"h\","
		"\"rank\":0,\"ranks\":2,\"begun\":1.5,\"run_ns\":9,"
		"\"files\":[" FILE1 "," FILE1 "],\"left_out\":{\"files\":0},"
		"\"total\":{" RECORD "}}";

	fuzz_seed(text, strlen(text));
	fuzz_seed("[[[[[[[[[[[[[[[[[[[[[[[[", 24);
}
