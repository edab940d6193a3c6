// The chunks of a run as a strip, one cell each: coloured by how it stands, as high as it took long.
import { C, h, Router } from "./shell.js";
import { useResource } from "./api.js";
import { count, duration, inRows, isOpen } from "./format.js";
import { ErrorNote, Section } from "./pieces.js";

const MANY = 60;
const HEIGHT = 32;
const LOWEST = 8;

const STATES = [
  ["done", "green.solid"],
  ["done, with failed rows", "yellow.solid"],
  ["working", "blue.solid"],
  ["waiting", "bg.emphasized"],
  ["not finished", "orange.solid"],
  ["not started", "bg.emphasized"],
];

/** How a chunk stands: word and colour. */
function stateOf(run, chunk) {
  if (chunk.finished_at) return STATES[chunk.failed ? 1 : 0];
  return STATES[(chunk.started_at ? 2 : 3) + (isOpen(run) ? 0 : 2)];
}

/** All of a chunk in one sentence, for the pointer and the screen reader. */
function sentence(run, chunk) {
  const took = chunk.duration_seconds === null ? "" : ` in ${duration(chunk.duration_seconds)}`;
  const rows = chunk.rows ? `${inRows(chunk.rows)} from row ${count(chunk.first_row)}` : "no rows";
  return `Chunk ${chunk.index}: ${rows}, ${stateOf(run, chunk)[0]}${took}, ${count(chunk.failed)} failed`;
}

const secondsOf = (chunk) => chunk.duration_seconds ?? 0;

/** One cell: a link to the chunk's task, where its log is. */
function ChunkCell({ run, chunk, slowest, isNarrow }) {
  const label = sentence(run, chunk);
  const share = chunk.finished_at && slowest ? secondsOf(chunk) / slowest : 1;
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
        h(C.Box, {
          w: isNarrow ? 2 : 6,
          h: `${Math.max(LOWEST, Math.round(HEIGHT * share))}px`,
          bg: stateOf(run, chunk)[1],
          borderRadius: "xs",
        }),
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
  const present = new Set(chunks.map((chunk) => stateOf(run, chunk)[0]));
  const slowest = Math.max(...chunks.map(secondsOf));
  const legend = STATES.filter(([word]) => present.has(word)).map(([word, color]) =>
    h(C.HStack, { key: word, gap: 1.5 }, h(C.Box, { boxSize: 2.5, bg: color, borderRadius: "xs" }), word),
  );
  const longest = slowest && chunks.length > 1 ? ` · the longest took ${duration(slowest)}` : "";
  const done = `${count(run.chunks.done)} of ${count(run.chunks.total)} done${longest}`;
  return h(
    Section,
    { title: "Chunks", aside: h(C.HStack, { fontSize: "sm", color: "fg.muted", gap: 4, wrap: "wrap" }, legend, done) },
    h(
      C.Flex,
      {
        as: "ul",
        listStyleType: "none",
        wrap: "wrap",
        align: "flex-end",
        gap: "1px",
        m: 0,
        p: 0,
        maxH: "12rem",
        overflowY: "auto",
      },
      chunks.map((chunk) => h(ChunkCell, { key: chunk.index, run, chunk, slowest, isNarrow: chunks.length > MANY })),
    ),
  );
}
