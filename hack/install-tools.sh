#!/usr/bin/env bash
# Installs what hack/lab.sh and the tests in it need, on Debian, as root. Does nothing when all of it is there.
# User-mode Linux is left out where this machine's own kernel has IPVS.
#
#   hack/install-tools.sh
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/help.sh"

fail() { echo "install-tools: $*" >&2; exit 1; }

((EUID == 0)) || fail 'run it as root'
command -v apt-get dpkg-query >/dev/null && grep -qiE '^ID(_LIKE)?=.*debian' /etc/os-release ||
  fail 'this is not Debian: install by its own means what "hack/lab.sh true" reports as missing'

# python3, not python3-minimal: asyncio and ctypes are in the former only
packages=(kmod iproute2 ipvsadm ipset iptables conntrack procps util-linux openssl python3 netbase ca-certificates)

host_has_ipvs() {
  { [[ -e /proc/net/ip_vs ]] || modprobe -q ip_vs; } && unshare --net --mount --pid --fork test -e /proc/net/ip_vs
} 2>/dev/null

if [[ ${LAB_KERNEL-} == uml ]] || { [[ ${LAB_KERNEL-} != host ]] && ! host_has_ipvs; }; then
  packages+=(user-mode-linux)
  # its registers are too narrow for these processors: hack/lab/wide-registers.c is compiled at each start
  if grep -qwE 'amx_tile|apx' /proc/cpuinfo; then packages+=(gcc libc6-dev); fi
fi

missing=()
for package in "${packages[@]}"; do
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then echo 'install-tools: nothing is missing'; exit; fi

echo "install-tools: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
{ apt-get -q update && apt-get -q -y install --no-install-recommends "${missing[@]}"; } </dev/null >"$log" 2>&1 ||
  { tail -n 20 "$log" >&2; fail 'apt-get failed'; }
