// All runs, newest first.
import { C, h, LinkButton, PAGES } from "./shell.js";
import { query, useResource } from "./api.js";
import { NoPage, TypedFilter, useAddress } from "./filters.js";
import { beginning } from "./format.js";
import { Choice, ErrorNote, Loading, Note, Pager, Waiting } from "./pieces.js";
import { RunsTable, whileOpen } from "./runs_table.js";

const STATUSES = ["pending", "processing", "cancelling", "completed", "completed_with_errors", "failed", "cancelled"];
const FILTERS = ["importer", "status", "user", "after", "before"];

/** The filters, held in the address, so that a view can be sent to a colleague. */
function Filters({ value, onChange, onClear }) {
  const importers = useResource("/importers");
  const slugs = (importers.data?.data ?? []).map((one) => one.slug);
  const known = value.importer && !slugs.includes(value.importer) ? [value.importer, ...slugs] : slugs;
  const typed = (name, label, type, width) =>
    h(TypedFilter, { label, type, width, value: value[name], onChange: (text) => onChange({ [name]: text }, true) });
  return h(
    C.Flex,
    { gap: 4, wrap: "wrap", mb: 4, as: "form", role: "search", onSubmit: (event) => event.preventDefault() },
    h(Choice, {
      label: "Importer",
      value: value.importer,
      onChange: (importer) => onChange({ importer }),
      options: [["", "all"], ...known.map((slug) => [slug, slug])],
    }),
    h(Choice, {
      label: "Status",
      value: value.status,
      onChange: (status) => onChange({ status }),
      options: [["", "all"], ...STATUSES.map((one) => [one, one.replaceAll("_", " ")])],
    }),
    typed("user", "User", "search", "8rem"),
    typed("after", "From", "date", "10rem"),
    typed("before", "To", "date", "10rem"),
    FILTERS.some((name) => value[name])
      ? h(C.Button, { size: "sm", variant: "ghost", onClick: onClear }, "Clear filters")
      : null,
  );
}

/** What stands where there is no run. */
function NoRuns({ isFiltered }) {
  if (isFiltered) return h(Note, { title: "No run matches these filters." });
  const action = h(LinkButton, { to: `${PAGES}/upload`, colorPalette: "brand", variant: "solid" }, "Upload a file");
  return h(
    Note,
    { title: "Nothing has been imported yet.", action },
    "Write an importer in your DAGs folder, then upload a file, press Trigger on its DAG, or call the API.",
  );
}

/** The page. */
export function Runs() {
  const { value, page, change, onPage, clear } = useAddress(FILTERS);
  const path = `/${query({
    page,
    per_page: 25,
    importer: value.importer,
    status: value.status,
    user: value.user,
    started_after: beginning(value.after),
    started_before: beginning(value.before, 1),
  })}`;
  const runs = useResource(path, whileOpen, { keeps: true });
  const listed = runs.data?.data;
  const last = runs.data?.meta.last_page ?? 1;
  return h(
    C.Box,
    null,
    h(C.Heading, { as: "h1", size: "xl", mb: 4 }, "Ingest runs"),
    h(Filters, { value, onChange: change, onClear: clear }),
    runs.error ? h(ErrorNote, { error: runs.error, retry: runs.reload }) : null,
    runs.loading && !listed ? h(Loading) : null,
    listed?.length ? h(Waiting, { isWaiting: runs.loading }, h(RunsTable, { runs: listed })) : null,
    listed && !listed.length && page > last ? h(NoPage, { page, last, onPage }) : null,
    listed && !listed.length && page <= last ? h(NoRuns, { isFiltered: FILTERS.some((name) => value[name]) }) : null,
    h(Pager, { meta: runs.data?.meta, onPage }),
  );
}
