#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Sessions are evicted while a host is disconnected: the client's from all others or only from the
# manager, or an iod's from the manager. After the reply, or after the lease of an iod that the
# reply names, these sessions write nothing, also when the network is restored.
. "$(dirname "$0")/functions.sh"
. "$e2e/hosts.sh"
requires tool python3

make_hosts mgr iod0 iod1 client other
configure 'lease = 4'
serve_all

# floods NAME: starts an endless writer on the host "client"; its session is in $id
floods() {
	expect ok on other pvio write "/pvfs/$1" 0 300000 1
	on client env PATH="$PATH" pvio flood "/pvfs/$1" 300000 >"$1.said" 2>"$1.err" &
	flood=$!
	helpers+=("$flood")
	until_true 30 grep -q holding "$1.said"
	id=$(on other pvfs-evict --list --json /pvfs | python3 -c '
import json, sys
print(*(o["session"] for o in json.load(sys.stdin) if ":pvio" in o["program"]))')
	[ -n "$id" ] || fail "$1: no session"
}
# stays NAME: only the next client that opens the file writes to it; $flood has failed
stays() {
	wait $flood && fail "$1: the writer goes on"
	grep -Eqx 'ESTALE|ECONNABORTED' "$1.said" || fail "$1: $(cat "$1.said" "$1.err")"
	must on other pvfs-cat "/pvfs/$1" >behind
	cmp before behind || fail "$1: written after the answer"
	expect ok on other pvio write "/pvfs/$1" 0 300000 7
	expect ok on other pvio check "/pvfs/$1" 0 300000 7
}
before() { must on other pvfs-cat "/pvfs/$1" >before; }

# ---- the client's host is cut off from all ----

floods away
cable client down
expect "1 session evicted" on other pvfs-evict -s "$id" /pvfs
before away
cable client up
stays away

# ---- from the manager alone: it goes on at the iods until it is evicted ----

floods half
cut client mgr
expect "1 session evicted" on other pvfs-evict -s "$id" /pvfs
before half
heal client mgr
stays half

# ---- an iod's from the manager: it is named; its lease passes; it is told before it serves ----

floods iod
cut mgr iod0
on other pvfs-evict -t 2000 -s "$id" /pvfs >said 2>&1 && fail "all have answered: $(cat said)"
grep -q '1 session has not ended yet' said || fail "$(cat said)"
grep -q 'iod 0 has not confirmed the eviction' said || fail "$(cat said)"
until_true 60 eval 'on other pvfs-evict -t 2000 -J nobodys /pvfs >said 2>&1
	grep -q "iod 0 has not confirmed the eviction.*; only programs that keep" said'
grep -q 'not ended yet' said && fail "$(cat said)"
before iod
heal mgr iod0
until_true 60 grep -q "session $id has ended, says the manager" "$(log_of iod0)"
until_true 60 eval 'on other pvfs-evict -J nobodys /pvfs 2>&1 | grep -q "there is no such session"'
stays iod
