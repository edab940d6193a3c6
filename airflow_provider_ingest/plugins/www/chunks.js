// The chunks of a run as a strip, one cell each, coloured by how it stands.
import { C, h, Router } from "./shell.js";
import { useResource } from "./api.js";
import { count, duration, isOpen } from "./format.js";
import { ErrorNote, Section } from "./pieces.js";

const MANY = 60;

const STATES = [
  ["done", "green.solid"],
  ["done, with failed rows", "yellow.solid"],
  ["working", "blue.solid"],
  ["waiting", "bg.emphasized"],
];

/** How a chunk stands: word and colour. */
function stateOf(chunk) {
  if (chunk.finished_at) return STATES[chunk.failed ? 1 : 0];
  return STATES[chunk.started_at ? 2 : 3];
}

/** All of a chunk in one sentence, for the pointer and the screen reader. */
function sentence(chunk) {
  const last = chunk.first_row + chunk.rows - 1;
  const took = chunk.duration_seconds === null ? "" : ` in ${duration(chunk.duration_seconds)}`;
  const rows = `rows ${count(chunk.first_row)} to ${count(last)}`;
  return `Chunk ${chunk.index}: ${rows}, ${stateOf(chunk)[0]}${took}, ${count(chunk.failed)} failed`;
}

/** One cell: a link to the chunk's task, where its log is. */
function ChunkCell({ run, chunk, isNarrow }) {
  const label = sentence(chunk);
  const task = `tasks/chunk/mapped/${chunk.index}`;
  const to = `/dags/${encodeURIComponent(run.dag_id)}/runs/${encodeURIComponent(run.dag_run_id)}/${task}`;
  return h(
    C.Box,
    { as: "li", title: label },
    h(
      C.Link,
      { asChild: true, display: "block", p: "1px" },
      h(
        Router.Link,
        { to, "aria-label": label },
        h(C.Box, { w: isNarrow ? 2 : 6, h: 6, bg: stateOf(chunk)[1], borderRadius: "xs" }),
      ),
    ),
  );
}

/** The section of the run's page; nothing until the run is planned. */
export function Chunks({ run }) {
  const { data, error } = useResource(`/${run.id}/chunks`, () => (isOpen(run) ? 2000 : null));
  if (error) return h(ErrorNote, { error });
  if (!data?.data.length) return null;
  const chunks = data.data;
  const present = new Set(chunks.map((chunk) => stateOf(chunk)[0]));
  const legend = STATES.filter(([word]) => present.has(word)).map(([word, color]) =>
    h(C.HStack, { key: word, gap: 1.5 }, h(C.Box, { boxSize: 2.5, bg: color, borderRadius: "xs" }), word),
  );
  const done = `${count(run.chunks.done)} of ${count(run.chunks.total)} done`;
  return h(
    Section,
    { title: "Chunks", aside: h(C.HStack, { fontSize: "sm", color: "fg.muted", gap: 4, wrap: "wrap" }, legend, done) },
    h(
      C.Flex,
      { as: "ul", listStyleType: "none", wrap: "wrap", gap: "1px", m: 0, p: 0, maxH: "12rem", overflowY: "auto" },
      chunks.map((chunk) => h(ChunkCell, { key: chunk.index, run, chunk, isNarrow: chunks.length > MANY })),
    ),
  );
}
