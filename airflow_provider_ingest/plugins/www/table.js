// A table as all pages show one: it scrolls sideways by itself, with the keyboard too.
import { C, h } from "./shell.js";
import { Cut } from "./pieces.js";

/**
 * A table with a name, its head and its rows.
 * @param {{label: string, head: any[], numbers?: string[], children?: any}} props `head` holds one
 *   text or element per column, `numbers` the names of those that hold numbers
 */
export function DataTable({ label, head, numbers = [], children }) {
  const columns = head.map((name, index) =>
    h(
      C.Table.ColumnHeader,
      { key: index, whiteSpace: "nowrap", textAlign: numbers.includes(name) ? "end" : undefined },
      name,
    ),
  );
  return h(
    C.Table.ScrollArea,
    { tabIndex: 0, role: "region", "aria-label": label, position: "relative" },
    h(
      C.Table.Root,
      { size: "sm", striped: true, "aria-label": label },
      h(C.Table.Header, null, h(C.Table.Row, null, columns)),
      h(C.Table.Body, null, children),
    ),
  );
}

/** The name of a field or attribute in a table, whose lines are shaded as plain code would be. */
export const Name = ({ children }) => h(C.Code, { variant: "outline", me: 1 }, h(Cut, { width: "18rem" }, children));

/** A line of a table. */
export const Line = C.Table.Row;

/** A cell of a table; further properties are Chakra's. */
export const Cell = C.Table.Cell;
