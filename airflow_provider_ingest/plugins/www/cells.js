// Cells of the corrected CSV: the exact counterpart of service/cells.py, which takes the escaping off again.

const FORMULA = /^'*[=+\-@\t\r]/;
const NUMBER = /^[+-]?(?:[0-9]+(?:[.,][0-9]+)*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?$/;

/** The column by which the server finds the row again. */
export const ROW_NUMBER = "_row_number";

/** A logged value as the text of its cell: null is empty, arrays and objects are JSON. */
export function cellText(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Puts an apostrophe before what a spreadsheet would take for a formula. */
export const escapeCell = (text) => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);

const quoted = (text) => `"${text.replaceAll('"', '""')}"`;

/**
 * The corrected rows as CSV with their original row numbers.
 * @param {string[]} columns
 * @param {Array<{number: number, values: Record<string, string>}>} rows
 */
export function correctedCsv(columns, rows) {
  const header = [...columns.map((name) => quoted(escapeCell(name))), ROW_NUMBER];
  const lines = rows.map((row) => [...columns.map((name) => quoted(escapeCell(row.values[name] ?? ""))), row.number]);
  return [header, ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}
