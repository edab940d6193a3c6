// Failed rows as a grid to mend, sent back as the corrected file of a retry.
import { C, Fragment, h, LinkButton, PAGES, Router, useEffect, useMemo, useState } from "./shell.js";
import { call, query, upload, useResource } from "./api.js";
import { cellText, correctedCsv } from "./cells.js";
import { count, inRows } from "./format.js";
import { Cut, ErrorNote, Loading, Note } from "./pieces.js";
import { Cell, DataTable, Line } from "./table.js";

const MOST = 1000;
const PAGE = 50;

/** Fields on a page of the grid: a very wide file has fewer rows on one. */
const FIELDS = 1500;
const MESSAGE = 300;

/** Columns of the log that are no columns of the file. */
const RESERVED = new Set(["_raw", "_extra"]);

/**
 * All failed rows of a run, page after page.
 * @param {any} run nothing is loaded while it is null
 * @returns {{rows: any[]|null, error: Error|null}} rows are null until all are there, or if the caller may not see them
 */
function useFailedRows(run) {
  const [state, set] = useState({ rows: null, error: null });
  const id = run?.id ?? null;
  useEffect(() => {
    if (id === null) return undefined;
    const control = new AbortController();
    const load = async () => {
      const rows = [];
      let last = 1;
      for (let page = 1; page <= last; page += 1) {
        const path = `/${id}${query({ rows_page: page, rows_per_page: 100, rows_status: "failed" })}`;
        const { data } = await call(path, { signal: control.signal });
        rows.push(...(data.rows ?? []));
        last = Math.min(data.rows_meta?.last_page ?? 1, MOST);
      }
      set({ rows, error: null });
    };
    load().catch((error) => error.name === "AbortError" || set({ rows: null, error }));
    return () => control.abort();
  }, [id]);
  return state;
}

/** The columns of the file in its order; of an unknown file those that its rows have. */
function columnsOf(run, rows) {
  const known = run.file?.columns ?? [];
  const seen = rows.flatMap((row) => Object.keys(row.data));
  return [...new Set([...known, ...seen])].filter((name) => !RESERVED.has(name));
}

/** A message without what came, which stands in the field above it. */
const withoutValue = (text) => text.replace(/ \(got [^]*\)$/, "");

const keyOf = (row, name) => `${row.row_number}\n${name}`;

/** One value to mend, with what is wrong with it below. */
function Field({ row, name, edits, onEdit }) {
  const errors = row.errors?.validation?.[name];
  const edited = edits[keyOf(row, name)];
  const note = `wrong-${row.row_number}-${name}`;
  const text = cellText(row.data[name]);
  const isLong = /[\r\n]/.test(text); // a field of one line would take the breaks out
  return h(
    Cell,
    { verticalAlign: "top", bg: edited !== undefined ? "blue.subtle" : undefined },
    h(isLong ? C.Textarea : C.Input, {
      size: "xs",
      minW: isLong ? "16rem" : "9rem",
      rows: isLong ? 3 : undefined,
      bg: "bg",
      dir: "auto",
      value: edited ?? text,
      borderColor: errors && edited === undefined ? "border.error" : undefined,
      "aria-label": `${name} of row ${row.row_number}`,
      "aria-invalid": errors && edited === undefined ? true : undefined,
      "aria-describedby": errors ? note : undefined,
      onChange: (event) => onEdit(row, name, event.target.value),
    }),
    errors
      ? h(
          C.Text,
          { id: note, fontSize: "xs", color: "red.fg", mt: 1, maxW: "14rem", whiteSpace: "normal" },
          errors.map(withoutValue).join(" ").slice(0, MESSAGE),
        )
      : null,
  );
}

/** Back and forth between the pages of the grid. */
function GridPager({ page, size, rows, onPage }) {
  if (rows <= size) return null;
  const first = page * size;
  const button = (label, disabled, to) =>
    h(C.Button, { size: "xs", variant: "outline", disabled, onClick: () => onPage(to) }, label);
  return h(
    C.HStack,
    { as: "nav", "aria-label": "Pages", mt: 3, gap: 3 },
    button("Previous", page === 0, page - 1),
    h(
      C.Text,
      { fontSize: "sm" },
      `Rows ${count(first + 1)} to ${count(Math.min(rows, first + size))} of ${count(rows)}`,
    ),
    button("Next", first + size >= rows, page + 1),
  );
}

/** Asks before the window is closed over corrections that were not sent. */
function useWarning(isDirty) {
  useEffect(() => {
    const ask = (event) => isDirty && event.preventDefault();
    globalThis.addEventListener("beforeunload", ask);
    return () => globalThis.removeEventListener("beforeunload", ask);
  }, [isDirty]);
}

/** Sends the corrected rows; what was refused, and whether it is under way. */
function useRetry(run, columns, rows, edits) {
  const navigate = Router.useNavigate();
  const [state, set] = useState({ busy: false, refusal: null });
  const value = (row, name) => edits[keyOf(row, name)] ?? cellText(row.data[name]);
  const send = async (dryRun) => {
    const corrected = rows.map((row) => ({
      number: row.row_number,
      values: Object.fromEntries(columns.map((name) => [name, value(row, name)])),
    }));
    const form = new FormData();
    form.append("dry_run", dryRun ? "1" : "0");
    const content = new Blob([correctedCsv(columns, corrected)], { type: "text/csv" });
    form.append("file", content, `run-${run.id}-corrected.csv`);
    set({ busy: true, refusal: null });
    try {
      const answer = await upload(`/${run.id}/retry`, form, () => {});
      navigate(`${PAGES}/runs/${answer.data.id}`);
    } catch (refusal) {
      set({ busy: false, refusal });
    }
  };
  return { ...state, send };
}

