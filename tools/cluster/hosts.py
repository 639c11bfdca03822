"""The hosts of tools/cluster-in-a-box, in separate namespaces of processes, mounts and networks.

`enter_namespaces` moves the script into new namespaces as their first process. When this process ends for any
reason, the kernel ends all other processes in them and removes their networks, devices and mounts. A host is a
network namespace and a host name, held by a sleeping process, and a share of the cores.
"""

import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

NETWORK = "10.83.0"  # Host h has address .h. The network is not visible outside.
CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x20000000, 0x40000000
PR_SET_PDEATHSIG = 1


def enter_namespaces(folder):
    """Continues in a child, the first process of new namespaces. The parent waits and exits with the status of the
    child. If it is interrupted, it kills the child. In the child, `folder` is an empty folder in memory."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET) != 0:
        sys.exit(f"cluster-in-a-box: cannot create namespaces: {os.strerror(ctypes.get_errno())}")
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    child = os.fork()
    if child:
        def end(number, _):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            print(f"\ncluster-in-a-box: {signal.Signals(number).name}; ended all its processes", file=sys.stderr)
            os._exit(128 + number)

        for number in signals:
            signal.signal(number, end)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for number in signals:
        signal.signal(number, signal.SIG_IGN)  # The parent handles them.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
    run("mount --make-rprivate /")
    run("mount -t proc proc /proc")
    folder.mkdir(parents=True, exist_ok=True)
    run(f"mount -t tmpfs cluster {shlex.quote(str(folder))}")


def run(command):
    """Runs a command, given as one string, and returns its output. Ends the script if the command fails."""
    done = subprocess.run(shlex.split(command), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"cluster-in-a-box: '{command}' ended with {done.returncode}: {(done.stderr + done.stdout).strip()}")
    return done.stdout


class Host:
    def __init__(self, number, cores, folder):
        self.name, self.address, self.cores = f"host{number}", f"{NETWORK}.{number}", cores
        self._holder = subprocess.Popen(
            ["unshare", "--net", "--uts", "sh", "-c", f"hostname {self.name} && echo ready && exec sleep infinity"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        self.pid = self._holder.pid
        if self._holder.stdout.readline() != "ready\n":
            sys.exit(f"cluster-in-a-box: {self.name} does not start")
        (folder / self.name).write_text(f"{self.pid} {self.cores}\n")
        self.run("ip link set lo up")

    def inside(self, command):
        """Returns the words of a command line that runs `command`, a list of words, on this host."""
        return ["nsenter", "--target", str(self.pid), "--net", "--uts", "taskset", "-c", self.cores,
                *map(str, command)]

    def run(self, command):
        return run(shlex.join(self.inside(shlex.split(command))))

    def traffic(self, device="net0"):
        """Returns the bytes and packets that the device sent, and the packets that it dropped."""
        lines = Path(f"/proc/{self.pid}/net/dev").read_text().splitlines()
        fields = next(line for line in lines if line.strip().startswith(f"{device}:")).split(":")[1].split()
        return {"bytes": int(fields[8]), "packets": int(fields[9]), "dropped": int(fields[11])}


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def share_cores(count):
    """Returns a list of cores for each host in the form of taskset: equal shares, or all cores for each host if
    there are fewer cores than hosts."""
    cores = sorted(os.sched_getaffinity(0))
    share = len(cores) // count
    parts = [cores[h * share:(h + 1) * share] if share else cores for h in range(count)]
    return [",".join(map(str, part)) for part in parts]


class Cluster:
    """`count` hosts that can resolve each other's names. The folder has a file for each host for the launch agent."""

    def __init__(self, count, folder):
        self.folder = folder / "hosts"
        self.folder.mkdir()
        self.hosts = [Host(h + 1, cores, self.folder) for h, cores in enumerate(share_cores(count))]
        names = folder / "etc_hosts"
        names.write_text("127.0.0.1 localhost\n" + "".join(f"{host.address} {host.name}\n" for host in self.hosts))
        run(f"mount --bind {shlex.quote(str(names))} /etc/hosts")
        self.hostfile = folder / "hostfile"
        self.hostfile.write_text("".join(f"{host.name} slots=1\n" for host in self.hosts))
        run("ip link set lo up")

    def traffic(self):
        """Returns the sums of `Host.traffic` over all hosts."""
        each = [host.traffic() for host in self.hosts]
        return {key: sum(one[key] for one in each) for key in each[0]}


def need_programs(names):
    if missing := [name for name in names if not shutil.which(name)]:
        sys.exit(f"cluster-in-a-box: {', '.join(missing)} not found; run 'tools/cluster-in-a-box --install'")
