#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-top names the most used files to administrators, or their handles if the manager knows no
# name.  It shows them to nobody else.
. "$(dirname "$0")/functions.sh"
requires tool python3

start_pvfs -n 2
export PVFS_DIRECT=off
must pvfs-mkdir /pvfs/d
evil=$'evil\033[2Jname'

# Works on three files and on many others until it is stopped.
working() {
	local i=0
	while [ ! -e "$tmp/enough" ]; do
		pvio write /pvfs/d/hottest 0 1000000 1 >/dev/null || return
		pvio write "/pvfs/$evil" 0 300000 1 >/dev/null || return
		pvio write "/pvfs/cold$((i++ % 90))" 0 100 1 >/dev/null || return
	done
}
working &
worker=$!
helpers+=("$worker")

shows() {
	"${@:2}" pvfs-top --batch -d 1 -n 2 >pages 2>"$tmp/err" || fail "$(<"$tmp/err")"
	grep -Eq "$1" pages
}
until_true 60 shows '^[0-9a-f]{16} .* d/hottest$' || fail "$(<pages)"
until_true 60 shows '^[0-9a-f]{16} .* evil\?\[2Jname$' || fail "$(<pages)"
! LC_ALL=C grep -q $'[\x01-\x09\x0b-\x1f\x7f]' pages || fail "$(od -c pages)"
# a page has at most ten files, the busiest first, if one second was enough to write to it
python3 - <<'END' || fail "$(<pages)"
page = open("pages").read().split("\n\n")
files = [p for p in page if p.startswith("file ")]
assert files
for p in files:
    rows = p.splitlines()[1:]
    assert 0 < len(rows) <= 10, rows
    assert rows[0].endswith("d/hottest") or "d/hottest" not in p, rows
END

# a plain user
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$tmp" "$state" && chmod 644 "$state/pvfstab"
	until_true 60 shows '^pvfs-top ' setpriv --reuid 12345 --regid 12345 --clear-groups
	! grep -Eq '^file |hottest|^[0-9a-f]{16} ' pages || fail "$(<pages)"
	grep -q '3 of 3 servers up' pages || fail "$(<pages)"
fi
touch "$tmp/enough"
wait "$worker" || fail "working: $?"
helpers=()
