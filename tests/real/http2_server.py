#!/usr/bin/python3
"""http2_server.py - HTTP/2 with Python.  Usage: http2_server.py KIND [KEY CERT]

KIND is hypercorn (with KEY and CERT: over TLS), or one of a server made with
python-h2: reset (every tenth stream), settings (with every 50th request of a
connection no more streams are allowed, the windows shrink to 10 bytes and the
header table to none, until the client has acknowledged it), goaway (after
every 50th request of a connection) or window (never opens one).
"""
import asyncio
import itertools
import socket
import sys
import threading

import h2.config
import h2.connection
import h2.errors
import h2.events
from h2.settings import SettingCodes
from hyperframe.frame import GoAwayFrame

FEW = {
    SettingCodes.MAX_CONCURRENT_STREAMS: 0,
    SettingCodes.INITIAL_WINDOW_SIZE: 10,
    SettingCodes.HEADER_TABLE_SIZE: 0,
}
MANY = {
    SettingCodes.MAX_CONCURRENT_STREAMS: 100,
    SettingCodes.INITIAL_WINDOW_SIZE: 65535,
    SettingCodes.HEADER_TABLE_SIZE: 4096,
}

numbers = itertools.count(1)  # of requests, over all connections


class Connection:
    def __init__(self, kind, sock):
        self.kind = kind
        self.sock = sock
        self.served = 0
        self.is_few = False
        self.last = 0  # stream that is served; 0: no end
        self.has_goaway = False
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))

    def answer(self, stream):
        if self.last and stream > self.last:
            return
        self.served += 1
        if self.kind == 'reset' and next(numbers) % 10 == 0:
            self.h2.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
            return
        self.h2.send_headers(stream, [(':status', '200'), ('content-type', 'text/plain')])
        self.h2.send_data(stream, b'hello there', end_stream=True)
        if self.kind == 'settings' and self.served % 50 == 0 and not self.is_few:
            self.is_few = True
            self.h2.update_settings(FEW)
        if self.kind == 'goaway' and self.served == 50:
            self.last = stream

    def take(self, event):
        if isinstance(event, h2.events.DataReceived) and self.kind != 'window':
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.SettingsAcknowledged):
            if self.is_few and SettingCodes.HEADER_TABLE_SIZE in event.changed_settings:
                self.is_few = False
                self.h2.update_settings(MANY)
        elif isinstance(event, h2.events.StreamEnded):
            self.answer(event.stream_id)

    def send(self):
        """python-h2 sends no answers after a GOAWAY: it does not learn of it."""
        data = self.h2.data_to_send()
        if self.last and not self.has_goaway:
            self.has_goaway = True
            data += GoAwayFrame(0, last_stream_id=self.last).serialize()
        self.sock.sendall(data)

    def serve(self):
        self.h2.initiate_connection()
        if self.kind == 'settings':
            self.h2.update_settings(MANY)
        self.send()
        while data := self.sock.recv(65536):
            for event in self.h2.receive_data(data):
                self.take(event)
            self.send()

    def run(self):
        try:
            self.serve()
        except OSError:
            pass
        self.sock.close()


async def app(scope, receive, send):
    if scope['type'] == 'lifespan':
        await receive()
        await send({'type': 'lifespan.startup.complete'})
        await receive()
        return
    assert scope['http_version'] == '2'
    while (await receive()).get('more_body'):
        pass
    await send({'type': 'http.response.start', 'status': 200, 'headers': []})
    await send({'type': 'http.response.body', 'body': b'hello there'})


def serve_hypercorn(listener, files):
    from hypercorn.asyncio import serve
    from hypercorn.config import Config

    config = Config()
    config.bind = [f'fd://{listener.detach()}']
    if files:
        config.keyfile, config.certfile = files
    asyncio.run(serve(app, config))


def main(kind, *files):
    listener = socket.create_server(('127.0.0.1', 0), backlog=128)
    port = listener.getsockname()[1]
    print(f'listening on http{"s" if files else ""}://127.0.0.1:{port}', flush=True)
    if kind == 'hypercorn':
        serve_hypercorn(listener, files)
    while True:
        sock, _ = listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=Connection(kind, sock).run, daemon=True).start()


main(*sys.argv[1:])
