#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A file system for the duration of a job. It is started by each available launcher, and used by the
# tools, a mount and preload. Nothing of it remains when it has ended.
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
# only its user can read the key
expect 600 stat -L -c %a "$PVFS_JOB_DIR/$job/key"
expect 700 stat -c %a "$PVFS_JOB_DIR/$job"
sed "s/,auth=key.*key / /; s/port=/transport=tcp,port=/" "$PVFSTAB_FILE" >nokey
PVFSTAB_FILE=$tmp/nokey must_fail pvfs-ls /pvfs
# the size is limited
head -c 100000000 /dev/zero | tr '\0' x >large
must pvfs-cp -q large /pvfs/large
for k in 1 2; do pvfs-cp -q large /pvfs/large$k 2>>"$tmp/full"; done
grep -q 'No space left' "$tmp/full" || fail "nothing bounds it: $(cat "$tmp/full")"
# another job at the same time, and the same job twice
must_fail pvfs-job start -i "$job" --size 64M
grep -q 'file system already' "$tmp/output" || fail "$(cat "$tmp/output")"
must pvfs-job start -i "$job.other" --size 64M
must_fail env -u PVFS_JOB_ID pvfs-job status
for id in "$job" "$job.other"; do
	grep -qE "^pvfs-job: 2 jobs of yours .*: .*$id( |$)" "$tmp/output" || fail "$(cat "$tmp/output")"
done
must pvfs-job stop -i "$job.other"
must pvfs-job stop
gone
must_fail pvfs-job stop -i "$job"
must_fail pvfs-job status -i "$job"
for command in "env -i $job" "exec -i $job true"; do
	must_fail pvfs-job $command
	grep -q "job $job of yours is not on this host, or has ended" "$tmp/output" || fail "$command: $(cat "$tmp/output")"
done

# Silent users of its socket, while no descriptor is free; the next client is served. The limit is
# below the number of entries that the head could poll.
begin
cat >silent.py <<-'END'
	import os, resource, socket, sys
	folder, head = sys.argv[1], int(sys.argv[2])
	held = []
	os.chdir(folder)
	for k in range(16):
	    held.append(socket.socket(socket.AF_UNIX))
	    held[-1].connect("control")
	def taken():
	    return len(os.listdir(f"/proc/{head}/fd"))
	before = int(sys.argv[3])
	while taken() < before + 16:
	    pass
	most = max(map(int, os.listdir(f"/proc/{head}/fd"))) + 1
	hard = resource.prlimit(head, resource.RLIMIT_NOFILE)[1]
	free = [n for n in range(most) if not os.path.lexists(f"/proc/{head}/fd/{n}")]
	resource.prlimit(head, resource.RLIMIT_NOFILE, (free[0] if free else most, hard))
	print("full", flush=True)
	sys.stdin.read()
	resource.prlimit(head, resource.RLIMIT_NOFILE, (hard, hard))
END
head=$(of "pvfs-job start" | while read -r p; do
	readlink "/proc/$p/fd/"* 2>/dev/null | grep -q '^anon_inode:\[signalfd\]' && echo "$p"; done | head -n 1)
mkfifo held
python3 silent.py "$PVFS_JOB_DIR/$job/head" "$head" "$(find "/proc/$head/fd" -mindepth 1 | wc -l)" <held >full &
silent=$!
helpers+=("$silent")
exec 5>held
until_true 60 grep -q full full
for _ in 1 2 3; do
	pvfs-job status -i "$job" 5>&- >"$tmp/output" 2>&1 || fail "no descriptor: $(<"$tmp/output")"
done
exec 5>&-
wait "$silent"
must pvfs-job stop -i "$job"
gone

# a supervisor rejects a rank or a port that is not a number in its range
for fault in RANK=4294967296 RANK=-1 RANK=1x RANK= HEAD=127.0.0.1:65536 HEAD=127.0.0.1:1x; do
	must_fail env PVFS_JOB_KEY="$(printf %064d 0)" PVFS_JOB_RANK=0 PVFS_JOB_HEAD=127.0.0.1:1 \
		"PVFS_JOB_$fault" pvfs-job node
	grep -q 'Invalid argument' "$tmp/output" || fail "$fault: $(cat "$tmp/output")"
done
rmdir "$PVFS_JOB_DIR"

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

# ---- stage-in, stage-out ----

