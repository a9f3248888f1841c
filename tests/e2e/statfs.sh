#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-df: the total is the sum of the iods' reports, and each reports its own disk.  A disk that
# several iods share counts once.
. "$(dirname "$0")/functions.sh"

small_disk "$state/iod0" 16
small_disk "$state/iod1" 32
small_disk "$tmp/shared" 24
start_pvfs -n 4 --set iod.2.storage="$tmp/shared/2" \
	--set iod.3.storage="$tmp/shared/3"
df() { pvfs-df -b /pvfs >"$tmp/df" || fail "pvfs-df: $(cat "$tmp/df")"; }
df
cat "$tmp/df"
size() { awk -v who="$1" 'index($0, who) == 1 { for (i = 1; i <= NF; i++)
	if ($i ~ /^[0-9]+$/ && $i > 1000000) { print $i; exit } }' "$tmp/df"; }
expect $((16 << 20)) size 'iod 0'
expect $((32 << 20)) size 'iod 1'
expect $((24 << 20)) size 'iod 2'
expect $((24 << 20)) size 'iod 3'
expect $((72 << 20)) size total
# as df(1) prints it: percent of the usable space, rounded up
awk '$NF ~ /%$/ { n++; part = 100 * $(NF - 2) / ($(NF - 2) + $(NF - 1))
	want = int(part) + (part > int(part))
	if ($NF != want "%") { print "want " want ": " $0; bad = 1 } }
	END { exit bad || n != 6 }' "$tmp/df" || fail "the column use"
# a file on all iods can use four times the smallest share
available() { awk -v who="$1" 'index($0, who) == 1 { print $('$2') }' "$tmp/df"; }
expect $((4 * ($(available 'iod 2' 6) / 2))) available file 5
expect "$(available file 5)" bash -c "pvfs-df -j /pvfs |
	python3 -c 'import json, sys; print([r[\"available\"]
		for r in json.load(sys.stdin) if r[\"server\"] == \"file\"][0])'"

# a tmpfs without a limit is not reported as full
must cluster stop
state=$tmp/unlimited
mkdir -p "$state/iod0"
mount -t tmpfs -o size=0,mode=700 pvfs-e2e "$state/iod0" || fail "no tmpfs"
mounts+=("$state/iod0")
small_disk "$state/iod1" 32
start_pvfs -n 2
df
expect "no limit" eval "grep '^iod 0' '$tmp/df' | grep -o 'no limit'"
expect $((32 << 20)) size 'iod 1'
expect $((32 << 20)) size total
expect $((2 * $(available 'iod 1' 6))) available file 5
must pvfs-df /pvfs >"$tmp/human"
grep -q '^iod 0 .* no limit' "$tmp/human" || fail "$(<"$tmp/human")"
expect "None True" bash -c "pvfs-df -j /pvfs | python3 -c 'import json, sys
rows = {r[\"server\"]: r[\"available\"] for r in json.load(sys.stdin)}
print(rows[\"iod 0\"], rows[\"file\"] == 2 * rows[\"iod 1\"])'"
expect ok pvio write /pvfs/f 0 3000000 1
