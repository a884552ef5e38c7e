"""Where shards go: a folder, or a URL of fsspec (`s3://bucket/results`, `memory://results`), which is imported only for a URL.

At a URL a shard is created if it is absent, that of `runs` last, which completes its unit. A local copy stands for the URL while this process
reads it.
"""

import os
import tempfile
import time
import urllib.parse
import urllib.request

import longhaul

# Seconds between two looks for shards that are to be sent.
EVERY = 5
TABLES = ["series", "flows", "runs"]


def resolved(out):
    """Returns a URL as it is, and a local place as an absolute path; `file://` is a path, too, with the atomic files of one."""
    out = os.fspath(out)
    if out.startswith("file://"):
        out = urllib.request.url2pathname(urllib.parse.urlsplit(out).path)
    return out if "://" in out else os.path.abspath(out)


def is_url(place):
    return "://" in place


class Remote:
    """The shards at a URL."""

    def __init__(self, url):
        try:
            import fsspec
        except ImportError as error:
            raise longhaul.Error(f"out: `{url}` is a URL, and fsspec is not installed; pip install fsspec, or name a folder") from error
        try:
            self.system, self.path = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise longhaul.Error(f"out: `{url}` cannot be opened: {error}; install what fsspec needs for it, or name a folder") from error
        self.url = url

    def names(self, table):
        folder = f"{self.path.rstrip('/')}/{table}"
        self.system.invalidate_cache()
        if not self.system.isdir(folder):
            return []
        return [os.path.basename(path) for path in self.system.ls(folder, detail=False) if path.endswith(".parquet")]

    def at(self, table, name):
        return f"{self.path.rstrip('/')}/{table}/{name}"

    def has(self, unit):
        return self.system.exists(self.at("runs", f"{unit}.parquet"))

    def create(self, table, name, content):
        """Writes a shard unless it is there; one that is there has to be the same."""
        path = self.at(table, name)
        self.system.makedirs(os.path.dirname(path), exist_ok=True)
        try:
            self.system.pipe_file(path, content, mode="create")
        except FileExistsError:
            self.same(path, content)
        except (TypeError, ValueError, NotImplementedError):
            # Older stores cannot create what must not be there. Whoever writes at the same time writes the same.
            if self.system.exists(path):
                self.same(path, content)
            else:
                self.system.pipe_file(path, content)

    def same(self, path, content):
        if self.system.cat_file(path) != content:
            raise longhaul.StoreError(f"`{path}` at {self.url} has the name of a unit of this experiment, and other content; remove it, and its runs are made again")

    def send(self, folder, sent):
        """Creates the shards of complete units of a folder, but those whose names were sent."""
        complete = os.path.join(folder, "runs")
        for name in sorted(os.listdir(complete)) if os.path.isdir(complete) else []:
            if name in sent or name.startswith(".") or not name.endswith(".parquet"):
                continue
            for table in TABLES:
                shard = os.path.join(folder, table, name)
                if os.path.exists(shard):
                    with open(shard, "rb") as file:
                        self.create(table, name, file.read())
            sent.add(name)


class Copy:
    """A local copy of the shards at a URL, which is removed with this object."""

    def __init__(self, url, progress=None):
        self.remote = Remote(url)
        self.own = tempfile.TemporaryDirectory(prefix="longhaul-")
        self.folder, self.sent, self.progress = self.own.name, set(), progress
        self.next = time.monotonic() + EVERY
        self.fetch()

    def fetch(self):
        """Gets what is new at the URL. Runs come first: a unit that is there has its other shards."""
        for table in reversed(TABLES):
            for name in self.remote.names(table):
                path = os.path.join(self.folder, table, name)
                if not os.path.exists(path):
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    content = self.remote.system.cat_file(self.remote.at(table, name))
                    with open(path, "wb") as file:
                        file.write(content)
                if table == "runs":
                    self.sent.add(name)

    def send(self):
        self.remote.send(self.folder, self.sent)

    def step(self, done, total):
        """Sends what is complete, now and then, between two runs."""
        if time.monotonic() >= self.next:
            self.send()
            self.next = time.monotonic() + EVERY
        if self.progress:
            self.progress(done, total)


def make(experiment, name, runs, out, series):
    """Makes a unit and writes its shards to a folder or a URL, unless they are there; returns the messages of runs that failed."""
    place = resolved(out)
    if not is_url(place):
        return experiment._make(name, runs, place, series)
    remote = Remote(place)
    if remote.has(name):
        return []
    with tempfile.TemporaryDirectory(prefix="longhaul-") as folder:
        failed = experiment._make(name, runs, folder, series)
        remote.send(folder, set())
    return failed
