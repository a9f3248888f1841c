#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The host of an iod is restarted, as after a loss of power. Data that was written and not flushed
# may be lost, and fsync reports it once, and for no other file.
. "$(dirname "$0")/functions.sh"
. "$e2e/new_host.sh"

begin() {
	coproc pvsync
	pvsync=$COPROC_PID in=${COPROC[1]} out=${COPROC[0]}
}
# ask WANTED LINE
ask() {
	local answer=
	echo "$2" >&"$in"
	read -r -t 60 answer <&"$out" || true
	[ "$answer" = "$1" ] || fail "$2: '$answer' instead of $1"
}
end_asking() {
	eval "exec $in>&-"
	wait "$pvsync" || fail "pvsync ended with $?"
}

kinds=(write list space copy)
# Writes in all ways, to files 1 to 4 on two iods; file 0 is the source of copies.
write_all() {
	local k

	ask ok "open 0 /pvfs/from rw"
	ask ok "write 0"
	ask ok "sync 0"
	for k in 0 1 2 3; do
		ask ok "open $((k + 1)) /pvfs/$1$k rw"
		ask ok "${kinds[k]} $((k + 1)) 0"
	done
}

start_pvfs -n 2
begin
# Only the process is restarted: the kernel still has all data.
write_all process
must cluster kill-iod 0
must cluster start-iod 0
for k in 1 2 3 4; do ask ok "sync $k"; done

write_all host
ask ok "open 5 /pvfs/flushed rw"
ask ok "write 5"
ask ok "sync 5"
ask ok "open 6 /pvfs/durable rws"
ask ok "write 6"
ask ok "open 7 /pvfs/closed rw"
ask ok "write 7"
ask ok "close 7"
must pvfs-cp -q -n 1 -b 1 "$0" /pvfs/other
ask ok "open 8 /pvfs/other rw"
ask ok "write 8"
new_host 0
for k in 1 2 3 4; do
	ask EIO "sync $k"
	ask ok "sync $k"
done
for k in 0 5 6 8; do ask ok "sync $k"; done
ask ok "open 7 /pvfs/closed r"
ask EIO "sync 7"
ask ok "sync 7"

# Any descriptor of the file reports it; a child reports it again, because it inherits the state.
ask ok "write 1"
ask ok "open 9 /pvfs/host0 r"
new_host 0
ask EIO "sync-in-child 9"
ask EIO "sync 9"
ask ok "sync 1"
# Data that is written again is stable.
ask ok "write 1"
ask ok "sync 1"
end_asking

must cluster stop
state=$tmp/sync
start_pvfs -n 2 --set iod.sync=on
begin
write_all sync
new_host 0
for k in 1 2 3 4; do ask ok "sync $k"; done
end_asking
