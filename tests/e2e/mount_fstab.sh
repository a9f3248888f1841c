#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A line of fstab: mount -a, mount DIR and umount DIR use it. systemd generates units from it, with
# the command that they run.
if [ -z "${PVFS_OWN_MOUNTS:-}" ] && unshare -m --propagation private true 2>/dev/null; then
	PVFS_OWN_MOUNTS=1 exec unshare -m --propagation private bash "$0" "$@"
fi
. "$(dirname "$0")/functions.sh"
leave_mounts
. "$e2e/mounting.sh"
requires mounts

# mount(8) looks for helpers only in /sbin, so one of this build is placed there for this test
mkdir sbin work
must ln -s "$fuse" sbin/mount.fuse.pvfs
mount -t overlay -o "lowerdir=/usr/sbin,upperdir=$tmp/sbin,workdir=$tmp/work" \
	overlay /usr/sbin 2>err || skip "no overlay on /usr/sbin: $(cat err)"

start_pvfs -n 1
reach=port=$(port_of mgr),transport=${PVFS_TEST_SCHEME:-tcp}${proof:+,$proof}
mkdir a b c d list
shown+=("$tmp"/{a,b,c,d,list,full})
cat >fstab <<-END
	127.0.0.1:/ $tmp/a fuse.pvfs $reach,_netdev,nofail 0 0
	127.0.0.1:/ $tmp/b fuse.pvfs $reach,noauto,_netdev,x-systemd.automount,x-systemd.idle-timeout=60,cache=open 0 0
	127.0.0.1:/ $tmp/c fuse.pvfs defaults,noauto,ro,$reach,_netdev 0 0
	127.0.0.2,127.0.0.1:/ $tmp/list fuse.pvfs noauto,$reach 0 0
	127.0.0.1:/ $tmp/d fuse.pvfs noauto,nodiratime,strictatime,lazytime,nosymfollow,allow_suid,allow_dev,group,$reach 0 0
END
# Prints the options of a mount.
options() { awk -v d="$1" '$2 == d { print $1, $3, $4 }' /proc/mounts; }

# ---- mount(8) ----

must mount -T fstab -f -a
mountpoint -q a && fail "mount -f mounts"
must mount -T fstab -a
mountpoint -q b && fail "noauto is mounted"
expect 127.0.0.1:/ findmnt -no SOURCE "$tmp/a"
expect fuse.pvfs findmnt -no FSTYPE "$tmp/a"
echo kept >a/f
must mount -T fstab -a # what is there is left alone
must mount -T fstab "$tmp/list" # libfuse cuts options at commas
expect 127.0.0.2,127.0.0.1:/ findmnt -no SOURCE "$tmp/list"
expect kept cat list/f
must umount "$tmp/list"
must_fail mount -T fstab "$tmp/a"
grep -q 'a: something is mounted there already; .*umount' output || fail "$(cat output)"
[ "$(options "$tmp/a" | wc -l)" = 1 ] || fail "mounted twice"
must mount -T fstab "$tmp/b"
must mount -T fstab "$tmp/c"
expect kept cat b/f
expect kept cat c/f
must_fail touch c/g
grep -q 'Read-only' output || fail "$(cat output)"
options "$tmp/a" | grep -q ' rw,nosuid,nodev,' || fail "$(options "$tmp/a")"
mount -T fstab "$tmp/d" >output 2>&1 || fail "$(cat output)"
grep allow_suid output && fail "told of what is permitted"
expect kept cat d/f
options "$tmp/d" | grep -Evq 'nosuid|nodev' || fail "$(options "$tmp/d")"
options "$tmp/d" | grep -q nosymfollow || fail "$(options "$tmp/d")"
must mount -o remount,ro "$tmp/a"
must_fail touch a/g
grep -q 'Read-only' output || fail "$(cat output)"
must mount -o remount,rw,noexec,sync "$tmp/a"
options "$tmp/a" | grep -q ' rw,.*noexec.*sync\| rw,sync.*noexec' || fail "$(options "$tmp/a")"
must mount -o remount,noatime,nodiratime,nosymfollow "$tmp/a"
options "$tmp/a" | grep -q 'noatime,nodiratime,nosymfollow' || fail "$(options "$tmp/a")"
# mount(8) passes no word for a flag that is cleared
must mount -o remount,exec,async,atime,diratime,symfollow "$tmp/a"
options "$tmp/a" | grep -E '[ ,]sync|noexec|noatime|nodiratime|nosymfollow' && fail "it stays: $(options "$tmp/a")"
options "$tmp/a" | grep -q ' rw,nosuid,nodev' || fail "$(options "$tmp/a")"
must touch a/g
mkdir full full/of
must_fail "$fuse" 127.0.0.1:/of "$tmp/full" -o "$reach,nonempty"
grep -q '1:/of: only a whole file system .* write 127.0.0.1:/$' output || fail "$(cat output)"
must_fail "$fuse" 127.0.0.1:/ "$tmp/full" -o "$reach"
grep -q 'full: it is not empty' output || fail "$(cat output)"
PVFS_LOG=none "$fuse" 127.0.0.1:/ "$tmp/full" -o "$reach,nonempty,suid,dev" >output 2>&1 ||
	fail "$(cat output)"
