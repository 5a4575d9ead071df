#!/usr/bin/env bash
# Runs a command in the image's root file system, as a container of the DaemonSet would: read-only, on this network namespace.
#
#   hack/image/in-image.sh ROOT init|main FOLDER COMMAND [ARG...]
#
# init is privileged and has the modules; main has NET_ADMIN and NET_RAW only, and a read-only /proc/sys. FOLDER has what is mounted:
# config.yaml, serviceaccount/ and xtables.lock. Environment and standard streams are the caller's, but for PATH.
set -euo pipefail
root=$1 container=$2 folder=$3
shift 3
if [[ -z ${IN_IMAGE-} ]]; then
  IN_IMAGE=yes exec unshare --mount --propagation private "$BASH" "$0" "$root" "$container" "$folder" "$@"
fi
unset IN_IMAGE NODE_EXTRA_CA_CERTS NODE_OPTIONS

mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/run"
mkdir -p "$root/run/secrets/kubernetes.io" "$root/run/lock"
cp -a "$folder/serviceaccount" "$root/run/secrets/kubernetes.io/"
touch "$root/run/xtables.lock"
mount --bind "$folder/xtables.lock" "$root/run/xtables.lock"
mount --bind "$folder/config" "$root/etc/ipvs-proxier"
export PATH=/opt/ipvs-proxier/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
case $container in
  init)
    mount --bind /lib/modules "$root/usr/lib/modules"
    exec chroot "$root" "$@"
    ;;
  main)
    mount --bind "$root/proc/sys" "$root/proc/sys"
    mount -o remount,bind,ro "$root/proc/sys"
    mount -o remount,ro "$root/sys"
    exec chroot "$root" setpriv --bounding-set -all,+net_admin,+net_raw --inh-caps -all --no-new-privs "$@"
    ;;
  *) echo "in-image: $container is neither init nor main" >&2; exit 2 ;;
esac
