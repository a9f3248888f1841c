#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# quickstart ends with a mount. Without /dev/fuse it prints that, and continues. This also holds if
# it had mounted there before; later starts of the servers then do not know that mount. All folders
# have a blank in their names, and the shell accepts the printed commands.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
requires mounts
requires_mpich

# Simulates a host with Open MPI: mpiexec and mpicc do not support options of MPICH.
mkdir "$tmp/bin"
printf '#!/bin/sh\necho "mpiexec (OpenRTE) 4.1.4"\n[ "$1" = --version ]\n' >"$tmp/bin/mpiexec"
cp "$tmp/bin/mpiexec" "$tmp/bin/mpicc"
# ignores leaks of MPICH (hwloc's plugins)
printf '#!/bin/sh\nASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 exec "%s" "$@"\n' \
	"$mpiexec" >"$tmp/bin/mpiexec.mpich"
chmod 755 "$tmp/bin"/mpi*

# the build, in its own tree
tree="$tmp/a top" state="$tmp/a state"
mkdir -p "$tree/scripts" "$tmp/share" "$tmp/dev"/{shm,pts}
cp "$top"/scripts/{quickstart,cluster,functions.sh,packages} "$tree/scripts"
cp "$top/README.md" "$tree"
ln -s "$PVFS_BUILD" "$tree/build"
ln -s /bin/true "$tmp/bin/ninja"
cp -r "$e2e/past" "$tmp/share/tree"
for device in null zero full random urandom; do
	must cp -a "/dev/$device" "$tmp/dev"
done

must ln -s /proc/self/fd "$tmp/dev/fd"

export PVFS_STATE=$state PVFS_PORT=0 PVFS_SKIP_PACKAGES=1
states+=("$state")
# among COMMAND...: runs it with a small /usr/share, and with $dev instead of /dev
among() {
	unshare -m --propagation private bash -c '
		mount --bind "$1" /usr/share && [ -z "$2" ] || mount --bind "$2" /dev || exit
		shift 2
		exec timeout 300 "$@"' - "$tmp/share" "$dev" "$@" >"$tmp/said" 2>&1 ||
		fail "$*: $? $(cat "$tmp/said")"
}
quickstart() { among env PATH="$tmp/bin:$PATH" "$tree/scripts/quickstart"; }
# gone PID...: the processes have ended; the limit is only against a hang
gone() { ! kill -0 "$@" 2>/dev/null; }
says() { grep -q -- "$1" "$tmp/said" || fail "no word of '$1': $(cat "$tmp/said")"; }

dev=
PVFS_IODS=3 quickstart
says "mounted at $state/mnt"
says "pvfs-test with 4 processes"
# all tools are in the PATH that it prints
(
	unset PVFS_BUILD
	eval "$(grep '^ *export ' "$tmp/said")"
	pvfs-ls /pvfs/tree >/dev/null || exit
	unset PVFSTAB_FILE
	eval "$("$tree/scripts/cluster" env -d "$state")"
	pvfs-ls /pvfs/tree >/dev/null || exit
	for tool in cp doctor exporter job profile fuse preload conf; do
		PATH=${PATH%%:/usr*} command -v "pvfs-$tool" >/dev/null || exit
	done
) || fail "not all tools are in $(grep 'export PATH=' "$tmp/said")"
# a job's file system with this build only; LD_PRELOAD would split a path at a blank
(
	eval "$(grep '^ *export ' "$tmp/said")"
	export PVFS_JOB_DIR=$tmp/jobs
	pvfs-job start -n 2 --size 32M --exec pvfs-ls /pvfs || exit
	env -u PVFS_BUILD PATH="${PATH%%:/usr*}" pvfs-job start -n 2 --size 32M 2>"$tmp/said" &&
		exit
	! pvfs-preload true 2>>"$tmp/said"
) || fail "no job's file system, or one without servers: $(<"$tmp/said")"
says 'no pvfs-... next to pvfs-job'
says 'LD_PRELOAD takes no blanks'
expect "$state/mnt" cat "$state/mounts"
# once more; stop unmounts, or prints that the mount stays
mkdir "$tmp/never" && ln -s /bin/false "$tmp/never/umount"
among env PATH="$tmp/bin:$PATH" bash -c '
	"$1/quickstart" && mountpoint -q "$2/mnt" &&
		! PATH=$3:$PATH "$1/cluster" stop -d "$2" && "$1/cluster" stop -d "$2" &&
		! mountpoint -q "$2/mnt"' - "$tree/scripts" "$state" "$tmp/never"
says "a state/mnt stays mounted"

dev=$tmp/dev
quickstart
says 'not mounted: /dev/fuse may not be used here'
says 'PVFS runs'
# before a build: prints that it cannot be built
must_fail env PVFS_STATE="$tmp/other" PVFS_PORT="$(port_of mgr)" "$tree/scripts/quickstart"
mv "$tmp/output" "$tmp/said"
says 'a program uses port'
must_fail env PVFS_STATE="$tmp/other" PVFS_IODS=many sh "$tree/scripts/quickstart"
mv "$tmp/output" "$tmp/said"
says 'PVFS_IODS=many: write'
must_fail env PATH="$tmp/bin:$PATH" PVFS_IODS=2 "$tree/scripts/quickstart"
mv "$tmp/output" "$tmp/said"
says 'a file system of 3 iods: PVFS_STATE=DIR'
[ ! -e "$tmp/other" ] || fail "what cannot be leaves a folder"
among "$tree/scripts/cluster" stop -d "$state"
among "$tree/scripts/cluster" start -d "$state"

# without MPICH, but with Open MPI
among bash -c 'mount --bind /bin/false "$1" && shift && exec "$@"' - "$(readlink -f "$mpiexec")" \
	env PATH="$tmp/bin:$PATH" "$tree/scripts/quickstart"
says "pvfs-test alone: MPICH's mpiexec is not installed"

# it unmounts only its own mounts
echo /elsewhere >"$state/mounts"
quickstart
expect /elsewhere cat "$state/mounts"
cluster stop

# a full disk: prints how much is free, another place, and how to end what runs
small_disk "$tmp/small" 40
must_fail env PATH="$tmp/bin:$PATH" PVFS_STATE="$tmp/small/s" "$tree/scripts/quickstart"
mv "$tmp/output" "$tmp/said"
says 'the disk is full'
says 'PVFS_STATE=DIR'

# ^C ends it and the command that it waits for
cat >"$tmp/bin/long" <<-END
	#!/bin/bash
	echo \$\$ >"$tmp/builds"
	exec sleep 600
END
chmod +x "$tmp/bin/long" && ln -sf long "$tmp/bin/ninja"
PATH=$tmp/bin:$PATH env --default-signal=INT setsid "$tree/scripts/quickstart" >"$tmp/said" 2>&1 &
quickstart=$!
until_true 60 test -s "$tmp/builds"
kill -INT -- -$quickstart
until_true 60 gone $quickstart "$(<"$tmp/builds")"
wait $quickstart
[ $? = 130 ] || fail "interrupted, it ends otherwise"
says 'run it again to go on'
