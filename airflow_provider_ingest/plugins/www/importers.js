// The importers there are, and each of them in full.
import { C, Fragment, h, Link, LinkButton, PAGES, Router, useState } from "./shell.js";
import { post, prefix, query, useResource } from "./api.js";
import { percent } from "./format.js";
import { Cut, ErrorNote, Facts, Loading, Note, Section, StatusBadge } from "./pieces.js";
import { RunsTable, whileOpen } from "./runs.js";

/** Reject rates of the last runs, oldest left. */
export function Sparkline({ runs }) {
  const ended = runs.filter((run) => run.completed_at && run.progress.total).slice(0, 20).reverse();
  if (!ended.length) return h(C.Text, { as: "span", color: "fg.muted" }, "–");
  const rates = ended.map((run) => run.progress.failed / run.progress.total);
  const most = Math.max(...rates, 0.01);
  return h(C.HStack, { gap: "2px", align: "flex-end", h: 6, display: "inline-flex", role: "img",
    "aria-label": `Reject rates of the last ${ended.length} runs, newest ${percent(rates.at(-1), 1)}` },
  rates.map((rate, index) => h(C.Box, { key: ended[index].id, w: "5px", h: `${Math.max(2, (24 * rate) / most)}px`, bg: rate ? "red.solid" : "green.solid",
    title: `#${ended[index].id}: ${percent(rate, 1)}` })));
}

const steps = (names) => names.map((one) => (typeof one === "string" ? one : one.name));

/** Source field → steps → attribute, and what checks it. */
function Mappings({ mappings, level = "" }) {
  return h(C.Table.ScrollArea, { tabIndex: 0, role: "region", "aria-label": `Mappings ${level}` }, h(C.Table.Root, { size: "sm" },
    h(C.Table.Header, null, h(C.Table.Row, null, ["Source field", "Transformers", "Attribute", "Validators", "When"].map((name) => h(C.Table.ColumnHeader, { key: name }, name)))),
    h(C.Table.Body, null, mappings.map((mapping, index) => h(C.Table.Row, { key: index },
      h(C.Table.Cell, null, mapping.fields.length ? mapping.fields.map((name) => h(C.Code, { key: name, mr: 1 }, name)) : h(C.Text, { color: "fg.muted" }, "the whole row")),
      h(C.Table.Cell, null, steps(mapping.transformers).join(" → ") || "–"), h(C.Table.Cell, null, h(C.Code, null, mapping.attribute)),
      h(C.Table.Cell, null, steps(mapping.validators).join(", ") || "–"), h(C.Table.Cell, null, mapping.condition ? h(Cut, null, mapping.condition) : "always"))))));
}

/** Starts an importer that needs no upload. */
function Start({ importer }) {
  const navigate = Router.useNavigate();
  const [payload, setPayload] = useState("");
  const [refusal, setRefusal] = useState(null);
  const start = async (dryRun) => {
    try {
      const answer = await post(`/trigger/${importer.slug}`, { ...(payload ? { payload } : {}), dry_run: dryRun });
      navigate(`${PAGES}/runs/${answer.data.id}`);
    } catch (error) {
      setRefusal(error);
    }
  };
  if (importer.source.type === "upload") return h(LinkButton, { to: `${PAGES}/upload/${importer.slug}`, colorPalette: "blue" }, "Upload a file");
  return h(Fragment, null, refusal ? h(ErrorNote, { error: refusal }) : null,
    h(C.HStack, { gap: 2, wrap: "wrap" },
      importer.source.takes_path ? h(C.Input, { size: "sm", maxW: "20rem", value: payload, onChange: (event) => setPayload(event.target.value),
        placeholder: importer.source.default_path ?? "path of the file", "aria-label": "Path of the file" }) : null,
      h(C.Button, { size: "sm", colorPalette: "blue", onClick: () => start(false) }, "Start"), h(C.Button, { size: "sm", variant: "outline", onClick: () => start(true) }, "Dry run")));
}

