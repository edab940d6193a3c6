// One run: state, actions, counts, chunks, errors and failed rows.
import { C, Fragment, h, Link, LinkButton, PAGES, Router, useState } from "./shell.js";
import { post, prefix, query, upload, useResource } from "./api.js";
import { count, duration, isOpen, size } from "./format.js";
import { CountsBar, Cut, ErrorNote, Facts, Loading, Moment, ProgressLine, Section, StatusBadge, Took } from "./pieces.js";
import { Errors } from "./run_errors.js";

/** Buttons for what the caller may do with this run in its state. */
function Actions({ run, onChange, onError }) {
  const navigate = Router.useNavigate();
  const [busy, setBusy] = useState(false);
  const can = run.can ?? {};
  const act = async (work) => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      onError(error);
    } finally {
      setBusy(false);
    }
  };
  const goTo = (answer) => navigate(`${PAGES}/runs/${answer.data.id}`);
  const retry = (dryRun) => act(async () => goTo(await post(`/${run.id}/retry`, { dry_run: dryRun })));
  const correct = (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    if (!file) return;
    const form = new FormData();
    form.append("file", file);
    act(async () => goTo(await upload(`/${run.id}/retry`, form, () => {})));
  };
  const button = (label, onClick, extra = {}) => h(C.Button, { size: "sm", variant: "outline", disabled: busy, onClick, ...extra }, label);
  const failed = run.progress.failed > 0;
  return h(C.HStack, { gap: 2, wrap: "wrap", "aria-label": "Actions", role: "group" },
    can.cancel ? button("Cancel", () => act(async () => { await post(`/${run.id}/cancel`); onChange(); }), { colorPalette: "red", disabled: busy || run.status === "cancelling" }) : null,
    can.retry ? button("Retry failed rows", () => retry(run.is_dry_run), { colorPalette: "blue", variant: "solid" }) : null,
    can.retry ? button("Retry as dry run", () => retry(true)) : null,
    can.retry && run.progress.failed <= 1000 ? h(LinkButton, { to: `${PAGES}/runs/${run.id}/fix` }, "Fix in place") : null,
    can.retry ? h(C.Button, { as: "label", size: "sm", variant: "outline", disabled: busy, cursor: "pointer" }, "Upload corrected rows",
      h("input", { type: "file", accept: ".csv,.xlsx", onChange: correct, "aria-label": "Upload corrected rows",
        style: { position: "absolute", opacity: 0, width: "1px", height: "1px" } })) : null,
    can.download && failed && !isOpen(run) ? h(C.Button, { asChild: true, size: "sm", variant: "outline" },
      h("a", { href: `${prefix}/${run.id}/failed-rows/download`, download: true }, "Download failed rows")) : null);
}

/** A cell per chunk, coloured by how it stands; times on hover and in the label. */
function Chunks({ run }) {
  const { data, error } = useResource(`/${run.id}/chunks`, () => (isOpen(run) ? 2000 : null));
  if (error) return h(ErrorNote, { error });
  if (!data?.data.length) return null;
  const color = (chunk) => (chunk.finished_at ? (chunk.failed ? "yellow.solid" : "green.solid") : chunk.started_at ? "blue.solid" : "bg.emphasized");
  const word = (chunk) => (chunk.finished_at ? "done" : chunk.started_at ? "working" : "waiting");
  return h(Section, { title: "Chunks", aside: h(C.Text, { fontSize: "sm", color: "fg.muted" }, `${count(run.chunks?.done)} of ${count(run.chunks?.total)} done`) },
    h(C.Flex, { as: "ul", listStyleType: "none", wrap: "wrap", gap: "2px", m: 0, p: 0 }, data.data.map((chunk) => {
      const label = `Chunk ${chunk.index}: rows ${count(chunk.first_row)} to ${count(chunk.first_row + chunk.rows - 1)}, ${word(chunk)}${chunk.duration_seconds === null ? "" : ` in ${duration(chunk.duration_seconds)}`}, ${count(chunk.failed)} failed`;
      return h(C.Box, { as: "li", key: chunk.index, title: label },
        h(Router.Link, { to: `/dags/${encodeURIComponent(run.dag_id)}/runs/${encodeURIComponent(run.dag_run_id)}/tasks/chunk/mapped/${chunk.index}`, "aria-label": label },
          h(C.Box, { w: data.data.length > 60 ? 2 : 5, h: 5, bg: color(chunk), borderRadius: "xs" })));
    })));
}

