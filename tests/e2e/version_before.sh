# SPDX-License-Identifier: BSD-2-Clause
# version_before.sh - the previous release, built from its source; sourced after functions.sh.
# $before is its build folder, below this one and made once. Without the history, as in a shallow
# clone, the test is skipped with a message.
#
# The previous release has protocol version 2 with stores of version 1: the last commit before LEASE
# had a clock, and before there were DECLARE, METRICS and features of attributes.

before_commit=569cfcd30952a1899ade5ad985a77240d74c7566
before=$PVFS_BUILD/before-${before_commit:0:12}

has_before() { git -C "$top" cat-file -e "$before_commit^{commit}"; }

build_before() {
	rm -rf "$before" &&
		mkdir "$before" "$before/source" &&
		git -C "$top" archive "$before_commit" |
		tar -x -C "$before/source" &&
		CC="$(command -v ccache >/dev/null && echo ccache) gcc" \
			meson setup --buildtype=plain -Dmpi=disabled \
			-Dtests=false -Dwerror=false "$before" "$before/source" &&
		ninja -C "$before" mgr/pvfs-mgr server/pvfs-iod \
			client/lib/libpvfs.so.1.0.0 client/tools/pvfs-ping \
			${1:+"$1"} &&
		rm -rf "$before/source" && touch "$before/complete"
}

requires tool git
requires tool meson
requires tool ninja
has_before 2>"$tmp/err" ||
	skip "needs the commit ${before_commit:0:12} in a clone with its history" \
		"(git fetch --unshallow): $(tail -n 1 "$tmp/err")"
exec 7>"$PVFS_BUILD/before.lock"
flock 7
[ -e "$before/complete" ] ||
	build_before "$([ ! -x "$PVFS_BUILD/client/fuse/pvfs-fuse" ] ||
		echo client/fuse/pvfs-fuse)" >"$tmp/before.log" 2>&1 || {
	tail -n 30 "$tmp/before.log"
	fail "the version before cannot be built"
}
exec 7>&-
