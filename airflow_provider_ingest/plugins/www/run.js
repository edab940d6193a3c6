// One run: state, actions, counts, errors and failed rows, chunks, its family, its file.
import { C, Fragment, h, Link, PAGES, useState } from "./shell.js";
import { query, useResource } from "./api.js";
import { Chunks } from "./chunks.js";
import { count, fact, inRows, isOpen, size } from "./format.js";
import { CountsBar, Cut, ErrorNote, Facts, Loading, Moment, ProgressLine } from "./pieces.js";
import { Section, StatusBadge, Took } from "./pieces.js";
import { Actions } from "./run_actions.js";
import { Errors, GivenUp } from "./run_errors.js";

/** What a run of the family is, and what is left of it. */
function fateOf(run) {
  const origin = run.retry_of ? `retry of #${run.retry_of}` : "the first run";
  const { total, failed } = run.progress;
  return total ? `${origin}, ${count(failed)} of ${inRows(total)} failed` : origin;
}

/** The runs that this one came from and those that came from it. */
function Family({ run }) {
  const path = `/${query({ root_run: run.root_run ?? run.id, per_page: 20 })}`;
  const { data } = useResource(path, (answer) => (isOpen(run) || answer.data.some(isOpen) ? 4000 : null));
  const members = (data?.data ?? []).map((one) => (one.id === run.id ? run : one)).reverse();
  if (members.length < 2) return null;
  return h(
    Section,
    { title: "Retries" },
    h(
      C.VStack,
      { align: "start", as: "ol", listStyleType: "none", gap: 2 },
      members.map((one) =>
        h(
          C.HStack,
          { as: "li", key: one.id, gap: 2, wrap: "wrap", fontSize: "sm" },
          one.id === run.id
            ? h(C.Text, { fontWeight: "semibold", "aria-current": "true" }, `#${one.id}`)
            : h(Link, { to: `${PAGES}/runs/${one.id}` }, `#${one.id}`),
          h(StatusBadge, { status: one.status, dry: one.is_dry_run }),
          h(C.Text, { color: "fg.muted" }, fateOf(one)),
        ),
      ),
    ),
  );
}

/** When the run came into which status. */
function Timeline({ run }) {
  if (!run.history?.length) return null;
  const steps = run.history.map((step, index) =>
    h(
      C.HStack,
      { as: "li", key: index, columnGap: 3, rowGap: 0, py: 0.5, wrap: "wrap" },
      h(C.Text, { as: "span", fontSize: "sm", minW: "9rem" }, h(Moment, { at: step.at })),
      h(StatusBadge, { status: step.status }),
    ),
  );
  return h(Section, { title: "Timeline" }, h(C.Box, { as: "ol", listStyleType: "none" }, steps));
}

/** How the file was read: its format, and what else was found out about it: encoding, delimiter, … */
function factsOf(file) {
  const known = Object.entries(file.facts ?? {}).filter(
    ([name, value]) => value && typeof value !== "object" && !name.startsWith("chunk_"),
  );
  return [file.format, ...known.map(([name, value]) => fact(name, value))].filter(Boolean).join(" · ");
}

/** How many rows a chunk was given, and why so many. */
function chunkSizeOf(facts) {
  const { chunk_rows: rows, chunk_rule: rule } = facts ?? { chunk_rows: null, chunk_rule: null };
  return rows ? `up to ${inRows(rows)} each${rule ? ` (${rule})` : ""}` : null;
}

/** Tasks with a log of their own; those of the chunks are behind their cells. */
const TASKS = ["stage", "plan", "finish"];

function FileFacts({ run }) {
  const file = run.file ?? {};
  const dag = `/dags/${encodeURIComponent(run.dag_id)}/runs/${encodeURIComponent(run.dag_run_id)}`;
  const sha = file.sha256 ? h(C.Code, { size: "sm", title: file.sha256 }, file.sha256.slice(0, 16)) : null;
  return h(Facts, {
    of: [
      ["File", h(Cut, { width: "min(26rem, 100%)" }, run.original_filename)],
      ["Size", file.size === undefined || file.size === null ? null : size(file.size)],
      ["SHA-256", sha],
      ["Read as", factsOf(file)],
      ["Chunks", chunkSizeOf(file.facts)],
      ["Started", h(Moment, { at: run.started_at })],
      ["Ended", run.completed_at ? h(Moment, { at: run.completed_at }) : null],
      ["Took", h(Took, { run })],
      ["By", run.user_name],
      ["DAG run", h(Link, { to: dag }, h(Cut, { width: "min(24rem, 100%)" }, run.dag_run_id))],
      ["Task logs", TASKS.map((task) => h(Link, { key: task, me: 3, to: `${dag}/tasks/${task}` }, task))],
    ],
  });
}