/** Everything about an importer but its runs. */
export function ImporterDetails({ importer }) {
  const schema = Object.entries(importer.schema ?? {});
  return h(Fragment, null,
    h(C.Flex, { justify: "space-between", wrap: "wrap", gap: 3 },
      h(C.HStack, null, h(C.Heading, { as: "h1", size: "lg" }, importer.slug), importer.is_paused ? h(C.Badge, { colorPalette: "orange" }, "paused") : null),
      h(C.HStack, { gap: 2, wrap: "wrap" }, h(C.Button, { asChild: true, size: "sm", variant: "outline" }, h("a", { href: `${prefix}/importers/${importer.slug}/template`, download: true }, "Template")),
        importer.can?.start ? h(Start, { importer }) : null)),
    h(C.Box, { mt: 4 }, h(Facts, { of: [
      ["Source", importer.source.type], ["Where", Object.entries(importer.source.options ?? {}).map(([name, value]) => `${name}: ${value}`).join(", ")],
      ["Target", importer.target.table], ["Connection", importer.target.conn_id], ["Key", importer.key ? `${importer.key.attributes.join(", ")} (${importer.key.on_duplicate})` : null],
      ["Schedule", importer.schedule ?? "none"], ["DAG", h(Link, { to: `/dags/ingest_${importer.slug}` }, `ingest_${importer.slug}`)]] })),
    h(Section, { title: "Mappings" }, h(Mappings, { mappings: importer.mappings })),
    (importer.nested ?? []).map((nested) => h(Section, { key: nested.path, title: `Nested: ${nested.path}` }, h(Mappings, { mappings: nested.mappings, level: nested.path }))),
    schema.length ? h(Section, { title: "Expected input" }, h(C.Table.Root, { size: "sm" },
      h(C.Table.Header, null, h(C.Table.Row, null, ["Field", "Type", "Column required", "May be empty"].map((name) => h(C.Table.ColumnHeader, { key: name }, name)))),
      h(C.Table.Body, null, schema.map(([field, one]) => h(C.Table.Row, { key: field }, h(C.Table.Cell, null, h(C.Code, null, field)), h(C.Table.Cell, null, one.type),
        h(C.Table.Cell, null, one.required ? "yes" : "no"), h(C.Table.Cell, null, one.nullable ? "yes" : "no")))))) : null);
}

/** The page of one importer. */
export function Importer() {
  const { slug } = Router.useParams();
  const importer = useResource(`/importers/${encodeURIComponent(slug)}`);
  const runs = useResource(`/${query({ importer: slug, per_page: 20 })}`, whileOpen);
  if (importer.error) return h(ErrorNote, { error: importer.error, retry: importer.reload });
  if (!importer.data) return h(Loading);
  const listed = runs.data?.data ?? [];
  return h(Fragment, null, h(ImporterDetails, { importer: importer.data.data }),
    h(Section, { title: "Last runs", aside: h(Sparkline, { runs: listed }) }, listed.length ? h(RunsTable, { runs: listed, hideImporter: true }) : h(Note, { title: "It has not run yet." })));
}

/** One line of the list; its last runs make the sparkline. */
function Line({ importer }) {
  const runs = useResource(`/${query({ importer: importer.slug, per_page: 20 })}`);
  const [last] = runs.data?.data ?? [];
  return h(C.Table.Row, null,
    h(C.Table.Cell, null, h(Link, { to: `${PAGES}/importers/${importer.slug}` }, h(Cut, null, importer.slug)), importer.is_paused ? h(C.Badge, { ml: 2, colorPalette: "orange" }, "paused") : null),
    h(C.Table.Cell, null, importer.source.type), h(C.Table.Cell, null, h(Cut, null, importer.target.table)), h(C.Table.Cell, null, importer.schedule ?? "–"),
    h(C.Table.Cell, { textAlign: "end" }, importer.mappings.length), h(C.Table.Cell, null, h(Sparkline, { runs: runs.data?.data ?? [] })),
    h(C.Table.Cell, null, last ? h(C.HStack, null, h(Link, { to: `${PAGES}/runs/${last.id}` }, `#${last.id}`), h(StatusBadge, { status: last.status })) : "never"));
}

/** The page of all importers. */
export function Importers() {
  const { data, error, loading, reload } = useResource("/importers");
  return h(C.Box, null, h(C.Heading, { as: "h1", size: "xl", mb: 3 }, "Importers"),
    error ? h(ErrorNote, { error, retry: reload }) : null, loading ? h(Loading) : null,
    data && !data.data.length ? h(Note, { title: "There is no importer yet." }, "Write one in your DAGs folder with ingest_dag(slug, config), or let ", h(C.Code, null, "airflow ingest init FILE"), " write it from a sample.") : null,
    data?.data.length ? h(C.Table.ScrollArea, null, h(C.Table.Root, { size: "sm", "aria-label": "Importers" },
      h(C.Table.Header, null, h(C.Table.Row, null, ["Importer", "Source", "Target", "Schedule", "Mappings", "Reject rates", "Last run"].map((name) => h(C.Table.ColumnHeader, { key: name }, name)))),
      h(C.Table.Body, null, data.data.map((importer) => h(Line, { key: importer.slug, importer }))))) : null);
}
