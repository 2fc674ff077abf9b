#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The tests of rdma-core for pyverbs, as Debian ships them, on one function: first on libmlx5, then
# under xv_run. A test that passes on libmlx5 passes under xv_run, too, or says that something is
# not supported; xv_run(1) lists what.
. ./lib.sh
XV_RUN=../../../build/user/bin/xv_run
SHIPPED=/usr/share/doc/rdma-core/tests
# Tests of adapters and functions that xverbs does not have
OTHERS='efa|cuda|crypto|devx|dm_ops|_dr$|flow|rss|sched|vfio'
# libmlx5 allocates huge pages if the environment says so.
DIFFERENT=tests.test_mlx5_huge_page.ResourcesOnHugePageTest.test_obj_on_huge
TOOK=900	# seconds, at most, also on a busy host

copy_tests() {
	WORK=$(mktemp -d) && cp -r $SHIPPED "$WORK/tests" && gunzip -f "$WORK"/tests/*.gz
}

# results FILE [PROGRAM...]: runs the tests; each line of FILE has the name of a test and how it
# ended: ok, skipped, FAIL or ERROR.
results() {
	local file=$1 modules
	shift
	modules=$(cd "$WORK" && printf '%s\n' tests/test_*.py |
		grep -Ev "($OTHERS)\.py" | sed 's/\.py$//; s,/,.,')
	# shellcheck disable=SC2086 # names of modules
	PYTHONDONTWRITEBYTECODE=1 timeout -k 5 $TOOK "$@" \
		/usr/bin/python3 "$WORK/tests/run_tests.py" -v --dev "$DEV0" $modules \
		> "$WORK/log" 2>&1 < /dev/null
	awk '/^test_[a-z0-9_]* \(tests\./ { name = substr($2, 2, length($2) - 2) }
		name && match($0, /(^| )(ok|skipped|FAIL|ERROR)( |$)/) {
			split(substr($0, RSTART), word, " ")
			print name, word[1]
			name = ""
		}' "$WORK/log" | sort > "$file"
	grep -Eq '^Ran [0-9]+ tests' "$WORK/log"
}

# The tests that pass on libmlx5 and neither pass nor are skipped under xv_run
worse() {
	command join "$WORK/plain" "$WORK/xverbs" | awk -v other="$DIFFERENT" '
		$2 == "ok" && $3 != "ok" && $3 != "skipped" && $1 != other { print $1, $3 }'
	command join -v 1 "$WORK/plain" "$WORK/xverbs"
}

passed() { grep -c ' ok$' "$1"; }

if [ ! -e $SHIPPED/run_tests.py ]; then
	skip "tests of pyverbs" "python3-pyverbs is not installed"
	finish
fi
ok "the tests are unpacked" copy_tests
ok "they run on libmlx5" results "$WORK/plain"
ok "and under xv_run" results "$WORK/xverbs" "$PWD/$XV_RUN"
echo "# $(passed "$WORK/plain") of $(wc -l < "$WORK/plain") pass on libmlx5," \
	"$(passed "$WORK/xverbs") under xv_run"
# About 100; on a busy host two fail on libmlx5, too, because their peers are late.
ok "at least 90 pass under xv_run" test "$(passed "$WORK/xverbs")" -ge 90
is "what passes on libmlx5 does not fail under xv_run" "$(worse)" ""
rm -rf "$WORK"
finish