/** What is wrong with a row and stands at none of its cells; of a record that was no row, also how it stood in the file. */
function reasonOf(row, columns) {
  const fields = Object.entries(row.errors?.validation ?? {});
  const elsewhere = fields
    .filter(([name]) => !columns.includes(name))
    .map(([name, texts]) => `${name}: ${texts.join("; ")}`);
  const text = fields.length ? elsewhere.join(" · ") : (row.errors?.message ?? "");
  const stood = row.data._raw ? `: ${row.data._raw}` : "";
  return (text + stood).slice(0, MESSAGE);
}

function Grid({ run, rows }) {
  const [edits, setEdits] = useState({});
  const [page, setPage] = useState(0);
  const columns = useMemo(() => columnsOf(run, rows), [run.id, rows]);
  const size = Math.max(1, Math.min(PAGE, Math.floor(FIELDS / columns.length)));
  const elsewhere = rows.some((row) => reasonOf(row, columns)) ? ["What is wrong"] : [];
  const { busy, refusal, send } = useRetry(run, columns, rows, edits);
  const changed = Object.keys(edits).length;
  useWarning(changed > 0 && !busy);
  const edit = (row, name, text) =>
    setEdits(({ [keyOf(row, name)]: _, ...others }) =>
      text === cellText(row.data[name]) ? others : { ...others, [keyOf(row, name)]: text },
    );
  const button = (label, dryRun, extra) =>
    h(C.Button, { size: "sm", disabled: busy, onClick: () => send(dryRun), ...extra }, label);
  return h(
    Fragment,
    null,
    refusal ? h(ErrorNote, { error: refusal }) : null,
    h(
      C.HStack,
      { mb: 3, gap: 3, wrap: "wrap" },
      run.is_dry_run ? null : button("Retry with these corrections", false, { colorPalette: "brand" }),
      button("Try as dry run", true, { variant: "outline" }),
      h(
        C.Text,
        { fontSize: "sm", color: "fg.muted", role: "status" },
        `${count(changed)} ${changed === 1 ? "cell" : "cells"} changed in ${inRows(rows.length)}`,
      ),
    ),
    h(
      DataTable,
      {
        label: "Failed rows to correct",
        head: ["Row", ...elsewhere, ...columns.map((name) => h(Cut, { width: "12rem" }, name))],
      },
      rows.slice(page * size, page * size + size).map((row) =>
        h(
          Line,
          { key: row.row_number },
          h(Cell, { verticalAlign: "top", pt: 3 }, count(row.row_number)),
          elsewhere.length
            ? h(
                Cell,
                { verticalAlign: "top", pt: 3, minW: "14rem", whiteSpace: "normal", overflowWrap: "anywhere" },
                reasonOf(row, columns),
              )
            : null,
          columns.map((name) => h(Field, { key: name, row, name, edits, onEdit: edit })),
        ),
      ),
    ),
    h(GridPager, { page, size, rows: rows.length, onPage: setPage }),
  );
}

const BY_FILE = "Download the failed rows, correct the file, and upload it on the run's page.";

/** Why there is no grid; null if there is one. */
function obstacle(run, rows) {
  if (!run.progress.failed) return ["No row of this run failed.", null];
  if (run.can?.needs_file) return [run.can.needs_file, run.can.correct && run.can.download ? BY_FILE : null];
  if (!run.can?.correct) return ["You may not retry this run.", null];
  if (run.progress.failed > MOST) return [`${count(run.progress.failed)} rows are too many for a page.`, BY_FILE];
  if (rows && !rows.length) return ["The failed rows are not to be seen.", "They were not logged, or are pruned."];
  return null;
}

/** The page. */
export function Fix() {
  const { runId } = Router.useParams();
  const found = useResource(`/${encodeURIComponent(runId)}${query({ rows_per_page: 1 })}`);
  const run = found.data?.data ?? null;
  const isFixable = run !== null && obstacle(run, null) === null;
  const { rows, error } = useFailedRows(isFixable ? run : null);
  const refused = found.error ?? error;
  const reason = run && obstacle(run, rows);
  return h(
    C.Box,
    null,
    h(
      C.HStack,
      { mb: 4, gap: 3, wrap: "wrap", justify: "space-between" },
      h(C.Heading, { as: "h1", size: "xl" }, `Fix run #${runId}`),
      h(LinkButton, { to: `${PAGES}/runs/${runId}` }, "Back to the run"),
    ),
    refused ? h(ErrorNote, { error: refused, retry: found.reload }) : null,
    reason ? h(Note, { title: reason[0] }, reason[1]) : null,
    !refused && !reason && !rows ? h(Loading) : null,
    !reason && rows ? h(Grid, { run, rows }) : null,
  );
}
