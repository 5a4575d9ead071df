#!/usr/bin/env bash
# Runs one command as root in a real Linux kernel that has IPVS, ipset, dummy interfaces and iptables, away from this
# machine's network: user-mode Linux over this machine's file system or, where this machine's own kernel has IPVS, that
# kernel in fresh network, mount and PID namespaces. One line on standard error tells which.
#
#   hack/lab.sh [-i] [-t SECONDS] [-m MEM] COMMAND [ARG...]
#
# The command sees the same files at the same paths, the same environment and starts in the same folder; the project's
# node_modules/.bin comes first on its PATH. It is process 1 of a PID namespace: whatever it leaves running ends with it.
# Standard output and error are plain pipes, kept apart. Standard input is empty; with -i it is the caller's, read to its
# end before the kernel starts. MEM (default 2G) is the memory of user-mode Linux.
# Exit status: the command's, 128 + n for its signals; 124 past SECONDS (default 300); 125 the kernel died; 2 usage or
# missing tools (hack/install-tools.sh installs them). LAB_KERNEL=uml or LAB_KERNEL=host chooses the kernel unasked.
# Inside, IN_LAB says where one is: "uml", or the name of the fresh network namespace.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/help.sh"

fail() { echo "lab: $*" >&2; exit 2; }
usage() { echo "usage: ${0##*/} [-i] [-t SECONDS] [-m MEM] COMMAND [ARG...]" >&2; exit 2; }

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PATH="$root/node_modules/.bin:$PATH:/usr/sbin:/sbin"

seconds=300 mem=2G input=/dev/null
while getopts it:m: flag; do
  case $flag in i) input=stdin ;; t) seconds=$OPTARG ;; m) mem=$OPTARG ;; *) usage ;; esac
done
shift $((OPTIND - 1))
(($#)) || usage
[[ $seconds =~ ^[1-9][0-9]*$ && $mem =~ ^[1-9][0-9]*[KMGkmg]?$ ]] || usage

# Whether this machine's kernel will do: it has IPVS, and this user may make namespaces with it.
host_has_ipvs() {
  [[ $EUID == 0 ]] && { [[ -e /proc/net/ip_vs ]] || modprobe -q ip_vs; } &&
    unshare --net --mount --pid --fork test -e /proc/net/ip_vs
} 2>/dev/null

case ${LAB_KERNEL-} in
  uml | host) kernel=$LAB_KERNEL ;;
  '') if host_has_ipvs; then kernel=host; else kernel=uml; fi ;;
  *) fail "LAB_KERNEL is \"$LAB_KERNEL\", but can be uml or host only" ;;
esac

tools=(modprobe ip ipvsadm ipset iptables-restore ip6tables-restore conntrack sysctl openssl /usr/bin/python3
  unshare setpriv timeout)
