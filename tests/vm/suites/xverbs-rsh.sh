#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# xv_rsh between the two functions: alone, through a real sshd on a loopback address, and under
# rsync, git, tar and borg, which know nothing of it.
. ./lib.sh
. ./ssh.sh
BIN=$(cd ../../../build/user/bin && pwd)
WORK=$(mktemp -d /dev/shm/rsh.XXXXXX)
devices=(--device "$DEV0" --peer-device "$DEV1")
# Both ends on this host
near=("$BIN/xv_rsh" --via local "${devices[@]}" here)
# Through sshd
far=("$BIN/xv_rsh" -F "$WORK/ssh_config" --remote-path "$BIN/xv_rsh" "${devices[@]}")

# status COMMAND...: prints its exit status
status() { timeout -k 5 "$LIMIT" "$@" > /dev/null 2>&1 < /dev/null; echo $?; }
# fails DESCRIPTION REGEX COMMAND...: status 255 and a message that matches
fails() {
	local what=$1 want=$2 rc
	shift 2
	attempt "$@"
	rc=$?
	if [ $rc = 255 ] && grep -Eq -- "$want" "$OUT"; then pass "$what"
	else fail "$what" "status $rc, wanted 255 with /$want/ from: $*"
		tail -n 5 "$OUT" | diag; fi
}
# shellcheck disable=SC2317 # called by ok
through() { "${near[@]}" "$1" < "$2" | cmp - "$2"; }
# shellcheck disable=SC2317 # called by wait_for
gone() { ! kill -0 "$1" 2> /dev/null; }
has() { grep -Eqs -- "$2" "$1"; }
# shellcheck disable=SC2317 # called by ok
same_tree() { diff <(listing "$1") <(listing "$2") && diff -r --no-dereference "$1" "$2"; }
listing() { (cd "$1" && find . -printf '%p %y %m %T@ %s %n %l\n' | grep -v '^\. ' | sort); }

# ---- Exit status, standard error, words
is "exit status 0" "$(status "${near[@]}" true)" 0
is "exit status 7" "$(status "${near[@]}" 'exit 7')" 7
is "a command that does not exist" "$(status "${near[@]}" /nonexistent/command)" 127
# shellcheck disable=SC2016 # the far shell expands it
is "a signal ends the command: as ssh, 255" "$(status "${near[@]}" 'kill -TERM $$')" 255
is "words are joined by blanks for the shell of the user" \
	"$("${near[@]}" echo a "'b  c'" '$((1 + 2))' < /dev/null)" "a b  c 3"
is "the shell of the user" "$(SHELL=/bin/dash "${near[@]}" 'echo $0' < /dev/null)" dash
is "standard error is kept apart" \
	"$("${near[@]}" 'echo out; echo err >&2' 2>&1 > /dev/null < /dev/null)" err
is "standard input is empty with -n" "$("$BIN/xv_rsh" -n "${near[@]:1}" 'wc -c' < /etc/passwd)" 0
ok "options behind the host" "${near[@]}" -v true
fails "no command" 'usage: xv_rsh' "$BIN/xv_rsh" host
fails "a bad number" 'depth must be from 2' "$BIN/xv_rsh" --depth 1 host true
fails "an unknown option" 'usage: xv_rsh' "$BIN/xv_rsh" --nosuch host true
like "version" '^xv_rsh [0-9].*, protocol 1$' "$BIN/xv_rsh" --version
like "what ssh says of a host" '^port 1234$' "$BIN/xv_rsh" -p 1234 -G host

# ---- Data
BYTES=8000000
head -c $BYTES /dev/urandom > "$WORK/big"
: > "$WORK/empty"
printf x > "$WORK/one"
for file in big empty one; do
	ok "there and back: $file" through cat "$WORK/$file"
done
is "from the command only" "$("${near[@]}" "cat '$WORK/big'" < /dev/null | cksum)" \
	"$(cksum < "$WORK/big")"
is "to the command only" "$("${near[@]}" 'cksum' < "$WORK/big")" \
	"$(cksum < "$WORK/big")"
is "thousands of small writes" "$(seq 2000 | "${near[@]}" 'while read -r n; do echo $n; done' |
	cksum)" "$(seq 2000 | cksum)"
