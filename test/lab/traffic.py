#!/usr/bin/env python3
"""Servers and clients in many network namespaces, all in this one process: no fork, no exec, no `ip netns exec`.

Standard input has one JSON object a line, standard output one for each, in the order in which they are done:

  {"id": ID, "request": NAME, ...arguments}   ->   {"id": ID, "value": ...}  or  {"id": ID, "error": TEXT}

  serve     namespace name port                   TCP (HTTP too), UDP and SCTP on that port, both families; each answers
                                                  "NAME PEER-ADDRESS". The same name and port again changes nothing
  stop      namespace name                        closes its listeners and connections, on every port
  ask       TARGET times [source] [source_port] [patience]  that many exchanges one after another, each on a new connection:
                                                  {"answers": {TEXT: COUNT}, "troubles": {TROUBLE: COUNT}}
  open      key TARGET [source] [source_port] [patience]  one exchange on a connection that is kept (UDP: a local port):
                                                  [answered, TEXT or TROUBLE]
  again     key [patience]                        another exchange on it
  stray     namespace key address port            sends the TCP client of that connection a segment far out of its window, as
                                                  from a server of the namespace with that address and port
  close     key [reset]                           reset gives a TCP connection up at once
  rate      TARGET seconds                        exchanges a second, each on a new connection
  download  TARGET parts [patience]               one TCP answer of so many parts, which the server sends one every 0.2 s:
                                                  [answered, "NAME PEER-ADDRESS" or TROUBLE]

TARGET is namespace protocol address port [bytes] [path]; protocols are tcp, udp, sctp and http. With bytes, a request of
that size goes there, to be sent back whole behind the answer; with http it is the size of the body. path is http's, "/"
unless given. A trouble is refused, reset, timeout, silent (ask: there was a connection, and no answer on it in time),
closed (by the server, before it answered), mangled (not sent back as it was), forbidden, unreachable, "status NNN", or
the system's own words.
patience is in seconds. The namespace "root" is the one this process was started in.
"""
import asyncio
import collections
import ctypes
import errno
import json
import os
import re
import socket
import struct
import sys
import time

PROTOCOLS = {'tcp': (socket.SOCK_STREAM, socket.IPPROTO_TCP), 'udp': (socket.SOCK_DGRAM, socket.IPPROTO_UDP),
             'sctp': (socket.SOCK_STREAM, socket.IPPROTO_SCTP)}
TROUBLES = {errno.ECONNREFUSED: 'refused', errno.ECONNRESET: 'reset', errno.EPIPE: 'reset', errno.EPERM: 'forbidden',
            errno.EHOSTUNREACH: 'unreachable', errno.ENETUNREACH: 'unreachable'}
CLONE_NEWNET = 0x40000000
IPV6_RECVPKTINFO = 49              # linux/in6.h; Python has no name for it
PKTINFO = struct.Struct('16si')    # an address and the number of an interface, or 0
PATIENCE_SECONDS = 1.5
PART_SECONDS = 0.2
PART = b'0123456789abcdef' * 64

libc = ctypes.CDLL(None, use_errno=True)
loop = asyncio.new_event_loop()
namespaces = {'root': os.open('/proc/self/ns/net', os.O_RDONLY)}
servers = {}                       # (namespace, name, port) -> Server
held = {}                          # key -> (protocol, socket)
running = set()
inside = 'root'                    # the namespace this process's thread is in


class Trouble(Exception):
    """What became of an exchange that had no answer."""


class Server:
    def __init__(self):
        self.sockets, self.tasks = set(), set()

    def start(self, opened, coroutine):
        self.sockets.add(opened)
        task = start(coroutine)
        self.tasks.add(task)
        task.add_done_callback(lambda _: self.forget(task, opened))

    def forget(self, task, opened):
        self.tasks.discard(task)
        self.sockets.discard(opened)
        opened.close()

    async def stop(self):
        tasks = list(self.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def start(coroutine):
    task = loop.create_task(coroutine)
    running.add(task)
    task.add_done_callback(running.discard)
    return task


def enter(namespace):
    """Stays where it is without asking the kernel: in a pod there is one namespace, and no leave to enter any."""
    global inside
    if namespace == inside:
        return
    if libc.setns(namespaces[namespace], CLONE_NEWNET):
        raise RuntimeError(f'setns {namespace}: {os.strerror(ctypes.get_errno())}')
    inside = namespace


def make_socket(namespace, protocol, family):
    """A socket belongs for life to the namespace its thread was in when it was made."""
    if namespace not in namespaces:
        if not os.path.exists(f'/run/netns/{namespace}'):
            raise LookupError(f'there is no namespace {namespace}')
        namespaces[namespace] = os.open(f'/run/netns/{namespace}', os.O_RDONLY)
    enter(namespace)
    made = socket.socket(family, *PROTOCOLS['tcp' if protocol == 'http' else protocol])
    made.setblocking(False)
    return made


# --- servers

async def serve(namespace, name, port):
    key = (namespace, name, port)
    if key in servers:
        return
    server = servers[key] = Server()
    try:
        for protocol in PROTOCOLS:
            listener = listen(namespace, protocol, port)
            serving = serve_datagrams if protocol == 'udp' else serve_streams
            server.start(listener, serving(server, listener, name))
    except Exception:
        await servers.pop(key).stop()
        raise


def listen(namespace, protocol, port):
    listener = make_socket(namespace, protocol, socket.AF_INET6)
    try:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        if protocol == 'udp':
            listener.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVPKTINFO, 1)
            listener.bind(('::', port))
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(('::', port))
            listener.listen(128)
        return listener
    except OSError:
        listener.close()
        raise


