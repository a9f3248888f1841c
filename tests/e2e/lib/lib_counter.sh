#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Counters of files: results of calls. Each value is returned once, although the iod is killed,
# stopped and restarted. A change with an unknown result fails and is not repeated. A removed file
# leaves nothing.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 3
expect ok lib_counter /pvfs/rules rules </dev/null
# pages N: checks the number of pages; each iod of a file has one, until the file is removed
pages() { [ "$(find "$state"/iod*/counters -type f | wc -l)" = "$1" ]; }
until_true 30 pages 3
must pvfs-rm /pvfs/rules
until_true 30 pages 0

# counter 0 is on the first iod of the file
lib_counter /pvfs/shared count 6 8 >"$tmp/out" 2>"$tmp/err" </dev/null &
client=$!
helpers+=($client)
for k in 0 1 2; do
	sleep 1
	must cluster kill-iod $k
	must cluster start-iod $k
	stand_still "$(cluster pid $k)"
	sleep 0.3
	kill -CONT "$(cluster pid $k)"
done
wait $client || { cat "$tmp/out" "$tmp/err"; fail "a client failed"; }
expect ok cat "$tmp/out"

# got: values that clients have got; unknown: calls that failed
got=$(grep -hv left "$tmp"/counted.* | wc -l)
twice=$(grep -hv left "$tmp"/counted.* | sort | uniq -d | wc -l)
unknown=$(awk '/left/ { n += $3 } END { print n }' "$tmp"/counted.*)
value=$(lib_counter /pvfs/shared read)
[ "$got" -gt 100 ] || fail "only $got values"
[ "$twice" = 0 ] || fail "$twice of $got values were given twice"
[ "$value" -ge "$got" ] || fail "counted to $value with $got values given"
[ "$value" -le $((got + unknown)) ] ||
	fail "counted to $value with $got values given and $unknown unknown"
say "$got values, $unknown calls of which nobody knows"

restart_pvfs
expect "$value" lib_counter /pvfs/shared read

# The iods are killed while a call waits for its reply. A client that has heard nothing for a while
# first asks whether the iod is alive; then there is no such call, and the test tries again.
mkfifo "$tmp/in"
lib_counter /pvfs/shared step <"$tmp/in" >"$tmp/steps" 2>"$tmp/err" &
client=$!
helpers+=($client)
exec 9>"$tmp/in"
until_true 30 grep -qs open "$tmp/steps"
ended() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status"; }
asked() { [ "$(grep -c asks "$tmp/steps")" = "$1" ]; }
answered() { [ "$(grep -cE 'got|ECONNABORTED' "$tmp/steps")" = "$1" ]; }
for ((n = 0; n < 20 && !$(grep -c ECONNABORTED "$tmp/steps"); n += 2)); do
	echo >&9
	until_true 60 answered $((n + 1))
	iods="$(cluster pid 0) $(cluster pid 1) $(cluster pid 2)"
	stand_still $iods
	echo >&9
	until_true 60 asked $((n + 2))
	sleep 1 # and it is on its way
	# not by scripts/cluster, which would first continue the stopped processes
	must kill -KILL $iods
	for k in $iods; do until_true 30 ended "$k"; done
	for k in 0 1 2; do must cluster start-iod $k; done
	until_true 60 answered $((n + 2))
done
echo >&9
until_true 60 answered $((n + 1))
exec 9>&-
wait $client || { cat "$tmp/steps" "$tmp/err"; fail "the client failed"; }
grep -q ECONNABORTED "$tmp/steps" || fail "all calls were answered"
# failed changes were not made, and not repeated
awk -v want="$value" '$1 == "got" && $2 != want++ { exit 1 }' "$tmp/steps" ||
	fail "not one by one from $value on: $(cat "$tmp/steps")"
grep -q "comes again" "$state"/log/iod*.log || fail "no word of it"
