// The card on Airflow's home page: what was imported in the last 24 hours.
import { C, h, Link, PAGES, useState } from "./shell.js";
import { query, useResource } from "./api.js";
import { count, isOpen } from "./format.js";
import { ErrorNote, StatusBadge } from "./pieces.js";

/** Runs of the last day by status, the newest ones by name. */
export function DashboardCard() {
  const [since] = useState(() => new Date(Date.now() - 24 * 3600 * 1000).toISOString());
  const runs = useResource(`/${query({ started_after: since, per_page: 100 })}`, (answer) => (answer.data.some(isOpen) ? 5000 : 60000));
  const listed = runs.data?.data ?? [];
  const failed = listed.reduce((sum, run) => sum + run.progress.failed, 0);
  const rows = listed.reduce((sum, run) => sum + run.progress.processed, 0);
  const newest = listed.slice(0, 3);
  return h(C.Box, { as: "section", "aria-label": "Ingest", borderWidth: 1, borderRadius: "md", p: 4, "data-testid": "ingest" },
    h(C.HStack, { justify: "space-between", mb: 2 }, h(C.Heading, { as: "h2", size: "sm" }, "Ingest, last 24 hours"), h(Link, { to: PAGES }, "All runs")),
    runs.error ? h(ErrorNote, { error: runs.error, retry: runs.reload }) : null,
    h(C.Text, { color: "fg.muted", fontSize: "sm" }, `${count(runs.data?.meta.total)} runs · ${count(rows)} rows · ${count(failed)} failed rows`),
    newest.map((run) => h(C.HStack, { key: run.id, mt: 2, fontSize: "sm" },
      h(Link, { to: `${PAGES}/runs/${run.id}` }, `#${run.id} ${run.importer}`), h(StatusBadge, { status: run.status, dry: run.is_dry_run }))));
}
