"""An application as a process of ours: started in its own folder on free ports, and always stopped by its process id."""

import itertools
import os
import signal
import socket
import string
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import httpx

HERE = Path(__file__).parent
SECONDS_TO_START = 90


ports = itertools.count(os.getpid() % 180 * 100)


def free_port():
    """A free port below the range for outgoing connections, so that none of those can take it."""
    while True:
        port = 12_000 + next(ports) % 18_000
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


def configure(folder, app, names, **values):
    """Writes the configuration files of an application into a folder, with its `$NAMES` replaced."""
    for name in names:
        text = string.Template((HERE / app / name).read_text()).substitute(values)
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


@contextmanager
def folder():
    """An empty folder that is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="countersign-app-") as path:
        yield Path(path)


@contextmanager
def running(command, cwd, ready, environment=None):
    """Runs a program until the block ends. The block begins when the URL `ready` responds, or at once if there is none."""
    log = cwd / "log.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=cwd, stdout=output, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, **(environment or {})},
        )
    try:
        if ready:
            wait_until(ready, process, log)
        yield process
    except Exception as error:
        error.add_note(f"the end of the log of {command[0]}:\n{tail(log)}")
        raise
    finally:
        stop(process)


def wait_until(ready, process, log):
    deadline = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            if httpx.get(ready, timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            pass
        assert process.poll() is None, f"it exited with {process.returncode}:\n{tail(log)}"
        assert time.monotonic() < deadline, f"it does not respond at {ready} after {SECONDS_TO_START} seconds:\n{tail(log)}"
        time.sleep(0.1)


def stop(process):
    """Asks the process to stop, and kills what is left of its group."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def tail(log):
    return log.read_bytes().decode(errors="replace")[-4000:]
