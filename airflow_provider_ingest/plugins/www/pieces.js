// The pieces that several pages are made of.
import { C, h, LinkButton, useSyncExternalStore } from "./shell.js";
import { count, duration, elapsed, isOpen, pace, percent, time, zone } from "./format.js";

const COLORS = {
  pending: "gray",
  processing: "blue",
  cancelling: "orange",
  completed: "green",
  completed_with_errors: "yellow",
  failed: "red",
  cancelled: "orange",
};
export const ENDS = [
  ["created", "green.solid"],
  ["updated", "teal.solid"],
  ["skipped", "gray.solid"],
  ["failed", "red.solid"],
  ["unprocessed", "gray.muted"],
];

/** The status of a run, in words and colour. */
export function StatusBadge({ status, dry = false }) {
  return h(
    C.HStack,
    { gap: 1, display: "inline-flex" },
    h(
      C.Badge,
      { colorPalette: COLORS[status] ?? "gray", variant: "subtle", "data-status": status },
      status.replaceAll("_", " "),
    ),
    dry ? h(C.Badge, { colorPalette: "purple", variant: "outline" }, "dry run") : null,
  );
}

/** A quiet box with a title and, below, what to do. */
export function Note({ title, children, action }) {
  return h(
    C.VStack,
    { borderWidth: 1, borderRadius: "md", p: 8, gap: 2, color: "fg.muted", textAlign: "center" },
    h(C.Text, { fontWeight: "semibold", color: "fg", maxW: "100%", overflowWrap: "anywhere" }, title),
    children ? h(C.Box, null, children) : null,
    action ?? null,
  );
}

/** What went wrong, and a way to try again. */
export function ErrorNote({ error, retry }) {
  const isFinal = error.status === 403 || error.status === 404;
  return h(
    C.Alert.Root,
    { status: isFinal ? "warning" : "error", role: "alert", mb: 3 },
    h(C.Alert.Indicator),
    h(
      C.Alert.Content,
      null,
      h(C.Alert.Title, null, error.message),
      error.errors?.length
        ? h(C.Alert.Description, null, error.errors.map((e) => `${e.field ?? ""}: ${e.message}`).join(" · "))
        : null,
    ),
    retry && !isFinal ? h(C.Button, { size: "xs", variant: "outline", onClick: retry }, "Try again") : null,
  );
}

/** Waiting, shown to screen readers too. */
export const Loading = () =>
  h(C.HStack, { p: 4, role: "status", color: "fg.muted" }, h(C.Spinner, { size: "sm" }), h(C.Text, null, "Loading…"));

/** Width of a name in a list: less where the window is narrow. */
export const NARROW = { base: "9rem", xl: "16rem" };

/**
 * A long name, cut, with all of it on hover. In the cell of a table no share may bound its width: one of 100% would leave
 * the column as wide as the table.
 */
export function Cut({ children, width = /** @type {any} */ ("16rem") }) {
  return h(
    C.Text,
    {
      as: "span",
      display: "inline-block",
      maxW: width,
      truncate: true,
      verticalAlign: "bottom",
      title: String(children ?? ""),
    },
    h("bdi", null, children ?? "–"),
  );
}

/** How a run's rows ended, as one bar. */
function EndsBar({ progress, height }) {
  const total = Math.max(progress.total, 1);
  const label = ENDS.map(([name]) => `${count(progress[name])} ${name}`).join(", ");
  return h(
    C.Flex,
    {
      h: height,
      borderRadius: "sm",
      overflow: "hidden",
      bg: "bg.emphasized",
      role: "img",
      "aria-label": label,
      title: label,
    },
    ENDS.map(([name, color]) =>
      progress[name] ? h(C.Box, { key: name, bg: color, w: `${(100 * progress[name]) / total}%`, minW: "2px" }) : null,
    ),
  );
}

/** How a run's rows ended, as one bar and in numbers. */
export function CountsBar({ progress }) {
  return h(
    C.Box,
    null,
    h(EndsBar, { progress, height: 3 }),
    h(
      C.Flex,
      { gap: 4, mt: 2, wrap: "wrap" },
      ENDS.map(([name, color]) =>
        h(
          C.HStack,
          { key: name, gap: 1.5 },
          // the outline because the shade of what is unprocessed is nearly that of the page in the dark
          h(C.Box, { boxSize: 2.5, bg: color, borderRadius: "xs", outline: "1px solid", outlineColor: "fg.subtle" }),
          h(C.Text, { fontSize: "sm" }, `${count(progress[name])} ${name}`),
        ),
      ),
    ),
  );
}

const BAR = { base: "7rem", xl: "12rem" };

/** How the rows of a run in a list ended. */
function EndedLine({ progress }) {
  const text = progress.total ? `${count(progress.processed)} of ${count(progress.total)}` : "no rows";
  return h(
    C.Box,
    { minW: BAR },
    h(EndsBar, { progress, height: 1.5 }),
    h(C.Text, { fontSize: "xs", color: "fg.muted", mt: 1 }, text),
  );
}

