"""A Dovecot of our own on a port of loopback, with one mailbox."""

import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from imapclient import IMAPClient

from mailpeers.smtp import free_port

_USER, _PASSWORD = "family@home.test", "pass:word/1"
_CONFIG = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
protocols = imap
listen = 127.0.0.1
default_internal_user = {user}
default_login_user = {user}
default_internal_group = {group}
first_valid_uid = 1
mail_location = maildir:{folder}/mail/%u
mail_uid = {user}
mail_gid = {group}
disable_plaintext_auth = no
auth_mechanisms = plain
auth_failure_delay = 0 secs
ssl = {ssl}
{certificate}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {tls_port}
  }}
}}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service stats {{
  chroot =
}}
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={folder}/mail/%u
}}
namespace inbox {{
  inbox = yes
  separator = /
  {folders}
}}
"""
_FOLDERS = """
  mailbox Entwürfe {
    special_use = \\Drafts
    auto = create
  }
  mailbox Gesendet {
    special_use = \\Sent
    auto = create
  }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Postbox:
    """A mailbox that runs.

    Attributes:
        url: Where, with its login.
        port: Without TLS.
    """

    url: str
    port: int

    @contextmanager
    def opened(self) -> Iterator[IMAPClient]:
        client = IMAPClient("127.0.0.1", self.port, ssl=False)
        try:
            client.login(_USER, _PASSWORD)
            yield client
        finally:
            client.shutdown()

    def put(self, folder: str, raw: bytes) -> None:
        with self.opened() as client:
            client.append(folder, raw)

    def ids(self, folder: str) -> list[str]:
        """Return the Message-IDs in a folder."""
        with self.opened() as client:
            client.select_folder(folder, readonly=True)
            found = client.fetch(client.search(), ["ENVELOPE"])
            return [str(each[b"ENVELOPE"].message_id.decode()) for each in found.values()]

    def flags(self, folder: str) -> list[tuple[bytes, ...]]:
        with self.opened() as client:
            client.select_folder(folder, readonly=True)
            return [each[b"FLAGS"] for each in client.fetch(client.search(), ["FLAGS"]).values()]


@contextmanager
def postbox(
    *, has_folders: bool = True, certificate: tuple[Path, Path] | None = None
) -> Iterator[Postbox]:
    """Run Dovecot for the length of the block; skips, saying why, where it is not installed.

    Args:
        has_folders: Whether it has folders for drafts and sent mails, under names of another language.
        certificate: Files of certificate and key; with them it speaks TLS.
    """
    program = shutil.which("dovecot") or shutil.which("dovecot", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        pytest.skip("Dovecot is not installed (Debian: dovecot-imapd)")
    if os.geteuid() != 0:
        pytest.skip("Dovecot is run as root here, with the mailbox of the user mail")
    # Not below pytest's own folder, which other users may not enter.
    folder = Path(tempfile.mkdtemp(prefix="kinkeeper-dovecot-"))
    folder.chmod(0o755)
    mail = folder / "mail"
    mail.mkdir(mode=0o770)
    shutil.chown(mail, "mail", "mail")
    port, tls_port = free_port(), free_port()
    config = folder / "dovecot.conf"
    lines = "".join(
        f"ssl_{name} = <{path}\n"
        for name, path in zip(("cert", "key"), certificate or (), strict=False)
    )
    config.write_text(
        _CONFIG.format(
            folder=folder,
            user="mail",
            group="mail",
            port=port,
            password=_PASSWORD,
            tls_port=tls_port if certificate else 0,
            ssl="yes" if certificate else "no",
            certificate=lines,
            folders=_FOLDERS if has_folders else "",
        ),
        encoding="utf-8",
    )
    process = subprocess.Popen([program, "-F", "-c", str(config)])
    try:
        _wait(process, port, folder / "log")
        login = "family%40home.test:pass%3Aword%2F1"
        shown = (
            f"imaps://{login}@localhost:{tls_port}"
            if certificate
            else f"imap://{login}@127.0.0.1:{port}"
        )
        yield Postbox(url=shown, port=port)
    finally:
        process.terminate()
        process.wait(timeout=20)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    for _ in range(200):
        if process.poll() is not None:
            break
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
                if connection.recv(4) == b"* OK":
                    return
        except OSError:
            pass
        time.sleep(0.05)
    told = log.read_text(encoding="utf-8") if log.exists() else "no log"
    raise AssertionError(f"Dovecot did not start: {told}")


def certificate_of(folder: Path) -> tuple[Path, Path]:
    """Return a certificate for localhost and its key, made by openssl."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout",
            str(key),
            "-out",
            str(certificate),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


def server_context(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context
