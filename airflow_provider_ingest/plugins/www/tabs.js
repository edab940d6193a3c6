// Our tab on the pages of a DAG and of a DAG run.
import { C, Fragment, h, LinkButton, PAGES } from "./shell.js";
import { query, useResource } from "./api.js";
import { ImporterDetails } from "./importer_details.js";
import { ErrorNote, Loading, Note, Section } from "./pieces.js";
import { Run } from "./run.js";
import { RunsTable, whileOpen } from "./runs_table.js";

const PREFIX = "ingest_";

/** The importer that a DAG is named for; null if it is named for none. */
const slugOf = (dagId) => (dagId.startsWith(PREFIX) ? dagId.slice(PREFIX.length) : null);

/** The frame of both tabs. */
const Tab = ({ children }) => h(C.Box, { p: 4, "data-testid": "ingest" }, children);

/** What a DAG without an importer shows. */
const Quiet = () => h(Note, { title: "This DAG has no importer." }, "Importers are the DAGs that ingest_dag() makes.");

/** The importer's latest runs. */
function LatestRuns({ slug }) {
  const { data, error, reload } = useResource(`/${query({ importer: slug, per_page: 10 })}`, whileOpen);
  const listed = data?.data;
  const all = h(LinkButton, { to: `${PAGES}?importer=${encodeURIComponent(slug)}` }, "All runs");
  return h(
    Section,
    { title: "Latest runs", aside: all },
    error ? h(ErrorNote, { error, retry: reload }) : null,
    listed?.length ? h(RunsTable, { runs: listed, hideImporter: true }) : null,
    listed && !listed.length ? h(Note, { title: "It has not run yet." }) : null,
  );
}

function ImporterOfDag({ slug }) {
  const { data, error, reload } = useResource(`/importers/${encodeURIComponent(slug)}`);
  if (error?.status === 404) return h(Quiet);
  if (!data) return error ? h(ErrorNote, { error, retry: reload }) : h(Loading);
  return h(Fragment, null, h(ImporterDetails, { importer: data.data }), h(LatestRuns, { slug }));
}

/** On the page of a DAG: its importer and latest runs. */
export function DagTab({ dagId }) {
  const slug = slugOf(dagId);
  return h(Tab, null, slug === null ? h(Quiet) : h(ImporterOfDag, { key: slug, slug }));
}

function RunOfDagRun({ slug, dagRunId }) {
  const path = `/${query({ importer: slug, dag_run_id: dagRunId, per_page: 1 })}`;
  const { data, error, reload } = useResource(path, (answer) => (answer.data.length ? null : 5000));
  if (!data) return error ? h(ErrorNote, { error, retry: reload }) : h(Loading);
  const [run] = data.data;
  if (!run) return h(Note, { title: "This DAG run has recorded no ingest run." });
  return h(Run, { key: run.id, id: String(run.id), embedded: true });
}

/** On the page of a DAG run: the run it works. */
export function DagRunTab({ dagId, dagRunId }) {
  const slug = slugOf(dagId);
  return h(Tab, null, slug === null ? h(Quiet) : h(RunOfDagRun, { key: dagRunId, slug, dagRunId }));
}
