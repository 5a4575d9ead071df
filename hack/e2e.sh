#!/usr/bin/env bash
# Conformance tests with real traffic, named as upstream's. Installs what is missing.
#
#   hack/e2e.sh [--family ipv4|ipv6|dual] [--focus REGEX] [--skip REGEX] [--smoke] [--list] [--junit FILE]
#               [--tier lab|kind] [--out FOLDER] [--jobs N] [--at-once N] [--patience SECONDS]
#   hack/e2e.sh --mutants [--focus REGEX]
#
# Tier lab, the default: three nodes in a lab kernel (hack/lab.sh), `ipvs-proxier run` on each, and an API server: the one of
# the tests, or with KUBE_APISERVER and ETCD (or KUBEBUILDER_ASSETS, a folder with both) real ones. Each family runs in a
# kernel of its own, --jobs of them (default 2) at the same time, --at-once scenarios (default 20) in each. A change has
# --patience seconds to show (default 120, with --mutants 45). Tier kind: a kind cluster with this program's image and
# manifests (hack/kind-up.sh), where kind, docker and kubectl are there, and upstream's own tests where hydrophone or
# e2e.test is.
# --mutants runs builds that are broken on purpose, each with the scenarios that have to notice.
#
# Logs, and what each node's kernel held when a scenario failed, are under out/e2e/. The last line is "N passed, N failed";
# tiers that did not run are named above it, and are never part of N passed. Status 0: nothing failed; 1: something failed, a
# tier that was asked for could not run, or a mutant was not noticed; 2: usage.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "$0")/.."

bash hack/install.sh
PATH=$PWD/node_modules/.bin:$PATH
exec node hack/e2e/main.ts "$@"
