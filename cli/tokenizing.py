"""The command `tokenize`, which makes token files for language modelling."""

from __future__ import annotations

from typing import Annotated

import typer

from ..foundation._text import count_noun
from .help import MODELS
from .options import Json
from .output import print_json, print_table, show_work


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command(rich_help_panel=MODELS)(tokenize)


def tokenize(
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT",
            help="A text file, a folder of text files, or .jsonl files with an entry text in each line. It may be larger than memory.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Write tokens.json, train.bin, test.bin and the tokenizer into this folder.",
        ),
    ],
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The tokenizer.json of the tokenizers library. By default the tokens are the bytes of the text.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a text as token files, for training language models.

    A training with the task tokens:FOLDER maps these files into memory and reads only the windows that it draws. The first of
    every ten documents is for testing; of a single document, the last tenth of its tokens.

    \b
    Examples:
      mirrormata tokenize README.md -o tokens/readme
      mirrormata tokenize corpus/ -o tokens/corpus --tokenizer tokenizer.json
    """
    import msgspec

    from ..models.tasks._tokens import write_tokens

    with show_work("tokenizing") as progress:
        header = write_tokens(text, output, tokenizer=tokenizer, progress=progress)
    if as_json:
        print_json({"folder": output, **msgspec.to_builtins(header)})
        return
    rows = [("vocabulary", f"{header.vocabulary:,} tokens"), ("tokenizer", header.tokenizer)]
    for name, part in (("train", header.train), ("test", header.test)):
        tokens, documents = part.tokens - part.documents, count_noun(part.documents, "document")
        ends = f"and {count_noun(part.documents, 'end')} of documents"
        rows.append(
            (name, f"{count_noun(tokens, 'token')} in {documents} ({part.tokens:,} numbers: tokens {ends})")
        )
    single = header.train.documents == header.test.documents == 1 and header.test.bytes is None
    tested = "the last tenth of the only document" if single else "the first of every ten documents"
    print_table(header.source, [*rows, ("tested on", tested), ("written", output)])
