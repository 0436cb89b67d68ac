"""A real S3 interface on loopback: moto's server, and an environment in which s3:// leads there."""

from __future__ import annotations

import logging
from http import HTTPStatus
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUCKET = "fleets"


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """A client of boto3 for the empty bucket `fleets`, to look at it without fsspec."""
    # Only slices have them.
    import boto3  # noqa: PLC0415
    import s3fs  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415
    from moto.server import ThreadedMotoServer  # noqa: PLC0415

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it logs every request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    environment = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "no_config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "no_credentials"),
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    s3fs.S3FileSystem.clear_instance_cache()
    client = boto3.client("s3", config=Config(connect_timeout=10, read_timeout=60))
    try:
        _forget_all(host, port)
        client.create_bucket(Bucket=BUCKET)
        yield client
    finally:
        client.close()
        s3fs.S3FileSystem.clear_instance_cache()
        server.stop()


def _forget_all(host: str, port: int) -> None:
    """Servers of one process share their content."""
    connection = HTTPConnection(host, port, timeout=60)
    try:
        connection.request("POST", "/moto-api/reset")
        assert connection.getresponse().status == HTTPStatus.OK
    finally:
        connection.close()
