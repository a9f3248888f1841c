#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Servers identify each other by a key. A false manager and a false iod are rejected and counted,
# each with a line that names the remedy, and others are not affected. An unsafe key file is not
# used. Keys are changed while files are copied and servers are started and stopped.
. "$(dirname "$0")/functions.sh"

key=$state/key
fsck=$PVFS_BUILD/mgr/fsck/pvfs-fsck
pid() { cluster pid "$1"; }
logged() { grep -q -- "$2" "$(log_of "$1")"; }
new_key() { od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n'; echo; }

# conf_of NAME KEYLINE [HOST]: writes a pvfs.conf with that key, and with another manager at HOST
conf_of() {
	mkdir -p "$tmp/$1-mgr" "$tmp/$1-iod"
	sed "s|^key = .*|$2|; s|^storage = $state/mgr|storage = $tmp/$1-mgr|
		s|^storage = $state/iod1|storage = $tmp/$1-iod|" \
		"$state/pvfs.conf" >"$1.conf"
	[ -z "${3:-}" ] || sed -i "/^\[mgr\]/,/^\[iod\]/s|127[.]0[.]0[.]1|$3|" \
		"$1.conf"
}

# run_false NAME PROGRAM...: runs it with NAME.conf in the background
run_false() {
	local conf=$1.conf log=$1.log

	shift
	"$@" --config "$conf" >"$log" 2>&1 &
	helpers+=($!)
	false_one=$!
}
end_false() {
	kill "$false_one"
	wait "$false_one"
	helpers=()
}

start_pvfs -n 2
expect 600 stat -c %a "$key"
expect ok pvio write /pvfs/a 0 1000000 1
new_key >other.key
chmod 600 other.key

# ---- a false manager ----

for way in "key = $tmp/other.key|its key is not one of those here" "|it proves nothing"; do
	conf_of mgr "${way%|*}" 127.0.0.83
	run_false mgr "$PVFS_BUILD/mgr/pvfs-mgr"
	until_true 30 logged iod1 "(pvfs-mgr) says that it is the manager: refused.*${way#*|}"
	until_true 30 grep -q 'refused: it' mgr.log
	end_false
	expect ok pvio check /pvfs/a 0 1000000 1
done
until_true 30 metric_above 0 1 refused "not a server"

# ---- a false iod ----

for way in "key = $tmp/other.key|its key is not one of those here" "|it proves nothing"; do
	conf_of iod "${way%|*}"
	must cluster stop-iod 1
	run_false iod "$PVFS_BUILD/server/pvfs-iod" --index 1 --new-store
	until_true 30 logged mgr "iod 1 .*refused: ${way#*|}"
	# it accepts nothing that is meant for the right one
	grep -q 'info: ready' iod.log && fail "the manager has taken it: $(cat iod.log)"
	end_false
	must cluster start-iod 1
	expect ok pvio check /pvfs/a 0 1000000 1
done
until_true 30 metric_above 0 mgr refused "unproven peer"

# ---- administrators' tools ----

must "$fsck" --config "$state/pvfs.conf"
conf_of mgr "key = $tmp/other.key"
must_fail "$fsck" --timeout 5 --config mgr.conf
grep -q 'refused: its key is not one' "$tmp/output" || fail "$(cat "$tmp/output")"

# ---- files that are not safe ----

chmod 640 other.key
conf_of iod "key = $tmp/other.key"
must_fail timeout 30 "$PVFS_BUILD/server/pvfs-iod" --config iod.conf --index 1
grep -q "key $tmp/other.key may be read or written by others: chmod 600" "$tmp/output" ||
	fail "$(cat "$tmp/output")"
conf_of mgr "key = $tmp/none"
must_fail "$fsck" --timeout 5 --config mgr.conf
grep -q 'copy it from the host of a server' "$tmp/output" || fail "$(cat "$tmp/output")"

# ---- another key, while all runs: the steps of administrators.md ----

old=$(cat "$key")
reload() {
	local server

	for server in 1 mgr 0; do
		kill -HUP "$(pid $server)"
		# meanwhile some servers have read the new key, and others have not
		must cluster kill-iod 0
		must cluster start-iod 0
	done
	until_true 30 logged mgr "$1"
	until_true 30 logged iod1 "$1"
}
head -c 3000000 /dev/urandom >data
refusals() { cat "$state"/log/*.log | grep -c 'its key is not one'; }
refused=$(refusals)
copy_on & copies=$!
(umask 077; { cat "$key"; new_key; } >"$key.new") && must mv "$key.new" "$key"
reload 'is in use, .* is accepted, too'
(umask 077; { tail -n 1 "$key"; head -n 1 "$key"; } >"$key.new") && must mv "$key.new" "$key"
reload 'is in use, .* is accepted, too'
(umask 077; head -n 1 "$key" >"$key.new") && must mv "$key.new" "$key"
reload 'is in use$'
touch enough
wait $copies || fail "the copies did not survive"
[ "$(cat "$key")" != "$old" ] || fail "the key is the old one"
expect ok pvio check /pvfs/a 0 1000000 1
expect "$refused" refusals
# a client with the old key is nobody
echo "$old" >other.key
chmod 600 other.key
conf_of mgr "key = $tmp/other.key"
must_fail "$fsck" --timeout 5 --config mgr.conf
# an invalid file changes nothing
echo nonsense >"$key"
kill -HUP "$(pid mgr)"
until_true 30 logged mgr 'line 1: no key'
expect ok pvio check /pvfs/a 0 1000000 1
