# SPDX-License-Identifier: BSD-2-Clause
# managers.sh - the managers of the file system that functions.sh starts; sourced (bash).

export PVFS_BUILD=$build PVFS_DIRECT=off
conf=$tmp/state/pvfs.conf
client=() # enters the client's host
manage() { "${client[@]}" "$build/client/tools/pvfs-managers" -c "$conf" "$@" /pvfs; }
cluster() { "$top/scripts/cluster" "$1" -d "$tmp/state" "${@:2}"; }

# All have almost all entries: one that is filled counts as lost.
up() {
	manage status >"$tmp/status" 2>&1 &&
		[ "$(awk '$3 == "up" && $4 < 100' "$tmp/status" | wc -l)" = 3 ]
}
wait_up() {
	local k

	for ((k = 0; k < 600; k++)); do
		! up || return 0
		sleep 0.1
	done
	cat "$tmp/status" >&2
	exit 1
}

leader() { # its number
	local port

	port=$(awk '$1 == "leader" { sub(".*:", "", $2); print $2 }' "$tmp/status")
	awk -F ' *= *' -v port=":$port\$" '/^\[/ { section = $0 }
		section ~ /^\[mgr\./ && $1 == "address" && $2 ~ port {
			gsub(/[^0-9]/, "", section); print section }' "$conf"
}
