# SPDX-License-Identifier: BSD-2-Clause
# preloading.sh - programs that move their data past a mount; sourced after mounting.sh.

preload=$PVFS_BUILD/client/preload/libpvfs-preload.so
[ -e "$preload" ] || skip "libpvfs-preload.so is not built"
# A library with sanitizers wants theirs ahead of all others.
before=
for lib in libasan libubsan; do
	if ldd "$preload" | grep -q "$lib"; then
		before+="$(ldd "$preload" | awk -v l="$lib" '$1 ~ l { print $3 }') "
	fi
done

# past COMMAND...: with the library, from the first call on.
past() {
	LD_PRELOAD=$before$preload PVFS_PRELOAD_AFTER=0 "$@"
}
# From now on everything that is started does so.
past_all() {
	export LD_PRELOAD=$before$preload PVFS_PRELOAD_AFTER=0
}
past_none() { unset LD_PRELOAD PVFS_PRELOAD_AFTER; }
