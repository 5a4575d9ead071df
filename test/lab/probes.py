#!/usr/bin/env python3
"""Packets that no ordinary socket sends, from the network namespace it is started in.

  probes.py echo ADDRESS...   one line each: answered, unreachable or silent, to an ICMP or ICMPv6 echo request
  probes.py arp ADDRESS...    one line each: the hardware addresses that answered on eth0 within a second, sorted; may be empty
"""
import fcntl
import socket
import struct
import sys
import time

PATIENCE_SECONDS = 1.0
ARP, BROADCAST = 0x0806, b'\xff' * 6
ETHERNET_IPV4 = struct.pack('!HHBB', 1, 0x0800, 6, 4)
# Echo request and reply, and the type of "destination unreachable".
ICMP = {socket.AF_INET: (socket.IPPROTO_ICMP, 8, 0, 3), socket.AF_INET6: (socket.IPPROTO_ICMPV6, 128, 129, 1)}


def packets(opened):
    """What comes in until the patience ends."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (left := end - time.monotonic()) > 0:
        opened.settimeout(left)
        try:
            yield opened.recv(2048)
        except TimeoutError:
            return


def checksum(data):
    total = sum(struct.unpack(f'!{len(data) // 2}H', data))
    total = (total & 0xffff) + (total >> 16)
    return ~(total + (total >> 16)) & 0xffff


def echo(address):
    family = socket.AF_INET6 if ':' in address else socket.AF_INET
    protocol, request, reply, unreachable = ICMP[family]
    with socket.socket(family, socket.SOCK_RAW, protocol) as opened:
        opened.connect((address, 0))
        body = b'lab!'
        sum_ = checksum(struct.pack('!BBHHH', request, 0, 0, 7, 1) + body) if family == socket.AF_INET else 0
        opened.send(struct.pack('!BBHHH', request, 0, sum_, 7, 1) + body)
        for packet in packets(opened):
            message = packet[20:] if family == socket.AF_INET else packet
            if message[0] == reply and message.endswith(body):
                return 'answered'
            if message[0] == unreachable:
                return 'unreachable'
    return 'silent'


def arp(address):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ARP)) as opened:
        opened.bind(('eth0', ARP))
        own, wanted = opened.getsockname()[4], socket.inet_aton(address)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as named:      # SIOCGIFADDR
            sender = fcntl.ioctl(named, 0x8915, struct.pack('256s', b'eth0'))[20:24]
        request = ETHERNET_IPV4 + struct.pack('!H', 1) + own + sender + bytes(6) + wanted
        opened.send(BROADCAST + own + struct.pack('!H', ARP) + request)
        answers = [packet for packet in packets(opened) if packet[20:22] == b'\0\2' and packet[28:32] == wanted]
    return ' '.join(sorted({packet[22:28].hex(':') for packet in answers}))


probe = {'echo': echo, 'arp': arp}[sys.argv[1]]
for each in sys.argv[2:]:
    print(probe(each))