/** Number, importer, status, and what can be done. */
function Header({ run, isEmbedded, onChange, onError }) {
  const origin = run.retry_of
    ? h(C.Text, { fontSize: "sm" }, "retry of ", h(Link, { to: `${PAGES}/runs/${run.retry_of}` }, `#${run.retry_of}`))
    : null;
  return h(
    C.Flex,
    { justify: "space-between", wrap: "wrap", gap: 3, mb: 4 },
    h(
      C.HStack,
      { gap: 3, wrap: "wrap", minW: 0 },
      h(C.Heading, { as: "h1", size: isEmbedded ? "lg" : "xl" }, `Run #${run.id}`),
      h(
        Link,
        { to: `${PAGES}/importers/${encodeURIComponent(run.importer)}`, minW: 0 },
        h(Cut, { width: "min(30rem, 100%)" }, run.importer),
      ),
      h(StatusBadge, { status: run.status, dry: run.is_dry_run }),
      origin,
    ),
    h(Actions, { run, onChange, onError }),
  );
}

const DRY = "A dry run: nothing is kept.";
const FORETOLD = "The numbers are what a real run of this file would have given.";

/** What a dry run tells: of one that did not come to its end, the numbers are those of a part. */
const dryOf = ({ status }) => (status.startsWith("completed") ? `${DRY} ${FORETOLD}` : DRY);

const Warning = ({ text }) =>
  h(
    C.Alert.Root,
    { status: "warning", size: "sm", mb: 2 },
    h(C.Alert.Indicator),
    h(C.Alert.Title, { overflowWrap: "anywhere" }, text),
  );

/**
 * The page of a run; embedded, it is the tab of its DAG run.
 * @param {{id: string, embedded?: boolean}} props
 */
export function Run({ id, embedded = false }) {
  const path = `/${encodeURIComponent(id)}${query({ rows_per_page: 1 })}`;
  const { data, error, reload } = useResource(path, (answer) => (isOpen(answer.data) ? 1500 : null));
  const [refusal, setRefusal] = useState(null);
  if (!data) return error ? h(ErrorNote, { error, retry: reload }) : h(Loading);
  const run = data.data;
  const warnings = run.summary?.warnings ?? [];
  return h(
    Fragment,
    null,
    h(Header, { run, isEmbedded: embedded, onChange: reload, onError: setRefusal }),
    refusal ? h(ErrorNote, { error: refusal }) : null,
    run.can?.needs_file ? h(C.Text, { mb: 3, color: "fg.muted" }, run.can.needs_file) : null,
    error ? h(ErrorNote, { error, retry: reload }) : null,
    run.summary?.error ? h(ErrorNote, { error: new Error(run.summary.error.message) }) : null,
    run.standstill ? h(Warning, { text: run.standstill }) : null,
    warnings.map((text) => h(Warning, { key: text, text })),
    run.is_dry_run ? h(C.Text, { mb: 3, color: "fg.muted" }, dryOf(run)) : null,
    isOpen(run) ? h(C.Box, { mb: 4 }, h(ProgressLine, { run })) : null,
    h(CountsBar, { progress: run.progress }),
    run.progress.failed ? h(Errors, { run }) : null,
    run.completed_at && run.chunks.done < run.chunks.total ? h(GivenUp, { run }) : null,
    h(Chunks, { run }),
    h(Family, { run }),
    h(
      C.Grid,
      { templateColumns: { base: "minmax(0, 1fr)", lg: "minmax(0, 2fr) minmax(0, 1fr)" }, columnGap: 6 },
      h(Section, { title: "File and run" }, h(FileFacts, { run })),
      h(Timeline, { run }),
    ),
  );
}
