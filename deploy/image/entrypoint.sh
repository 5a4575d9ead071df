#!/bin/sh
# Starts ipvs-proxier with the iptables that this node uses: legacy or nft, whose rules do not see each other. Both are one
# kernel, so rules in the other one are in force too; they are told of on standard error. IPTABLES_BACKEND=legacy or nft
# chooses unasked. Writes nothing, so it does in a read-only root file system.
#
# The kubelet marks the back end it uses by a chain. Where both have one, or none has, that with more rules of Kubernetes is
# taken, then that with more rules, then nft.
#
# Called by the name of a tool (iptables, ip6tables-save, …) it is that tool of the same back end, for people in the container.
set -eu

home=$(cd "$(dirname "$0")/.." && pwd)
name=$(basename "$0")

# Everything in the tables that are there, of both families. Naming none, it makes none: asked for by name, legacy loads it.
saved() {
  "$home/iptables/$1/iptables-save" 2>/dev/null || true
  "$home/iptables/$1/ip6tables-save" 2>/dev/null || true
}

count() { printf '%s\n' "$1" | grep -cE -e "$2" || true; }

case ${IPTABLES_BACKEND:-auto} in
  legacy | nft) backend=$IPTABLES_BACKEND ;;
  auto)
    legacy=$(saved legacy)
    nft=$(saved nft)
    hint='^:KUBE-(IPTABLES-HINT|KUBELET-CANARY)'
    legacy_rules=$(count "$legacy" '^(-A|:).*KUBE-')
    nft_rules=$(count "$nft" '^(-A|:).*KUBE-')
    case $(count "$legacy" "$hint"),$(count "$nft" "$hint") in
      0,0) known=no ;;
      0,*) known=nft ;;
      *,0) known=legacy ;;
      *) known=no ;;
    esac
    if [ "$known" != no ]; then
      backend=$known
    elif [ "$legacy_rules" -ne "$nft_rules" ]; then
      if [ "$legacy_rules" -gt "$nft_rules" ]; then backend=legacy; else backend=nft; fi
    elif [ "$(count "$legacy" '^-A')" -gt "$(count "$nft" '^-A')" ]; then
      backend=legacy
    else
      backend=nft
    fi
    if [ "$backend" = nft ]; then other=legacy left=$legacy_rules; else other=nft left=$nft_rules; fi
    if [ "$left" -gt 0 ] && [ "$name" = ipvs-proxier ]; then
      echo "ipvs-proxier: iptables-$backend is used; $left chains and rules of Kubernetes are left in iptables-$other," \
        "and in force: iptables-$other-save | grep KUBE-" >&2
    fi
    ;;
  *)
    echo "ipvs-proxier: IPTABLES_BACKEND is \"$IPTABLES_BACKEND\", but can be legacy, nft or auto only" >&2
    exit 2
    ;;
esac

if [ "$name" != ipvs-proxier ]; then exec "$home/iptables/$backend/$name" "$@"; fi

# The kernel loads what rules need, but for legacy's tables themselves: the tool does it, which needs the rights of the init container.
if [ "$backend" = legacy ]; then
  for word in "$@"; do
    case $word in --init-only | --init-only=true)
      for tool in iptables ip6tables; do
        for table in nat filter; do "$home/iptables/legacy/$tool" -w 5 -t "$table" -n -L OUTPUT >/dev/null 2>&1 || true; done
      done ;;
    esac
  done
fi

# A small young generation takes 60 MB off the peak of a first pass at 10,000 Services, for 4 % of its processor time.
PATH="$home/iptables/$backend:$PATH" exec "$home/bin/node" --max-semi-space-size=8 "$home/src/main.js" "$@"
