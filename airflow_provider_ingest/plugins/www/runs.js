// All runs, newest first.
import { C, h, Link, LinkButton, PAGES, Router } from "./shell.js";
import { query, useResource } from "./api.js";
import { count, isOpen } from "./format.js";
import { Choice, Cut, ErrorNote, Loading, Moment, Note, Pager, ProgressLine, StatusBadge, Took } from "./pieces.js";

const STATUSES = ["pending", "processing", "cancelling", "completed", "completed_with_errors", "failed", "cancelled"];
const FILTERS = ["importer", "status", "user", "after", "before"];

/** One line per run; also used by the tab of a DAG. */
export function RunsTable({ runs, hideImporter = false }) {
  const head = ["Run", ...(hideImporter ? [] : ["Importer"]), "Status", "Progress", "Failed", "File", "Started", "Took", "By", "DAG run"];
  return h(C.Table.ScrollArea, null, h(C.Table.Root, { size: "sm", "aria-label": "Ingest runs" },
    h(C.Table.Header, null, h(C.Table.Row, null, head.map((name) => h(C.Table.ColumnHeader, { key: name }, name)))),
    h(C.Table.Body, null, runs.map((run) => h(C.Table.Row, { key: run.id },
      h(C.Table.Cell, null, h(Link, { to: `${PAGES}/runs/${run.id}` }, `#${run.id}`)),
      hideImporter ? null : h(C.Table.Cell, null, h(Link, { to: `${PAGES}/importers/${run.importer}` }, h(Cut, null, run.importer))),
      h(C.Table.Cell, null, h(StatusBadge, { status: run.status, dry: run.is_dry_run })),
      h(C.Table.Cell, null, h(ProgressLine, { run, compact: true })),
      h(C.Table.Cell, { textAlign: "end", color: run.progress.failed ? "fg.error" : undefined }, count(run.progress.failed)),
      h(C.Table.Cell, null, h(Cut, { width: "12rem" }, run.original_filename)),
      h(C.Table.Cell, { whiteSpace: "nowrap" }, h(Moment, { at: run.started_at })),
      h(C.Table.Cell, { whiteSpace: "nowrap" }, h(Took, { run })),
      h(C.Table.Cell, null, h(Cut, { width: "8rem" }, run.user_name)),
      h(C.Table.Cell, null, h(Link, { to: `/dags/${encodeURIComponent(run.dag_id)}/runs/${encodeURIComponent(run.dag_run_id)}` }, "open")))))));
}

/** Every two seconds while something works, else at rest. */
export const whileOpen = (answer) => (answer.data.some?.(isOpen) ? 2000 : 15000);

/** The page: filters in the address, so that a view can be sent to a colleague. */
export function Runs() {
  const [search, setSearch] = Router.useSearchParams();
  const value = Object.fromEntries(FILTERS.map((name) => [name, search.get(name) ?? ""]));
  const page = Number(search.get("page") ?? 1) || 1;
  const change = (changes) => {
    const next = new URLSearchParams(search);
    Object.entries(changes).forEach(([name, text]) => (text ? next.set(name, String(text)) : next.delete(name)));
    if (!("page" in changes)) next.delete("page");
    setSearch(next, { replace: true });
  };
  const day = (text, end) => (text ? new Date(`${text}T${end ? "23:59:59.999" : "00:00:00"}`).toISOString() : "");
  const path = `/${query({ page, per_page: 25, importer: value.importer, status: value.status, user: value.user,
    started_after: day(value.after, false), started_before: day(value.before, true) })}`;
  const runs = useResource(path, whileOpen);
  const importers = useResource("/importers");
  const filtered = FILTERS.some((name) => value[name]);
  const field = (name, label, type) => h(C.HStack, { as: "label", gap: 2, fontSize: "sm" }, h("span", null, label),
    h(C.Input, { size: "sm", type, value: value[name], width: type === "date" ? "10rem" : "8rem", onChange: (event) => change({ [name]: event.target.value }) }));
  return h(C.Box, null,
    h(C.Heading, { as: "h1", size: "xl", mb: 3 }, "Ingest runs"),
    h(C.Flex, { gap: 4, wrap: "wrap", mb: 4, as: "form", onSubmit: (event) => event.preventDefault() },
      h(Choice, { label: "Importer", value: value.importer, onChange: (importer) => change({ importer }),
        options: [["", "all"], ...(importers.data?.data ?? []).map((one) => [one.slug, one.slug])] }),
      h(Choice, { label: "Status", value: value.status, onChange: (status) => change({ status }),
        options: [["", "all"], ...STATUSES.map((one) => [one, one.replaceAll("_", " ")])] }),
      field("user", "User", "search"), field("after", "From", "date"), field("before", "To", "date"),
      filtered ? h(C.Button, { size: "sm", variant: "ghost", onClick: () => setSearch({}, { replace: true }) }, "Clear") : null),
    runs.error ? h(ErrorNote, { error: runs.error, retry: runs.reload }) : null,
    runs.loading ? h(Loading) : null,
    runs.data && runs.data.data.length ? h(RunsTable, { runs: runs.data.data }) : null,
    runs.data && !runs.data.data.length ? (filtered
      ? h(Note, { title: "No run matches these filters." })
      : h(Note, { title: "Nothing has been imported yet.", action: h(LinkButton, { to: `${PAGES}/upload` }, "Upload a file") },
        "Write an importer in your DAGs folder, then upload a file, press Trigger on its DAG, or call the API.")) : null,
    h(Pager, { meta: runs.data?.meta, onPage: (number) => change({ page: number }) }));
}
