"""One plain TCP stream between two hosts of tools/cluster-in-a-box.

    stream.py receive ADDRESS        accepts one connection, and prints the rate in bits per second
    stream.py send ADDRESS SECONDS   sends zeros for the given time

The rate is measured between the first and the last byte.
"""

import socket
import sys
import time

PORT = 8383
PIECE = 1 << 20


def receive(address):
    with socket.create_server((address, PORT)) as server:
        server.settimeout(20)
        print("ready", flush=True)
        connection, _ = server.accept()
    buffer = bytearray(PIECE)
    connection.settimeout(20)
    connection.recv_into(buffer)
    start = end = time.monotonic()
    total = 0
    while got := connection.recv_into(buffer):
        total += got
        end = time.monotonic()
    print(8 * total / max(end - start, 1e-9))


def send(address, seconds):
    piece = bytes(PIECE)
    with socket.create_connection((address, PORT), 20) as connection:
        connection.settimeout(20)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            connection.sendall(piece)


if __name__ == "__main__":
    receive(sys.argv[2]) if sys.argv[1] == "receive" else send(sys.argv[2], float(sys.argv[3]))
