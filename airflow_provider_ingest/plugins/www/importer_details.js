// Everything about an importer but its runs: on its own page and on the tab of its DAG.
import { C, Fragment, h, Link, LinkButton, PAGES, Router, useState } from "./shell.js";
import { post, prefix } from "./api.js";
import { inRows } from "./format.js";
import { Cut, ErrorNote, Facts, Section } from "./pieces.js";
import { Cell, DataTable, Line, Name } from "./table.js";

const textOf = (value) =>
  Array.isArray(value) ? value.map(textOf).join(", ") : typeof value === "string" ? value : JSON.stringify(value);

/** Most characters of a step's options. */
const OPTIONS = 300;
const WRAPPED = { whiteSpace: "normal", minW: "10rem", overflowWrap: "anywhere" };

/** Text of an option; a lookup's pairs say what becomes what. */
const optionText = (name, value) =>
  name === "lookup" && Array.isArray(value)
    ? value.map((pair) => (Array.isArray(pair) ? pair.map(textOf).join(" → ") : textOf(pair))).join(", ")
    : textOf(value);

/** The options of a step that say something, e.g. `decimals: 2`; its message is shown with its name. */
function optionsOf(step) {
  const { message: _, ...options } = step.options ?? {};
  const shown = Object.entries(options).filter(([, value]) => value !== null && value !== "" && value !== false);
  const told = shown.map(([name, value]) => `${name.replaceAll("_", " ")}: ${optionText(name, value)}`);
  return told.join("; ");
}

/** Steps one after the other, with their options. */
function Steps({ steps, between }) {
  if (!steps.length) return h(C.Text, { as: "span", color: "fg.muted" }, "–");
  return steps.map((step, index) => {
    const options = optionsOf(step);
    return h(
      Fragment,
      { key: index },
      index ? between : null,
      h("span", { title: step.options?.message }, step.name.replace(/(?<=.)(Transformer|Validator)$/, "")),
      options ? h(C.Text, { as: "span", color: "fg.muted", fontSize: "xs" }, ` ${options.slice(0, OPTIONS)}`) : null,
    );
  });
}

/** The names a field may have in the file. */
function Fields({ mapping }) {
  if (mapping.fields.length) return mapping.fields.map((name) => h(Name, { key: name }, name));
  return (mapping.reads ?? []).length
    ? mapping.reads.map((name) => h(Name, { key: name }, name))
    : h(C.Text, { as: "span", color: "fg.muted" }, "the whole row");
}

/** Source field → steps → attribute, and what checks it. */
function Mappings({ mappings, relations, label }) {
  const muted = (text) => h(C.Text, { as: "span", color: "fg.muted" }, text);
  return h(
    DataTable,
    { label, head: ["Source field", "Transformers", "Attribute", "Validators", "When"] },
    mappings.map((mapping, index) =>
      h(
        Line,
        { key: index },
        h(Cell, null, h(Fields, { mapping })),
        h(Cell, WRAPPED, h(Steps, { steps: mapping.transformers, between: " → " })),
        h(Cell, null, h(Name, null, mapping.attribute)),
        h(Cell, WRAPPED, h(Steps, { steps: mapping.validators, between: ", " })),
        h(Cell, null, mapping.condition ? h(Cut, null, mapping.condition) : muted("always")),
      ),
    ),
    relations.map((relation) =>
      h(
        Line,
        { key: `relation ${relation.attribute}` },
        h(Cell, null, h(Name, null, relation.field)),
        h(Cell, null, `looked up in ${relation.table} by ${relation.key}`),
        h(Cell, null, h(Name, null, relation.attribute)),
        h(Cell, null, muted("–")),
        h(Cell, null, muted("always")),
      ),
    ),
  );
}

/** The mappings of nested collections, however deep. */
const nestedOf = (nested, path = "") =>
  (nested ?? []).flatMap((one) => {
    const here = path ? `${path}.${one.path}` : one.path;
    return [{ ...one, path: here }, ...nestedOf(one.nested, here)];
  });

/** The fields of the expected input in the order in which the importer reads them; others come last. */
function ordered(schema, mappings) {
  const read = mappings.flatMap((mapping) => [...mapping.fields, ...(mapping.reads ?? [])]);
  return [...new Set([...read, ...Object.keys(schema)])]
    .filter((field) => Object.hasOwn(schema, field))
    .map((field) => [field, schema[field]]);
}

/** What the file must look like. */
function Schema({ schema, mappings }) {
  const word = (flag) => (flag ? "yes" : "no");
  return h(
    DataTable,
    { label: "Expected input", head: ["Field", "Type", "Column required", "May be empty"] },
    ordered(schema, mappings).map(([field, one]) =>
      h(
        Line,
        { key: field },
        h(Cell, null, h(Name, null, field)),
        h(Cell, null, one.type),
        h(Cell, null, word(one.required)),
        h(Cell, null, word(one.nullable)),
      ),
    ),
  );
}

