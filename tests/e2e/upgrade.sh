#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# While programs work, each server and each client of the previous release is replaced by one of
# this release. Acknowledged changes are there, no call fails, and the stores are upgraded and never
# downgraded. In between, clients of each release work with servers of the other one.
. "$(dirname "$0")/functions.sh"
. "$e2e/version_before.sh"

now=$PVFS_BUILD
version=$(pvfs-ping --version | cut -d ' ' -f 2)
version_before=$("$before/client/tools/pvfs-ping" --version | cut -d ' ' -f 2)
[ "$version" != "$version_before" ] || fail "both releases are called $version"
if [ -c /dev/fuse ] && [ "$(id -u)" = 0 ] && [ -x "$now/client/fuse/pvfs-fuse" ]
then
	. "$e2e/mounting.sh"
	mounted=1
else
	say "without mounts: needs root, /dev/fuse and libfuse3"
	mounted=
fi

# ---- the load ----

declare -A load=()

# begin NAME BUILD DIR: starts a program with that build's libpvfs; DIR/NAME is its directory
begin() {
	rm -f "$tmp/$1.end"
	LD_LIBRARY_PATH=$2/client/lib pvrolling "$3/$1" "$tmp/$1" "$3/counter" \
		>>"$tmp/$1.out" 2>&1 &
	load[$1]=$!
}

# end NAME: ends it when it has checked all recorded changes again
end() {
	touch "$tmp/$1.end"
	wait "${load[$1]}" || { cat "$tmp/$1.out"; fail "$1 ended with $?"; }
	unset "load[$1]"
}

kill_loads() {
	local name

	for name in "${!load[@]}"; do kill "${load[$name]}" 2>/dev/null; done
}
at_end kill_loads

lines() { wc -l <"$tmp/$1.out"; }
has_lines() {
	[ "$(lines "$1")" -ge "$2" ] && return
	kill -0 "${load[$1]}" 2>/dev/null && return 1
	cat "$tmp/$1.out"
	fail "$1 has ended"
}

# Each program continues.
all_go_on() {
	local name
	declare -A least=()

	for name in "${!load[@]}"; do least[$name]=$(($(lines "$name") + 2)); done
	for name in "${!load[@]}"; do
		until_true 120 has_lines "$name" "${least[$name]}"
	done
}

# ---- replacing servers and clients ----

# run stop|start SERVER: SERVER is mgr, or the number of an iod
run() {
	case $2 in
	mgr)	cluster "$1-mgr" ;;
	*)	cluster "$1-iod" "$2" ;;
	esac
}

replace() {
	must run stop "$1"
	must run start "$1"
	all_go_on
}

name_of() { [ "$1" = mgr ] && echo mgr || echo "iod$1"; }

# refuses BUILD SERVER WHAT: the stopped server does not start, and prints WHAT.
refuses() {
	local log

	log=$(log_of "$(name_of "$2")")
	: >"$log"
	PVFS_BUILD=$1 must_fail run start "$2"
	grep -q "error: .*$3" "$log" || fail "no '$3'"
}

# tells SERVER VERSION: it reports this version, and doctor of this release reports a server of
# another version
tells() {
	local who=${1/iod/iod }

	pvfs-ping | grep -E "^$who .* up  *$2 " >/dev/null || {
		pvfs-ping
		fail "$1 is not of version $2"
	}
	pvfs-doctor --skip clock,mounted >"$tmp/found"
	[ "$2" = "$version" ] ||
		grep -q "^found: version, $who: .* is of version $2," "$tmp/found" || {
		cat "$tmp/found"
		fail "pvfs-doctor does not find that $1 is of version $2"
	}
}

# prints /health of an exporter, which must be healthy
exported() {
	local address exporter

	: >"$tmp/exporter" # what the one before said is not this one's
	"$now/client/tools/pvfs-exporter" --listen 127.0.0.1:0 /pvfs 2>>"$tmp/exporter" &
	exporter=$!
	helpers+=("$exporter")
	until_true 60 grep -q 'ready: http' "$tmp/exporter"
	address=$(sed -n 's|.*ready: http://\([^/]*\)/.*|\1|p' "$tmp/exporter")
	python3 -c 'import sys, urllib.request
print(urllib.request.urlopen("http://%s/health" % sys.argv[1]).read().decode())' \
		"$address" >"$tmp/health" 2>&1 || fail "/health: $(<"$tmp/health")"
	kill "$exporter" && wait "$exporter"
	unset 'helpers[-1]'
	grep -q '"status":"ok"' "$tmp/health" || fail "/health: $(<"$tmp/health")"
}