begin -n 3
mkdir tree
cp -r "$top/scripts" "$top/docs" tree/
head -c 5000000 /dev/urandom >tree/big
touch -d '2020-01-02 03:04:05.678' tree/docs/users.md && chmod 600 tree/docs/users.md
ln -s big tree/link && mkdir -m 750 tree/empty && : >'tree/a name with % and spaces'
# exits CODE COMMAND...: 124 is the status of timeout, for a hang
exits() {
	local want=$1 have=0

	shift
	"$@" >"$tmp/output" 2>&1 || have=$?
	[ $have = "$want" ] || fail "exit $have: $*: $(cat "$tmp/output")"
}
stage() { pvfs-job "stage-$1" -i "$job" --manifest "$tmp/manifest.$1" "${@:2}"; }
files=$(find tree -type f | wc -l)
expect "$files files, 0 of them were there" stage in tree /pvfs/tree
expect "$files" grep -c '^ok ' manifest.in
expect "$files files, $files of them were there" stage in tree /pvfs/tree
# only changes are copied: changes there, removals, and changes here
printf x | pvfs-job exec -i "$job" pvio write /pvfs/tree/big 100 5000 7 >/dev/null
must pvfs-rm /pvfs/tree/docs/users.md
echo more >>tree/docs/mpi.md
expect "$files files, $((files - 3)) of them were there" stage in tree /pvfs/tree
expect "$files files, 0 of them were there" stage out /pvfs/tree out
same_tree tree out
# without a manifest, both ends are compared
rm manifest.out && echo other >out/docs/mpi.md
expect "$files files, $((files - 1)) of them were there" stage out /pvfs/tree out
same_tree tree out
# a file that cannot be copied is named, and the rest is copied; the next run resumes
mkdir out/big2 && pvfs-cp -q big2 /pvfs/tree/ 2>/dev/null
must pvfs-cp -q tree/big /pvfs/tree/big2
must_fail stage out /pvfs/tree out
grep -q '^missing big2 ' manifest.out || fail "$(cat manifest.out "$tmp/output")"
rmdir out/big2
expect "$((files + 1)) files, $files of them were there" stage out /pvfs/tree out
grep -q '^missing' manifest.out && fail "still missing: $(cat manifest.out)"
# copiers that are stopped, and that die
stage in tree /pvfs/again >/dev/null & staging=$!
for p in $(of 'pvfs-job copier 127.0.0.1:'); do kill -KILL "$p"; done # perhaps none is there yet
wait $staging || fail "a staging does not survive its copiers"
expect "$files files, 0 of them were there" stage out /pvfs/again out2
same_tree tree out2
# holes are not read, names may contain any bytes, and special files are named
mkdir odd && truncate -s 1T odd/sparse && printf end | dd of=odd/sparse bs=1 seek=800G conv=notrunc 2>/dev/null
printf 1 >$'odd/new\nline' && printf 2 >odd/-dash && printf 3 >$'odd/\xff\x01%0a' && mkfifo odd/fifo
exits 1 timeout 100 pvfs-job stage-in -i "$job" --manifest "$tmp/manifest.odd" odd /pvfs/odd
expect 'missing fifo not a file, directory or symbolic link' grep '^missing' manifest.odd
rm odd/fifo
exits 0 timeout 100 pvfs-job stage-out -i "$job" --manifest "$tmp/manifest.odd2" /pvfs/odd odd2
expect "$(cd odd && find . -type f -printf '%P %s %T@\0' | sort -z | tr '\0' /)" \
	eval "cd odd2 && find . -type f -printf '%P %s %T@\0' | sort -z | tr '\0' /"
expect end dd if=odd2/sparse bs=1M skip=800K count=3 iflag=count_bytes status=none
[ "$(du -k odd2/sparse | cut -f 1)" -lt 1000 ] || fail "holes are filled"
# an existing name is replaced, not written to; links at both ends are followed
echo precious >victim && mkdir other odd3 && ln -s ../victim odd3/-dash && ln victim $'odd3/new\nline' && ln -s odd3 odd4
exits 0 pvfs-job stage-out -i "$job" --manifest "$tmp/manifest.odd3" /pvfs/odd odd4
expect precious cat victim
expect 21 cat odd3/-dash $'odd3/new\nline'
mkdir out3 && ln -s ../other out3/docs
must_fail stage out /pvfs/again out3
grep -q '^missing docs ' manifest.out || fail "$(cat manifest.out)"
[ -z "$(ls other)" ] || fail "a link in the target is followed"
# the same for a manifest; if it cannot be written, the command fails
ln -s victim man.new && exits 0 pvfs-job stage-in -i "$job" --manifest man odd4 /pvfs/odd4
expect precious cat victim
mkfifo pipe && exits 1 timeout 100 pvfs-job stage-in -i "$job" --manifest pipe odd4 /pvfs/odd4
if [ "$(id -u)" = 0 ]; then
	small_disk "$tmp/filled" 1
	head -c 2000000 /dev/zero >filled/fill 2>/dev/null
	exits 1 pvfs-job stage-in -i "$job" --manifest filled/man odd4 /pvfs/odd4
