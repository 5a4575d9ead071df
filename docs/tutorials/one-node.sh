# A node by hand, for `hack/lab.sh bash docs/tutorials/one-node.sh`: one interface, one pod, and what `render` prints.
set -e
[[ -n ${IN_LAB-} ]] || { echo 'run it by hack/lab.sh: it changes the network it runs in' >&2; exit 1; }

# The node's interface, and a pod with a web server behind a veth pair.
ip link add eth0 type dummy
ip link set eth0 up
ip address add 192.168.0.11/24 dev eth0
ip netns add pod
ip link add pod0 type veth peer name eth0 netns pod
ip link set pod0 up
ip address add 10.180.1.1/32 dev pod0
ip route add 10.180.1.11 dev pod0
ip -n pod -batch - <<'BATCH'
link set lo up
link set eth0 up
address add 10.180.1.11/32 dev eth0
route add 10.180.1.1 dev eth0
route add default via 10.180.1.1 dev eth0
BATCH
web=$(mktemp -d -p /run)
echo 'hello from the cart' >"$web/index.html"
ip netns exec pod /usr/bin/python3 -m http.server --directory "$web" 8080 >/dev/null 2>&1 &

# What ipvs-proxier wants of this node, each part into its own tool.
render() {
  node src/main.ts render -f docs/tutorials/cart.yaml --node node-a --node-addresses eth0=192.168.0.11/24 \
    --cluster-cidr 10.180.0.0/16 --proxy-mode ipvs -o "$1"
}
sysctl -q net.ipv4.vs.conntrack=1 net.ipv4.vs.expire_nodest_conn=1 net.ipv4.ip_forward=1
render ipset | ipset -exist restore
render iptables | iptables-restore --noflush
render ip6tables | ip6tables-restore --noflush
render ipvs | ipvsadm -R
render address | ip -batch -

# Ask for the page at the cluster address and at the node port, then look at what the kernel counted.
get() { /usr/bin/python3 -c 'import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())' "$1"; }
echo "cluster address: $(get http://10.96.0.10/)"
echo "node port:       $(get http://192.168.0.11:30080/)"
ipvsadm -Ln
ip -br address show kube-ipvs0
ipset save KUBE-CLUSTER-IP
