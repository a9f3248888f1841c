#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The iods get the rows of their copysets when a ring is made, when a row changes, and after a
# restart of either side. Each has stored the rows before the file system serves again.
. "$(dirname "$0")/functions.sh"
. "$e2e/copysets.sh"

# rows_of IOD: prints ID:VERSION for each row in the file of the iod. The head and each row have 24
# bytes, and a row begins with these two numbers: server/copyset/assignments_file.c.
rows_of() {
	od -An -v -t u4 -w24 -j 24 "$state/iod$1/copysets" 2>"$tmp/err" |
		awk '{ printf "%s%s:%s", (NR > 1 ? " " : ""), $1, $2 }'
}
rows_are() { [ "$(rows_of "$1")" = "$2" ]; }
await_rows() { until_true 30 rows_are "$@"; }

start_pvfs -n 3
[ -z "$(rows_of 0)" ] || fail "rows without a ring"
copysets ring 5
await_rows 0 '1024:1 1027:1'
await_rows 1 '1025:1 1028:1'
await_rows 2 '1026:1'
copysets move 1024 2
await_rows 2 '1024:2 1026:1'

must cluster stop-mgr
must cluster kill-iod 1
must cluster start-mgr
copysets renew all
await_rows 0 '1024:1 1027:2'
await_rows 2 '1024:3 1026:2'
must cluster start-iod 1
await_rows 1 '1025:2 1028:2'

# a file that is lost
rm "$state/iod1/copysets"
restart_pvfs
await_rows 1 '1025:2 1028:2'
