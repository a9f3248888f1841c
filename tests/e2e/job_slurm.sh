#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-job in jobs of a real Slurm, whose nodes are two slurmd of this host: the script of
# conf/slurm, a cancelled job, one that reaches its time limit, one killed immediately, and manual
# use.
. "$(dirname "$0")/functions.sh"
requires root
for program in slurmctld slurmd srun sbatch munged; do requires tool $program; done
. "$(dirname "$0")/jobbing.sh"

host=$(hostname -s)
free_ports() {
	python3 -c 'import socket
s = [socket.socket() for _ in range(4)]
for x in s: x.bind(("127.0.0.1", 0))
print(*(x.getsockname()[1] for x in s))'
}
mkdir slurm slurm/run && chmod 755 slurm
head -c 128 /dev/urandom >slurm/munge.key && chmod 600 slurm/munge.key
read -r p0 p1 p2 p3 < <(free_ports)
export SLURM_CONF=$tmp/slurm/slurm.conf
# Debian's Slurm has the plugin; without it, burst_buffer.lua is not tested
has_lua() { ls /usr/lib/*/slurm-wlm/burst_buffer_lua.so >/dev/null 2>&1; }
cp "$top/conf/slurm/burst_buffer.lua" slurm/
cat >"$SLURM_CONF" <<-END
	ClusterName=e2e
	SlurmctldHost=$host(127.0.0.1)
	SlurmUser=root
	AuthType=auth/munge
	AuthInfo=socket=$tmp/slurm/munge
	SlurmctldPort=$p0
	SlurmdPort=$p1
	StateSaveLocation=$tmp/slurm/state
	SlurmdSpoolDir=$tmp/slurm/spool-%n
	SlurmctldPidFile=$tmp/slurm/run/ctld
	SlurmdPidFile=$tmp/slurm/run/%n
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	JobAcctGatherType=jobacct_gather/none
	AccountingStorageType=accounting_storage/none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core
	MpiDefault=none
	KillWait=2
	$(has_lua && echo BurstBufferType=burst_buffer/lua)
	NodeName=n0 NodeHostname=$host NodeAddr=127.0.0.1 Port=$p2 CPUs=1 RealMemory=100 State=UNKNOWN
	NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$p3 CPUs=1 RealMemory=100 State=UNKNOWN
	PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
daemon() { "$@" >>"slurm/$1.log" 2>&1 & helpers+=($!); }
end_steps() {
	pkill -KILL -f "slurmstepd.*$tmp" 2>/dev/null
	kill -KILL "${helpers[@]}" 2>/dev/null # they write there until their end
	wait "${helpers[@]}" 2>/dev/null
	rm -rf slurm
}
daemon munged --foreground --force --socket="$tmp/slurm/munge" --key-file="$tmp/slurm/munge.key" \
	--pid-file="$tmp/slurm/run/munged" --seed-file="$tmp/slurm/run/seed" --log-file="$tmp/slurm/munged"
until_true 30 test -S slurm/munge
daemon slurmctld -D
for n in n0 n1; do daemon slurmd -D -N $n; done
idle() { [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; }
until_true 60 idle

mkdir input
cp -r "$top/docs" input/
head -c 3000000 /dev/urandom >input/big
cat >prog <<-'END'
	#!/bin/bash
	pvfs-cp -q "$1/big" "$2/big.$SLURM_PROCID"
	[ -z "${HOLD:-}" ] || { echo >"$HOLD.$SLURM_PROCID"; sleep 1000; }
END
chmod +x prog
export JOB_PROGRAM=$tmp/prog JOB_EXEC=
submit() { job=$(sbatch --parsable -o "$tmp/out" "$@" "$top/conf/slurm/pvfs-job.sbatch") || return; }
ended() { [ -z "$(squeue -h -j "$job" 2>/dev/null)" ] && idle; }
held() { [ -e hold.0 ] && [ -e hold.1 ]; }
home() {
	local n

	for n in 0 1; do
		cmp input/big output/big.$n || fail "it is not staged out: $(cat out)"
	done
	rm -rf output hold.*
}

# ---- from its beginning to its end ----
submit -t 10 --wait || fail "the job failed: $(cat out)"
home
gone

# ---- its time is over: Slurm says so, and the files that exist are copied home ----
HOLD=$tmp/hold submit -t 10 --signal=B:USR1@300
until_true 60 held
must scancel -b -s USR1 "$job" # what --signal does 300 seconds before the end
until_true 60 ended
home
gone

# ---- killed, with all of its processes ----
HOLD=$tmp/hold submit -t 10
until_true 60 held
must scancel -f -s KILL "$job"
scancel "$job" 2>/dev/null
until_true 60 ended
rm -f hold.*
gone

# ---- the script's lines for burst_buffer.lua are checked, and reported ----
if has_lua; then # not for root
	chmod 755 "$tmp"
	install -d -o nobody user
	as_user() {
		(cd user && PVFS_JOB_DIR=$tmp/user/jobs setpriv --reuid nobody --regid nogroup --clear-groups \
			sbatch --parsable -o "$tmp/user/out" -t 10 "$@")
	}
	sed "2i #BB_LUA pvfs input=$tmp/input output=$tmp/user/elsewhere reserve=200" \
		"$top/conf/slurm/pvfs-job.sbatch" >bb.sbatch
	as_user --wait ../bb.sbatch >id 2>&1 || fail "the job failed: $(cat user/out id)"
	job=$(head -n 1 id)
	cmp input/big user/elsewhere/big.0 || fail "it went elsewhere: $(cat user/out)"
	gone
	sed -i 's/ reserve=/ reserved=/' bb.sbatch
	as_user ../bb.sbatch >said 2>&1 && fail "a wrong line is taken: $(cat said)"
	grep -q 'pvfs: reserved=200' said || fail "$(cat said)"
else
	say "without burst_buffer/lua: this Slurm has none"
fi

# ---- by hand, in an allocation; and one that ends without a stop ----
cat >hand <<-'END'
	echo "$SLURM_JOB_ID" >id
	pvfs-job start --size 64M
	eval "$(pvfs-job env)"
	pvfs-job status | grep -c ' up '
	pvfs-job stage-in -q input /pvfs/input
	srun pvfs-job exec pvfs-ls /pvfs/input
	[ -n "${STAYS:-}" ] || pvfs-job stop
END
for STAYS in '' yes; do
	export STAYS
	salloc -Q --nodes=2 bash -e hand >said 2>&1 || fail "salloc: $(cat said)"
	job=$(cat id)
	expect '2 big big docs docs' eval "grep -E '^(2|big|docs)\$' said | sort | paste -sd ' '"
	until_true 60 ended
	gone
done
unset STAYS

# ---- nothing to begin with ----
JOB_INPUT=$tmp/none submit -t 10 --wait && fail "it begins without its input"
grep -q 'cannot be read' out || fail "$(cat out)"
gone
