"""Setting up for tests: what is downloaded is said before, and so is what cannot be had."""

from __future__ import annotations

import pytest

from tools import debian

OFFERED = """\
Reading package lists...
'https://there/pool/go.deb' go_1.19-2_amd64.deb 62000000 SHA256:12
'https://there/pool/src.deb' src_1.19-2_all.deb 18000000 SHA256:34
"""


def test_a_package_is_named_with_its_size_and_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[str] = []

    def apt(*words: str) -> str:
        done.append(words[-1])
        return OFFERED if "--print-uris" in words else ""

    monkeypatch.setattr(debian, "_apt", apt)
    found = debian.found_or_installed("go", lambda: "here" if len(done) > 2 else None, ("golang",))
    assert found == "here"
    assert done == ["update", "golang", "golang"]
    assert capsys.readouterr().err == "Debian's package golang: 80 MB to download\n"


def test_what_cannot_be_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "_apt", lambda *words: f"apt-get {words[0]}: no network\n")
    with pytest.raises(RuntimeError, match=r"(?s)these tests need a browser.*no network"):
        debian.found_or_installed("a browser", lambda: None, ("chromium",))
