// Filters and pages of a listing, held in the address, so that a view can be sent to a colleague.
import { C, h, Router, useEffect, useState } from "./shell.js";
import { count } from "./format.js";
import { Note } from "./pieces.js";

/**
 * The filters and the page that the address names, and how to change them: another filter begins at the first page.
 * @param {string[]} names of the filters
 */
export function useAddress(names) {
  const [search, setSearch] = Router.useSearchParams();
  const change = (changes, replace = false) => {
    const next = new URLSearchParams(search);
    Object.entries(changes).forEach(([name, text]) => (text ? next.set(name, String(text)) : next.delete(name)));
    if (!("page" in changes)) next.delete("page");
    setSearch(next, { replace });
  };
  return {
    value: Object.fromEntries(names.map((name) => [name, search.get(name) ?? ""])),
    page: Math.max(1, Math.floor(Number(search.get("page")))) || 1,
    change,
    onPage: (number) => change({ page: number }),
    clear: () => setSearch({}),
  };
}

/** Milliseconds without a key before a typed filter is asked for. */
const PAUSE = 400;

/**
 * A typed filter: the address changes when the typing rests.
 * @param {{label: string, type: string, value: string, width: any, pause?: number, onChange: (text: string) => void}} props
 */
export function TypedFilter({ label, type, value, width, pause = PAUSE, onChange }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => onChange(text), pause);
    return () => clearTimeout(timer);
  }, [text]);
  return h(
    C.HStack,
    { as: "label", gap: 2, fontSize: "sm" },
    h("span", null, label),
    h(C.Input, { size: "sm", type, width, value: text, onChange: (event) => setText(event.target.value) }),
  );
}

/** A page behind the last one, as an old address may name it. */
export function NoPage({ page, last, onPage }) {
  const action = h(C.Button, { size: "sm", variant: "outline", onClick: () => onPage(last) }, "To the last page");
  return h(Note, { title: `There are fewer than ${count(page)} pages.`, action });
}
