"""The links between the hosts of tools/cluster-in-a-box. Each host has a device net0. All pairs of hosts have the
same latency, and all links the same rate in each direction.

    PlainLinks   veth pairs to a bridge without limits: as fast as the kernel copies
    NetemLinks   veth pairs limited by `tc netem`: the device of each host by rate and latency, and the bridge's
                 end of it, to which several hosts may send, by rate
    RelayLinks   TUN devices; a process forwards the frames when they are due (link_relay.cpp). For kernels
                 without netem

Frames have the maximum length (MTU), so that programs and TCP behave alike with each kind of link.
"""

import fcntl
import json
import os
import struct
import subprocess
import sys

from hosts import die_with_parent, run

MTU = 65000
QUEUE_FRAMES = 20000  # Limit of netem, above the number of frames that TCP queues.
TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR, TUN_F_CSUM = 0x0001, 0x1000, 0x4000, 0x01


def netem_is_there():
    """Returns whether the kernel supports netem. Loads the module if it exists."""
    added = subprocess.run(["tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"], capture_output=True)
    if added.returncode == 0:
        run("tc qdisc del dev lo root")
    return added.returncode == 0


class PlainLinks:
    def __init__(self, cluster):
        self.hosts = cluster.hosts
        run("ip link add hub type bridge")
        for number, host in enumerate(self.hosts, 1):
            # Both ends need the MTU. Otherwise the kernel would fragment forwarded frames.
            run(f"ip link add port{number} mtu {MTU} type veth peer name net0 mtu {MTU} netns {host.pid}")
            run(f"ip link set port{number} master hub up")
            bring_up(host)
        run("ip link set hub up")

    def report(self):
        return None

    def close(self):
        for number in range(1, len(self.hosts) + 1):
            run(f"ip link del port{number}")
        run("ip link del hub")


class NetemLinks(PlainLinks):
    def __init__(self, cluster, latency_s, bits_per_s):
        super().__init__(cluster)
        rate = f"rate {bits_per_s:.0f}bit limit {QUEUE_FRAMES}"
        for number, host in enumerate(self.hosts, 1):
            host.run(f"tc qdisc add dev net0 root netem delay {1e6 * latency_s:.3f}us {rate}")
            if len(self.hosts) > 2:
                run(f"tc qdisc add dev port{number} root netem {rate}")


class RelayLinks:
    def __init__(self, cluster, latency_s, bits_per_s, program):
        devices = []
        for number, host in enumerate(cluster.hosts, 1):
            devices.append(open_tun(f"tun{number}"))
            run(f"ip link set tun{number} netns {host.pid} name net0")
            host.run(f"ip link set net0 mtu {MTU}")
            bring_up(host)
        self._relay = subprocess.Popen(
            [program, f"{1e9 * latency_s:.0f}", f"{bits_per_s:.0f}", *map(str, devices)], pass_fds=devices,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        for device in devices:
            os.close(device)  # Only the relay keeps them open, so they disappear when it ends.

    def report(self):
        """Returns the counters of the relay: frames, bytes, dropped, late_sum_s, late_most_s (since the last
        report), cpu_s."""
        try:
            self._relay.stdin.write("?\n")
            self._relay.stdin.flush()
            return json.loads(self._relay.stdout.readline())
        except (OSError, ValueError):
            sys.exit(f"cluster-in-a-box: the relay ended with status {self._relay.wait(5)}")

    def close(self):
        self._relay.stdin.close()
        self._relay.wait(5)
        self._relay.stdout.close()


def bring_up(host):
    # IPv4 only: the kernel's own IPv6 packets would be counted.
    host.run("sh -c 'echo 1 > /proc/sys/net/ipv6/conf/net0/disable_ipv6 || true'")
    host.run(f"ip address add {host.address}/24 dev net0")
    host.run("ip link set net0 up")


def open_tun(name):
    """Opens a TUN device without checksums, like network cards and veth."""
    try:
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI | IFF_VNET_HDR))
        fcntl.ioctl(device, TUNSETOFFLOAD, TUN_F_CSUM)
    except OSError as error:
        sys.exit(f"cluster-in-a-box: the kernel has neither netem nor TUN devices: {error}")
    return device


