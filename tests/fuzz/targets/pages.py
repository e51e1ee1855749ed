"""Web pages: labelled, and learnt from with a table of values."""

from __future__ import annotations

from pathlib import Path
from random import Random

from fuzz.mutations import TOKENS, change_bytes
from fuzz.target import Target, command, drawn_from, numbers_only

MARKUP = (
    b"<div>", b"</div>", b"<p>", b"<b>", b"</b>", b"<table>", b"<tr>", b"<td>", b"</td>", b"<script>", b"</script>",
    b"<style>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?xml version='1.0' encoding='utf-16'?>", b"<svg>", b"<math>",
    b"<!DOCTYPE html [<!ENTITY a 'b'>]>", b"&a;", b"&#0;", b"&#x110000;", b"&lt;", b"6-7", b"<meta charset=utf-7>",
    b"<meta charset=utf-16>", b"<template>", b"</html>", b"<html>", b"<body>", b"<title>", b"</title>", b"<frameset>",
    b"<a href='x' class='", b"'>", b"<p/>", b"<select>", b"<option>", b"<", b">", b"=", b"<x:y>", b"<plaintext>",
    b"<div>" * 400,
)  # fmt: skip


class Pages(Target):
    name = "html"

    def made(self) -> list[bytes]:
        return [path.read_bytes() for path in sorted((self.material / "pages").glob("*.html"))[:3]]

    def change(self, content: bytes, choose: Random) -> bytes:
        return change_bytes(content, choose, MARKUP if choose.random() < 0.7 else TOKENS)

    def run(self, content: bytes, folder: Path) -> None:
        pages = folder / "changed-pages"
        pages.mkdir(exist_ok=True)
        (pages / "0.html").write_bytes(content)
        values = folder / "changed-values.csv"
        values.write_text("page,attribute,value\n0.html,height,6-7\n")
        choose = drawn_from(content)
        model = self.material / "page.model"
        numbers_only(
            command(
                *choose.choice(
                    [
                        ("predict", model, pages),
                        ("predict", model, pages, "--format", "jsonl"),
                        ("evaluate", model, pages, "--values", values),
                        (
                            "train",
                            "page",
                            pages,
                            "--values",
                            values,
                            "-m",
                            folder / "a.model",
                            "--max-iter",
                            1,
                            "--json",
                        ),
                    ]
                )
            ),
            content,
        )


TARGETS = [Pages]
