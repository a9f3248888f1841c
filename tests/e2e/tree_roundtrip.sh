#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# At least 20,000 real files are copied in, all servers restart, and the tree is copied out
# unchanged: bytes, modes, owners, symlinks, times.
. "$(dirname "$0")/functions.sh"

wanted=20000

# Files of this machine, except for large ones, and the links between them. They are copied first,
# so that nothing changes meanwhile.
take() {
	find "$@" \( -type f -size -256k -o -type l \) -printf '%y %p\n' \
		2>/dev/null | LC_ALL=C sort -k 2 |
		awk -v most=$((wanted + 500)) '
			$1 == "f" && ++n > most { exit }
			{ print substr($0, 3) }'
}
mkdir "$tmp/tree"
take /usr/include /usr/lib /usr/share /etc /var/lib /boot >"$tmp/list"
tar -C / --ignore-failed-read -cf - -T <(sed 's|^/||' "$tmp/list") \
	2>/dev/null | tar -C "$tmp/tree" -xpf - || fail "cannot take real files"
# a machine with few files: the same files again in another folder
while have=$(find "$tmp/tree" -type f | wc -l); [ "$have" -lt "$wanted" ]; do
	[ "$have" -gt 500 ] || skip "this machine has only $have real files"
	cp -a "$tmp/tree/usr" "$tmp/again" && mv "$tmp/again" "$tmp/tree/$have"
done
# kinds of files that real trees contain, and this one may not
ln -s nowhere/at/all "$tmp/tree/dangling"
mkdir -m 1777 "$tmp/tree/empty dir"
: >"$tmp/tree/name with spaces and ünïcödé"
printf x >"$tmp/tree/-dash"
chmod 400 "$tmp/tree/-dash"
say "$(find "$tmp/tree" -type f | wc -l) files," \
	"$(find "$tmp/tree" -type l | wc -l) symlinks," \
	"$(du -sm "$tmp/tree" | cut -f1) MiB"

start_pvfs -n 4
must pvfs-cp -a "$tmp/tree" /pvfs/tree
say "in after $((SECONDS - started_at)) s"
restart_pvfs
must pvfs-cp -a /pvfs/tree "$tmp/back"
say "out after $((SECONDS - started_at)) s"
same_tree "$tmp/tree" "$tmp/back"
rm -rf "$tmp/back"
must pvfs-rm -r /pvfs/tree
expect ENOENT pvio stat /pvfs/tree
none_left() { [ "$(objects)" = 0 ]; }
until_true 60 none_left
