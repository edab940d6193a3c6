// The importers there are, and the page of each.
import { C, Fragment, h, Link, PAGES, Router } from "./shell.js";
import { query, useResource } from "./api.js";
import { percent } from "./format.js";
import { ImporterDetails } from "./importer_details.js";
import { Cut, ErrorNote, Loading, Note, Section, StatusBadge } from "./pieces.js";
import { RunsTable, whileOpen } from "./runs_table.js";
import { Cell, DataTable, Line } from "./table.js";

const LAST = 20;
const HEIGHT = 24;

/** Reject rates of the last runs, oldest first; the highest bar is the worst of them. */
export function Sparkline({ runs }) {
  const ended = runs
    .filter((run) => run.completed_at && run.progress.total)
    .slice(0, LAST)
    .reverse();
  if (!ended.length) return h(C.Text, { as: "span", color: "fg.muted" }, "–");
  const rates = ended.map((run) => run.progress.failed / run.progress.total);
  const most = Math.max(...rates, 0.01);
  const newest = ended[ended.length - 1].progress;
  const label = `Reject rates of the last ${ended.length} runs, newest ${percent(newest.failed, newest.total)}`;
  return h(
    C.HStack,
    { gap: "2px", align: "flex-end", h: `${HEIGHT}px`, display: "inline-flex", role: "img", "aria-label": label },
    ended.map(({ id, progress }, index) =>
      h(C.Box, {
        key: id,
        w: "5px",
        h: `${Math.max(3, (HEIGHT * rates[index]) / most)}px`,
        bg: rates[index] ? "red.solid" : "green.solid",
        title: `#${id}: ${percent(progress.failed, progress.total)} failed`,
      }),
    ),
  );
}

/** The page of one importer. */
export function Importer() {
  const { slug } = Router.useParams();
  const importer = useResource(`/importers/${encodeURIComponent(slug)}`);
  const runs = useResource(`/${query({ importer: slug, per_page: LAST })}`, whileOpen);
  if (!importer.data) {
    return importer.error ? h(ErrorNote, { error: importer.error, retry: importer.reload }) : h(Loading);
  }
  const listed = runs.data?.data;
  return h(
    Fragment,
    null,
    h(ImporterDetails, { key: slug, importer: importer.data.data }),
    h(
      Section,
      { title: "Last runs", aside: listed ? h(Sparkline, { runs: listed }) : null },
      runs.error ? h(ErrorNote, { error: runs.error, retry: runs.reload }) : null,
      listed?.length ? h(RunsTable, { runs: listed, hideImporter: true }) : null,
      listed && !listed.length ? h(Note, { title: "It has not run yet." }) : null,
    ),
  );
}

/** One line of the list; its last runs make the sparkline. */
function ImporterLine({ importer }) {
  const runs = useResource(`/${query({ importer: importer.slug, per_page: LAST })}`);
  const last = importer.last_run;
  return h(
    Line,
    null,
    h(
      Cell,
      null,
      h(Link, { to: `${PAGES}/importers/${encodeURIComponent(importer.slug)}` }, h(Cut, null, importer.slug)),
      importer.is_paused ? h(C.Badge, { ms: 2, colorPalette: "orange" }, "paused") : null,
    ),
    h(Cell, null, importer.source.type),
    h(Cell, null, h(Cut, null, importer.target.table)),
    h(Cell, null, importer.schedule ?? "–"),
    h(Cell, { textAlign: "end" }, importer.mappings.length),
    h(Cell, null, h(Sparkline, { runs: runs.data?.data ?? [] })),
    h(
      Cell,
      { whiteSpace: "nowrap" },
      last
        ? h(
            C.HStack,
            null,
            h(Link, { to: `${PAGES}/runs/${last.id}` }, `#${last.id}`),
            h(StatusBadge, { status: last.status, dry: last.is_dry_run }),
          )
        : h(C.Text, { as: "span", color: "fg.muted" }, "never"),
    ),
  );
}

/** The page of all importers. */
export function Importers() {
  const { data, error, loading, reload } = useResource("/importers");
  const listed = data?.data;
  const empty = [
    "Write one in your DAGs folder with ingest_dag(slug, config), or let ",
    h(C.Code, { key: "code" }, "airflow ingest init FILE"),
    " write it from a sample.",
  ];
  return h(
    C.Box,
    null,
    h(C.Heading, { as: "h1", size: "xl", mb: 4 }, "Importers"),
    error ? h(ErrorNote, { error, retry: reload }) : null,
    loading ? h(Loading) : null,
    listed && !listed.length ? h(Note, { title: "There is no importer yet." }, empty) : null,
    listed?.length
      ? h(
          DataTable,
          {
            label: "Importers",
            numbers: ["Mappings"],
            head: ["Importer", "Source", "Target", "Schedule", "Mappings", "Reject rates", "Last run"],
          },
          listed.map((importer) => h(ImporterLine, { key: importer.slug, importer })),
        )
      : null,
  );
}
