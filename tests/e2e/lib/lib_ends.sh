#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients read the sizes of objects from memory that the iods expose; the transport simulates an
# adapter. Every client sees each acknowledged size, also while an iod is killed or the connection
# breaks. The iods get few requests.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 3 --set iod.ends=all
expect ok lib_ends /pvfs/rules rules </dev/null

before=$(requests_of GETSIZE)
must lib_ends /pvfs/asked asks 300 </dev/null >"$tmp/asked"
asked=$(($(requests_of GETSIZE) - before))
read -r shares n < <(without_of "$tmp/asked")
say "$n ends, $shares read from an iod, $asked requests"
[ "$shares" -ge $((3 * (n - 10))) ] || fail "too few were read"
[ "$asked" -le 30 ] || fail "$asked requests for $n ends"

# a client does not ask an iod that shares no blocks
must lib_warm /pvfs/unshared reads 200 </dev/null >"$tmp/read"
requests_of GETSIZE >/dev/null
grep SHARE "$tmp/stats" && fail "it is asked for what it does not have"

# race SECONDS: as above, while the sizes change
race() {
	lib_ends /pvfs/race race 3 "$1" >"$tmp/raced" 2>"$tmp/err" </dev/null ||
		{ cat "$tmp/raced" "$tmp/err"; return 1; }
	say "$(<"$tmp/raced")"
}
race 3 || fail "a wrong end"
read -r shares n < <(without_of "$tmp/raced")
[ "$shares" -gt "$n" ] || fail "too few were read"

race 5 &
raced=$!
helpers+=($raced)
iod_comes_and_goes 1
wait $raced || fail "a wrong end, while an iod was killed"
