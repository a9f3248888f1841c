# SPDX-License-Identifier: BSD-2-Clause
# mounting.sh - file systems mounted by pvfs-fuse; sourced after functions.sh.  If there is no
# /dev/fuse, or mounting is not permitted, the test is skipped with a message.

fuse=$PVFS_BUILD/client/fuse/pvfs-fuse
[ -x "$fuse" ] || skip "pvfs-fuse is not built: needs libfuse3-dev"
[ -c /dev/fuse ] || skip "needs /dev/fuse"
requires root
shown=() # where
at_end unmount_all

# A mount whose connection was aborted can only be detached.
unmount_all() {
	local m

	for m in ${shown[@]+"${shown[@]}"}; do
		grep -q " $m " /proc/mounts && ! umount "$m" && umount -l "$m"
	done
	for m in ${daemons[@]+"${daemons[@]}"}; do wait "$m" 2>/dev/null; done
}

# mount_at DIR [OPTION...]: mounts /pvfs at DIR; $daemon is the process
daemons=()
mount_at() {
	local dir=$1
	shift

	mkdir -p "$dir"
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}$leak_check \
		"$fuse" /pvfs "$dir" -f "$@" >>"$state/log/fuse${#shown[@]}.log" 2>&1 &
	daemon=$!
	daemons+=($daemon)
	shown+=("$dir")
	until_true 30 mountpoint -q "$dir"
}

# From Linux 6.6 on, the kernel maps files shared that it does not cache.
maps_shared() {
	[ "$(printf '6.6\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.6 ]
}

# Retries, because a pvfs-doctor of another test may use the mount.
unmount() {
	until_true 30 umount "$1"
	wait "$2" || fail "pvfs-fuse ended with $?"
}
