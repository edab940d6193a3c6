// Our tab on the pages of a DAG and of a DAG run.
import { C, h, LinkButton, PAGES } from "./shell.js";
import { query, useResource } from "./api.js";
import { ImporterDetails } from "./importer_details.js";
import { ErrorNote, Loading, Note, Section } from "./pieces.js";
import { Run } from "./run.js";
import { RunsTable, whileOpen } from "./runs_table.js";

const PREFIX = "ingest_";

/** What a DAG without an importer shows. */
const Quiet = () =>
  h(
    C.Box,
    { p: 4 },
    h(Note, { title: "This DAG has no importer." }, "Importers are the DAGs that ingest_dag() makes."),
  );

/** On the page of a DAG: its importer and latest runs. */
export function DagTab({ dagId }) {
  const slug = dagId.startsWith(PREFIX) ? dagId.slice(PREFIX.length) : null;
  const importer = useResource(slug === null ? null : `/importers/${encodeURIComponent(slug)}`);
  const runs = useResource(slug === null ? null : `/${query({ importer: slug, per_page: 10 })}`, whileOpen);
  if (slug === null || importer.error?.status === 404) return h(Quiet);
  if (importer.error) return h(C.Box, { p: 4 }, h(ErrorNote, { error: importer.error, retry: importer.reload }));
  if (!importer.data) return h(Loading);
  return h(
    C.Box,
    { p: 4, "data-testid": "ingest" },
    h(ImporterDetails, { importer: importer.data.data }),
    h(
      Section,
      { title: "Latest runs", aside: h(LinkButton, { to: `${PAGES}?importer=${slug}` }, "All runs") },
      runs.data?.data.length
        ? h(RunsTable, { runs: runs.data.data, hideImporter: true })
        : h(Note, { title: "It has not run yet." }),
    ),
  );
}

/** On the page of a DAG run: the run it works. */
export function DagRunTab({ dagId, dagRunId }) {
  const slug = dagId.startsWith(PREFIX) ? dagId.slice(PREFIX.length) : null;
  const found = useResource(
    slug === null ? null : `/${query({ importer: slug, dag_run_id: dagRunId, per_page: 1 })}`,
    (answer) => (answer.data.length ? null : 2000),
  );
  if (slug === null) return h(Quiet);
  if (found.error) return h(C.Box, { p: 4 }, h(ErrorNote, { error: found.error, retry: found.reload }));
  if (!found.data) return h(Loading);
  const [run] = found.data.data;
  return h(
    C.Box,
    { p: 4, "data-testid": "ingest" },
    run
      ? h(Run, { key: run.id, id: String(run.id), embedded: true })
      : h(Note, { title: "This DAG run has not recorded an ingest run yet." }),
  );
}
