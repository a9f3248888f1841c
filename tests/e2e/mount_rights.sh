#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Through a mount and in bypass of it, set-id bits and capabilities of files are removed in the same
# cases as on a local file system, and the sticky bit stays.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

through() { "$@"; }
start_pvfs -n 2
mkdir "$tmp/local"
chmod 777 "$tmp/local"
python3 "$e2e/mount_rights.py" "$tmp/local" >"$tmp/want" ||
	skip "needs capabilities of files in $tmp"
for cache in none open; do
	mount_at "$tmp/a" -o suid,cache=$cache
	chmod 777 "$tmp/a"
	for way in through past; do
		must $way python3 "$e2e/mount_rights.py" "$tmp/a" >"$tmp/have"
		if ! diff "$tmp/want" "$tmp/have"; then
			fail "cache=$cache, $way: see above"
		fi
	done
	unmount "$tmp/a" $daemon
done

# nosuid ignores the capabilities of programs; a copy has them all the same.
caps=0sAQAAAgAgAAAAAAAAAAAAAAAAAAA=
has_caps() {
	expect "$caps" python3 -c 'if True:
		import base64, os, sys
		caps = os.getxattr(sys.argv[1], "security.capability")
		print("0s" + base64.b64encode(caps).decode())' "$1"
}
cp /bin/true "$tmp/program"
must python3 -c 'if True:
	import base64, os, sys
	os.setxattr(sys.argv[1], "security.capability", base64.b64decode(sys.argv[2][2:]))' \
	"$tmp/program" $caps
mount_at "$tmp/a"
must cp -a "$tmp/program" "$tmp/a"
has_caps "$tmp/a/program"
must cp -a "$tmp/a/program" "$tmp/back"
has_caps "$tmp/back"
unmount "$tmp/a" $daemon