/** The moving line of a run that works; in a list, the ends of the rows of one that has ended. */
export function ProgressLine({ run, compact = false }) {
  const { progress } = run;
  if (compact && !isOpen(run)) return h(EndedLine, { progress });
  const { rate, left } = pace(run);
  const working = isOpen(run);
  const value = progress.total ? (100 * progress.processed) / progress.total : working ? null : 100;
  const text = working
    ? progress.total
      ? `${count(progress.processed)} of ${count(progress.total)}${rate ? ` · ${count(Math.round(rate))} rows/s` : ""}${left === null ? "" : ` · ${duration(left)} left`}`
      : "Preparing…"
    : `${count(progress.processed)} of ${count(progress.total)}`;
  return h(
    C.Box,
    { minW: compact ? BAR : undefined },
    h(
      C.Progress.Root,
      {
        value,
        size: compact ? "xs" : "md",
        colorPalette: run.status === "failed" ? "red" : "blue",
        striped: working,
        animated: working,
        "aria-label": `Progress of run ${run.id}`,
      },
      h(C.Progress.Track, null, h(C.Progress.Range)),
    ),
    h(C.Text, { fontSize: "xs", color: "fg.muted", mt: 1 }, text),
  );
}

/** How long a run takes or took. */
export const Took = ({ run }) => h("span", null, duration(elapsed(run)));

/** Calls back when another zone is chosen: in another window, or in this one, which the shell tells in its own way. */
function onZone(callback) {
  const events = ["storage", "local-storage"];
  events.forEach((name) => globalThis.addEventListener(name, callback));
  return () => events.forEach((name) => globalThis.removeEventListener(name, callback));
}

/** A moment, in the user's zone; the exact UTC one on hover. */
export function Moment({ at }) {
  useSyncExternalStore(onZone, zone);
  return h("time", { dateTime: at ?? undefined, title: at ?? undefined }, time(at));
}

/** What was there before, in sight while what comes after it is on its way: nothing jumps, and the focus stays. */
export const Waiting = ({ isWaiting, children }) =>
  h(C.Box, { "aria-busy": isWaiting, opacity: isWaiting ? 0.6 : undefined }, children);

/** Pages of a listing. */
export function Pager({ meta, onPage }) {
  if (!meta || meta.last_page <= 1 || meta.current_page > meta.last_page) return null;
  return h(
    C.HStack,
    { as: "nav", "aria-label": "Pages", mt: 3, gap: 3 },
    h(
      C.Button,
      {
        size: "xs",
        variant: "outline",
        disabled: meta.current_page <= 1,
        onClick: () => onPage(meta.current_page - 1),
      },
      "Previous",
    ),
    h(C.Text, { fontSize: "sm" }, `Page ${count(meta.current_page)} of ${count(meta.last_page)}`),
    h(
      C.Button,
      {
        size: "xs",
        variant: "outline",
        disabled: meta.current_page >= meta.last_page,
        onClick: () => onPage(meta.current_page + 1),
      },
      "Next",
    ),
  );
}

/** A labelled native select; native ones work with every keyboard and screen reader. */
export function Choice({ label, value, options, onChange }) {
  return h(
    C.HStack,
    { as: "label", gap: 2, fontSize: "sm" },
    h("span", null, label),
    h(
      C.NativeSelect.Root,
      { size: "sm", width: "auto", maxW: "14rem" },
      h(
        C.NativeSelect.Field,
        { value, onChange: (event) => onChange(event.target.value), "aria-label": label },
        options.map(([key, text]) => h("option", { key, value: key }, text)),
      ),
      h(C.NativeSelect.Indicator),
    ),
  );
}

/** Facts as a list of terms. */
export function Facts({ of }) {
  return h(
    C.DataList.Root,
    { orientation: "horizontal", size: "sm" },
    of
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([term, value]) =>
        h(
          C.DataList.Item,
          { key: term },
          h(C.DataList.ItemLabel, { minW: { base: "6rem", md: "9rem" } }, term),
          h(C.DataList.ItemValue, { display: "block", overflowWrap: "anywhere", minW: 0 }, value),
        ),
      ),
  );
}

/** A heading with what it heads. */
export function Section({ title, children, aside }) {
  return h(
    C.Box,
    { as: "section", mt: 6 },
    h(
      C.HStack,
      { justify: "space-between", mb: 2, wrap: "wrap" },
      h(C.Heading, { as: "h2", size: "md" }, title),
      aside ?? null,
    ),
    children,
  );
}

/** The share of rows that failed. */
export const RejectRate = ({ progress }) => h("span", null, percent(progress.failed, progress.total));

export { LinkButton };
