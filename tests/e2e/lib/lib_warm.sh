#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What is read again and again is read from what the iods share, here by the transport in
# the place of an adapter: never anything but what a request would have got, also
# while it is changed and while an iod is killed; and the iods are asked seldom.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 3 --set iod.ends=all --set iod.share=4M
expect ok lib_warm /pvfs/rules rules </dev/null

# read_requests: how many READs the iods were sent
read_requests() {
	pvfs-stats >"$tmp/stats" 2>"$tmp/err" || fail "pvfs-stats: $(<"$tmp/err")"
	awk '$3 == "READ" { n += $4 } END { print n + 0 }' "$tmp/stats"
}
# told OUTPUT: "of" which "without" it tells
told() { sed -n 's/^\([0-9]*\) of \([0-9]*\) without.*/\1 \2/p' "$1"; }

before=$(read_requests)
must lib_warm /pvfs/read reads 2000 </dev/null >"$tmp/read"
asked=$(($(read_requests) - before))
read -r shared n < <(told "$tmp/read")
say "$n reads, $shared without a request, $asked requests"
[ "$shared" -ge $((n / 2)) ] || fail "too few were read"
[ "$asked" -le $((n / 2)) ] || fail "$asked requests for $n reads"

# race SECONDS: as above, while they are changed
race() {
	lib_warm /pvfs/race race 3 "$1" >"$tmp/raced" 2>"$tmp/err" </dev/null ||
		{ cat "$tmp/raced" "$tmp/err"; return 1; }
	say "$(<"$tmp/raced")"
}
race 4 || fail "a wrong block"
read -r shared n < <(told "$tmp/raced")
[ "$shared" -gt 100 ] || fail "too few were read"

race 5 &
raced=$!
helpers+=($raced)
for k in 1 2; do
	sleep 1
	must cluster kill-iod 1
	must cluster start-iod 1
done
wait $raced || fail "a wrong block, while an iod was killed"

# off where a key of memory would be wider than what somebody may read
must cluster stop
state=$tmp/proved
start_pvfs -n 1 --transport pvfs --set filesystem.auth=key \
	--set filesystem.key_user=daemon --set iod.ends=all --set iod.share=4M
grep -q 'share = 4096 KiB is not used: .*auth is not sys' "$(log_of iod0)" ||
	fail "$(cat "$(log_of iod0)")"
