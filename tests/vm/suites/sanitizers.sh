#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Nothing is found in right programs: by valgrind, which must know what kernel and adapter
# write, and by the sanitizers of the compiler. Both look for leaks, too. valgrind needs about half
# a minute for the smallest program here.
. ./lib.sh
BIN=../../../build/user
LIMIT=120

# Without the hint, valgrind prints a line for each number of an ioctl that it does not know.
GRIND=(valgrind --quiet --sim-hints=lax-ioctls --leak-check=full --show-leak-kinds=definite
       --errors-for-leak-kinds=definite --error-exitcode=99)

# clean NAME COMMAND...: the program succeeds, and valgrind prints nothing
# shellcheck disable=SC2317 # called by ok
clean() {
	timeout -k 5 $LIMIT "${GRIND[@]}" "$@" > "$OUT.run" 2>&1 || { cat "$OUT.run"; return 1; }
	! grep '^==' "$OUT.run"
}

pair=(--device "$DEV0" --peer-device "$DEV1")
if command -v valgrind > /dev/null; then
	ok "valgrind: the first example" clean $BIN/examples/first "$DEV0"
	ok "valgrind: memory that the program has not written" \
		clean $BIN/tests/allocated "${pair[@]}"
else
	skip "valgrind" "it is not installed"
fi
tap $BIN/sanitized/allocated "${pair[@]}"
tap $BIN/sanitized/ops "${pair[@]}"
finish
