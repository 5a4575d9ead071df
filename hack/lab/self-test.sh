#!/usr/bin/env bash
# Checks what hack/lab.sh promises, about 25 s. Prints one line a check, fails if one does.
#
#   hack/lab/self-test.sh [uml|host]      the kernel to check; without it the one hack/lab.sh chooses
set -uo pipefail
lab=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/lab.sh
[[ -z ${1-} ]] || export LAB_KERNEL=$1
work=$(mktemp -d -p /tmp)
trap 'rm -rf "$work"' EXIT
failed=0

check() { # TITLE EXPECTED ACTUAL
  if [[ $3 == "$2" ]]; then echo "PASS  $1"; else printf 'FAIL  %s: expected %q, got %q\n' "$1" "$2" "$3"; failed=1; fi
}

# Runs the launcher in a session of its own, so that everything it starts can be found: $out, $err without the launcher's
# own line, $line, $status.
run() {
  setsid --wait "$lab" "$@" >"$work/out" 2>"$work/err"
  status=$?
  out=$(<"$work/out") line=$(head -n 1 "$work/err") err=$(tail -n +2 "$work/err")
}

# What still runs in a session; ended processes that nobody waited for do not count.
left() { ps -o stat=,pid=,args= -s "$1" | grep -v '^Z' || true; }

# Starts the launcher, waits for its command to run, sends a signal: $status, $rest (what runs 8 s later at most).
interrupt() { # SIGNAL
  local session
  rm -f "$work/runs"
  setsid "$lab" sh -c "sleep 1000 & echo >$work/runs; sleep 1000" 2>"$work/err" & session=$!
  for _ in {1..200}; do [[ -e $work/runs ]] && break; sleep 0.1; done
  kill "-$1" "$session"
  wait "$session" 2>/dev/null
  status=$?
  for _ in {1..80}; do rest=$(left "$session"); [[ -z $rest ]] && break; sleep 0.1; done
}

# Folders of launchers started here, and not of others that may run at the same time.
boxes() { grep -lF "PWD=\"$work\"" /tmp/tmp.*/environment 2>/dev/null | xargs -r dirname; }

cd "$work"
ODD=$'two\nlines' run sh -c 'echo "$ODD|$PWD|$1|$2"; echo wrong >&2; cat; exit 7' - 'a  b' $'c\n"$d'
check 'standard output, environment, folder and arguments' $'two\nlines|'"$work"$'|a  b|c\n"$d' "$out"
check 'standard error alone' wrong "$err"
check 'exit status' 7 "$status"
echo "      ($line)"
check 'one line tells the kernel' 1 "$(grep -cE "^lab: (user-mode Linux|this host's kernel) [0-9]" <<<"$line")"

head -c 300000 /dev/urandom >"$work/bytes"
"$lab" -i cat <"$work/bytes" >"$work/copy" 2>/dev/null
check 'every byte of standard input and output with -i' '' "$(cmp "$work/bytes" "$work/copy" 2>&1)"

run sh -c 'echo $$ $IN_LAB; command -v node; ls /sys/class/net; sleep 1000 & sleep 1000 & kill -9 $$'
check 'status of a signal' 137 "$status"
check "the project's node comes first" "${lab%/hack/lab.sh}/node_modules/.bin/node" "$(sed -n 2p <<<"$out")"
check 'no network interfaces' lo "$(sed -n '3,$p' <<<"$out" | grep -vE '^(tunl0|sit0|ip6tnl0|gre0|gretap0|erspan0|ip_vti0|ip6_vti0|ip6gre0)$')"

run -t 4 sh -c 'sleep 1000 & echo early; sleep 1000'
check 'status past the time limit' 124 "$status"
check 'output before the time limit' early "$out"
check 'message past the time limit' 'lab: stopped after 4 s' "$err"

interrupt TERM; check 'TERM: status' 143 "$status"; check 'TERM: nothing is left' '' "$rest"
interrupt KILL; check 'KILL: nothing is left' '' "$rest"
check 'no folders are left, but that of the killed launcher' 1 "$(boxes | wc -l)"
rm -rf $(boxes)

run; check 'no command: usage' '2 usage' "$status ${line%%:*}"
run -t soon true; check 'a bad time limit: usage' 2 "$status"
LAB_KERNEL=other run true; check 'an unknown kernel' 'lab: LAB_KERNEL is "other", but can be uml or host only' "$line"
exit "$failed"
