# SPDX-License-Identifier: BSD-2-Clause
# jobbing.sh - file systems for the duration of a job; sourced after functions.sh.

export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
export PVFS_JOB_DIR=$tmp/jobs
unset PVFS_JOB_ID SLURM_JOB_ID SLURM_PROCID PMI_RANK PVFS_LOG
log=$tmp/job/log # where the fixture looks for reports of sanitizers
mkdir -p "$log"
job=e2e.$$
at_end end_job

# begin OPTION...: starts a job with this id
begin() {
	pvfs-job start -i "$job" --log "$log" --size 64M "$@" >"$tmp/start" 2>&1 ||
		fail "start $*: $(cat "$tmp/start")"
	use_job
}
# Sets the environment of clients except for the id, which identifies the job's own processes.
use_job() {
	PVFSTAB_FILE=$(pvfs-job env -i "$job" | sed -n "s/^export PVFSTAB_FILE='\(.*\)'/\1/p")
	export PVFSTAB_FILE
}
end_job() { [ -d "$PVFS_JOB_DIR/$job" ] && pvfs-job stop -i "$job" >/dev/null 2>&1; }

# The head and its sweeper have the id in their command line, all others in their environment.
pids() {
	{ grep -lz "^PVFS_JOB_ID=$job\$" /proc/[0-9]*/environ 2>/dev/null |
		cut -d / -f 3; pgrep -f "pvfs-job start -i $job "; } | sort -un
}
# of WHAT: prints those processes whose command line contains WHAT
of() {
	local p

	for p in $(pids); do
		{ tr '\0' ' ' <"/proc/$p/cmdline"; } 2>/dev/null | grep -q -- "$1" && echo "$p"
	done
}
nothing_left() {
	left=$(
		for p in $(pids); do
			echo "process $p: $({ tr '\0' ' ' <"/proc/$p/cmdline"; } 2>/dev/null)"
		done
		find "$tmp"/disk* /dev/shm -maxdepth 2 -name "pvfs-job-*.$job.node.*" 2>/dev/null
		find "$PVFS_JOB_DIR" -mindepth 1 2>/dev/null
		grep -F " $tmp/" /proc/mounts | grep 'fuse\.pvfs'
	)
	[ -z "$left" ]
}
gone() {
	for _ in {1..100}; do
		nothing_left && return
		sleep 0.1
	done
	fail "left behind: $left"
}
