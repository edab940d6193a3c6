// The card on Airflow's home page: what was imported in the last 24 hours.
import { C, h, Link, PAGES, useState } from "./shell.js";
import { query, useResource } from "./api.js";
import { count, isOpen } from "./format.js";
import { Cut, ErrorNote, Loading, StatusBadge } from "./pieces.js";

const DAY = 24 * 3600 * 1000;
const NEWEST = 3;

const NAMED = {
  imported: "rows created or updated",
  failed: "each counted once; without those that a retry got through",
};

/** What became of the rows. */
function Sums({ runs, imported, failed }) {
  const told = (name, value, one, many) =>
    h("span", { title: NAMED[name] }, `${count(value)} ${value === 1 ? one : many}`);
  return h(
    C.Text,
    { color: "fg.muted", fontSize: "sm" },
    told("runs", runs, "run", "runs"),
    " · ",
    told("imported", imported, "row imported", "rows imported"),
    " · ",
    told("failed", failed, "failed row left", "failed rows left"),
  );
}

/** How many runs there were, and the newest ones by name. */
export function DashboardCard() {
  const [since] = useState(() => new Date(Date.now() - DAY).toISOString());
  const path = `/${query({ started_after: since, per_page: NEWEST })}`;
  const { data, error, reload } = useResource(path, (answer) => (answer.data.some(isOpen) ? 5000 : 60000));
  const moving = (data?.data ?? []).some(isOpen);
  const totals = useResource(`/totals${query({ started_after: since })}`, () => (moving ? 5000 : 60000));
  const problem = error ?? totals.error;
  const retry = () => [reload, totals.reload].forEach((again) => again());
  return h(
    C.Box,
    {
      as: "section",
      "aria-label": "Ingest",
      order: 2,
      borderWidth: 1,
      borderRadius: "md",
      p: 4,
      "data-testid": "ingest",
    },
    h(
      C.HStack,
      { justify: "space-between", mb: 2 },
      h(C.Heading, { as: "h2", size: "sm" }, "Ingest, last 24 hours"),
      h(Link, { to: PAGES, fontSize: "sm" }, "All runs"),
    ),
    problem ? h(ErrorNote, { error: problem, retry }) : null,
    totals.data ? h(Sums, totals.data.data) : problem ? null : h(Loading),
    (data?.data ?? []).map((run) =>
      h(
        C.HStack,
        { key: run.id, mt: 2, fontSize: "sm", wrap: "wrap", rowGap: 0 },
        h(
          Link,
          { to: `${PAGES}/runs/${run.id}`, maxW: "100%" },
          h(Cut, { width: "min(30rem, 100%)" }, `#${run.id} ${run.importer}`),
        ),
        h(StatusBadge, { status: run.status, dry: run.is_dry_run }),
      ),
    ),
  );
}
