#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# With the library, calls with bad addresses have the same results as without it, on local paths and
# on those of pvfstab, with a mount and without one.
. "$(dirname "$0")/functions.sh"
. "$e2e/preloading.sh"

start_pvfs -n 2
mkdir "$tmp/point" "$tmp/local"
sed "s, /pvfs , $tmp/point ," "$PVFSTAB_FILE" >"$tmp/pvfstab"
export PVFSTAB_FILE=$tmp/pvfstab

# filled DIR COMMAND...: creates the files for pvfault by COMMAND
filled() {
	local dir=$1
	shift

	"$@" python3 - "$dir" <<'END' || fail "cannot fill $dir"
import os, sys
os.chdir(sys.argv[1])
os.mkdir("d")
with open("f", "w") as f:
    f.write("some text\n" * 1000)
os.symlink("f", "l")
os.setxattr("f", "user.a", b"x")
END
}
# faults DIR COMMAND...: prints the results of calls below DIR, run by COMMAND, in a fresh state
faults() {
	local dir=$1
	shift

	"$@" rm -rf "$dir"/* && filled "$dir" "$@"
	"$@" pvfault "$dir" >out 2>err || fail "$*: exit $?: $(tail -n 5 err)"
}
# same WHAT FILE: no call is killed, and all except those in FILE have the same results as without
# the library
same() {
	diff <(grep -vFf "$2" want) <(grep -vFf "$2" out) >diff || {
		head -n 40 diff
		fail "not as without the library: $1"
	}
	! grep -vFf died out | grep ': signal ' || fail "a call ends the program: $1"
}
alone() {
	LD_PRELOAD=$before "$@"
}

faults "$tmp/local" alone
cp out want
# calls that are killed inside libc, and calls that find memory at their address
(echo nothing; sed -n 's/: signal .*/:/p' want) >died
(cat died; sed -n 's/: no error$/:/p' want) >there
[ "$(grep -c EFAULT want)" -gt 300 ] || fail "hardly anything is refused: $(head want)"
faults "$tmp/local" past
same "a local folder" died
faults "$tmp/point" past
same "a path of pvfstab" there
: >empty
export PVFSTAB_FILE=$tmp/empty PVFS_LOG=none
faults "$tmp/local" past
same "no path of pvfstab" died
