#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# conf/slurm/burst_buffer.lua with the functions of Slurm stubbed: the directives that it accepts,
# those that it rejects and why, and the variables that it gives to jobs. job_slurm runs it in a
# real Slurm.
. "$(dirname "$0")/functions.sh"
lua=$(command -v lua5.4 || command -v lua5.3 || command -v lua) || skip "needs lua"

cat >stub.lua <<-'END'
	slurm = { SUCCESS = 0, ERROR = -1, log_info = print }
	dofile(arg[1])
	local needed = { "job_process", "pools", "setup", "data_in", "real_size", "paths", "pre_run",
		"post_run", "data_out", "get_status", "job_teardown" }
	for _, name in ipairs(needed) do
		assert(type(_G["slurm_bb_" .. name]) == "function", name)
	end
	for name, f in pairs(_G) do
		if name:match("^slurm_bb_") and name ~= "slurm_bb_job_process" and name ~= "slurm_bb_paths" then
			assert(f("1", arg[2], "0", "0") == slurm.SUCCESS, name)
		end
	end
	local rc, why = slurm_bb_job_process(arg[2], "1000", "1000")
	if rc ~= slurm.SUCCESS then
		print(why)
		os.exit(1)
	end
	assert(slurm_bb_paths("7", arg[2], arg[3], "1000", "1000") == slurm.SUCCESS)
END
# bb LINE...: runs a script with these lines; prints its sorted environment, or the error
bb() {
	printf '%s\n' '#!/bin/bash' "$@" 'echo "#BB_LUA none"' >script
	rm -f paths
	"$lua" stub.lua "$top/conf/slurm/burst_buffer.lua" script paths && sort paths | tr '\n' ' '
}
refused() {
	bb "${@:2}" >said && fail "it takes $*"
	grep -q "^pvfs: .*$1" said || fail "instead of '$1': $(cat said)"
}

expect '' bb 'true'
expect 'JOB_INPUT=/home/joe/in JOB_OUTPUT=/home/joe/out-%1 ' bb '#BB_LUA pvfs input=/home/joe/in output=/home/joe/out-%1'
expect 'JOB_INPUT=/a JOB_OUTPUT=/b JOB_SIZE=64G JOB_STORAGE=/local RESERVE=200 ' \
	bb '#SBATCH --signal=B:USR1@300' '#BB_LUA  pvfs size=64G storage=/local reserve=200' '#BB_LUA pvfs input=/a output=/b'
refused 'only pvfs' '#BB_LUA pvsf input=/a output=/b'
refused 'go together' '#BB_LUA pvfs input=/a'
refused 'absolute path' '#BB_LUA pvfs input=a output=/b'
refused 'absolute path' '#BB_LUA pvfs input=/a output=/b;rm'
refused 'absolute path' '#BB_LUA pvfs input=/$(id) output=/b'
refused 'there are input=' '#BB_LUA pvfs LD_PRELOAD=/tmp/x'
refused 'there are input=' '#BB_LUA pvfs input'
refused 'twice' '#BB_LUA pvfs input=/a output=/b input=/c'
refused 'number of bytes' '#BB_LUA pvfs size=64X'
refused 'number of bytes' '#BB_LUA pvfs size=0'
refused 'seconds' '#BB_LUA pvfs reserve=0'
refused '300 seconds before' '#SBATCH --signal=B:USR1@300' '#BB_LUA pvfs reserve=300'
