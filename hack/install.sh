#!/usr/bin/env bash
# Brings what the project needs onto a Debian machine with Node 20 or later and npm: the tools it drives (as root), and its own
# packages, a current Node among them. Does nothing where all of it is there.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "$0")/.."

bash hack/install-tools.sh
if ! cmp -s package-lock.json node_modules/.installed-lock; then
  echo 'installing npm packages' >&2
  npm ci --no-audit --no-fund --loglevel=error >&2
  cp package-lock.json node_modules/.installed-lock
fi
# npm may be set up to run no install scripts; the one of the package `node` links the runtime, without which nothing here starts.
[[ -x node_modules/.bin/node && -x node_modules/node/bin/node ]] || npm rebuild --foreground-scripts node >&2
[[ -x node_modules/node/bin/node ]] || { echo 'install.sh: the npm package node has no runtime; allow its install script' >&2; exit 1; }
