// Numbers, times and sizes as people read them, in their own language and zone.
const numbers = new Intl.NumberFormat();
const formats = new Map();

/** The zone chosen in Airflow's own menu; undefined is the browser's. */
export function zone() {
  try {
    return JSON.parse(globalThis.localStorage.getItem("timezone") ?? "null") ?? undefined;
  } catch {
    return undefined; // storage is off, or holds something else
  }
}

/** The format of times in a zone: that of Airflow's own pages, 2026-02-28 13:05:09, which Swedes write too. */
function formatIn(timeZone) {
  if (!formats.has(timeZone)) {
    formats.set(timeZone, new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone }));
  }
  return formats.get(timeZone);
}

/** 1234567 → 1,234,567 */
export const count = (value) => (value === null || value === undefined ? "–" : numbers.format(value));

/** 1 → 1 row, 1234 → 1,234 rows */
export const inRows = (value) => `${count(value)} ${value === 1 ? "row" : "rows"}`;

/** A UTC timestamp in the user's zone. */
export const time = (value) => (value ? formatIn(zone()).format(new Date(value)) : "–");

const DAY = 24 * 3600 * 1000;

/** The UTC timestamp at which a day (2026-02-28), or one some days later, begins in the user's zone; "" if it is none. */
export function beginning(day, later = 0) {
  const midnight = Date.parse(`${day}T00:00:00Z`) + later * DAY;
  if (Number.isNaN(midnight)) return "";
  const shown = (at) => Date.parse(`${formatIn(zone()).format(at).replace(" ", "T")}Z`);
  const near = 2 * midnight - shown(midnight); // once more, for a zone that changed its clock in between
  return new Date(near + midnight - shown(near)).toISOString();
}

/** Seconds as 4.2 s, 3 min 20 s, 2 h 5 min. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return "–";
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Bytes as 12.3 MB. */
export function size(bytes) {
  if (bytes === null || bytes === undefined) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit ? value.toFixed(1) : value} ${units[unit]}`;
}

/** Characters that are better named than shown. */
const CHARACTERS = {
  "\t": "tab",
  ",": "comma",
  ";": "semicolon",
  "|": "bar",
  " ": "blank",
  '"': "double",
  "'": "single",
};

/** What was found out about a file, e.g. `delimiter comma`. */
export const fact = (name, value) =>
  `${name}${value === true ? "" : ` ${CHARACTERS[value] ?? value}`}`.replaceAll("_", " ");

/** Part of a whole in percent, one decimal, never 100 unless it is. */
export function percent(part, whole) {
  if (!whole) return "0 %";
  const share = (100 * part) / whole;
  return `${share > 99.9 && part < whole ? "99.9" : share.toFixed(share === 100 || share === 0 ? 0 : 1)} %`;
}

/** Seconds since the start, until the end or now. */
export const elapsed = (run) =>
  (Date.parse(run.completed_at ?? new Date().toISOString()) - Date.parse(run.started_at)) / 1000;

/** Rows a second and seconds left of a run that works; null while nothing is known. */
export function pace(run) {
  const seconds = elapsed(run);
  const rate = seconds > 0 ? run.progress.processed / seconds : 0;
  const left = rate > 0 ? (run.progress.total - run.progress.processed) / rate : null;
  return { rate, left };
}

export const OPEN = ["pending", "processing", "cancelling"];

/** Whether a run still works. */
export const isOpen = (run) => OPEN.includes(run.status);
