// Runs as a table, one line each: on the page of all runs, of an importer, and on the tab of a DAG.
import { C, h, Link, PAGES } from "./shell.js";
import { count, isOpen } from "./format.js";
import { Cut, Moment, NARROW, ProgressLine, StatusBadge, Took } from "./pieces.js";
import { Cell, DataTable, Line } from "./table.js";

/** Every two seconds while something works, else at rest. */
export const whileOpen = (answer) => (answer.data.some(isOpen) ? 2000 : 15000);

/** The page of a run's DAG run. */
const dagRun = (run) => `/dags/${encodeURIComponent(run.dag_id)}/runs/${encodeURIComponent(run.dag_run_id)}`;

function RunLine({ run, hideImporter }) {
  const failed = run.progress.failed;
  return h(
    Line,
    null,
    h(Cell, null, h(Link, { to: `${PAGES}/runs/${run.id}` }, `#${run.id}`)),
    hideImporter
      ? null
      : h(
          Cell,
          null,
          h(
            Link,
            { to: `${PAGES}/importers/${encodeURIComponent(run.importer)}` },
            h(Cut, { width: NARROW }, run.importer),
          ),
        ),
    h(Cell, { whiteSpace: "nowrap" }, h(StatusBadge, { status: run.status, dry: run.is_dry_run })),
    h(Cell, null, h(ProgressLine, { run, compact: true })),
    h(Cell, { textAlign: "end", color: failed ? "red.fg" : "fg.muted" }, count(failed)),
    h(Cell, null, h(Cut, { width: "12rem" }, run.original_filename)),
    h(Cell, { whiteSpace: "nowrap" }, h(Moment, { at: run.started_at })),
    h(Cell, { whiteSpace: "nowrap" }, h(Took, { run })),
    h(Cell, null, h(Cut, { width: "8rem" }, run.user_name)),
    h(Cell, null, h(Link, { to: dagRun(run), "aria-label": `DAG run of run ${run.id}` }, "open")),
  );
}

/**
 * The table.
 * @param {{runs: any[], hideImporter?: boolean}} props
 */
export function RunsTable({ runs, hideImporter = false }) {
  const importer = hideImporter ? [] : ["Importer"];
  const head = ["Run", ...importer, "Status", "Progress", "Failed", "File", "Started", "Took", "By", "DAG run"];
  return h(
    DataTable,
    { label: "Ingest runs", head, numbers: ["Failed"] },
    runs.map((run) => h(RunLine, { key: run.id, run, hideImporter })),
  );
}
