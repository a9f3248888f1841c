#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each call has the same effect through a mount as on a local file system: results, errors, owners,
# modes, links, and changed times. CONFORM_CALLS selects other calls of conform_paths.py, separated
# by commas, or all; CONFORM_WHO adds other users.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

calls=("open wct" chmod "chown -1" truncate rmdir unlink symlink "link to" "rename from"
	"rename dir to")
[ -z "${CONFORM_CALLS:-}" ] || mapfile -t -d , calls < <(echo -n "$CONFORM_CALLS")
[ "${calls[0]}" != all ] || calls=()

# same DIR PART [CASE...]: the part prints the same on the mount as on the local file system
same() {
	local dir=$1 part=$2
	shift 2

	[ -f "$tmp/$part" ] || must python3 "$e2e/conform_$part.py" "$tmp/local" \
		"$@" >"$tmp/$part"
	must python3 "$e2e/conform_$part.py" "$dir" "$@" >"$tmp/have"
	if ! diff "$tmp/$part" "$tmp/have"; then
		fail "$dir: $part: see above; < is the local file system"
	fi
}

start_pvfs -n 2
mkdir -m 755 "$tmp/local"
mount_at "$tmp/m" -o suid,dev,no_default_permissions
for part in rights data names; do same "$tmp/m" $part; done
unmount "$tmp/m" $daemon
# if the kernel checks permissions, the order of checks is that of a local file system
mount_at "$tmp/m" -o suid,dev
for part in rights data names programs; do same "$tmp/m" $part; done
same "$tmp/m" paths ${calls[@]+"${calls[@]}"}
unmount "$tmp/m" $daemon
mount_at "$tmp/m" -o suid,dev,cache=open
for part in data programs; do same "$tmp/m" $part; done
same "$tmp/m" paths ${calls[@]+"${calls[@]}"}
unmount "$tmp/m" $daemon
