# SPDX-License-Identifier: BSD-2-Clause
# preloading.sh - programs that bypass a mount; sourced after mounting.sh.

preload=$PVFS_BUILD/client/preload/libpvfs-preload.so
[ -e "$preload" ] || skip "libpvfs-preload.so is not built"
# The library of a sanitizer must be the first one.
before=
for lib in libasan libubsan; do
	if ldd "$preload" | grep -q "$lib"; then
		before+="$(ldd "$preload" | awk -v l="$lib" '$1 ~ l { print $3 }') "
	fi
done

# past COMMAND...: runs it with the library, which connects at the first call
past() {
	LD_PRELOAD=$before$preload PVFS_PRELOAD_AFTER=0 "$@"
}
# From now on, every program is started so.
past_all() {
	export LD_PRELOAD=$before$preload PVFS_PRELOAD_AFTER=0
}
past_none() { unset LD_PRELOAD PVFS_PRELOAD_AFTER; }
