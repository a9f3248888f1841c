#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A mount acts for the users of its host if its network is allowed to. If the manager squashes a
# user, the mount cannot act for that user.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

requires tcp
requires tool setpriv
alice() { setpriv --reuid=1001 --regid=1001 --clear-groups -- "$@"; }

start_pvfs -n 2 --transport pvfs
cp "$state/pvfs.conf" plain.conf
expect ok pvio mkdir /pvfs/pub
expect ok pvio chmod 777 /pvfs/pub # not sticky: fs.protected_regular
cp "$PVFSTAB_FILE" near
sed -i 's/port=/fabric=strict:tcp,timeout=20,port=/' "$PVFSTAB_FILE"
m=$tmp/mnt

# with LINE: restarts the manager with this line; shown LINE: mounts, too
with() {
	cp plain.conf "$state/pvfs.conf"
	sed -i "s|^\[mgr\]\$|&\n$1|" "$state/pvfs.conf"
	must cluster restart
}
shown() {
	with "$1"
	mount_at "$m"
}
hidden() { unmount "$m" "$daemon"; }

with 'speakers = 10.0.0.0/8'
mkdir "$m"
must_fail "$fuse" /pvfs "$m" -f
grep -q 'lets no mount of this host speak for users' "$tmp/output" ||
	fail "$(cat "$tmp/output")"

shown 'speakers = 127.0.0.0/8'
must alice touch "$m/pub/alice"
expect '1001 1001' stat -c '%u %g' "$m/pub/alice"
hidden

shown 'squash = root'
must sh -c "exec 7>$m/pub/mine; rm $m/pub/mine; echo x >&7; touch $m/pub/other"
expect '65534 65534' stat -c '%u %g' "$m/pub/other"
must_fail mkdir "$m/no"
must_fail chown 1001 "$m/pub/other"
must_fail sh -c "echo x >$m/pub/alice"
must alice sh -c "echo x >$m/pub/alice"
expect x cat "$m/pub/alice"
expect ok env PVFSTAB_FILE=near pvio write /pvfs/pub/group 0 10 1
expect ok env PVFSTAB_FILE=near pvio chmod 640 /pvfs/pub/group
expect '0 0' stat -c '%u %g' "$m/pub/group"
must_fail setpriv --reuid=1001 --regid=0 --clear-groups -- cat "$m/pub/group"
must_fail setpriv --reuid=1001 --regid=1001 --groups=0 -- cat "$m/pub/group"
hidden

shown 'read_only = 127.0.0.0/8'
expect x cat "$m/pub/alice"
must_fail alice sh -c "echo y >$m/pub/alice"
must_fail touch "$m/pub/new"
expect x cat "$m/pub/alice"
hidden