fi
# a file that changes meanwhile is not recorded as complete
mkdir busy && head -c 40000000 /dev/urandom >busy/file
(while :; do echo x >>busy/file; done) & writer=$!
must_fail stage in busy /pvfs/busy
kill $writer && wait $writer
grep -q '^missing file it changed' manifest.in || fail "$(cat manifest.in)"
# invalid ends
must_fail stage in tree "$tmp/elsewhere"
must_fail stage out tree "$tmp/elsewhere"
# a staging ends with its job, and its completed part is recorded
head -c 40000000 /dev/urandom >tree/large
stage in tree /pvfs/third >/dev/null 2>"$tmp/staged" & staging=$!
sleep 0.3
must pvfs-job stop -i "$job"
wait $staging && grep -q missing manifest.in && fail "what is missing is no failure"
gone
# its walk may wait for a server: it ends at its time limit, and with its job
begin
stand_still "$(of pvfs-mgr)"
exits 1 env PVFS_TIMEOUT=600 timeout 100 pvfs-job stage-in -i "$job" --manifest "$tmp/manifest.late" \
	--within 1 tree /pvfs/late
grep -q '^missing \. ' manifest.late || fail "$(cat manifest.late)"
PVFS_TIMEOUT=600 timeout 100 pvfs-job stage-in -i "$job" --manifest "$tmp/manifest.late" tree /pvfs/late 2>/dev/null & staging=$!
until_true 60 eval '[ -n "$(of "pvfs-job copier 127.0.0.1")" ]'
must pvfs-job stop -i "$job"
wait $staging
[ $? = 1 ] || fail "it waits for the manager, not for the job"
gone

# ---- mpiexec ----

if command -v mpiexec.hydra >/dev/null; then
	begin -n 3 --launcher mpiexec
	must pvfs-cp -q src/big /pvfs/big
	must pvfs-job stop -i "$job"
	gone
fi
# an mpiexec of another MPI gets no options of MPICH
mkdir "$tmp/other" && ln -s /bin/true "$tmp/other/mpiexec"
must_fail env PATH="$tmp/other" "$(command -v pvfs-job)" start -n 2 -i "$job" --launcher mpiexec
grep -q "not started: no mpiexec.hydra or mpiexec.mpich in PATH" "$tmp/output" || fail "$(<"$tmp/output")"
gone

# ---- impossible requests ----

must_fail pvfs-job start -i a/b
must_fail pvfs-job start -i "$job" --mount relative
must_fail pvfs-job start -i "$job" --launcher ssh
for bad in , a, a,,b ,a '' -x; do
	must_fail timeout 60 pvfs-job start -i "$job" --hosts "$bad"
	grep -q -e "--hosts $bad: want names" "$tmp/output" || fail "--hosts $bad: $(cat "$tmp/output")"
done
must_fail pvfs-job start -i "$job" --storage "$tmp/none"
grep -q -e "--storage $tmp/none: No such file" "$tmp/output" || fail "$(cat "$tmp/output")"
must_fail pvfs-job start -i "$job" --log "$tmp/none/logs"
grep -q -e "--log $tmp/none/logs: No such file" "$tmp/output" || fail "$(cat "$tmp/output")"
gone
# the folder for the requested logs is created
must pvfs-job start -i "$job" --size 64M --log "$tmp/later"
must pvfs-job stop -i "$job"
[ -s "$tmp/later/$job.node.0.pvfs-iod.log" ] || fail "no logs: $(ls "$tmp/later")"
gone
chmod 755 "$tmp" && mkdir -m 755 open && PVFS_JOB_DIR=$tmp/open must_fail pvfs-job start -i "$job"
PVFS_JOB_DIR=$tmp/open pvfs-job start -i "$job" 2>&1 | grep -q 'yours alone' || fail "an open folder is used"
gone