async def stop(namespace, name):
    for key in [key for key in servers if key[:2] == (namespace, name)]:
        await servers.pop(key).stop()


async def serve_streams(server, listener, name):
    while True:
        connection, peer = await loop.sock_accept(listener)
        server.start(connection, serve_stream(connection, name, peer))


async def serve_stream(connection, name, peer):
    try:
        while request := await loop.sock_recv(connection, 65536):
            while len(request) < size_of(request) and (more := await loop.sock_recv(connection, 65536)):
                request += more
            await loop.sock_sendall(connection, reply(name, peer, request))
            for _ in range(parts_of(request)):
                await asyncio.sleep(PART_SECONDS)
                await loop.sock_sendall(connection, PART)
            if is_http(request):
                return
    except OSError:
        pass


async def serve_datagrams(_server, listener, name):
    """Answers from the address that was asked: a node has several, and the kernel would choose by the way back."""
    while True:
        await readable(listener)
        try:
            request, told, _, peer = listener.recvmsg(65536, socket.CMSG_SPACE(PKTINFO.size))
            from_asked = [(level, kind, PKTINFO.pack(PKTINFO.unpack(data)[0], 0)) for level, kind, data in told]
            listener.sendmsg([reply(name, peer, request)], from_asked, 0, peer)
        except OSError:
            pass


async def readable(opened):
    waiting = loop.create_future()
    loop.add_reader(opened, lambda: waiting.done() or waiting.set_result(None))
    try:
        await waiting
    finally:
        loop.remove_reader(opened)


def reply(name, peer, request):
    text = f'{name} {peer[0].removeprefix("::ffff:")}\n'.encode()
    text += sent_back(request)
    if not is_http(request):
        return text
    return b'HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%b' % (len(text), text)


def is_http(request):
    return request.startswith((b'GET ', b'POST '))


def size_of(request):
    """How long a request will be when it is complete; 0 for one that does not say."""
    if echo := re.match(rb'echo (\d+)\n', request):
        return int(echo[1])
    post = re.match(rb'POST .*?Content-Length: (\d+)\r\n\r\n', request, re.DOTALL)
    return post.end() + int(post[1]) if post else 0


def parts_of(request):
    """How much a download asks for."""
    asked = re.fullmatch(rb'download (\d+)\n', request)
    return int(asked[1]) if asked else 0


def sent_back(request):
    """The part of a large request that its sender wants to see again."""
    if request.startswith(b'echo '):
        return request.partition(b'\n')[2]
    return request.partition(b'\r\n\r\n')[2] if request.startswith(b'POST ') else b''


# --- clients

async def connect(namespace, protocol, address, port, source='', source_port=0):
    client = make_socket(namespace, protocol, socket.AF_INET6 if ':' in address else socket.AF_INET)
    try:
        if source_port:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if source or source_port:
            client.bind((source, source_port))
        await loop.sock_connect(client, (address, port))
        return client
    except BaseException:
        client.close()
        raise


async def exchange(protocol, client, size=0, path='/'):
    request = request_of(protocol, size, path)
    await loop.sock_sendall(client, request)
    answer = await (receive_http(client) if protocol == 'http' else receive(client, len(sent_back(request))))
    text, _, body = answer.partition(b'\n') if size else (answer, b'', b'')
    if body != sent_back(request):
        raise Trouble('mangled')
    return text.decode().strip()


