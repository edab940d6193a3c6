# ruff: noqa: E501  the table of pollutions reads best one a line
"""Writes the corpus of polluted CSV files beside this script, each with a JSON of what must be read from it.

What is expected comes from the clean table and the knowledge of the pollution, never from the reader. Run it with
``python tests/data/csv/make_corpus.py`` after a change; the files are committed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

HEADER = ["id", "date", "time", "name", "price", "description", "url", "comment"]
ROWS = [
    ["1", "2024-01-28", "00:00", "Men's hiking boots", "74.69", "Rugged, yet light", "https://shop.example/1", ""],
    ["2", "2024-01-29", "00:15", 'Round table 48"', "29.81", 'Says "solid", is solid', "https://shop.example/2", ""],
    ["3", "2024-01-30", "00:30", "Trail shoes", "80.08", "Great grip, warm, dry", "https://shop.example/3", "new"],
    ["4", "2024-01-31", "00:45", "Kids' hat", "25.55", "From trail head\nto bus stop", "https://shop.example/4", ""],
    ["5", "2024-02-13", "01:00", "Café crème", "48.00", "Für 2 Tassen", "https://shop.example/5", "naïve"],
    ["6", "2024-02-14", "01:15", "Leather sofa", "1034.22", "Made here: lasting; soft", "https://shop.example/6", ""],
    ["7", "2024-02-15", "01:30", "Wool coat", "89.34", "Classic, versatile", "https://shop.example/7", "-"],
]
PLAIN = [[cell.replace("\n", " ").replace('"', "").replace("é", "e").replace("è", "e") for cell in row] for row in ROWS]


def write(table: list[list[str]], delimiter: str = ",", quote: str = '"', escape: str | None = None) -> list[str]:
    """Lines of a table; what holds the delimiter, the quote or a newline is quoted, and every description."""

    def cell(place: int, text: str) -> str:
        needs = place == 5 or any(mark in text for mark in (delimiter, quote, "\n"))
        return quote + text.replace(quote, (quote if escape is None else escape) + quote) + quote if needs else text

    return [delimiter.join(cell(place, text) for place, text in enumerate(row)) for row in table]


def save(
    name: str,
    content: str | bytes,
    *,
    columns: list[str] = HEADER,
    rows: list[list[str]] = ROWS,
    malformed: list[dict[str, Any]] | None = None,
    options: dict[str, Any] | None = None,
    encoding: str = "utf-8",
) -> None:
    data = content if isinstance(content, bytes) else content.encode(encoding)
    (HERE / f"{name}.csv").write_bytes(data)
    expected = {"options": options or {}, "columns": columns, "rows": rows, "malformed": malformed or []}
    (HERE / f"{name}.json").write_text(json.dumps(expected, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def bad(row: int, line: int, reason: str, cells: list[str], columns: list[str] = HEADER) -> dict[str, Any]:
    data: dict[str, Any] = dict(zip(columns, cells, strict=False))
    if len(cells) > len(columns):
        data["_extra"] = cells[len(columns) :]
    return {"row": row, "line": line, "reason": reason, "data": data}


def whole_files() -> None:
    lines = write([HEADER, *ROWS])
    text = "\n".join(lines) + "\n"
    save("clean", text)
    save("no_newline_at_end", text[:-1])
    save("two_newlines_at_end", text + "\n")
    save("blank_lines_inside", text.replace("\n3,", "\n\n\n3,").replace("\n6,", "\n\n6,"))
    save("blank_lines_before", "\n\n" + text)
    save("crlf", "\r\n".join(write([HEADER, *ROWS])).replace("\r\nto bus", "\nto bus") + "\r\n")
    save("cr", "\r".join(lines) + "\r")
    save("mixed_newlines", "".join(line + end for line, end in zip(lines, ["\n", "\r\n", "\r"] * 3, strict=False)))
    save("byte_order_mark", "\ufeff" + text)
    save("header_only", lines[0] + "\n", rows=[])
    save("one_row", "\n".join(lines[:2]), rows=ROWS[:1])
    save("no_header", "\n".join(lines[1:]), columns=[f"column_{n}" for n in range(1, 9)])
    save("no_header_names_given", "\n".join(lines[1:]), options={"column_names": HEADER})
    save(
        "header_replaced",
        text,
        columns=list("abcdefgh"),
        options={"column_names": list("abcdefgh"), "has_header": True},
    )
    save("header_of_two_rows", lines[0] + "\n" + text, columns=[f"{n} {n}" for n in HEADER], options={"header_rows": 2})
    save("header_with_blanks", text.replace(lines[0], " id , date,time ,name,price,description,url,comment"))
    save("header_repeated_names", text.replace("comment", "name"), columns=[*HEADER[:7], "name_2"])
    save("header_empty_name", text.replace("time,", ",", 1), columns=[*HEADER[:2], "column_3", *HEADER[3:]])
    save("header_long", text.replace("name", "name" * 5000, 1), columns=[*HEADER[:3], "name" * 5000, *HEADER[4:]])
    together = ",".join(f'"{name}"' for name in HEADER).replace('"date","time"', '"date""time"')
    noted = [[*row[:7], row[7] or "none"] for row in ROWS]
    save("header_delimiter_missing", "\n".join([together, *write(noted)]), rows=noted)
    save("header_trailing_delimiter", text.replace("comment", "comment,", 1))
    trailing = [f"{line}," for line in write(PLAIN)]
    save(
        "rows_trailing_delimiter",
        "\n".join([lines[0], *trailing]),
        columns=[*HEADER, "column_9"],
        rows=[[*r, ""] for r in PLAIN],
    )
    save(
        "years_as_names",
        "land,2022,2023\nA,1.5,2\nB,3.5,4\n",
        columns=["land", "2022", "2023"],
        rows=[["A", "1.5", "2"], ["B", "3.5", "4"]],
    )
    save("one_column", "name\nA b\n\nc\n", columns=["name"], rows=[["A b"], [""], ["c"]])
    save("one_column_of_sentences", "comment\nOne, two\nThree\nFour, five, six.\nNo more\n", columns=["comment"], rows=[["One, two"], ["Three"], ["Four, five, six."], ["No more"]])  # fmt: skip
    save(
        "one_column_of_times",
        "at\n2024-01-01 10:00\n2024-01-01 11:00\n",
        columns=["at"],
        rows=[["2024-01-01 10:00"], ["2024-01-01 11:00"]],
    )
    save(
        "all_cells_empty",
        "a,b,c\n,,\n1,2,3\n,,\n",
        columns=["a", "b", "c"],
        rows=[["", "", ""], ["1", "2", "3"], ["", "", ""]],
    )
    wide = [f"c{n}" for n in range(2000)]
    save(
        "wide",
        ",".join(wide) + "\n" + ",".join(map(str, range(2000))),
        columns=wide,
        rows=[[str(n) for n in range(2000)]],
    )


def around_the_table() -> None:
    text = "\n".join(write([HEADER, *ROWS])) + "\n"
    save("preamble_plain", "Sales report\nmade by the shop, 2024\n\n" + text)
    save("preamble_delimited", "REPORT,,,,,,,\n,,,,,,,\n" + text)
    save("preamble_comments", "# made by the shop\n# 2024\n" + text)
    pairs = "Report,Sales of the week\nMade by,the shop\nYear,2024\n"
    save("preamble_pairs", pairs + text)
    save("preamble_pairs_blank_line", pairs + "\n" + text)
    narrow = "id,kind,place\nK1,alpha,north\nK2,beta,south\nK3,gamma,north\nK4,delta,south\n"
    words = [["K1", "alpha", "north"], ["K2", "beta", "south"], ["K3", "gamma", "north"], ["K4", "delta", "south"]]
    save(
        "preamble_pairs_above_words",
        "Made by,the shop\nFor,the office\n\n" + narrow,
        columns=["id", "kind", "place"],
        rows=words,
    )
    save("preamble_skipped", "a,b,c,d,e,f,g,h\n1,2,3,4,5,6,7,8\n" + text, options={"skip_rows": 2})
    save("preamble_header_row", "a,b,c,d,e,f,g,h\nx\n" + text, options={"header_row": 3})
    save("spreadsheet_hint", "sep=;\n" + "\n".join(write([HEADER, *ROWS], ";")))
    note = "The numbers are not final."
    save("footnote", text + "\n" + note + "\n", malformed=[bad(8, 11, "expected 8 fields, found 1", [note])])
    other = ["k,v", "x,1"]
    save(
        "second_table_narrower",
        text + "\n".join(other),
        malformed=[bad(8 + n, 10 + n, "expected 8 fields, found 2", line.split(",")) for n, line in enumerate(other)],
    )


def dialects() -> None:
    for name, delimiter in {
        "semicolon": ";", "tab": "\t", "pipe": "|", "colon": ":", "tilde": "~", "caret": "^", "space": " ",
        "unit_separator": "\x1f", "comma_blank": ", ", "two_pipes": "||", "two_tabs": "\t\t", "two_ats": "@@",
        "pipe_tilde_pipe": "|~|", "angle_brackets": "<>", "broken_bar": "¦", "hash": "#",
    }.items():  # fmt: skip
        save(f"delimiter_{name}", "\n".join(write([HEADER, *ROWS], delimiter)))
    save("delimiter_given_two_chars", "\n".join(write([HEADER, *ROWS], "<>")), options={"delimiter": "<>"})
    save("decimal_commas", "id;price\n1;1,50\n2;2,75\n", columns=["id", "price"], rows=[["1", "1,50"], ["2", "2,75"]])
    save("quote_single", "\n".join(write([HEADER, *ROWS], quote="'")))
    save("quote_all", "\n".join(",".join('"' + c.replace('"', '""') + '"' for c in row) for row in [HEADER, *ROWS]))
    save("quote_none", "\n".join("\t".join(row) for row in [HEADER, *PLAIN]).replace("Wool", '"Wool'), rows=[*PLAIN[:6], [*PLAIN[6][:3], '"Wool coat', *PLAIN[6][4:]]], options={"quote": ""})  # fmt: skip
    save("escape_backslash", "\n".join(write([HEADER, *ROWS], escape="\\")))
    paths = [["1", "C:\\new\\table"], ["2", 'a \\ "b"']]
    save("escape_backslash_and_paths", 'id,path\n1,"C:\\\\new\\table"\n2,"a \\\\ \\"b\\""\n', columns=["id", "path"], rows=paths, options={"escape": "\\"})  # fmt: skip
    save("backslashes_without_escape", "id,path\n1,C:\\new\\\n2,\"D:\\\"\n", columns=["id", "path"], rows=[["1", "C:\\new\\"], ["2", "D:\\"]])  # fmt: skip


def encodings() -> None:
    text = "\n".join(write([HEADER, *ROWS])) + "\n"
    for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32"):
        save(f"encoding_{name.replace('-', '_')}", text, encoding=name)
    accents = [["1", "José", "Málaga"], ["2", "Zoë", "Köln"], ["3", "Ana", "A Coruña"]]
    western = "\n".join(";".join(row) for row in [["id", "name", "city"], *accents])
    save("encoding_latin_1", western, columns=["id", "name", "city"], rows=accents, encoding="latin-1")
    prices = [["1", "€ 5 – “good”"], ["2", "déjà vu…"]]
    save("encoding_cp1252", "\n".join("|".join(row) for row in [["id", "text"], *prices]), columns=["id", "text"], rows=prices, encoding="cp1252")  # fmt: skip
    japan = [["1", "やまだ", "東京"], ["2", "鈴木", "大阪"]]
    japanese = "\n".join(",".join(row) for row in [["id", "名前", "住所"], *japan])
    save("encoding_shift_jis", japanese, columns=["id", "名前", "住所"], rows=japan, encoding="shift_jis")
    save("encoding_given", japanese, columns=["id", "名前", "住所"], rows=japan, encoding="euc_jp", options={"encoding": "euc_jp"})  # fmt: skip
    raw = text.encode().replace(b"Trail shoes", b"Trail \xff\xfeshoes")
    cells = [*ROWS[2][:3], "Trail \ufffd\ufffdshoes", *ROWS[2][4:]]
    save("invalid_utf8_in_a_row", raw, rows=ROWS[:2] + ROWS[3:], malformed=[bad(3, 4, "not valid UTF-8", cells)])
    raw = text.encode().replace(b"Trail shoes", b"Trail\0shoes")
    cells = [*ROWS[2][:3], "Trail\0shoes", *ROWS[2][4:]]
    save("nul_in_a_row", raw, rows=ROWS[:2] + ROWS[3:], malformed=[bad(3, 4, "contains a NUL byte", cells)])


def one_bad_row() -> None:
    """One row spoiled in one way, in a file whose other rows stay as they are: the third, on line 4."""
    lines = write([HEADER, *ROWS])
    row = ROWS[2]
    for name, line, reason, cells in (
        ("missing_field", lines[3].removesuffix(",new"), "expected 8 fields, found 7", row[:7]),
        ("missing_delimiter", lines[3].replace("00:30,", "00:30"), "expected 8 fields, found 7", [*row[:2], "00:30Trail shoes", *row[4:]]),
        ("extra_delimiter", lines[3].replace("00:30,", "00:30,,"), "expected 8 fields, found 9", [*row[:3], "", *row[3:]]),
        ("extra_fields", lines[3] + ",x,y", "expected 8 fields, found 10", [*row, "x", "y"]),
        ("one_field", "nothing to see", "expected 8 fields, found 1", ["nothing to see"]),
        ("blank_characters_only", "   ", "expected 8 fields, found 1", ["   "]),
        ("other_delimiter", "3;x;y;z", "expected 8 fields, found 1", ["3;x;y;z"]),
        ("other_delimiter_whole", ";".join(row).replace("grip, warm,", "grip"), "expected 8 fields, found 1", [*row[:5], "Great grip dry", *row[6:]]),
        ("blanks_between_quotes", " ".join(f'"{cell}"' for cell in row), "text after a closing quote", row),
        ("words_with_blanks", "one two three four five six seven eight", "expected 8 fields, found 1", ["one two three four five six seven eight"]),
        ("quote_opened", lines[3].replace("Trail shoes", '"Trail shoes'), "text after a closing quote", [*row[:3], '"Trail shoes', *row[4:]]),
        ("quote_opened_first", '"' + lines[3], "text after a closing quote", ['"3', *row[1:]]),
        ("quote_opened_last", lines[3][:-3] + '"new', "a quote is not closed", [*row[:7], '"new']),
        ("quote_twice", lines[3].replace('"Great', '""Great'), "text after a closing quote", [*row[:5], '"' + row[5], *row[6:]]),
        ("quotes_inside", lines[3].replace("Great grip", 'Great "grip"'), "text after a closing quote", [*row[:5], 'Great "grip", warm, dry', *row[6:]]),
        ("text_after_quote", lines[3].replace('dry"', 'dry" and'), "text after a closing quote", [*row[:5], '"Great grip', " warm", ' dry" and', *row[6:]]),
        ("text_before_quote", lines[3].replace('"Great', 'So "Great'), "expected 8 fields, found 10", [*row[:5], 'So "Great grip', " warm", ' dry"', *row[6:]]),
    ):  # fmt: skip
        text = "\n".join([*lines[:3], line, *lines[4:]]) + "\n"
        save(f"row_{name}", text, rows=ROWS[:2] + ROWS[3:], malformed=[bad(3, 4, reason, cells)])
    text = "\n".join([*lines[:3], lines[3].removesuffix(",new"), *lines[4:]])
    padded = [*ROWS[:2], [*row[:7], ""], *ROWS[3:]]
    save("row_missing_field_padded", text, rows=padded, options={"on_ragged": "pad"})
    inches = lines[1].replace("Men's hiking boots", '5" hiking boots')
    literal = [[*ROWS[0][:3], '5" hiking boots', *ROWS[0][4:]], *ROWS[1:]]
    save("row_quote_inside_unquoted", "\n".join([lines[0], inches, *lines[2:]]), rows=literal)
    long = "x" * 200_000
    save("row_long_field", "\n".join(lines).replace("Rugged", long), rows=[[*ROWS[0][:5], f"{long}, yet light", *ROWS[0][6:]], *ROWS[1:]])  # fmt: skip
    last = '8,2024-02-16,01:45,"Never closed,5,x,u,'
    cells = ["8", "2024-02-16", "01:45", '"Never closed', "5", "x", "u", ""]
    save(
        "row_quote_opened_at_the_end", "\n".join([*lines, last]), malformed=[bad(8, 10, "a quote is not closed", cells)]
    )
    open_ = '9,2024-02-16,01:45,"Never closed'
    save(
        "row_quote_opened_in_a_short_row",
        "\n".join([*lines[:2], open_, *lines[2:]]),
        malformed=[bad(2, 3, "a quote is not closed", ["9", "2024-02-16", "01:45", '"Never closed'])],
    )


if __name__ == "__main__":
    for old in [*HERE.glob("*.csv"), *HERE.glob("*.json")]:
        old.unlink()
    for part in (whole_files, around_the_table, dialects, encodings, one_bad_row):
        part()
