#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients change counters by RDMA atomics; the transport simulates an adapter. Each value is
# returned once, also while the iod is killed and while other clients change the counter by
# messages. The iod gets few requests.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 1 --set iod.words=all
expect ok lib_counter /pvfs/rules rules </dev/null

# given: prints how many values clients got; none of them twice
given() {
	local twice

	got=$(grep -hv left "$tmp"/counted.* | wc -l)
	twice=$(grep -hv left "$tmp"/counted.* | sort | uniq -d | wc -l)
	[ "$twice" = 0 ] || fail "$twice of $got values were given twice"
	[ "$got" -gt 100 ] || fail "only $got values"
}

before=$(requests_at_iods)
expect ok lib_counter /pvfs/shared count 4 2 </dev/null
asked=$(($(requests_at_iods) - before))
given
[ "$(lib_counter /pvfs/shared read)" = "$got" ] || fail "some were left out"
[ "$asked" -lt $((got / 2)) ] || fail "$asked requests for $got values"
say "$got values, $asked requests"

lib_counter /pvfs/killed count 4 5 >"$tmp/out" 2>"$tmp/err" </dev/null &
client=$!
helpers+=($client)
iod_comes_and_goes 0
wait $client || { cat "$tmp/out" "$tmp/err"; fail "a client failed"; }
given
[ "$(lib_counter /pvfs/killed read)" -ge "$got" ] || fail "it counts too little"
say "$got values over two ends of the iod"