def request_of(protocol, size, path):
    body = (b'0123456789abcdef' * (size // 16 + 1))[:size]
    if protocol == 'http':
        method = f'POST {path} HTTP/1.0\r\nContent-Length: {size}' if size else f'GET {path} HTTP/1.0'
        return method.encode() + b'\r\n\r\n' + body
    return (b'echo %d\n' % size).ljust(size, b'x') if size else b'hello\n'


async def receive(client, size):
    answer = await loop.sock_recv(client, 65536)
    while answer and len(answer.partition(b'\n')[2]) < size and (more := await loop.sock_recv(client, 65536)):
        answer += more
    if not answer:
        raise Trouble('closed')
    return answer


async def receive_http(client):
    response = b''
    while part := await loop.sock_recv(client, 65536):
        response += part
    if not response:
        raise Trouble('closed')
    head, _, body = response.partition(b'\r\n\r\n')
    status = head.split(b' ', 2)[1].decode() if head.startswith(b'HTTP/1.') else 'missing'
    if status != '200':
        raise Trouble(f'status {status}')
    return body


async def exchange_once(namespace, protocol, address, port, source='', source_port=0, bytes=0, path='/'):
    with await connect(namespace, protocol, address, port, source, source_port) as client:
        try:
            return await exchange(protocol, client, bytes, path)
        except asyncio.CancelledError:
            if protocol == 'udp':
                raise
            raise Trouble('silent') from None


async def outcome(attempt, patience=PATIENCE_SECONDS):
    """Whether it was answered, and the answer or the trouble."""
    try:
        return True, await asyncio.wait_for(attempt, patience)
    except asyncio.TimeoutError:
        return False, 'timeout'
    except Trouble as trouble:
        return False, str(trouble)
    except OSError as error:
        return False, TROUBLES.get(error.errno, str(error))


async def ask(times, patience=PATIENCE_SECONDS, **target):
    answers, troubles = collections.Counter(), collections.Counter()
    for _ in range(times):
        answered, text = await outcome(exchange_once(**target), patience)
        (answers if answered else troubles)[text] += 1
    return {'answers': answers, 'troubles': troubles}


async def open_(key, protocol, patience=PATIENCE_SECONDS, **target):
    async def attempt():
        held[key] = protocol, await connect(protocol=protocol, **target)
        return await exchange(*held[key])
    return await outcome(attempt(), patience)


async def again(key, patience=PATIENCE_SECONDS):
    return await outcome(exchange(*held[key]), patience) if key in held else (False, 'closed')


async def stray(namespace, key, address, port):
    client, client_port = held[key][1].getsockname()[:2]
    family = socket.AF_INET6 if ':' in address else socket.AF_INET
    flags = 0x5018                                               # five words of header; PSH and ACK
    segment = struct.pack('!HHIIHHHH', port, client_port, 1, 1, flags, 1024, 0, 0) + b'stray!'
    pseudo = socket.inet_pton(family, address) + socket.inet_pton(family, client)
    words = pseudo + struct.pack('!II', len(segment), socket.IPPROTO_TCP) + segment
    total = sum(struct.unpack(f'!{len(words) // 2}H', words))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    enter(namespace)
    with socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_TCP) as raw:
        raw.bind((address, 0))
        raw.sendto(segment[:16] + struct.pack('!H', ~total & 0xffff) + segment[18:], (client, 0))


async def close(key, reset=False):
    if key not in held:
        return
    client = held.pop(key)[1]
    if reset:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    client.close()


async def rate(seconds, **target):
    answered, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        answered += (await outcome(exchange_once(**target)))[0]
    return answered / seconds


async def download(parts, namespace, protocol, address, port, patience=PATIENCE_SECONDS):
    async def attempt():
        with await connect(namespace, protocol, address, port) as client:
            await loop.sock_sendall(client, b'download %d\n' % parts)
            text, _, body = (await receive(client, parts * len(PART))).partition(b'\n')
            if body != PART * parts:
                raise Trouble('closed' if len(body) < parts * len(PART) else 'mangled')
            return text.decode()
    return await outcome(attempt(), patience)


REQUESTS = {'serve': serve, 'stop': stop, 'ask': ask, 'open': open_, 'again': again, 'stray': stray,
            'close': close, 'rate': rate, 'download': download}


async def answer(id, request, **arguments):
    try:
        result = {'value': await REQUESTS[request](**arguments)}
    except Exception as error:                                   # its asker is told, the others go on
        result = {'error': f'{request}: {error!r}'}
    print(json.dumps({'id': id, **result}), flush=True)


async def main():
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        start(answer(**json.loads(line)))


loop.run_until_complete(main())
os._exit(0)