is "few slots" "$("${near[@]:0:1}" --depth 2 --chunk 4k "${near[@]:1}" cat < "$WORK/big" | cksum)" \
	"$(cksum < "$WORK/big")"
"${near[@]:0:1}" --json "${near[@]:1}" cat < "$WORK/big" > /dev/null 2> "$WORK/json"
is "summary as JSON" "$(jq -c '[.rdma, .sent_bytes, .received_bytes, .status]' "$WORK/json")" \
	"[true,$BYTES,$BYTES,0]"

progress=("${near[@]:0:1}" --progress "${near[@]:1}" "'sleep 3'")
script -qec "${progress[*]}" /dev/null < /dev/null | tr '\r' '\n' > "$WORK/terminal"
is "progress on a terminal" "$(($(grep -c 'MiB received, .*MiB/s' "$WORK/terminal") >= 2))" 1
is "no progress elsewhere" "$("${progress[@]}" 2>&1 < /dev/null | grep -c MiB)" 0

# ---- Ends, as ssh ends
is "the command waits for the end of its input" "$(seq 3 | "${near[@]}" 'sort -r' | xargs)" "3 2 1"
is "the command closes its output first" "$(seq 1000 | "${near[@]}" \
	"exec >&-; cat > '$WORK/closed'"; cksum < "$WORK/closed")" "$(seq 1000 | cksum)"
is "the command reads some of its input only" \
	"$("${near[@]}" 'head -c 3' < "$WORK/big" | cksum)" "$(head -c 3 "$WORK/big" | cksum)"
is "the command never reads" "$("${near[@]}" 'echo done' < "$WORK/big")" "done"
# shellcheck disable=SC2016
is "nobody reads the output: the command gets SIGPIPE" \
	"$("${near[@]}" "(yes; echo \$? > '$WORK/pipe') 2> /dev/null" < /dev/null | head -n 1
	wait_for 10 test -s "$WORK/pipe"; cat "$WORK/pipe")" "y
141"
is "both pipes are full, then both sides read" "$("${near[@]}" \
	"cat '$WORK/big'; sleep 1; cat" < "$WORK/big" | (sleep 1; cksum))" \
	"$(cat "$WORK/big" "$WORK/big" | cksum)"
is "standard error that nobody reads for a while" "$(
	{ "${near[@]}" "cat '$WORK/big' >&2; echo out" < /dev/null 2>&3 | cat; } 3>&1 |
	(sleep 1; cat) | wc -c)" $((BYTES + 4))

# ---- Signals
# shellcheck disable=SC2016 # the far shell expands it
traps='trap "echo TERM >> '$WORK/signals'; exit 3" TERM
	trap "echo HUP >> '$WORK/signals'; exit" HUP
	echo $$ > '$WORK/shell'; sleep 1000 & wait'
start() {
	rm -f "$WORK/shell" "$WORK/signals"
	"${near[@]}" "$traps" < /dev/null > "$WORK/said" 2>&1 &
	pid=$!
	wait_for 20 test -s "$WORK/shell"
}
start
kill -TERM $pid
wait $pid
is "a signal goes to the command, whose status comes back" "$? $(cat "$WORK/signals")" "3 TERM"
start
kill -KILL $pid
wait $pid 2> /dev/null
ok "the near end is killed: the command gets SIGHUP" wait_for 10 has "$WORK/signals" HUP
start
pkill -KILL -P $pid xv_rsh
wait $pid
is "the far end is killed: status 255" $? 255
ok "the far end is killed: it is said" has "$WORK/said" 'the connection was lost'
ok "the far end is killed: the command gets SIGHUP" wait_for 10 has "$WORK/signals" HUP

