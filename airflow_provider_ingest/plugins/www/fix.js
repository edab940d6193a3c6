// Failed rows as a grid to mend, sent back as the corrected file of a retry.
import { C, Fragment, h, LinkButton, PAGES, Router, useMemo, useState } from "./shell.js";
import { query, upload, useResource } from "./api.js";
import { count } from "./format.js";
import { ErrorNote, Loading, Note } from "./pieces.js";

const MOST = 1000;
const PAGE = 100;
const RESERVED = new Set(["_raw", "_extra"]);

const text = (value) => (value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));
const quoted = (value) => `"${value.replaceAll('"', '""')}"`;
const PLAIN = /^[+-]?(\d+([.,]\d*)*|\.\d+)([eE][+-]?\d+)?$/;

/** The same escaping as the download's, since the server takes it back off every corrected file. */
export const escapeCell = (value) => (/^'*[=+\-@\t\r]/.test(value) && !PLAIN.test(value) ? `'${value}` : value);

/**
 * The corrected rows as CSV with their original row numbers.
 * @param {string[]} columns @param {Array<{number: number, values: Record<string, string>}>} rows
 */
export function correctedCsv(columns, rows) {
  const lines = [[...columns, "_row_number"].map(quoted).join(",")];
  for (const row of rows) lines.push([...columns.map((name) => quoted(escapeCell(row.values[name] ?? ""))), String(row.number)].join(","));
  return `${lines.join("\r\n")}\r\n`;
}

/** One page of failed rows after the other, up to the limit. */
function usePages(id, pages) {
  const parts = [];
  for (let page = 1; page <= MOST / PAGE; page += 1) {
    // The number of hooks is constant; pages that are not there are not asked for.
    // eslint-disable-next-line react-hooks/rules-of-hooks
    parts.push(useResource(page <= pages ? `/${id}${query({ rows_page: page, rows_per_page: PAGE, rows_status: "failed" })}` : null));
  }
  return parts;
}

function Grid({ run, rows, columns }) {
  const navigate = Router.useNavigate();
  const [edits, setEdits] = useState({});
  const [page, setPage] = useState(0);
  const [refusal, setRefusal] = useState(null);
  const [busy, setBusy] = useState(false);
  const changed = Object.keys(edits).length;
  const send = async (dryRun) => {
    const all = rows.map((row) => ({ number: row.row_number, values: Object.fromEntries(columns.map((name) => [name, edits[`${row.row_number}\n${name}`] ?? text(row.data[name])])) }));
    const form = new FormData();
    form.append("dry_run", dryRun ? "1" : "0");
    form.append("file", new Blob([correctedCsv(columns, all)], { type: "text/csv" }), `run-${run.id}-corrected.csv`);
    setBusy(true);
    try {
      const answer = await upload(`/${run.id}/retry`, form, () => {});
      navigate(`${PAGES}/runs/${answer.data.id}`);
    } catch (error) {
      setRefusal(error);
      setBusy(false);
    }
  };
  const shown = rows.slice(page * 50, page * 50 + 50);
  return h(Fragment, null,
    refusal ? h(ErrorNote, { error: refusal }) : null,
    h(C.HStack, { mb: 3, gap: 3, wrap: "wrap" },
      h(C.Button, { colorPalette: "blue", size: "sm", disabled: busy, onClick: () => send(run.is_dry_run) }, "Retry with these corrections"),
      h(C.Button, { variant: "outline", size: "sm", disabled: busy, onClick: () => send(true) }, "Try as dry run"),
      h(C.Text, { fontSize: "sm", color: "fg.muted", role: "status" }, `${count(changed)} cells changed in ${count(rows.length)} rows`)),
    h(C.Table.ScrollArea, { tabIndex: 0, role: "region", "aria-label": "Failed rows to correct" }, h(C.Table.Root, { size: "sm" },
      h(C.Table.Header, null, h(C.Table.Row, null, h(C.Table.ColumnHeader, null, "Row"), columns.map((name) => h(C.Table.ColumnHeader, { key: name }, name)), h(C.Table.ColumnHeader, null, "What is wrong"))),
      h(C.Table.Body, null, shown.map((row) => h(C.Table.Row, { key: row.row_number },
        h(C.Table.Cell, { verticalAlign: "top" }, count(row.row_number)),
        columns.map((name) => {
          const key = `${row.row_number}\n${name}`;
          const errors = row.errors?.validation?.[name];
          return h(C.Table.Cell, { key: name, verticalAlign: "top" },
            h(C.Input, { size: "xs", minW: "8rem", value: edits[key] ?? text(row.data[name]), "aria-label": `${name} of row ${row.row_number}`, "aria-invalid": errors ? true : undefined,
              borderColor: errors ? "border.error" : undefined, onChange: (event) => setEdits((last) => ({ ...last, [key]: event.target.value })) }),
            errors ? h(C.Text, { fontSize: "xs", color: "fg.error" }, errors.join("; ").slice(0, 300)) : null);
        }),
        h(C.Table.Cell, { verticalAlign: "top", fontSize: "sm" }, (row.errors?.message ?? "").slice(0, 300))))))),
    rows.length > 50 ? h(C.HStack, { mt: 3 },
      h(C.Button, { size: "xs", variant: "outline", disabled: !page, onClick: () => setPage(page - 1) }, "Previous"),
      h(C.Text, { fontSize: "sm" }, `Rows ${count(page * 50 + 1)} to ${count(Math.min(rows.length, page * 50 + 50))} of ${count(rows.length)}`),
      h(C.Button, { size: "xs", variant: "outline", disabled: (page + 1) * 50 >= rows.length, onClick: () => setPage(page + 1) }, "Next")) : null);
}

/** The page. */
export function Fix() {
  const { runId } = Router.useParams();
  const first = useResource(`/${encodeURIComponent(runId)}${query({ rows_per_page: 1 })}`);
  const run = first.data?.data;
  const pages = run && run.progress.failed <= MOST ? Math.ceil(run.progress.failed / PAGE) : 0;
  const parts = usePages(runId, pages);
  const error = first.error ?? parts.find((part) => part.error)?.error;
  const ready = run && parts.slice(0, pages).every((part) => part.data);
  const rows = useMemo(() => (ready ? parts.slice(0, pages).flatMap((part) => part.data.data.rows ?? []) : []), [ready]);
  const columns = useMemo(() => [...new Set(rows.flatMap((row) => Object.keys(row.data)))].filter((name) => !RESERVED.has(name)), [rows]);
  return h(C.Box, null,
    h(C.HStack, { mb: 3, gap: 3 }, h(C.Heading, { as: "h1", size: "xl" }, `Fix run #${runId}`), h(LinkButton, { to: `${PAGES}/runs/${runId}` }, "Back to the run")),
    error ? h(ErrorNote, { error, retry: first.reload }) : null,
    !ready && !error ? h(Loading) : null,
    run && !run.progress.failed ? h(Note, { title: "No row of this run failed." }) : null,
    run && run.progress.failed > MOST ? h(Note, { title: `${count(run.progress.failed)} rows are too many for a page.` }, "Download them, correct the file, and upload it on the run's page.") : null,
    ready && run.progress.failed && run.progress.failed <= MOST && !run.can?.retry ? h(Note, { title: "You may not retry this run." }) : null,
    ready && rows.length && run.can?.retry ? h(Grid, { run, rows, columns }) : null);
}
