#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debian's unmodified parallel HDF5 writes and reads files that are named "pvfs:...".
. "$(dirname "$0")/functions.sh"

# not built without libhdf5-mpich-dev
requires tool "$MPI_PROGRAMS/hdf5_slabs"
start_pvfs -n 4
says_ok 4 "$MPI_PROGRAMS/hdf5_slabs" pvfs:/pvfs/slabs.h5
# HDF5 wrote one PVFS file, which begins as every HDF5 file does
must pvfs-cp /pvfs/slabs.h5 "$tmp/slabs.h5"
[ "$(head -c 4 "$tmp/slabs.h5" | tail -c 3)" = HDF ] || fail "not HDF5"
