#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Parallel HDF5 of Debian, unmodified, on "pvfs:" files.
. "$(dirname "$0")/functions.sh"

# not built without libhdf5-mpich-dev
requires tool "$MPI_PROGRAMS/hdf5_slabs"
start_pvfs -n 4
says_ok 4 "$MPI_PROGRAMS/hdf5_slabs" pvfs:/pvfs/slabs.h5
# the file is one: it comes out as HDF5 says
must pvfs-cp /pvfs/slabs.h5 "$tmp/slabs.h5"
[ "$(head -c 4 "$tmp/slabs.h5" | tail -c 3)" = HDF ] || fail "not HDF5"