expect '' cat output
options "$tmp/full" | grep -q suid && fail "$(options "$tmp/full")"
until_true 30 umount full
shown_with() { # OPTIONS
	mount -t fuse.pvfs -o "$reach,nonempty,$1" 127.0.0.1:/ "$tmp/full" >output 2>&1 ||
		fail "$(cat output)"
}
# mount(8) does not pass suid and dev to its helpers: pvfs-fuse reports that
shown_with suid,dev
grep -q 'full: nosuid and nodev hold: .*allow_suid,allow_dev' output || fail "$(cat output)"
until_true 30 umount full
shown_with nosuid,nodev
expect '' cat output
until_true 30 umount full
shown_with mand,nomand,iversion,noiversion,_rnetdev,allow_suid,allow_dev
expect '' cat output
for word in bogus mand,bogus; do
	must_fail "$fuse" 127.0.0.1:/ "$tmp/full" -o remount,$word
	grep -q bogus output || fail "$(cat output)"
done
until_true 30 umount full
# the kernel and libfuse would use different values
must_fail "$fuse" 127.0.0.1:/ "$tmp/full" -o "$reach,nonempty,max_read=65536"
grep -q max_read output || fail "$(cat output)"
# a remount keeps the flags that it does not name
"$fuse" 127.0.0.1:/ "$tmp/full" -o "$reach,nonempty,suid,dev,noexec" >output 2>&1 ||
	fail "$(cat output)"
for word in ro rw; do
	must "$fuse" 127.0.0.1:/ "$tmp/full" -o remount,$word
	options "$tmp/full" | grep -q " $word,noexec," || fail "remount,$word: $(options "$tmp/full")"
done
must "$fuse" 127.0.0.1:/ "$tmp/full" -o remount,ro,nosuid,exec
options "$tmp/full" | grep -q " ro,nosuid,relatime," || fail "$(options "$tmp/full")"
until_true 30 umount full
for dir in a b c d; do until_true 30 umount "$dir"; done

# ---- systemd ----

generator=/lib/systemd/system-generators/systemd-fstab-generator
[ -x $generator ] || { say "no $generator: units not looked at"; exit 0; }
mkdir units early late
SYSTEMD_FSTAB=$tmp/fstab must $generator units early late
unit_of() { systemd-escape --path --suffix "$2" "$tmp/$1"; }
has() { # UNIT LINE
	grep -qx -- "$2" "units/$1" || fail "$1: no $2: $(cat "units/$1")"
}
a=$(unit_of a mount) b=$(unit_of b mount) auto=$(unit_of b automount)
# the unit waits for the network, and the boot continues if it fails
[ -L "units/remote-fs.target.wants/$a" ] || fail "not at boot: $(find units)"
has "$a" 'What=127.0.0.1:/'
has "$a" 'Type=fuse.pvfs'
has "$auto" "Where=$tmp/b"
has "$auto" 'TimeoutIdleSec=1min'
systemd-analyze verify --man=no units/*.mount units/*.automount 2>verified
grep -E "$a|$b|$auto" verified && fail "systemd refuses them"

# unit_field UNIT NAME
unit_field() { sed -n "s/^$2=//p" "units/$1"; }
# As systemd starts a mount unit: it is active when the command returns.
for unit in "$a" "$b"; do
	where=$(unit_field "$unit" Where)
	must mount "$(unit_field "$unit" What)" "$where" -t fuse.pvfs \
		-o "$(unit_field "$unit" Options)"
	expect kept cat "$where/f"
	until_true 30 umount "$where" -c
done
