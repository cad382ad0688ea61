"""Messages as files: a worker that looks while one is being written takes it whole, or later."""

from pathlib import Path
from queue import Empty

import pytest
from kombu import Connection

import config.celery  # noqa: F401 - registers the transport
from config import message_files


@pytest.fixture
def channel(tmp_path):
    for name in ("messages", "control", "processed"):
        (tmp_path / name).mkdir()
    folders = {"data_folder_in": tmp_path / "messages", "data_folder_out": tmp_path / "messages"}
    folders |= {"control_folder": tmp_path / "control", "processed_folder": tmp_path / "processed"}
    options = {key: str(folder) for key, folder in folders.items()}
    with Connection("filesystem://localhost", transport_options=options) as connection:
        yield connection.channel()


def test_a_message_is_taken_once_it_is_whole(channel, monkeypatch):
    written = Path.write_text

    def looked_at(path, text):
        path.touch()
        with pytest.raises(Empty):
            channel._get("jobs")
        written(path, text[:5])
        with pytest.raises(Empty):
            channel._get("jobs")
        return written(path, text)

    monkeypatch.setattr(message_files.Path, "write_text", looked_at)
    channel._put("jobs", {"body": "work"})
    assert channel._get("jobs") == {"body": "work"}
    with pytest.raises(Empty):
        channel._get("jobs")


def test_where_no_file_can_be_written_the_broker_is_away(channel, tmp_path):
    (tmp_path / "messages").rmdir()
    with pytest.raises(message_files.ChannelError, match="Cannot add file"):
        channel._put("jobs", {"body": "work"})