# A host that is gone, an end that is stopped
silent_far() {
	local pid far
	"${near[@]}" 'sleep 1000' < /dev/null > "$WORK/silent" 2>&1 &
	pid=$!
	wait_for 20 pgrep -P $pid xv_rsh > /dev/null
	far=$(pgrep -P $pid xv_rsh)
	pause 1
	kill -STOP "$far"
	wait $pid
	is "no life sign of the far end: status 255" $? 255
	ok "no life sign of the far end: it is said" has "$WORK/silent" 'no life sign for 15 s'
	kill -KILL "$far" 2> /dev/null
}
silent_near() {
	local pid trap
	trap="trap 'echo HUP > $WORK/hup; exit' HUP; echo > $WORK/up; sleep 1000 & wait"
	"${near[@]}" "$trap" < /dev/null > /dev/null 2>&1 &
	pid=$!
	wait_for 20 test -e "$WORK/up"
	kill -STOP $pid
	ok "no life sign of the near end: the command gets SIGHUP" wait_for 40 test -s "$WORK/hup"
	kill -KILL $pid
	wait $pid 2> /dev/null
}
stopped_by_user() {
	local pid
	"${near[@]}" "echo > $WORK/begun; sleep 20; echo end" < /dev/null > "$WORK/stopped" 2>&1 &
	pid=$!
	wait_for 20 test -e "$WORK/begun"
	kill -TSTP $pid
	pause 18
	kill -CONT $pid
	wait $pid
	is "stopped from the keyboard for 18 seconds, then continued" \
		"$? $(cat "$WORK/stopped")" "0 end"
}
# The terminal is full, so nothing can be written to it. The standard output still comes.
blocked_terminal() {
	is "a terminal that takes no output does not stop the life signs" "$(python3 - \
		"${near[@]:0:1}" --progress "${near[@]:1}" 'sleep 20; echo end' <<-'END'
		import os, pty, subprocess, sys, time
		master, slave = pty.openpty()
		os.set_blocking(slave, False)
		filled = time.monotonic()
		while time.monotonic() < filled + 1:
		    try:
		        os.write(slave, b"x" * 100)
		        filled = time.monotonic()
		    except BlockingIOError:
		        time.sleep(0.05)
		os.set_blocking(slave, True)
		p = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL,
		                     stdout=subprocess.PIPE, stderr=slave, text=True)
		print(p.stdout.read().strip())
		p.kill()
		END
	)" end
}
# cpu_ticks PID...: time of CPUs that the processes used, in ticks of 10 ms
cpu_ticks() {
	local pid sum=0 line
	for pid; do
		line=$(< "/proc/$pid/stat")
		# shellcheck disable=SC2086 # words
		set -- ${line##*) }
		sum=$((sum + ${12} + ${13}))
	done
	echo $sum
}
idle() {
	local pid far before
	"${near[@]}" 'sleep 25' < /dev/null &
	pid=$!
	wait_for 20 pgrep -P $pid xv_rsh > /dev/null
	far=$(pgrep -P $pid xv_rsh)
	pause 4
	before=$(cpu_ticks $pid "$far")
	is "one thread of each end has a filter of system calls" \
		"$(cat /proc/{$pid,"$far"}/task/*/status | grep -c '^Seccomp:	2$')" 2
	pause 16
	is "an idle session uses less than 1 % of a CPU" \
		"$(($(cpu_ticks $pid "$far") - before < 16))" 1
	wait $pid
	is "an idle session lasts" $? 0
}
for part in silent_far silent_near stopped_by_user blocked_terminal idle; do meanwhile $part; done
join

# ---- Paths
fails "no such device here" 'no RDMA path to here: .*there is no RDMA device nosuch' \
	"$BIN/xv_rsh" --via local --device nosuch here true
fails "no such device there" 'the far end: there is no RDMA device nosuch' \
	"$BIN/xv_rsh" --via local --peer-device nosuch here true
fails "a wrong P_Key index: no path, with the reason" "$DEV0 port 1 to $DEV1.*pkey_index" \
	"$BIN/xv_rsh" --via local "${devices[@]}" --pkey-index 65535 here true
is "the command did not start" "$(status "$BIN/xv_rsh" --via local --peer-device nosuch here \
	"touch $WORK/ran"; ls "$WORK/ran" 2> /dev/null)" 255
is "fallback: through the channel" "$("$BIN/xv_rsh" --via local --device nosuch --fallback here \
	cat < "$WORK/big" 2> "$WORK/warning" | cksum)" "$(cksum < "$WORK/big")"
ok "fallback: a warning" has "$WORK/warning" 'warning: no RDMA path .* through the channel'
like "all ports are offered" "mlx5_[01] port 1 to mlx5_[01] port 1 of here, " \
	"$BIN/xv_rsh" -v --via local here true
like "a port by number" "$DEV0 port 1 to $DEV1 port 1" "$BIN/xv_rsh" -v --via local \
	--device "$DEV0:1" --peer-device "$DEV1:1" here true
fails "a port that does not exist" 'has no active port' \
	"$BIN/xv_rsh" --via local --device "$DEV0:9" here true
fails "a port that is no number" '"mlx5_0:x" is not NAME or NAME:PORT' \
	"$BIN/xv_rsh" --via local --device mlx5_0:x here true
ok "service level, traffic class" "$BIN/xv_rsh" --via local "${devices[@]}" --sl 3 --tclass 8 \
	here true

# Locked memory: both ends fit into 4 MiB; with less there are fewer slots.
user=(setpriv --reuid 1000 --regid 1000 --clear-groups)
like "both ends in 4 MiB of locked memory" '6 slots of 131072' \
	"${user[@]}" prlimit --memlock=4194304:4194304 "${near[@]:0:1}" -v "${near[@]:1}" true
is "neither has fewer slots" "$(grep -c 'for lack of memory' "$OUT")" 0
like "less memory: fewer slots, said with -v" 'slots instead of 6, for lack of memory' \
	"${user[@]}" prlimit --memlock=2097152:2097152 "${near[@]:0:1}" -v "${near[@]:1}" true
fails "no memory" 'RLIMIT_MEMLOCK is 4096' \
	"${user[@]}" prlimit --memlock=4096:4096 "${near[@]:0:1}" -v "${near[@]:1}" true

# ---- The far end by other commands
cat > "$WORK/noisy" <<'END'
#!/bin/sh
echo "Welcome to $1 of $2"; printf 'XV_RSH is not this line, no newline'
shift 2
exec "$@"
END
cat > "$WORK/other" <<'END'
#!/bin/sh
printf '\nXV_RSH 99 9.9.9\n'
sleep 1
END
chmod 755 "$WORK/noisy" "$WORK/other"
is "what a login script prints is skipped; %u and %h" \
	"$("$BIN/xv_rsh" --via "$WORK/noisy %h %u" --remote-path "$BIN/xv_rsh" "${devices[@]}" \
	me@there 'echo data' < /dev/null)" data
fails "another version" 'xv_rsh 9.9.9 on there has protocol 99' \
	"$BIN/xv_rsh" --via "$WORK/other" there true
fails "it is not installed there" 'did not start .*is xv_rsh installed there' \
	"$BIN/xv_rsh" --via "sh -c exit\${IFS}127" there true

# ---- A real sshd
ssh_up() { ssh_client 127.0.0.1 && ssh_server 127.0.0.1 "$(< "$WORK/key.pub")"; }
ok "sshd listens on a loopback address" ssh_up
ok "ssh reaches it" ssh -F "$WORK/ssh_config" there true
is "a command through ssh" "$("${far[@]}" there 'echo "$SSH_CONNECTION" | cut -d" " -f4; exit 5' \
	< /dev/null) $?" "$SSHD_PORT 5"
is "data through ssh's far end" "$("${far[@]}" there cat < "$WORK/big" | cksum)" \
	"$(cksum < "$WORK/big")"
ports() { cat /proc/net/tcp /proc/net/tcp6 | awk '$4 == "0A" { print $2 }' | sort; }
before=$(ports)
"${far[@]}" there "echo > '$WORK/open'; sleep 3" < /dev/null &
pid=$!
ok "a session is open" wait_for 60 test -s "$WORK/open"
is "no port is opened" "$(ports)" "$before"
wait $pid
fails "a host that is refused: status 255" 'did not start .status 255' \
	"${far[@]}" -o BatchMode=yes -l nobody there true

# ---- rsync
mkdir -p "$WORK/src/deep/er" "$WORK/src/empty dir"
head -c 3000000 /dev/urandom > "$WORK/src/deep/er/big"
for i in $(seq 40); do echo "file $i" > "$WORK/src/deep/f $i"; done
ln "$WORK/src/deep/f 1" "$WORK/src/hard"
ln -s deep/er/big "$WORK/src/link"
chmod 0640 "$WORK/src/hard"
touch -d '2001-02-03 04:05:06.789' "$WORK/src/deep/f 2"
export RSYNC_RSH="${far[*]}"
ok "rsync to the host" rsync -a -H "$WORK/src/" "there:$WORK/dst/"
ok "rsync to the host: the same tree" same_tree "$WORK/src" "$WORK/dst"
ok "rsync from the host" rsync -a -H "there:$WORK/src/" "$WORK/back/"
ok "rsync from the host: the same tree" same_tree "$WORK/src" "$WORK/back"
rm "$WORK/src/deep/f 3"
echo more >> "$WORK/src/deep/er/big"
: > "$WORK/dst/extra"
ok "rsync --delete --inplace" rsync -a -H --delete --inplace "$WORK/src/" "there:$WORK/dst/"
ok "rsync --delete --inplace: the same tree" same_tree "$WORK/src" "$WORK/dst"
ok "rsync -z --checksum, nothing to do" rsync -a -H -z --checksum "$WORK/src/" "there:$WORK/dst/"
cp "$WORK/big" "$WORK/src/slow"
rsync -a -H --bwlimit=2000 "$WORK/src/" "there:$WORK/dst/" > /dev/null 2>&1 &
pid=$!
wait_for 20 pgrep -f 'rsync --server' > /dev/null
pause 1
pkill -KILL -o -x xv_rsh
wait $pid
is "an end is killed: rsync fails" "$(($? != 0))" 1
ok "an end is killed: nothing stays" wait_for 20 gone "$(pgrep -of 'rsync --server' || echo 999999)"
ok "an end is killed: the next run completes" rsync -a -H --delete "$WORK/src/" "there:$WORK/dst/"
ok "an end is killed: the same tree" same_tree "$WORK/src" "$WORK/dst"

# ---- tar, git, borg
# shellcheck disable=SC2317 # called by ok
send_tar() {
	tar --format=posix -C "$WORK/src" -c . |
		"${far[@]}" there "mkdir '$WORK/tar' && tar -C '$WORK/tar' -x"
}
ok "tar" send_tar
ok "tar: the same tree" same_tree "$WORK/src" "$WORK/tar"
export HOME=$WORK/home GIT_CONFIG_NOSYSTEM=1
mkdir "$HOME"
repository() {
	git init -q "$WORK/repo" && cd "$WORK/repo" && cp -r "$WORK/src/deep" . && git add . &&
		git -c user.name=a -c user.email=a@b commit -q -m first
}
ok "git: a repository" repository
ok "git clone" git -c core.sshCommand="${far[*]}" clone -q "there:$WORK/repo" "$WORK/clone"
is "git clone: the same commit" "$(git -C "$WORK/clone" rev-parse HEAD)" \
	"$(git -C "$WORK/repo" rev-parse HEAD)"
change() {
	cd "$WORK/clone" && echo new > new && git add new &&
		git -c user.name=a -c user.email=a@b commit -q -m second &&
		git -c core.sshCommand="${far[*]}" push -q origin HEAD:refs/heads/other
}
ok "git push" change
is "git push: the commit is there" "$(git -C "$WORK/repo" rev-parse other)" \
	"$(git -C "$WORK/clone" rev-parse HEAD)"
if command -v borg > /dev/null; then
	export BORG_RSH="${far[*]}" BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes
	repo=ssh://there$WORK/borg
	LIMIT=$((4 * LIMIT))
	ok "borg init" borg init -e none "$repo"
	mkdir "$WORK/restored"
	cd "$WORK/src" || exit
	ok "borg create" borg create "$repo::one" .
	cd "$WORK/restored" || exit
	ok "borg extract" borg extract "$repo::one"
	ok "borg: the same tree" same_tree "$WORK/src" "$WORK/restored"
else
	skip "borg" "borgbackup is not installed"
fi
kill "$(cat "$WORK/sshd.pid")"
rm -rf "$WORK"
finish
