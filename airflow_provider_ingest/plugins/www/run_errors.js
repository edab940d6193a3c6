// What went wrong in a run: messages by frequency, and the rows behind each.
import { C, Fragment, h, useState } from "./shell.js";
import { query, useResource } from "./api.js";
import { cellText } from "./cells.js";
import { count, percent } from "./format.js";
import { Cut, ErrorNote, Loading, Pager, Section, Waiting } from "./pieces.js";
import { Cell, DataTable, Line } from "./table.js";
import { Trace } from "./trace.js";

const COLUMNS = 40;
const MESSAGE = 500;

/** Fields of a row whose messages are shown: a row of a wide file may be wrong in hundreds, each of which is marked. */
const REASONS = 10;

/** Bars that are shown at first. */
const BARS = 8;

/** The column that a field is in: the nested `variants[2].price` is in `variants`. */
const rootOf = (field) => field.split(/[.[]/, 1)[0];

/** One message as a bar; pressed, it is the one whose rows are shown. */
function Bar({ entry, share, most, isChosen, onChoose }) {
  return h(
    C.Button,
    {
      variant: isChosen ? "subtle" : "ghost",
      size: "sm",
      w: "100%",
      h: "auto",
      py: 1.5,
      px: 2,
      display: "block",
      textAlign: "start",
      fontWeight: "normal",
      "aria-pressed": isChosen,
      onClick: () => onChoose(isChosen ? null : entry.message),
    },
    h(
      C.Flex,
      { justify: "space-between", gap: 3 },
      h(Cut, { width: "100%" }, entry.message),
      h(C.Text, { as: "span", color: "fg.muted", flexShrink: 0 }, `${count(entry.count)} · ${share}`),
    ),
    h(C.Box, {
      h: "4px",
      mt: 1,
      bg: "red.solid",
      borderRadius: "full",
      w: `${(100 * entry.count) / most}%`,
      minW: "4px",
    }),
  );
}

/** Messages as bars, the most frequent first; each is a button that shows its rows only. */
function Bars({ title, entries, total, chosen, onChoose }) {
  const [isWhole, setWhole] = useState(false);
  if (!entries.length) return null;
  const shown = isWhole ? entries : entries.slice(0, BARS);
  const more = entries.length - shown.length;
  return h(
    C.Box,
    { flex: "1 1 18rem", minW: 0, role: "group", "aria-label": title },
    h(C.Heading, { as: "h3", size: "sm", mb: 2 }, title),
    shown.map((entry) =>
      h(Bar, {
        key: entry.message,
        entry,
        share: percent(entry.count, total),
        most: entries[0].count,
        isChosen: chosen === entry.message,
        onChoose,
      }),
    ),
    more ? h(C.Button, { size: "xs", variant: "ghost", onClick: () => setWhole(true) }, `${count(more)} more`) : null,
  );
}

/** A message, what came instead, and the rest. */
const CAME = /^(.*? \(got ")(.*)("\))$/s;

/** A message; what came instead is kept from turning the direction of the rest. */
function Told({ text }) {
  const [, before, came, after] = CAME.exec(text.slice(0, MESSAGE)) ?? [];
  if (came === undefined) return h("bdi", null, text.slice(0, MESSAGE));
  return h(Fragment, null, before, h("bdi", null, came), after);
}

/** What is wrong with a row, field by field where a field is known. */
function Reasons({ errors }) {
  const fields = Object.entries(errors?.validation ?? {});
  if (!fields.length) return h(C.Text, { overflowWrap: "anywhere" }, h(Told, { text: errors?.message ?? "" }));
  const told = fields.slice(0, REASONS).map(([field, texts]) =>
    h(
      C.Text,
      { key: field, overflowWrap: "anywhere" },
      h("b", null, h("bdi", null, field)),
      ": ",
      texts.map((text, index) => h(Fragment, { key: index }, index ? " " : null, h(Told, { text }))),
    ),
  );
  const left = fields.length - told.length;
  const rest = left
    ? h(C.Text, { color: "fg.muted" }, `and ${left === 1 ? "1 more field" : `${count(left)} more fields`}`)
    : null;
  return h(Fragment, null, told, rest);
}

/** The columns in which something is wrong with a row. */
const wrongOf = (row) => Object.keys(row.errors?.validation ?? {}).flatMap((field) => [field, rootOf(field)]);

/** The columns to show, in the order of the file, those with errors in any case; and how many there are. */
function columnsOf(run, rows) {
  const all = [...new Set([...(run.file?.columns ?? []), ...rows.flatMap((row) => Object.keys(row.data))])];
  const wrong = new Set(rows.flatMap(wrongOf));
  const shown = new Set([...new Set([...all.filter((name) => wrong.has(name)), ...all])].slice(0, COLUMNS));
  return { columns: all.filter((name) => shown.has(name)), all: all.length };
}

const someOf = (shown, all) =>
  `${count(shown)} of ${count(all)} columns are shown, first of all those with errors; the download has them all.`;

function FailedRow({ row, columns, hasTrace }) {
  const [isOpen, setOpen] = useState(false);
  const wrong = new Set(wrongOf(row));
  const cells = columns.map((name) => {
    const isWrong = wrong.has(name);
    return h(
      Cell,
      {
        key: name,
        verticalAlign: "top",
        bg: isWrong ? "red.subtle" : undefined,
        color: isWrong ? "red.fg" : undefined,
        "data-offending": isWrong || undefined,
      },
      h(Cut, { width: "10rem" }, cellText(row.data[name])),
    );
  });
  const line = row.line_number ? `line ${count(row.line_number)}` : null;
  const toggle = row.trace
    ? h(
        C.Button,
        {
          size: "2xs",
          variant: "outline",
          "aria-expanded": isOpen,
          "aria-label": `Trace of row ${row.row_number}`,
          onClick: () => setOpen(!isOpen),
        },
        "Trace",
      )
    : null;
  return h(
    Fragment,
    null,
    h(
      Line,
      { "data-row": row.row_number },
      h(
        Cell,
        { verticalAlign: "top", whiteSpace: "nowrap" },
        count(row.row_number),
        line ? h(C.Text, { as: "span", ms: 2, fontSize: "xs", color: "fg.muted" }, line) : null,
      ),
      h(
        Cell,
        { verticalAlign: "top", minW: "16rem", maxW: "30rem", whiteSpace: "normal" },
        h(Reasons, { errors: row.errors }),
      ),
      hasTrace ? h(Cell, { verticalAlign: "top" }, toggle) : null,
      cells,
    ),
    isOpen
      ? h(Line, null, h(Cell, { colSpan: columns.length + 3, whiteSpace: "normal" }, h(Trace, { trace: row.trace })))
      : null,
  );
}

/** The failed rows of one message, or of all. */
function FailedRows({ run, chosen = null, status = "failed", label = "Failed rows" }) {
  const [page, setPage] = useState(1);
  const path = `/${run.id}${query({ rows_page: page, rows_per_page: 25, rows_status: status, rows_message: chosen })}`;
  const { data, error, loading, reload } = useResource(path, () => (run.completed_at ? null : 4000), { keeps: true });
  if (error) return h(ErrorNote, { error, retry: reload });
  if (!data) return h(Loading);
  const rows = data.data.rows;
  if (!rows) return h(C.Text, { color: "fg.muted" }, "The rows are not logged, or you may not see them.");
  if (!rows.length) return h(C.Text, { color: "fg.muted" }, "The rows themselves were not logged, or are pruned.");
  const { columns, all } = columnsOf(run, rows);
  const hasTrace = rows.some((row) => row.trace);
  const trace = hasTrace ? [h(C.VisuallyHidden, null, "Trace")] : [];
  const head = ["Row", "What is wrong", ...trace, ...columns.map((name) => h(Cut, { width: "10rem" }, name))];
  return h(
    Fragment,
    null,
    all > columns.length ? h(C.Text, { mb: 2, fontSize: "sm", color: "fg.muted" }, someOf(columns.length, all)) : null,
    h(
      Waiting,
      { isWaiting: loading },
      h(
        DataTable,
        { label, head },
        rows.map((row) => h(FailedRow, { key: row.row_number, row, columns, hasTrace })),
      ),
    ),
    h(Pager, { meta: data.data.rows_meta, onPage: setPage }),
  );
}

/** Which rows are shown, and the way back to all of them. */
function Chosen({ message, onClear }) {
  return h(
    C.HStack,
    { mb: 2, gap: 2, fontSize: "sm" },
    h(C.Text, { color: "fg.muted", flexShrink: 0 }, "Only rows with"),
    h(Cut, { width: "min(30rem, 100%)" }, message),
    h(C.Button, { size: "2xs", variant: "outline", onClick: onClear }, "Show all"),
  );
}

/** The summary, and the rows it is made of. */
export function Errors({ run }) {
  const [chosen, setChosen] = useState(null);
  const { data, error } = useResource(`/${run.id}/errors/summary`, () => (run.completed_at ? null : 4000));
  if (error) return h(ErrorNote, { error });
  const summary = data?.data;
  const bars = (title, entries) =>
    h(Bars, { title, entries, total: summary.total_failed_rows, chosen, onChoose: setChosen });
  return h(
    Section,
    { title: "Errors" },
    summary
      ? h(
          C.Flex,
          { gap: 6, wrap: "wrap", mb: 4 },
          bars("By field", summary.validation_summary),
          bars("By message", summary.error_summary),
        )
      : null,
    chosen ? h(Chosen, { message: chosen, onClear: () => setChosen(null) }) : null,
    h(FailedRows, { key: chosen ?? "", run, chosen }),
  );
}

const GIVEN_UP =
  "Chunks that did not finish logged these rows. Nothing of such chunks is kept: their rows are unprocessed.";

/** What was wrong in chunks that were given up, in a run that has ended. */
export function GivenUp({ run }) {
  const { data, error } = useResource(`/${run.id}${query({ rows_status: "unprocessed", rows_per_page: 1 })}`);
  if (error) return h(ErrorNote, { error });
  if (!data?.data.rows?.length) return null;
  const title = "Rows of chunks that did not finish";
  return h(
    Section,
    { title },
    h(C.Text, { mb: 2, fontSize: "sm", color: "fg.muted" }, GIVEN_UP),
    h(FailedRows, { run, status: "unprocessed", label: title }),
  );
}