/** Starts an importer that needs no upload. */
function Start({ importer, onError }) {
  const navigate = Router.useNavigate();
  const [payload, setPayload] = useState("");
  const [busy, setBusy] = useState(false);
  const start = async (dryRun) => {
    setBusy(true);
    onError(null);
    try {
      const named = payload ? { payload } : {};
      const answer = await post(`/trigger/${encodeURIComponent(importer.slug)}`, { ...named, dry_run: dryRun });
      navigate(`${PAGES}/runs/${answer.data.id}`);
    } catch (error) {
      onError(error);
      setBusy(false);
    }
  };
  if (importer.source.type === "upload") {
    const to = `${PAGES}/upload/${encodeURIComponent(importer.slug)}`;
    return h(LinkButton, { to, colorPalette: "brand", variant: "solid" }, "Upload a file");
  }
  const path = importer.source.takes_path
    ? h(C.Input, {
        size: "sm",
        w: "14rem",
        value: payload,
        placeholder: importer.source.default_path ?? "path of the file",
        "aria-label": "Path of the file",
        onChange: (event) => setPayload(event.target.value),
      })
    : null;
  return h(
    Fragment,
    null,
    path,
    h(C.Button, { size: "sm", colorPalette: "brand", disabled: busy, onClick: () => start(false) }, "Start"),
    h(C.Button, { size: "sm", variant: "outline", disabled: busy, onClick: () => start(true) }, "Dry run"),
  );
}

/** How many failed rows an importer bears; null if any number. */
function limitOf({ rows = null, percent: share = null } = {}) {
  const limits = [rows === null ? null : inRows(rows), share === null ? null : `${share} % of the rows`];
  const told = limits.filter(Boolean).join(" or ");
  return told ? `a run ends as failed when more than ${told} failed` : null;
}

/** Which rows are logged: those the importer names, else as configured. */
const LOGGED = { all: "all rows", failed: "failed rows", none: "none" };

/** What its DAG file says of the importer; null where that is only what every importer has. */
export const descriptionOf = (importer) =>
  importer.description === `Ingest into ${importer.target.table}` ? null : importer.description;

/** The importer's facts by term. */
function factsOf(importer) {
  const options = Object.entries(importer.source.options ?? {});
  const where = options.map(([name, value]) => `${name}: ${textOf(value)}`);
  const { key } = importer;
  return [
    ["Title", importer.title],
    ["Description", descriptionOf(importer)],
    ["Source", importer.source.type],
    ["Where", where.join(", ")],
    ["Target", importer.target.table],
    ["Connection", importer.target.conn_id],
    ["Key", key ? `${key.attributes.join(", ")}; known ones: ${key.on_duplicate.replaceAll("_", " ")}` : null],
    ["Schedule", importer.schedule ?? "none"],
    ["Written", importer.is_atomic ? "all rows at once, when the whole run is accepted" : null],
    ["Failed rows", limitOf(importer.reject_limit ?? undefined)],
    ["Same file again", importer.refuses_duplicates ? "refused, unless it is forced" : null],
    ["Row log", LOGGED[importer.row_log] ?? null],
    ["Sensitive fields", (importer.sensitive_fields ?? []).join(", ")],
    [
      "DAG",
      h(
        Link,
        { to: `/dags/${encodeURIComponent(importer.dag_id)}` },
        h(Cut, { width: "min(46rem, 100%)" }, importer.dag_id),
      ),
    ],
  ];
}

/**
 * The details.
 * @param {{importer: any}} props the importer resource
 */
export function ImporterDetails({ importer }) {
  const [refusal, setRefusal] = useState(null);
  const template = `${prefix}/importers/${encodeURIComponent(importer.slug)}/template`;
  return h(
    Fragment,
    null,
    h(
      C.Flex,
      { justify: "space-between", wrap: "wrap", gap: 3, mb: 4 },
      h(
        C.HStack,
        { minW: 0, maxW: "100%" },
        h(C.Heading, { as: "h1", size: "xl", minW: 0 }, h(Cut, { width: "min(46rem, 100%)" }, importer.slug)),
        importer.is_paused ? h(C.Badge, { colorPalette: "orange" }, "paused") : null,
      ),
      h(
        C.HStack,
        { gap: 2, wrap: "wrap" },
        h(
          C.Button,
          { asChild: true, size: "sm", variant: "outline" },
          h("a", { href: template, download: true }, "Template"),
        ),
        importer.can?.start ? h(Start, { importer, onError: setRefusal }) : null,
      ),
    ),
    refusal ? h(ErrorNote, { error: refusal }) : null,
    h(Facts, { of: factsOf(importer) }),
    h(
      Section,
      { title: "Mappings" },
      h(Mappings, { mappings: importer.mappings, relations: importer.relations ?? [], label: "Mappings" }),
    ),
    nestedOf(importer.nested).map((one) =>
      h(
        Section,
        { key: one.path, title: `Nested: ${one.path} → ${one.target.table}` },
        h(Mappings, { mappings: one.mappings, relations: one.relations ?? [], label: `Mappings of ${one.path}` }),
      ),
    ),
    Object.keys(importer.schema ?? {}).length
      ? h(Section, { title: "Expected input" }, h(Schema, { schema: importer.schema, mappings: importer.mappings }))
      : null,
  );
}
