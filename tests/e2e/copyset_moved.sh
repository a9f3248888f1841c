#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Copysets get new versions and other iods while a program has their files open. The iods refuse
# each version that is over, the client asks the manager, and no byte is lost.
. "$(dirname "$0")/functions.sh"
. "$e2e/copysets.sh"

export PVFS_TIMEOUT=60
start_pvfs -n 3
copysets ring 6
expect ok pvio write /pvfs/file 0 3000000 1

# objects_of IOD ID: prints the paths of the objects of the copyset
objects_of() {
	find "$state/iod$1/objects" -name "*-$(printf %08x "$2")"
}

# move_all: the next iod gets a copy of the objects of each copyset, and serves it from now on. The
# former iod keeps its own, which nobody may change any more; $tmp/before lists them.
move_all() {
	local id from to path copy

	rm -f "$tmp/before"
	for id in {1024..1029}; do
		from=$(((id - 1024) % 3))
		to=$(((from + 1) % 3))
		for path in $(objects_of $from $id); do
			copy=$state/iod$to/${path#"$state/iod$from/"}
			mkdir -p "${copy%/*}"
			must cp "$path" "$copy"
			must md5sum "$path" >>"$tmp/before"
		done
		copysets move $id $to
	done
	[ -s "$tmp/before" ] || fail "no object of a copyset was found"
}

# ---- a client that knows old rows ----

mkfifo "$tmp/in"
pvio rewrite /pvfs/file 3000000 1 2 <"$tmp/in" >"$tmp/rewrite" 2>&1 &
writer=$!
exec 5>"$tmp/in"
until_true 60 grep -q holding "$tmp/rewrite"
move_all
exec 5>&-
wait $writer || fail "the write failed: $(<"$tmp/rewrite")"
md5sum --quiet -c "$tmp/before" || fail "a former iod has executed a write"
expect ok pvio check /pvfs/file 0 3000000 2

# ---- a client that writes all the time ----

records=600 rounds=0
pvio append /pvfs/log $records 100 record >"$tmp/append" 2>&1 &
writer=$!
while kill -0 $writer 2>/dev/null; do
	copysets renew all
	rounds=$((rounds + 1))
done
wait $writer || fail "an append failed: $(<"$tmp/append")"
must pvfs-cat /pvfs/log >"$tmp/log"
[ "$(grep -ac '^record ' "$tmp/log")" = $records ] || fail "records are lost"
[ "$(wc -c <"$tmp/log")" = $((records * 100)) ] || fail "bytes are lost"
say "no byte was lost in $rounds rounds"
