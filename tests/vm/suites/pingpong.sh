#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ibv_*_pingpong between two functions and from a function to itself: sizes,
# completion events, validated data.
. ./lib.sh

for size in 1 64 4096 65536 1048576; do
	pingpong "rc: $size bytes, validated" ibv_rc_pingpong "$DEV0" "$DEV1" -s $size -n 50 -c
done
pingpong "rc: 8 MiB, validated" ibv_rc_pingpong "$DEV0" "$DEV1" -s 8388608 -n 4 -c
# Short messages arrive inside their completions, unless this variable forbids it.
for size in 32 33 64 65; do
	MLX5_CQE_SIZE=128 pingpong "rc: $size bytes, CQEs of 128" \
		ibv_rc_pingpong "$DEV0" "$DEV1" -s $size -n 50 -c
done
MLX5_SCATTER_TO_CQE=0 pingpong "rc: 32 bytes, not in the CQE" \
	ibv_rc_pingpong "$DEV0" "$DEV1" -s 32 -n 50 -c
pingpong "rc: other direction" ibv_rc_pingpong "$DEV1" "$DEV0" -s 4096 -n 50 -c
pingpong "rc: a function to itself" ibv_rc_pingpong "$DEV0" "$DEV0" -s 4096 -n 50 -c
pingpong "rc: completion events" ibv_rc_pingpong "$DEV0" "$DEV1" -s 4096 -n 100 -e -c
pingpong "rc: events, small receive queue" ibv_rc_pingpong "$DEV0" "$DEV1" -s 64 -n 100 -e -r 8
diag <<< "indirect keys of libmlx5"
tap ../../../build/stock/umr "$DEV0" "$(gid_index "$DEV0")"
finish
