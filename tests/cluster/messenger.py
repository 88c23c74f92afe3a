"""Starts what a node wants done on another one: the other end of ask_node, outside the emulated cluster."""

import json
import os
import socketserver
import subprocess
import threading
from contextlib import contextmanager


class _Handler(socketserver.StreamRequestHandler):
    def handle(self):
        node, *words = json.loads(self.rfile.readline())
        self.server.asked.append((node, words))
        if node not in self.server.cluster.nodes:
            answer = {"code": 255, "out": "", "err": f"ssh: Could not resolve hostname {node}\n"}
        else:  # as ssh does: the words are joined and given to a shell
            there = [*self.server.cluster.words(node), "sh", "-c", " ".join(words)]
            done = subprocess.run(there, env=self.server.env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            answer = {"code": done.returncode, "out": done.stdout, "err": done.stderr}
        self.wfile.write(json.dumps(answer).encode())


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


@contextmanager
def messenger(cluster, path, env):
    """`path`: of its socket, which all nodes see. Yields what was asked: (node, words)."""
    with _Server(str(path), _Handler) as server:
        server.cluster, server.env, server.asked = cluster, {**os.environ, **env}, []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.asked
        finally:
            server.shutdown()
