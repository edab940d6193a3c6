// The importers there are, and the page of each.
import { C, Fragment, h, Link, PAGES, Router } from "./shell.js";
import { query, useResource } from "./api.js";
import { NoPage, TypedFilter, useAddress } from "./filters.js";
import { count, OPEN, percent } from "./format.js";
import { descriptionOf, ImporterDetails } from "./importer_details.js";
import { Cut, ErrorNote, Loading, NARROW, Note, Pager, Section, StatusBadge } from "./pieces.js";
import { RunsTable, whileOpen } from "./runs_table.js";
import { Cell, DataTable, Line } from "./table.js";

const LAST = 20;
const HEIGHT = 24;

/** Importers on a page of the list. */
const PER_PAGE = 25;

/** Milliseconds without a key before the list is searched: it is here already. */
const PAUSE = 100;

const rateOf = (run) => percent(run.failed, run.processed);

/** A bar as high as the share of failed rows, by its root: 1 % and 5 % can be told apart, 33 % is not all. */
const heightOf = (run) => `${Math.max(3, Math.round(HEIGHT * Math.sqrt(run.reject_rate)))}px`;

/** Reject rates of the last runs, oldest first. */
function Sparkline({ runs }) {
  const ended = runs.filter((run) => run.reject_rate !== null && !OPEN.includes(run.status)).reverse();
  if (!ended.length) return h(C.Text, { as: "span", color: "fg.muted" }, "–");
  const newest = rateOf(ended[ended.length - 1]);
  const label = `Reject rates of the last ${ended.length} runs, newest ${newest}`;
  const bars = h(
    C.HStack,
    { gap: "2px", align: "flex-end", h: `${HEIGHT}px`, display: "inline-flex", role: "img", "aria-label": label },
    ended.map((run) =>
      h(C.Box, {
        key: run.id,
        w: "5px",
        h: heightOf(run),
        bg: run.failed ? "red.solid" : "green.solid",
        title: `#${run.id}: ${rateOf(run)} failed`,
      }),
    ),
  );
  return h(
    C.HStack,
    { gap: 2, display: "inline-flex", verticalAlign: "middle" },
    bars,
    h(
      C.Text,
      { as: "span", fontSize: "sm", color: "fg.muted", whiteSpace: "nowrap", title: "of the newest run" },
      newest,
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
      { title: "Last runs", aside: listed?.length ? h(Sparkline, { runs: importer.data.data.recent_runs }) : null },
      runs.error ? h(ErrorNote, { error: runs.error, retry: runs.reload }) : null,
      listed?.length ? h(RunsTable, { runs: listed, hideImporter: true }) : null,
      listed && !listed.length ? h(Note, { title: "It has not run yet." }) : null,
    ),
  );
}

/** One line of the list. */
function ImporterLine({ importer }) {
  const last = importer.last_run;
  return h(
    Line,
    null,
    h(
      Cell,
      null,
      h(
        Link,
        { to: `${PAGES}/importers/${encodeURIComponent(importer.slug)}` },
        h(Cut, { width: NARROW }, importer.slug),
      ),
      importer.is_paused ? h(C.Badge, { ms: 2, colorPalette: "orange" }, "paused") : null,
      importer.title ? h(C.Box, null, h(Cut, { width: NARROW }, importer.title)) : null,
      h(
        C.Box,
        { fontSize: "xs", color: "fg.muted" },
        descriptionOf(importer) ? h(Cut, { width: NARROW }, descriptionOf(importer)) : null,
      ),
    ),
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
    h(Cell, null, h(Sparkline, { runs: importer.recent_runs })),
    h(Cell, null, importer.source.type),
    h(Cell, null, h(Cut, null, importer.target.table)),
    h(Cell, null, importer.schedule ?? "–"),
    h(Cell, { textAlign: "end" }, importer.mappings.length),
  );
}

/** Whether each word stands somewhere in what an importer is called and described as. */
function matches(importer, text) {
  const told = [importer.slug, importer.title, descriptionOf(importer)].join("\n").toLocaleLowerCase();
  return text
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => told.includes(word));
}

/** The search, and what it found. */
function Search({ value, onChange, found, all }) {
  const what = all === 1 ? "importer" : "importers";
  return h(
    C.Flex,
    {
      gap: 4,
      mb: 4,
      wrap: "wrap",
      align: "center",
      as: "form",
      role: "search",
      onSubmit: (event) => event.preventDefault(),
    },
    h(TypedFilter, {
      label: "Search",
      type: "search",
      width: { base: "12rem", md: "16rem" },
      pause: PAUSE,
      value,
      onChange,
    }),
    h(
      C.Text,
      { role: "status", fontSize: "sm", color: "fg.muted" },
      value ? `${count(found)} of ${count(all)} ${what}` : `${count(all)} ${what}`,
    ),
  );
}

/** The importers that the search finds, a page at a time. */
function Found({ importers }) {
  const { value, page, change, onPage, clear } = useAddress(["search"]);
  const found = importers.filter((one) => matches(one, value.search));
  const last = Math.max(1, Math.ceil(found.length / PER_PAGE));
  const shown = found.slice((page - 1) * PER_PAGE, page * PER_PAGE);
  const action = h(C.Button, { size: "sm", variant: "outline", onClick: clear }, "Clear the search");
  return h(
    Fragment,
    null,
    h(Search, {
      value: value.search,
      onChange: (search) => change({ search }, true),
      found: found.length,
      all: importers.length,
    }),
    shown.length
      ? h(
          DataTable,
          {
            label: "Importers",
            numbers: ["Mappings"],
            head: ["Importer", "Last run", "Reject rates", "Source", "Target", "Schedule", "Mappings"],
          },
          shown.map((importer) => h(ImporterLine, { key: importer.slug, importer })),
        )
      : null,
    found.length ? null : h(Note, { title: "No importer matches this search.", action }),
    found.length && page > last ? h(NoPage, { page, last, onPage }) : null,
    h(Pager, { meta: { current_page: page, last_page: last }, onPage }),
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
    listed?.length ? h(Found, { importers: listed }) : null,
  );
}
