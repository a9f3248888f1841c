#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# For each file of a stopped iod or manager that records decisions: the file is cut, or one bit is
# flipped. Then either the server does not start and names the file, or no decision is lost. Files
# that are not tested here:
# db/* of the manager     pages and log have checksums: test_mgr_damage, mgr_log_cut
# counters/*              a cut page is rejected: test_counter; flipped values are data
# objects/*               data has no checksums (docs/durability.md)
# lent/*                  only valid until the host reboots; the memory has the same
. "$(dirname "$0")/functions.sh"
requires tcp

says() { grep -qF -- "$1" "$2" || fail "no '$1' in: $(<"$2")"; }

cut_by() { truncate -s "-$2" "$1"; }
flip_at() {
	local byte

	byte=$((16#$(od -An -tx1 -j "$2" -N 1 "$1" | tr -d ' ') ^ 1))
	# shellcheck disable=SC2059
	printf "\\x$(printf %02x $byte)" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
empty() { : >"$1"; }
# place_of TEXT FILE: prints the offset of the first TEXT
place_of() { grep -ob -- "$1" "$2" | head -n 1 | cut -d : -f 1; }

start_pvfs -n 1
expect ok pvio write /pvfs/f 0 300000 1
must cluster stop
cp -a "$state" saved
iod=$state/iod0 mgr=$state/mgr

# fresh: restores all files
fresh() {
	rm -rf "$iod" "$mgr" "$state/key"
	cp -a saved/iod0 saved/mgr saved/key "$state"
}

run() {
	case $1 in
	iod)	set -- "$PVFS_BUILD/server/pvfs-iod" --index 0 ;;
	mgr)	set -- "$PVFS_BUILD/mgr/pvfs-mgr" ;;
	esac
	timeout 20 "$@" --config "$state/pvfs.conf" 2>one.log
}

# refused SERVER TEXT DAMAGE FILE [ARGUMENT]: the server does not start, and prints TEXT
refused() {
	local server=$1 text=$2 status=0

	shift 2
	fresh
	"$@"
	run "$server" || status=$?
	[ $status = 1 ] || fail "$*: $server ends with $status: $(<one.log)"
	says "$text" one.log
}

# harmless TEXT DAMAGE FILE [ARGUMENT]: the iod prints TEXT, and nothing is lost
harmless() {
	local text=$1

	shift
	fresh
	"$@"
	must cluster start
	says "$text" "$(log_of iod0)"
	expect ok pvio check /pvfs/f 0 300000 1
	must cluster stop
}

stamp=pvfs-stamp
for server in iod mgr; do
	at=$state/$server; [ $server = mgr ] || at=$iod
	refused $server $stamp empty "$at/$stamp"
	refused $server $stamp cut_by "$at/$stamp" 1
	refused $server $stamp flip_at "$at/$stamp" 3
	refused $server $stamp flip_at "$at/$stamp" "$(($(place_of filesystem "$at/$stamp") + 15))"
	refused $server "key $state/key" empty "$state/key"
done
# the line with the identity of the store; without it, the iod would take the store for a new one
refused iod $stamp cut_by "$iod/$stamp" "$(sed -n '/^manager/p' "$iod/$stamp" | wc -c)"

fences=$(stat -c %s "$iod/fences")
refused iod 'the file fences' empty "$iod/fences"
refused iod 'the file fences' cut_by "$iod/fences" 1
refused iod 'the file fences' cut_by "$iod/fences" $((fences / 2))
refused iod 'the file fences' cut_by "$iod/fences" $((fences - 16384))
harmless 'heads of the file fences' flip_at "$iod/fences" 50
harmless 'heads of the file fences' flip_at "$iod/fences" $((16384 + 50))
both() { flip_at "$1" 50; flip_at "$1" $((16384 + 50)); }
refused iod 'the file fences' both "$iod/fences"

refused mgr log_end empty "$mgr/db/log_end"
refused mgr log_end cut_by "$mgr/db/log_end" 1
for at in 0 8 16; do refused mgr log_end flip_at "$mgr/db/log_end" $at; done
