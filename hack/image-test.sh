#!/usr/bin/env bash
# Makes the root file system of the image without a container engine, as the Dockerfile does and from the same lists, and tries it in
# the lab kernel: version, render, both back ends of iptables, the init container, and the daemon with the few rights of its container
# against an API server. Needs root, Debian, mmdebstrap and the project's packages (hack/install.sh).
#
#   hack/image-test.sh [FOLDER]
#
# FOLDER keeps the root file system (default: a temporary one, removed at the end); what is there already is used again, the program is
# built anew. The last line is "N passed, N failed". LAB names what runs a command in the lab (default: bash hack/lab.sh).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "$0")/.."

fail() { echo "image-test: $*" >&2; exit 2; }
((EUID == 0)) || fail 'run it as root'
command -v mmdebstrap >/dev/null || fail 'mmdebstrap is missing: apt-get install mmdebstrap'
[[ -x node_modules/node/bin/node ]] || fail 'the packages are missing: bash hack/install.sh'
PATH=$PWD/node_modules/.bin:$PATH

folder=${1-}
if [[ -z $folder ]]; then
  folder=$(mktemp -d -p /tmp)
  trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
root=$folder/root release=$(sed -n 's/^ARG DEBIAN=//p' Dockerfile)
packages=$(paste -sd, deploy/image/packages)

if [[ $(cat "$folder/packages" 2>/dev/null) != "$release $packages" ]]; then
  echo "image-test: Debian $release with $packages" >&2
  rm -rf "$root" "$folder/packages"
  # as Debian's slim images
  mmdebstrap --quiet --variant=minbase --include="$packages" --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' "$release" "$root" >&2
  echo "$release $packages" >"$folder/packages"
fi
rm -rf "$folder/out" "$root/opt/ipvs-proxier"
node hack/image/build.ts "$folder/out"
cp -a "$folder/out/." "$root/"
node hack/image/sbom.ts --dpkg "$root/var/lib/dpkg/status" >"$root/opt/ipvs-proxier/sbom.cdx.json"
chmod 644 "$root/opt/ipvs-proxier/sbom.cdx.json"
# mount points, which an engine makes
mkdir -p "$root/usr/lib/modules" "$root/etc/ipvs-proxier"
echo "image-test: $(du -sm --apparent-size "$root" | cut -f1) MB, of which the program $(du -sm --apparent-size "$folder/out" | cut -f1) MB" >&2

${LAB:-bash hack/lab.sh} -t 540 node hack/image/try.ts "$root"