[[ $kernel == host ]] || tools+=(linux.uml)
wide_registers=
if [[ $kernel == uml ]] && grep -qwE 'amx_tile|apx' /proc/cpuinfo; then wide_registers=1 tools+=(cc); fi
missing=()
for tool in "${tools[@]}"; do command -v "$tool" >/dev/null || missing+=("$tool"); done
((${#missing[@]} == 0)) || fail "missing: ${missing[*]}. hack/install-tools.sh installs them"

box=$(mktemp -d -p /tmp)         # neither /dev/shm nor /run: the command has its own
started='' pumps=''

# Ends what still runs. A user-mode kernel that is killed leaves its guest processes running, all in one process group,
# which its pid file names; one that ends in order removes that file. On this machine's kernel every process is killed
# when the one above it dies.
end_kernel() {
  local signal=TERM
  [[ $kernel == uml ]] || signal=KILL
  if [[ -n $started ]]; then kill "-$signal" "$started" || true; wait "$started" || true; fi 2>/dev/null
  if [[ -s $box/guest/pid ]]; then kill -KILL -- "-$(<"$box/guest/pid")" || true; fi 2>/dev/null
  [[ -z $pumps ]] || wait $pumps || true
}
trap 'end_kernel; rm -rf "$box"' EXIT
trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM

modules='ip_vs ip_vs_rr ip_vs_wrr ip_vs_sh ip_vs_mh ip_set xt_set nf_conntrack dummy veth br_netfilter'

write_uml_init() {
  cat >"$box/fstab" <<END
proc /proc proc
sysfs /sys sysfs
tmpfs /run tmpfs
tmpfs /dev/shm tmpfs X-mount.mkdir
devpts /dev/pts devpts X-mount.mkdir
/usr/lib/uml/modules /lib/modules none bind,X-mount.mkdir
/usr/sbin/xtables-legacy-multi /usr/sbin/xtables-nft-multi none bind
END
  cat >"$box/init" <<GUEST
#!/bin/bash
mount -a -T "$box/fstab"; mkdir -p /run/netns /run/lock
ln -sfn /proc/self/fd /dev/fd; ln -sf /proc/self/fd/0 /dev/stdin; ln -sf /proc/self/fd/1 /dev/stdout; ln -sf /proc/self/fd/2 /dev/stderr
echo kernel >/proc/sys/kernel/hostname
modprobe -a $modules
ip link set lo up
stty -F /dev/ttyS0 raw; stty -F /dev/ttyS1 raw
. "$box/environment"
export IN_LAB=uml
mkfifo /run/out /run/err
cat /run/out >/dev/ttyS0 & cat /run/err >/dev/ttyS1 &
unshare --pid --fork --mount-proc bash "$box/command" <"$input" >/run/out 2>/run/err
echo \$? >"$box/status"
wait
sync
echo o >/proc/sysrq-trigger
sleep 10
GUEST
  chmod +x "$box/init"
}

write_host_init() {
  cat >"$box/init" <<INSIDE
mount -t sysfs sysfs /sys && mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /dev/shm || exit
mkdir -p /run/netns /run/lock
modprobe -qa $modules
ip link set lo up
export IN_LAB=\$(readlink /proc/self/ns/net)
setpriv --pdeathsig KILL unshare --pid --fork --kill-child --mount-proc bash "$box/command" <"$input"
echo \$? >"$box/status"
INSIDE
}

start_uml() {
  exec setpriv --pdeathsig TERM timeout -k 5 "$seconds" \
    env ${preload:+LD_PRELOAD="$preload"} linux.uml mem="$mem" rootfstype=hostfs rootflags=/ rw init="$box/init" uml_dir="$box" umid=guest quiet \
    pty.legacy_count=0 con=null con0=null,fd:1 ssl=null ssl0=null,fd:3 ssl1=null,fd:4 \
    3>"$box/out" 4>"$box/err" </dev/null >"$box/kernel" 2>&1
}

start_host() {
  exec setpriv --pdeathsig KILL timeout -s KILL "$seconds" \
    setpriv --pdeathsig KILL unshare --net --mount bash "$box/init" </dev/null >"$box/out" 2>"$box/err"
}

[[ $input != stdin ]] || { input=$box/stdin; cat >"$input"; }
export -p >"$box/environment"
{ printf 'cd %q || exit\n' "$PWD"; printf '%q ' "$@"; } >"$box/command"
mkfifo "$box/out" "$box/err"
: >"$box/kernel"
"write_${kernel}_init"
preload=
if [[ -n $wide_registers ]]; then
  preload=$box/wide-registers.so
  cc -O2 -shared -fPIC -o "$preload" "$root/hack/lab/wide-registers.c" || fail 'hack/lab/wide-registers.c does not compile'
fi

case $kernel in
  uml) echo "lab: user-mode Linux $(linux.uml --version)" >&2 ;;
  host) echo "lab: this host's kernel $(uname -r), in fresh namespaces" >&2 ;;
esac
cat "$box/out" & cat "$box/err" >&2 & pumps=$(jobs -p)
"start_$kernel" & started=$!
ended=0
wait "$started" 2>/dev/null || ended=$?
started=
end_kernel
case $ended in 124 | 137) echo "lab: stopped after $seconds s" >&2; exit 124 ;; esac
[[ -s $box/status ]] || { tail -n 20 "$box/kernel" >&2; echo 'lab: the kernel ended without a status' >&2; exit 125; }
exit "$(<"$box/status")"
