// What went wrong in a run: messages by frequency, and the rows behind each.
import { C, Fragment, h, useState } from "./shell.js";
import { query, useResource } from "./api.js";
import { count, percent } from "./format.js";
import { Cut, ErrorNote, Loading, Pager, Section } from "./pieces.js";

/** Messages as bars; each is a button that shows its rows only. */
function Bars({ title, entries, total, chosen, onChoose }) {
  if (!entries.length) return null;
  const most = entries[0].count;
  return h(C.Box, { flex: 1, minW: "18rem" },
    h(C.Heading, { as: "h3", size: "sm", mb: 2 }, title),
    entries.map(({ message, count: times }) => h(C.Button, {
      key: message, variant: chosen === message ? "subtle" : "ghost", size: "sm", w: "100%", justifyContent: "flex-start", h: "auto", py: 1, px: 2,
      "aria-pressed": chosen === message, onClick: () => onChoose(chosen === message ? null : message),
    }, h(C.Box, { w: "100%", textAlign: "start" },
      h(C.Flex, { justify: "space-between", gap: 3 }, h(Cut, { width: "26rem" }, message), h("span", null, `${count(times)} · ${percent(times, total)}`)),
      h(C.Box, { h: "3px", mt: 1, bg: "red.solid", borderRadius: "full", w: `${(100 * times) / most}%` })))));
}

const message = (row) => row.errors?.message ?? "";
const cell = (value) => (value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));

/** The steps a value went through, where tracing was on. */
function Trace({ trace }) {
  const steps = trace.transformations ?? trace;
  return h(C.Box, { fontSize: "sm" }, Object.entries(steps).filter(([, list]) => Array.isArray(list)).map(([attribute, list]) =>
    h(C.HStack, { key: attribute, gap: 2, wrap: "wrap", py: 0.5 }, h(C.Text, { as: "span", fontWeight: "semibold", minW: "8rem" }, attribute),
      list.map((step, index) => h(Fragment, { key: index }, index ? h("span", { "aria-hidden": true }, "→") : null,
        h(C.Text, { as: "span", color: "fg.muted" }, step.step), h(C.Code, null, h("bdi", null, cell(step.value).slice(0, 200) || "∅")))))));
}

function FailedRow({ row, columns }) {
  const [open, setOpen] = useState(false);
  const validation = row.errors?.validation ?? {};
  const fields = Object.keys(validation);
  return h(Fragment, null,
    h(C.Table.Row, null,
      h(C.Table.Cell, { verticalAlign: "top", whiteSpace: "nowrap" }, count(row.row_number),
        row.line_number ? h(C.Text, { fontSize: "xs", color: "fg.muted" }, `line ${count(row.line_number)}`) : null),
      columns.map((name) => h(C.Table.Cell, { key: name, verticalAlign: "top", bg: validation[name] ? "bg.error" : undefined, color: validation[name] ? "fg.error" : undefined,
        "data-offending": validation[name] ? "true" : undefined }, h(Cut, { width: "10rem" }, cell(row.data[name])))),
      h(C.Table.Cell, { verticalAlign: "top", minW: "16rem" },
        fields.length ? fields.map((field) => h(C.Text, { key: field, fontSize: "sm", overflowWrap: "anywhere" }, h("b", null, field), `: ${validation[field].join("; ").slice(0, 500)}`))
          : h(C.Text, { fontSize: "sm", overflowWrap: "anywhere" }, message(row).slice(0, 500))),
      h(C.Table.Cell, { verticalAlign: "top" }, row.trace ? h(C.Button, { size: "2xs", variant: "outline", "aria-expanded": open, onClick: () => setOpen(!open) }, "Trace") : null)),
    open ? h(C.Table.Row, null, h(C.Table.Cell, { colSpan: columns.length + 3 }, h(Trace, { trace: row.trace }))) : null);
}

/** The failed rows of one message, or of all. */
function FailedRows({ run, chosen }) {
  const [page, setPage] = useState(1);
  const path = `/${run.id}${query({ rows_page: page, rows_per_page: 25, rows_status: "failed", rows_message: chosen })}`;
  const { data, error, loading, reload } = useResource(path);
  if (error) return h(ErrorNote, { error, retry: reload });
  if (loading || !data) return h(Loading);
  const rows = data.data.rows ?? [];
  if (!rows.length) return h(C.Text, { color: "fg.muted" }, "The rows themselves were not logged, or are pruned.");
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row.data)))].slice(0, 40);
  return h(Fragment, null,
    h(C.Table.ScrollArea, { tabIndex: 0, role: "region", "aria-label": "Failed rows" }, h(C.Table.Root, { size: "sm" },
      h(C.Table.Header, null, h(C.Table.Row, null, h(C.Table.ColumnHeader, null, "Row"), columns.map((name) => h(C.Table.ColumnHeader, { key: name }, h(Cut, { width: "10rem" }, name))),
        h(C.Table.ColumnHeader, null, "What is wrong"), h(C.Table.ColumnHeader, null, h(C.VisuallyHidden, null, "Trace")))),
      h(C.Table.Body, null, rows.map((row) => h(FailedRow, { key: row.row_number, row, columns }))))),
    h(Pager, { meta: data.data.rows_meta, onPage: setPage }));
}

/** The summary, and the rows it is made of. */
export function Errors({ run }) {
  const [chosen, setChosen] = useState(null);
  const { data, error } = useResource(`/${run.id}/errors/summary`, () => (run.completed_at ? null : 4000));
  if (error) return h(ErrorNote, { error });
  const summary = data?.data;
  return h(Section, { title: "Errors" },
    summary ? h(C.Flex, { gap: 6, wrap: "wrap", mb: 4 },
      h(Bars, { title: "By message", entries: summary.error_summary, total: summary.total_failed_rows, chosen, onChoose: setChosen }),
      h(Bars, { title: "By field", entries: summary.validation_summary, total: summary.total_failed_rows, chosen, onChoose: setChosen })) : null,
    h(FailedRows, { key: chosen ?? "", run, chosen }));
}