/** The runs that this one came from and those that came from it. */
function Family({ run }) {
  const root = run.root_run ?? (run.attempt > 1 ? run.retry_of : run.id);
  const { data } = useResource(`/${query({ root_run: root, per_page: 20 })}`);
  const members = (data?.data ?? []).slice().reverse();
  if (members.length < 2) return null;
  return h(Section, { title: "Retry family" }, h(C.HStack, { as: "ol", listStyleType: "none", gap: 3, wrap: "wrap" },
    members.map((one, index) => h(C.HStack, { as: "li", key: one.id, gap: 1.5 }, index ? h("span", { "aria-hidden": true }, "→") : null,
      one.id === run.id ? h(C.Text, { fontWeight: "semibold", "aria-current": "true" }, `#${one.id}`) : h(Link, { to: `${PAGES}/runs/${one.id}` }, `#${one.id}`),
      h(StatusBadge, { status: one.status, dry: one.is_dry_run }), h(C.Text, { fontSize: "sm", color: "fg.muted" }, `${count(one.progress.failed)} failed`)))));
}

const Timeline = ({ run }) => (run.history?.length ? h(Section, { title: "Timeline" },
  h(C.Box, { as: "ol", listStyleType: "none" }, run.history.map((step, index) => h(C.HStack, { as: "li", key: index, gap: 3, py: 0.5 },
    h(C.Text, { as: "span", fontSize: "sm", minW: "12rem" }, h(Moment, { at: step.at })), h(StatusBadge, { status: step.status }))))) : null);

function FileFacts({ run }) {
  const file = run.file ?? {};
  const dialect = Object.entries(file.facts ?? file.dialect ?? {}).map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(", ");
  return h(Facts, { of: [
    ["File", h(Cut, { width: "30rem" }, run.original_filename)], ["Size", file.size === undefined ? null : size(file.size)],
    ["SHA-256", file.sha256 ? h(C.Code, { size: "sm" }, file.sha256.slice(0, 16)) : null], ["Format", file.format], ["Read as", dialect],
    ["Started", h(Moment, { at: run.started_at })], ["Ended", run.completed_at ? h(Moment, { at: run.completed_at }) : null], ["Took", h(Took, { run })], ["By", run.user_name],
    ["DAG run", h(Link, { to: `/dags/${encodeURIComponent(run.dag_id)}/runs/${encodeURIComponent(run.dag_run_id)}` }, h(Cut, { width: "24rem" }, run.dag_run_id))],
  ] });
}

/**
 * The page of a run; embedded, it is the tab of its DAG run.
 * @param {{id: string, embedded?: boolean}} props
 */
export function Run({ id, embedded = false }) {
  const { data, error, loading, reload } = useResource(`/${encodeURIComponent(id)}${query({ rows_per_page: 1 })}`, (answer) => (isOpen(answer.data) ? 1500 : null));
  const [refusal, setRefusal] = useState(null);
  if (loading) return h(Loading);
  if (!data) return h(ErrorNote, { error, retry: reload });
  const run = data.data;
  const warnings = run.summary?.warnings ?? [];
  return h(Fragment, null,
    h(C.Flex, { justify: "space-between", wrap: "wrap", gap: 3, mb: 4 },
      h(C.HStack, { gap: 3, wrap: "wrap" },
        h(C.Heading, { as: "h1", size: embedded ? "lg" : "xl" }, `Run #${run.id}`),
        h(Link, { to: `${PAGES}/importers/${run.importer}` }, h(Cut, null, run.importer)),
        h(StatusBadge, { status: run.status, dry: run.is_dry_run }),
        run.retry_of ? h(C.Text, { fontSize: "sm" }, "retry of ", h(Link, { to: `${PAGES}/runs/${run.retry_of}` }, `#${run.retry_of}`)) : null),
      h(Actions, { run, onChange: reload, onError: setRefusal })),
    refusal ? h(ErrorNote, { error: refusal, retry: () => { setRefusal(null); reload(); } }) : null,
    error ? h(ErrorNote, { error, retry: reload }) : null,
    run.summary?.error ? h(ErrorNote, { error: { message: run.summary.error.message } }) : null,
    warnings.map((text) => h(C.Alert.Root, { key: text, status: "warning", size: "sm", mb: 2 }, h(C.Alert.Indicator), h(C.Alert.Title, null, text))),
    h(C.Box, { "aria-live": "polite" }, isOpen(run) ? h(ProgressLine, { run }) : null),
    h(C.Box, { mt: 3 }, h(CountsBar, { progress: run.progress })),
    run.progress.failed ? h(Errors, { run }) : null,
    h(Chunks, { run }),
    h(Family, { run }),
    h(C.Grid, { templateColumns: { base: "1fr", lg: "2fr 1fr" }, gap: 6 },
      h(Section, { title: "File and run" }, h(FileFacts, { run })), h(Timeline, { run })));
}
