#!/usr/bin/env bash
# The main job before your eyes: two nodes in a real kernel, an API server, Services with HTTP and UDP pods, real requests from pods,
# nodes and outside, scaling up and down. Installs what is missing, ends by itself; status 0 only if every request was answered by a
# pod that should have answered it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "$0")/.."

bash hack/install.sh
echo 'starting a kernel with IPVS'
exec bash hack/lab.sh -t 170 node hack/demo/main.ts
