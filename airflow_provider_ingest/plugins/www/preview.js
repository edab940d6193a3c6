// What a file would be taken for: its first rows, and how its columns fit the importer.
import { C, Fragment, h, useEffect, useState } from "./shell.js";
import { call } from "./api.js";
import { count, fact, size } from "./format.js";
import { Cut, ErrorNote, Loading, Section } from "./pieces.js";
import { Cell, DataTable, Line } from "./table.js";

/** What is sent of a long file; a short one is sent whole, since not every format can be read from its beginning. */
const HEAD_BYTES = 256 * 1024;
const WHOLE_BYTES = 512 * 1024;
const COLUMNS = 40;

/** Lets the server look at the beginning of the file. */
function usePreview(slug, file) {
  const [state, set] = useState({ data: null, error: null });
  useEffect(() => {
    const control = new AbortController();
    set({ data: null, error: null });
    call(`/importers/${encodeURIComponent(slug)}/preview`, {
      method: "POST",
      signal: control.signal,
      body: file.size > WHOLE_BYTES ? file.slice(0, HEAD_BYTES) : file,
      headers: {
        "Content-Type": "application/octet-stream",
        "X-File-Name": encodeURIComponent(file.name.slice(-200).toWellFormed?.() ?? "file"),
        "X-File-Size": String(file.size),
      },
    }).then(
      (answer) => set({ data: answer.data, error: null }),
      (error) => error.name === "AbortError" || set({ data: null, error }),
    );
    return () => control.abort();
  }, [slug, file]);
  return state;
}

/** Fields of the importer that the file does not have. */
function Missing({ fields }) {
  if (!fields.length) return null;
  return h(
    C.Alert.Root,
    { status: "error", mb: 3 },
    h(C.Alert.Indicator),
    h(
      C.Alert.Content,
      null,
      h(C.Alert.Title, null, `The file has no column for ${count(fields.length)} of the importer's fields.`),
      h(
        C.Flex,
        { as: "ul", listStyleType: "none", columnGap: 4, rowGap: 1, wrap: "wrap" },
        fields.map((one) =>
          h(
            "li",
            { key: one.field },
            h(C.Code, null, one.field),
            one.did_you_mean ? [" – did you mean ", h(C.Code, { key: "look" }, one.did_you_mean), "?"] : null,
          ),
        ),
      ),
    ),
  );
}

/** A column's name and what becomes of it. */
function ColumnName({ column }) {
  const isUsed = column.attributes.length > 0;
  const fate = isUsed ? `→ ${column.attributes.join(", ")}` : "not used";
  return h(
    C.Box,
    {
      "data-column": column.name.slice(0, 100),
      "data-used": isUsed,
      color: isUsed ? undefined : "fg.muted",
    },
    h(Cut, { width: "12rem" }, column.name),
    h(
      C.Text,
      {
        fontSize: "xs",
        fontWeight: "normal",
        color: isUsed ? "green.fg" : "fg.muted",
        truncate: true,
        maxW: "12rem",
      },
      fate,
    ),
  );
}

/** The first rows below the names of their columns. */
function FirstRows({ preview }) {
  const columns = preview.columns.slice(0, COLUMNS);
  return h(
    DataTable,
    { label: "First rows", head: columns.map((column) => h(ColumnName, { column })) },
    preview.rows.map((row, index) =>
      h(
        Line,
        { key: index },
        columns.map(({ name }) => h(Cell, { key: name }, h(Cut, { width: "12rem" }, row[name] ?? ""))),
      ),
    ),
  );
}

/** How the file is read, in a few words. */
function facts(preview) {
  const known = ["encoding", "delimiter", "sheet"].filter((name) => typeof preview.facts[name] === "string");
  const words = known.map((name) => fact(name, preview.facts[name]));
  const malformed = preview.malformed
    ? [preview.malformed === 1 ? "1 record that is no row" : `${count(preview.malformed)} records that are no rows`]
    : [];
  const partial = preview.is_partial ? [`only the first ${size(HEAD_BYTES)} were looked at`] : [];
  const columns = preview.columns.length;
  return [`${count(columns)} ${columns === 1 ? "column" : "columns"}`, ...words, ...malformed, ...partial].join(" · ");
}

/**
 * The section below the form.
 * @param {{slug: string, file: File}} props
 */
export function Preview({ slug, file }) {
  const { data, error } = usePreview(slug, file);
  if (error?.code === "no_preview") {
    return h(C.Text, { color: "fg.muted" }, "There is no preview of a file of this format and size; it can be sent.");
  }
  if (error) return h(ErrorNote, { error });
  if (!data) return h(Loading);
  return h(
    Section,
    { title: `Read as ${data.format_label}` },
    h(
      Fragment,
      null,
      h(Missing, { fields: data.missing }),
      data.warnings.map((text) => h(C.Text, { key: text, fontSize: "sm", color: "orange.fg" }, text)),
      h(C.Text, { fontSize: "sm", color: "fg.muted", mb: 2 }, facts(data)),
      h(FirstRows, { preview: data }),
    ),
  );
}
