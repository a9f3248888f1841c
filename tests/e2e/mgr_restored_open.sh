#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs run while the manager's database is replaced by a copy and restored. The files that they
# created after the copy are lost, so writes to these fail with ESTALE. So do writes to a file that
# they locked. The programs continue with older files. The copy contains the session of the first
# program, but not that of the second.
. "$(dirname "$0")/functions.sh"
. "$e2e/preloading.sh"

restore() { "$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" --restore >restored 2>&1; }

# begins NAME
begins() {
	mkfifo "$1.in"
	past python3 "$e2e/mgr_restored_open.py" "$tmp/point" "$1" <"$1.in" >"$1.out" 2>&1 &
	programs+=($!)
	helpers+=($!)
	exec {fd}>"$1.in"
	in+=("$fd")
	until_true 60 grep -q "opened\|Error" "$1.out"
	grep -q opened "$1.out" || fail "$1: $(<"$1.out")"
}
go_on() {
	local fd

	for fd in "${in[@]}"; do
		echo >&"$fd"
	done
}

cd "$tmp" || fail "no $tmp"
programs=()
in=()
start_pvfs -n 2 --set mgr.session_timeout=3600
mkdir point
sed "s, /pvfs , $tmp/point ," "$PVFSTAB_FILE" >pvfstab
export PVFSTAB_FILE=$tmp/pvfstab
for program in known unknown; do
	for file in kept locked; do
		expect ok pvio write "$tmp/point/$program.$file" 0 1000 1
	done
done
begins known
must cluster stop-mgr
cp -a "$state/mgr" backup
must cluster start-mgr
begins unknown
go_on
for program in known unknown; do
	until_true 60 grep -q made $program.out
done
must cluster kill-mgr
rm -rf "$state/mgr" && mv backup "$state/mgr"
restore || fail "$(<restored)"
must cluster start-mgr
go_on
for program in known unknown; do
	until_true 200 grep -q 'checked\|lost file\|Error' $program.out
	grep -q checked $program.out || fail "$program: $(<$program.out)"
done
go_on
for pid in "${programs[@]}"; do
	wait "$pid" || fail "$(cat ./*.out)"
done
grep -q 'the database is older than its open files' "$(log_of mgr)" ||
	fail "the manager did not log why the session ended"

# a lock in the copy that was released later does not stay
expect ok pvio write "$tmp/point/known.locked" 0 1000 1
