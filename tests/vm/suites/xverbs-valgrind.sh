#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# valgrind finds nothing in right programs: neither what the kernel and the adapter write, nor
# leaks. valgrind needs about half a minute for the smallest program here.
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

if ! command -v valgrind > /dev/null; then
	echo "1..0 # SKIP valgrind is not installed"
	exit 0
fi
ok "valgrind: the first example" clean $BIN/examples/first "$DEV0"
ok "valgrind: memory that the program has not written" \
	clean $BIN/tests/allocated --device "$DEV0" --peer-device "$DEV1"
finish
