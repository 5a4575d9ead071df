#!/usr/bin/env bash
# Makes a kind cluster without kube-proxy, builds the image, and runs it there. Needs kind, docker, kubectl, and a machine whose kernel
# has the modules (they are loaded here, as root, where they are not yet).
#
#   hack/kind-up.sh [NAME]        default: ipvs-proxier
#
# KIND_NODE_IMAGE chooses the Kubernetes release, KIND_IP_FAMILY is ipv4, ipv6 or dual (default ipv4), WORKERS how many (default 2).
# An existing cluster of that name is used as it is. Remove it with: kind delete cluster --name NAME
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "$0")/.."

fail() { echo "kind-up: $*" >&2; exit 2; }
(($# <= 1)) || fail 'usage: hack/kind-up.sh [NAME]'
name=${1:-ipvs-proxier} family=${KIND_IP_FAMILY:-ipv4} workers=${WORKERS:-2}
[[ $family =~ ^(ipv4|ipv6|dual)$ ]] || fail "KIND_IP_FAMILY is \"$family\", but can be ipv4, ipv6 or dual only"
[[ $workers =~ ^[0-9]+$ ]] || fail "WORKERS is \"$workers\", no number"
for tool in kind docker kubectl; do command -v "$tool" >/dev/null || fail "$tool is missing"; done
docker info >/dev/null 2>&1 || fail 'docker does not answer'

version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)
image=ipvs-proxier:$version
if [[ ! -e /proc/net/ip_vs ]]; then
  modprobe -a ip_vs ip_vs_rr ip_vs_wrr ip_vs_sh nf_conntrack ip_set xt_set dummy ||
    fail 'this kernel has no IPVS, or you may not load modules: run it as root once'
fi

docker build --quiet --tag "$image" .
if ! kind get clusters 2>/dev/null | grep -qxF "$name"; then
  {
    echo 'kind: Cluster'
    echo 'apiVersion: kind.x-k8s.io/v1alpha4'
    echo "networking: { kubeProxyMode: \"none\", ipFamily: $family }"
    echo 'nodes:'
    echo '  - role: control-plane'
    for ((i = 0; i < workers; i++)); do echo '  - role: worker'; done
  } | kind create cluster --name "$name" ${KIND_NODE_IMAGE:+--image "$KIND_NODE_IMAGE"} --config -
fi
kind load docker-image --name "$name" "$image"

case $family in
  ipv4) ranges=10.244.0.0/16 ;;
  ipv6) ranges=fd00:10:244::/56 ;;
  dual) ranges=10.244.0.0/16,fd00:10:244::/56 ;;
esac
kubectl kustomize deploy/overlays/kind |
  sed "s#kind-control-plane#$name-control-plane#; s#clusterCIDR: .*#clusterCIDR: $ranges#" |
  kubectl --context "kind-$name" apply -f -
kubectl --context "kind-$name" -n kube-system rollout status daemonset/ipvs-proxier --timeout 180s
kubectl --context "kind-$name" wait node --all --for condition=Ready --timeout 180s
echo "kind-up: cluster $name runs $image; kubectl --context kind-$name get nodes,pods -A"
