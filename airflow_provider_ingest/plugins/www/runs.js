// All runs, newest first.
import { C, h, LinkButton, PAGES, Router, useEffect, useState } from "./shell.js";
import { query, useResource } from "./api.js";
import { beginning, count } from "./format.js";
import { Choice, ErrorNote, Loading, Note, Pager, Waiting } from "./pieces.js";
import { RunsTable, whileOpen } from "./runs_table.js";

const STATUSES = ["pending", "processing", "cancelling", "completed", "completed_with_errors", "failed", "cancelled"];
const FILTERS = ["importer", "status", "user", "after", "before"];

/** Milliseconds without a key before a typed filter is asked for. */
const PAUSE = 400;

/** A typed filter: the address changes when the typing rests. */
function TypedFilter({ label, type, value, width, onChange }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => onChange(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return h(
    C.HStack,
    { as: "label", gap: 2, fontSize: "sm" },
    h("span", null, label),
    h(C.Input, { size: "sm", type, width, value: text, onChange: (event) => setText(event.target.value) }),
  );
}

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

/** A page behind the last one, as an old address may name it. */
function NoPage({ page, last, onPage }) {
  const action = h(C.Button, { size: "sm", variant: "outline", onClick: () => onPage(last) }, "To the last page");
  return h(Note, { title: `There are fewer than ${count(page)} pages.`, action });
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
  const [search, setSearch] = Router.useSearchParams();
  const value = Object.fromEntries(FILTERS.map((name) => [name, search.get(name) ?? ""]));
  const page = Math.max(1, Math.floor(Number(search.get("page")))) || 1;
  const change = (changes, replace = false) => {
    const next = new URLSearchParams(search);
    Object.entries(changes).forEach(([name, text]) => (text ? next.set(name, String(text)) : next.delete(name)));
    if (!("page" in changes)) next.delete("page");
    setSearch(next, { replace });
  };
  const onPage = (number) => change({ page: number });
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
    h(Filters, { value, onChange: change, onClear: () => setSearch({}) }),
    runs.error ? h(ErrorNote, { error: runs.error, retry: runs.reload }) : null,
    runs.loading && !listed ? h(Loading) : null,
    listed?.length ? h(Waiting, { isWaiting: runs.loading }, h(RunsTable, { runs: listed })) : null,
    listed && !listed.length && page > last ? h(NoPage, { page, last, onPage }) : null,
    listed && !listed.length && page <= last ? h(NoRuns, { isFiltered: FILTERS.some((name) => value[name]) }) : null,
    h(Pager, { meta: runs.data?.meta, onPage }),
  );
}
