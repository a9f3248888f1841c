#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two names of one file: one content, one set of attributes, a link count, and the data goes with
# the last name.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 2
links() { pvio stat "$1" | awk 'NR == 1 { print $2 }'; }

expect ok pvio write /pvfs/one 0 200000 7
expect ok pvio mkdir /pvfs/d
expect ok pvio link /pvfs/one /pvfs/d/two
expect 2 links /pvfs/one
expect ok pvio check /pvfs/d/two 0 200000 7
expect ok pvio chmod 600 /pvfs/d/two
expect "$(pvio stat /pvfs/d/two)" pvio stat /pvfs/one
expect EEXIST pvio link /pvfs/one /pvfs/d/two
expect EPERM pvio link /pvfs/d /pvfs/d2
expect ok pvio rename /pvfs/one /pvfs/d/two
expect 2 links /pvfs/one
expect ok pvio unlink /pvfs/one
expect 1 links /pvfs/d/two
expect ok pvio check /pvfs/d/two 0 200000 7
restart_pvfs
expect ok pvio check /pvfs/d/two 0 200000 7
expect ok pvio unlink /pvfs/d/two
none_left() { [ "$(objects)" = 0 ]; }
until_true 30 none_left
