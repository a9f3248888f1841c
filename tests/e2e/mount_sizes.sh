#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two mounts report the sizes of files while these mounts, libpvfs, and programs that bypass the
# mount write to them.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

start_pvfs -n 3
for options in cache=none cache=open,attr_timeout=0,entry_timeout=0; do
	mount_at "$tmp/a" -o $options
	first=$daemon
	mount_at "$tmp/b" -o $options
	for seed in ${MODEL_SEEDS:-$RANDOM $RANDOM}; do
		# writes a byte by the library and 8 KiB in bypass of the mount, in turn
		cat >"$tmp/past" <<-END
			if [ \$((\$2 % 2)) = 0 ]; then
				pvio write "/pvfs/\$1" "\$2" 8192 7 >"$tmp/out"
			else
				LD_PRELOAD="$before$preload" PVFS_PRELOAD_AFTER=0 \\
				dd if=/dev/zero of="$tmp/a/\$1" \\
					bs=8192 count=1 seek="\$2" oflag=seek_bytes \\
					conv=notrunc status=none
			fi
		END
		python3 "$e2e/mount_sizes.py" "$tmp/a" "$tmp/b" \
			"${MODEL_STEPS:-300}" "$seed" bash "$tmp/past" ||
			fail "$options: seed $seed"
	done
	unmount "$tmp/a" $first
	unmount "$tmp/b" $daemon
done
