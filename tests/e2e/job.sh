#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A file system for the length of a job: begun by each launcher that is there, used by the
# tools, a mount and preload, and nothing of it is left when it has ended.
. "$(dirname "$0")/functions.sh"
. "$(dirname "$0")/jobbing.sh"

mkdir src
cp -r /etc/apt "$top/scripts" src/
head -c 3000000 /dev/urandom >src/big

can_mount() { [ "$(id -u)" = 0 ] && [ -c /dev/fuse ] && [ -x "$PVFS_BUILD/client/fuse/pvfs-fuse" ]; }

# ---- on one machine: processes ----

begin -n 4
expect 4 eval "pvfs-job status -i $job | grep -c ' up .* bounded -'"
must pvfs-ping
must pvfs-cp -a src /pvfs/
must pvfs-cp -a /pvfs/src back
same_tree src back
# for its user alone
expect 600 stat -L -c %a "$PVFS_JOB_DIR/$job/key"
expect 700 stat -c %a "$PVFS_JOB_DIR/$job"
sed "s/,auth=key.*key / /; s/port=/transport=tcp,port=/" "$PVFSTAB_FILE" >nokey
PVFSTAB_FILE=$tmp/nokey must_fail pvfs-ls /pvfs
# bounded
head -c 100000000 /dev/zero | tr '\0' x >large
must pvfs-cp -q large /pvfs/large
for k in 1 2; do pvfs-cp -q large /pvfs/large$k 2>>"$tmp/full"; done
grep -q 'No space left' "$tmp/full" || fail "nothing bounds it: $(cat "$tmp/full")"
# another one beside it, and the same one twice
must_fail pvfs-job start -i "$job" --size 64M
grep -q 'file system already' "$tmp/output" || fail "$(cat "$tmp/output")"
must pvfs-job start -i "$job.other" --size 64M
must pvfs-job stop -i "$job.other"
must pvfs-job stop
gone
must_fail pvfs-job stop -i "$job"
must_fail pvfs-job status -i "$job"

# ---- on a disk, for one command ----

mkdir disk
expect 'data' pvfs-job start -i "$job" --storage "$tmp/disk" --exec \
	sh -c "echo data >$tmp/data && pvfs-cp -q $tmp/data /pvfs/d && pvfs-cat /pvfs/d"
gone
pvfs-job start -i "$job" --size 64M --exec sh -c 'exit 7' || code=$?
[ "${code:-0}" = 7 ] || fail "the command's exit status is lost"
gone

# ---- mounts ----

if can_mount; then
	begin -n 2 --mount "$tmp/m"
	must cp src/big m/big
	expect ok sh -c "pvfs-cat /pvfs/big | cmp - $tmp/src/big && echo ok"
	must pvfs-job stop -i "$job"
	gone
	[ ! -e m ] || fail "the mount's folder is left"
	mkdir private
	must pvfs-job start -i "$job" --size 64M --mount "$tmp/private" --private --exec sh -c \
		"cp $tmp/src/big $tmp/private/ && cmp $tmp/src/big $tmp/private/big"
	[ -z "$(ls private)" ] || fail "the mount is not for the command alone"
	gone
else
	say "without mounts: needs root and /dev/fuse"
fi

# ---- preload ----

if [ -e "$PVFS_BUILD/client/preload/libpvfs-preload.so" ] && [ "$sanitized" = 0 ]; then
	begin
	must pvfs-job exec -i "$job" -p cp "$tmp/src/big" /pvfs/big
	must pvfs-job exec -i "$job" -p cmp "$tmp/src/big" /pvfs/big
	must pvfs-job stop -i "$job"
	gone
fi

# ---- mpiexec ----

if command -v mpiexec.hydra >/dev/null; then
	begin -n 3 --launcher mpiexec
	must pvfs-cp -q src/big /pvfs/big
	must pvfs-job stop -i "$job"
	gone
fi

# ---- what cannot be ----

must_fail pvfs-job start -i a/b
must_fail pvfs-job start -i "$job" --mount relative
must_fail pvfs-job start -i "$job" --launcher ssh
must_fail pvfs-job start -i "$job" --storage "$tmp/none"
gone
chmod 755 "$tmp" && mkdir -m 755 open && PVFS_JOB_DIR=$tmp/open must_fail pvfs-job start -i "$job"
PVFS_JOB_DIR=$tmp/open pvfs-job start -i "$job" 2>&1 | grep -q 'yours alone' || fail "an open folder is used"
gone
