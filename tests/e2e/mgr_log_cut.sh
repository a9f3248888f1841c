#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The manager is killed. Then one bit of its log is flipped, or the log is cut, so that acknowledged
# names are missing in it. The manager does not start, and --check names the damage. --restore
# continues without these names.
. "$(dirname "$0")/functions.sh"

run() { "$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" "$@"; }
says() { grep -qF -- "$1" "$2" || fail "no '$1' in: $(<"$2")"; }

start_pvfs -n 1
mkdir files
for i in {1..200}; do echo "$i" >"files/f$i"; done
must pvfs-cp -r files /pvfs/ >/dev/null
must cluster kill-mgr
cp -a "$state/mgr" killed
log=$state/mgr/db/log.0000000001
end=$(od -An -v -tx1 -w1 "$log" | grep -n -v ' 00' | tail -n 1)
end=${end%%:*}

# refused WHAT: neither a start nor a check succeeds, however often it is tried
refused() {
	local try

	for try in 1 2; do
		must_fail cluster start-mgr
		says 'the log is damaged or was cut' "$(log_of mgr)"
		says 'pvfs-mgr --restore' "$(log_of mgr)"
		must_fail run --check
		says 'the log is damaged or was cut' "$tmp/output"
	done
	say "$1: refused"
}

flip=$((end / 2))
byte=$((16#$(od -An -tx1 -j $flip -N 1 "$log" | tr -d ' ') ^ 1))
# shellcheck disable=SC2059
printf "\\x$(printf %x $byte)" | dd of="$log" bs=1 seek=$flip conv=notrunc status=none
refused 'a bit is flipped'
for cut in $((end - 5)) $((end / 2)) 0; do
	rm -r "$state/mgr" && cp -a killed "$state/mgr"
	truncate -s $cut "$log"
	refused "cut at $cut of $end"
done

# the unchanged folder is complete
rm -r "$state/mgr" && cp -a killed "$state/mgr"
must run --check
must cluster start-mgr
expect 200 sh -c 'pvfs-ls /pvfs/files | wc -l'
must cluster kill-mgr

# without a backup: the names before the damage, and objects without names
rm -r "$state/mgr" && cp -a killed "$state/mgr"
truncate -s $((end / 2)) "$log"
must run --restore
must cluster start-mgr
names=$(pvfs-ls /pvfs/files | wc -l)
[ "$names" -gt 0 ] && [ "$names" -lt 200 ] || fail "$names names are left"
"$PVFS_BUILD/mgr/fsck/pvfs-fsck" --config "$state/pvfs.conf" >found &&
	fail "no object without a name: $(<found)"
grep -q '^orphan' found || fail "$(<found)"
for i in $(pvfs-ls /pvfs/files); do
	expect "${i#f}" pvfs-cat "/pvfs/files/$i"
done
expect ok pvio write /pvfs/new 0 300000 3
expect ok pvio check /pvfs/new 0 300000 3
