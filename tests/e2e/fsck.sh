#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-fsck finds the planted damage and nothing else, removes only orphans and strays, and does not
# report files that are created and removed meanwhile.
. "$(dirname "$0")/functions.sh"

fsck=$PVFS_BUILD/mgr/fsck/pvfs-fsck
damage=$PVFS_BUILD/tests/e2e/mgr/mgr_damage

# fsck_is STATUS TEXT [OPTION...]: checks the exit status and the sorted output
fsck_is() {
	local want=$1 text=$2 code
	shift 2

	timeout 300 "$fsck" --config "$state/pvfs.conf" "$@" \
		>"$tmp/fsck" 2>"$tmp/fsck.err"
	code=$?
	[ $code = "$want" ] ||
		fail "exit $code, not $want: $(cat "$tmp/fsck" "$tmp/fsck.err")"
	[ "$(grep -v ' problems$' "$tmp/fsck" | LC_ALL=C sort)" = "$text" ] ||
		fail "'$(cat "$tmp/fsck")' instead of '$text'"
}
handle_of() { printf %u "0x$(pvfs-stat "$1" | awk '$1 == "handle" { print $2 }')"; }
object_of() { find "$state/iod$1/objects" -name "$(printf %016x "$2")"; }
gone() { [ -z "$(object_of 0 "$1")$(object_of 1 "$1")" ]; }

start_pvfs -n 2
expect ok pvio mkdir /pvfs/d
expect ok pvio mkdir /pvfs/d/e
for f in a d/b d/e/c linked lost named; do
	expect ok pvio write /pvfs/$f 0 300000 1
done
expect ok pvio write /pvfs/empty 0 0 1
expect ok pvio link /pvfs/linked /pvfs/d/linked
fsck_is 0 ''
grep -q '^7 files, 3 directories, 12 objects on 2 iods: 0 problems$' \
	"$tmp/fsck" || fail "$(cat "$tmp/fsck")"

# the same with addresses that do not name a transport
sed "s|= ${PVFS_TEST_SCHEME:-tcp}://|= pvfs://|" "$state/pvfs.conf" >"$tmp/any.conf"
must "$fsck" --config "$tmp/any.conf" >"$tmp/fsck"
grep -q '^7 files, .*: 0 problems$' "$tmp/fsck" || fail "$(cat "$tmp/fsck")"

# an object reappears after its file was removed; another one is on an iod that is not one of its
# file's
h=$(handle_of /pvfs/a)
object=$(object_of 1 "$h")
cp "$object" "$tmp/kept"
expect ok pvio unlink /pvfs/a
until_true 30 gone "$h"
# the iod looks for the object again before it reports it as missing
stays() { [ -e "$object" ] || cp "$tmp/kept" "$object"; sleep 1; [ -e "$object" ]; }
until_true 30 stays
head -c 1000 /dev/zero >"$tmp/small"
must pvfs-cp -b 0 -n 1 "$tmp/small" /pvfs/narrow
s=$(handle_of /pvfs/narrow)
narrow=$(object_of 0 "$s")
stray=$state/iod1/${narrow#"$state/iod0/"}
mkdir -p "$(dirname "$stray")"
cp "$narrow" "$stray"
orphan="orphan: object $h at iod 1: its file does not exist"
strayed="stray: object $s at iod 1: its file is not on this iod"
fsck_is 4 "$orphan
$strayed"
fsck_is 4 "$orphan
$strayed"
"$fsck" -c "$state/pvfs.conf" --json >"$tmp/json"
python3 - "$tmp/json" "$h" "$s" <<'END' || fail "$(cat "$tmp/json")"
import json, sys
o = json.load(open(sys.argv[1]))
assert [(p["kind"], p["handle"], p["iod"], p["repaired"])
        for p in o["problems"]] == [
    ("orphan", sys.argv[2], 1, False),
    ("stray", sys.argv[3], 1, False)], o
assert o["files"] == 7 and o["directories"] == 3, o
END
fsck_is 1 "$orphan; removed
$strayed; removed" --repair
[ ! -e "$object" ] && [ ! -e "$stray" ] || fail "they are still there"
[ -e "$narrow" ] || fail "the file lost its own object"
fsck_is 0 '' --repair

# an object with a handle that was never assigned stays: a new file may get this handle
future=$state/iod0/$(python3 -c '
h = 1 << 62
leaf = (h * 0x9e3779b97f4a7c15 % (1 << 64)) >> 52
print("objects/%02x/%02x/%016x" % (leaf // 64, leaf % 64, h))')
mkdir -p "$(dirname "$future")"
cp "$tmp/kept" "$future"
fsck_is 4 "orphan: object $((1 << 62)) at iod 0: its file does not exist" -r
grep -q 'restored from an older copy' "$tmp/fsck.err" ||
	fail "$(cat "$tmp/fsck.err")"
grep -q "remove the file ${future##*/}\$" "$tmp/fsck.err" || fail "$(cat "$tmp/fsck.err")"
rm "$future"

# while other clients create and remove files
(i=0; while [ ! -e "$tmp/enough" ]; do
	pvio create /pvfs busy.$((i++)). 20 2
	pvio rename /pvfs/d/e /pvfs/d/f && pvio rename /pvfs/d/f /pvfs/d/e
	pvio names /pvfs | grep '^busy\.' | while read -r n; do
		pvio unlink "/pvfs/$n"
	done
done) >/dev/null 2>&1 &
busy=$!
helpers+=("$busy")
for i in 1 2 3; do fsck_is 0 '' --repair; done
touch "$tmp/enough"
wait "$busy"
helpers=()
fsck_is 0 ''

# an iod does not reply
must cluster kill-iod 1
fsck_is 8 '' --timeout 1
grep -q 'iod 1' "$tmp/fsck.err" || fail "$(cat "$tmp/fsck.err")"
must cluster start-iod 1

# a damaged name space
lost=$(handle_of /pvfs/lost) named=$(handle_of /pvfs/named)
linked=$(handle_of /pvfs/linked) root=$(handle_of /pvfs)
must cluster stop-mgr
must "$damage" "$state/mgr" forget "$lost"
must "$damage" "$state/mgr" unname "$root" named
must "$damage" "$state/mgr" links "$linked" 5
must cluster start-mgr
fsck_is 4 "dangling: 'lost' in directory $root: its file $lost does not exist
links: file $linked has 2 links and says 5
nameless: no directory names file $named
orphan: object $lost at iod 0: its file does not exist
orphan: object $lost at iod 1: its file does not exist"

for form in '' --json; do
	"$fsck" --config "$state/pvfs.conf" $form >/dev/full 2>"$tmp/fsck.err"
	[ $? = 8 ] || fail "no error: $form"
	grep -q 'standard output' "$tmp/fsck.err" || fail "$(cat "$tmp/fsck.err")"
done

"$fsck" --help >"$tmp/help" || fail "--help: exit $?"
grep -q -- --repair "$tmp/help" || fail "$(cat "$tmp/help")"
fsck_is 16 '' extra
