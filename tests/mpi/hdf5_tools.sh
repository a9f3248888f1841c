#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# HDF5's command line tools read a file that an MPI-IO program wrote.  They must print the same
# for it on a FUSE mount, with the preloaded library, and for a copy on a local disk.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

# not built without libhdf5-mpich-dev
requires tool "$MPI_PROGRAMS/hdf5_slabs"
for tool in h5dump h5ls h5diff h5repack h5stat h5copy; do requires tool $tool; done
start_pvfs -n 4
says_ok 4 "$MPI_PROGRAMS/hdf5_slabs" pvfs:/pvfs/slabs.h5

# tools FOLDER: runs the tools in FOLDER on slabs.h5 and on files made from it, and prints their
# output.
tools() {
	cd "$1" || return
	h5ls -rv slabs.h5 && h5dump -p slabs.h5 && h5stat slabs.h5
	h5repack -l chunk-all:CHUNK=16x16 -f GZIP=6 slabs.h5 packed.h5 &&
		h5diff -v slabs.h5 packed.h5 && h5dump -d /chunk -s 3,5 -c 2,4 packed.h5
	h5copy -i slabs.h5 -o copied.h5 -s plain -d other &&
		h5diff slabs.h5 copied.h5 plain other && h5ls copied.h5
	h5diff slabs.h5 copied.h5 chunk other
	cmp -n 100 slabs.h5 packed.h5 | wc -c && cd "$tmp" || return
}

mkdir "$tmp/local"
must pvfs-cp /pvfs/slabs.h5 "$tmp/local/slabs.h5"
tools "$tmp/local" >"$tmp/want" 2>&1
# equal outputs prove something only if each tool printed what it is for
for word in 'Dataset {128/128, 96/96}' 'HDF5 "slabs.h5"' 'File information' \
	'dataset: </plain> and </plain>' 'other  *Dataset'; do
	grep -q "$word" "$tmp/want" || fail "HDF5's tools do not say '$word'"
done
for cache in none open; do
	mount_at "$tmp/m" -o cache=$cache
	for how in '' past; do
		$how tools "$tmp/m" >"$tmp/have" 2>&1
		diff "$tmp/want" "$tmp/have" || fail "${how:-through}, cache=$cache: not as elsewhere"
		must rm "$tmp/m/packed.h5" "$tmp/m/copied.h5"
	done
	unmount "$tmp/m" $daemon
done
