#!/usr/bin/env bash
# Everything that has to pass: types, lint, layers, dead code, unit and property tests, the vectors, and the tests in a real kernel.
# Installs what is missing. The last line is "N passed, N failed".
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "$0")/.."

bash hack/install.sh
PATH=$PWD/node_modules/.bin:$PATH
exec node hack/test/run-all.ts "$@"
