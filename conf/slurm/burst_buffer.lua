-- SPDX-License-Identifier: BSD-2-Clause
-- burst_buffer.lua - for Slurm's burst_buffer/lua, beside slurm.conf: looks when a job is
-- submitted at what its script says of a file system of the job's own,
--
--     #BB_LUA pvfs input=DIR output=DIR [size=64G] [storage=DIR] [reserve=270]
--
-- and tells the job in its environment: JOB_INPUT, JOB_OUTPUT, JOB_SIZE, JOB_STORAGE, RESERVE,
-- as pvfs-job.sbatch reads them.  It runs on the controller's host as SlurmUser, so
-- it starts nothing and opens no file of a user but the script: the job itself does the rest.

local directive = "^#BB_LUA%s+(.*)$"

local function path(value)
	if not value:match("^/[%w%._/+,:@%%~=-]*$") then
		return "is to be an absolute path of letters, digits and ._/+,:@%~=-"
	end
end

local function size(value)
	if not value:match("^[1-9]%d*[KMGT]?$") then
		return "is to be a number of bytes, perhaps with K, M, G or T"
	end
end

local function seconds(value)
	local n = value:match("^%d+$") and tonumber(value)
	if not n or n < 1 or n > 86400 then
		return "is to be a number of seconds, 1 to 86400"
	end
end

local keys = {
	input = { "JOB_INPUT", path },
	output = { "JOB_OUTPUT", path },
	size = { "JOB_SIZE", size },
	storage = { "JOB_STORAGE", path },
	reserve = { "RESERVE", seconds },
}

-- One word of a line; what is wrong with it, or nil.
local function take(found, word)
	local key, value = word:match("^(%l+)=(.+)$")
	local known = key and keys[key]

	if not known then
		return word .. ": there are input=, output=, size=, storage= and reserve="
	end
	if found[key] then
		return key .. "= is there twice"
	end
	found[key] = value
	local wrong = known[2](value)
	return wrong and key .. "=" .. value .. ": " .. wrong
end

local function take_line(found, text)
	local first = true

	for word in text:gmatch("%S+") do
		local wrong

		if not first then
			wrong = take(found, word)
		elseif word ~= "pvfs" then
			wrong = word .. ": only pvfs is known here"
		end
		if wrong then
			return wrong
		end
		first = false
	end
end

-- The way out has to fit between Slurm's signal and the job's end.
local function fits(found, signal)
	if found.reserve and signal and tonumber(found.reserve) >= tonumber(signal) then
		return "reserve=" .. found.reserve .. ": Slurm's signal comes " .. signal ..
			" seconds before the end (--signal)"
	end
end

-- What the script says, or nil and what is wrong with it.
local function read(script)
	local file, found, signal = io.open(script), {}, nil

	if not file then
		return nil, "the script cannot be read"
	end
	for line in file:lines() do
		local text = line:match(directive)
		local wrong = text and take_line(found, text)

		signal = line:match("^#SBATCH%s.*%-%-signal=%S*@(%d+)") or signal
		if wrong then
			file:close()
			return nil, wrong
		end
	end
	file:close()
	local wrong = fits(found, signal)
	if wrong then
		return nil, wrong
	end
	return found
end

function slurm_bb_job_process(script)
	local found, wrong = read(script)

	if not found then
		return slurm.ERROR, "pvfs: " .. wrong
	end
	if (found.input == nil) ~= (found.output == nil) then
		return slurm.ERROR, "pvfs: input= and output= go together"
	end
	return slurm.SUCCESS
end

function slurm_bb_paths(job, script, path_file)
	local found, wrong = read(script)
	local file = found and io.open(path_file, "w")

	if not file then
		return slurm.ERROR, "pvfs: " .. (wrong or "the job's environment cannot be written")
	end
	for key, value in pairs(found) do
		file:write(keys[key][1], "=", value, "\n")
	end
	file:close()
	return slurm.SUCCESS
end

function slurm_bb_get_status()
	return slurm.SUCCESS, "pvfs: a job's file system runs within the job: pvfs-job status, there\n"
end

local function nothing()
	return slurm.SUCCESS
end

slurm_bb_pools = nothing
slurm_bb_setup = nothing
slurm_bb_data_in = nothing
slurm_bb_test_data_in = nothing
slurm_bb_real_size = nothing
slurm_bb_pre_run = nothing
slurm_bb_post_run = nothing
slurm_bb_data_out = nothing
slurm_bb_test_data_out = nothing
slurm_bb_job_teardown = nothing
