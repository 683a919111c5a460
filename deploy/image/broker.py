"""A real Apache Kafka for a test, on this machine's loopback, by deploy/kafka/kafka.sh, and Kafka's own tools."""

import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300
"""Seconds: a bound against hanging, not a measure of speed."""
JAVA = ["java", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", f"{ROOT}/target/kafka/libs/*"]


def free_port(count: int = 1) -> int:
    """The first of `count` ports that are free together."""
    while True:
        with socket.socket() as first:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
        try:
            for each in range(port, port + count):
                with socket.socket() as s:
                    s.bind(("127.0.0.1", each))
            return port
        except (OSError, OverflowError):
            continue


class Broker:
    """With `sign_in`: listeners by TLS and SASL as well, and an authoriser; `dir` then has the authority's certificate, ca.pem."""

    def __init__(self, sign_in: bool = False):
        self.held = tempfile.TemporaryDirectory()
        self.dir = Path(self.held.name)
        self.port = free_port(5)
        self.address = f"127.0.0.1:{self.port}"
        self.signed_in = f"127.0.0.1:{self.port + 4}"
        command = [ROOT / "deploy/kafka/kafka.sh", "serve", self.dir, str(self.port), "eof"]
        environment = {**os.environ, **({"KAFKA_SIGN_IN": "1"} if sign_in else {})}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                assert time.monotonic() < end and self.process.poll() is None, "the broker does not start"
                time.sleep(0.2)

    def tool(self, name: str, *arguments: str, given: str = "") -> str:
        """One of Kafka's own tools, as an operator would use it."""
        command = [*JAVA, f"org.apache.kafka.tools.{name}", "--bootstrap-server", self.address, *arguments]
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
        return done.stdout

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.held.cleanup()
