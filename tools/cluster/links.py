"""What connects the hosts of tools/cluster-in-a-box: each has a device net0, and each pair of hosts the same latency;
the link of each host has the same rate in each direction.

    PlainLinks   veth pairs to a bridge, nothing held back: as fast as the kernel copies
    NetemLinks   the same, held back by `tc netem`: each host's device by rate and latency; the bridge's end of
                 it, where several hosts may send to one, by rate
    RelayLinks   TUN devices between which a process moves frames when their time has come (link_relay.cpp),
                 where the kernel has no netem

Frames are as long as they can be (MTU), so that programs and TCP do the same whichever it is.
"""

import fcntl
import json
import os
import struct
import subprocess
import sys

from hosts import die_with_parent, run

MTU = 65000
QUEUE_FRAMES = 20000  # Of netem: more than TCP leaves in a queue.
TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR, TUN_F_CSUM = 0x0001, 0x1000, 0x4000, 0x01


def netem_is_there():
    """Asks the kernel, which loads the module where there is one."""
    asked = subprocess.run(["tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"], capture_output=True)
    if asked.returncode == 0:
        run("tc qdisc del dev lo root")
    return asked.returncode == 0


class PlainLinks:
    def __init__(self, cluster):
        self.hosts = cluster.hosts
        run("ip link add hub type bridge")
        for number, host in enumerate(self.hosts, 1):
            # mtu of both ends, or the kernel would cut what the bridge passes on
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
            os.close(device)  # The relay has them; with it the devices go.

    def report(self):
        """What the relay has done so far: frames, bytes, dropped, late_sum_s, late_most_s (since the last report),
        cpu_s."""
        try:
            self._relay.stdin.write("?\n")
            self._relay.stdin.flush()
            return json.loads(self._relay.stdout.readline())
        except (OSError, ValueError):
            sys.exit(f"cluster-in-a-box: the relay has ended with {self._relay.wait(5)}")

    def close(self):
        self._relay.stdin.close()
        self._relay.wait(5)
        self._relay.stdout.close()


def bring_up(host):
    # Speaks IPv4 only: what the kernel says by itself over IPv6 would be counted.
    host.run("sh -c 'echo 1 > /proc/sys/net/ipv6/conf/net0/disable_ipv6 || true'")
    host.run(f"ip address add {host.address}/24 dev net0")
    host.run("ip link set net0 up")


def open_tun(name):
    """Checksums are left out, as cards and veth do."""
    try:
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI | IFF_VNET_HDR))
        fcntl.ioctl(device, TUNSETOFFLOAD, TUN_F_CSUM)
    except OSError as error:
        sys.exit(f"cluster-in-a-box: the kernel has neither netem nor TUN devices: {error}")
    return device