# Reads the counts of a server of either release. A server of the previous release is asked only for
# what it knows, and counts as up.
watched() {
	pvfs-top --batch -d 1 -n 1 >"$tmp/top" 2>&1
	grep -q ' 3 of 3 servers up' "$tmp/top" || fail "pvfs-top: $(<"$tmp/top")"
	pvfs-stats >"$tmp/stats" 2>&1 || fail "pvfs-stats: $(<"$tmp/stats")"
	! grep -q 'connection lost' "$tmp/stats" || fail "pvfs-stats: $(<"$tmp/stats")"
	pvfs-evict -l /pvfs >"$tmp/evict" 2>&1 || grep -q 'of a release that cannot evict' "$tmp/evict" ||
		fail "pvfs-evict: $(<"$tmp/evict")"
	! grep -q 'connection lost' "$tmp/evict" || fail "pvfs-evict: $(<"$tmp/evict")"
	[ ! -x "$now/client/tools/pvfs-exporter" ] || exported
	! grep 'unknown operation' "$state"/log/*.log || fail "asked for what it does not know"
}

stamped() {
	grep -qx "version $2" "$state/$1/pvfs-stamp" ||
		fail "$1 has not the stamp of version $2"
}

begin_all() {
	begin before "$before" /pvfs
	begin now "$now" /pvfs
	[ -n "$mounted" ] || return
	fuse=$before/client/fuse/pvfs-fuse
	mount_at "$tmp/mnt.before.$state_name"
	mount_before=$daemon
	fuse=$now/client/fuse/pvfs-fuse
	mount_at "$tmp/mnt.now.$state_name"
	mount_now=$daemon
	begin mount_before "$now" "$tmp/mnt.before.$state_name"
	begin mount_now "$now" "$tmp/mnt.now.$state_name"
}

replace_clients() {
	end before
	begin before "$now" /pvfs
	[ -n "$mounted" ] || return
	end mount_before
	unmount "$tmp/mnt.before.$state_name" "$mount_before"
	mount_at "$tmp/mnt.before.$state_name"
	mount_before=$daemon
	begin mount_before "$now" "$tmp/mnt.before.$state_name"
}

end_all() {
	local each sum=0

	for each in "${!load[@]}"; do
		end "$each"
		sum=$((sum + $(head -n 1 "$tmp/$each")))
	done
	expect "$sum" bash -c "pvfs-cat /pvfs/counter | od -An -tu8 | tr -d ' '"
	say "$state_name first: $sum counted under a lock;" \
		"$(grep -h done "$tmp"/*.out | wc -l) times 10 calls"
	rm -f "$tmp"/*.out
	[ -n "$mounted" ] || return
	unmount "$tmp/mnt.before.$state_name" "$mount_before"
	unmount "$tmp/mnt.now.$state_name" "$mount_now"
}

no_step_back() {
	must run stop 0
	refuses "$before" 0 "'version 2' instead of 'version 1'"
	sed -i 's/^version 2$/version 3/' "$state/iod0/pvfs-stamp"
	refuses "$now" 0 "is of version 3, this program knows up to 2"
	sed -i 's/^version 3$/version 2/' "$state/iod0/pvfs-stamp"
	must run start 0
	must run stop mgr
	refuses "$before" mgr "'version 2' instead of 'version 1'"
	sed -i 's/^version 2$/version 1/' "$state/mgr/pvfs-stamp"
	refuses "$before" mgr "has format 2, this program knows 1"
	must run start mgr
	stamped mgr 2
	all_go_on
}

# upgrade SERVER...: upgrades these in this order, and then the clients
upgrade() {
	local s

	state=$tmp/$state_name
	PVFS_BUILD=$before start_pvfs -n 2
	rm -f "$tmp"/{before,now,mount_before,mount_now}
	begin_all
	all_go_on
	watched
	[ "$(grep -c 'is of an earlier release, which does not count' "$tmp/stats")" = 3 ] ||
		fail "pvfs-stats: $(<"$tmp/stats")"
	for s; do
		stamped "$(name_of "$s")" 1
		tells "$(name_of "$s")" "$version_before"
		replace "$s"
		stamped "$(name_of "$s")" 2
		tells "$(name_of "$s")" "$version"
		watched
	done
	replace_clients
	all_go_on
}

state_name=iods
upgrade 0 1 mgr
no_step_back
end_all
cluster stop >/dev/null
state_name=mgr
upgrade mgr 0 1
end_all
