// What was recorded of a row's way from fields to attributes.
import { C, Fragment, h } from "./shell.js";
import { cellText } from "./cells.js";

const VALUE = 200;

/** Name of the first step; a transformer that builds its value from the row stands in its place. */
const INPUT = "input";
const arrow = h("span", { "aria-hidden": true }, "→");

const Value = ({ value }) => h(C.Code, { variant: "outline" }, h("bdi", null, cellText(value).slice(0, VALUE) || "∅"));

/** The steps of one attribute: a value, the step that changed it, the next value. */
function Steps({ attribute, steps }) {
  return h(
    C.HStack,
    { gap: 2, wrap: "wrap", py: 1 },
    h(C.Text, { as: "span", fontWeight: "semibold", minW: "8rem" }, attribute),
    steps.map(({ step, value }, index) =>
      h(
        Fragment,
        { key: index },
        step === INPUT
          ? null
          : h(C.Text, { as: "span", color: "fg.muted", fontSize: "xs" }, index ? arrow : null, ` ${step} `, arrow),
        h(Value, { value }),
      ),
    ),
  );
}

const mappingText = (one) =>
  `${one.field ?? "the whole row"} → ${one.attribute}${one.condition ? ` (${one.condition})` : ""}`;

/** Which field filled which attribute, and which conditions did not hold. */
function Mappings({ mappings }) {
  const line = (title, listed) =>
    listed.length
      ? h(C.Text, { color: "fg.muted", fontSize: "xs", mt: 2 }, title, listed.map(mappingText).join(", "))
      : null;
  return h(
    Fragment,
    null,
    line(
      "Active mappings: ",
      mappings.filter((one) => one.active),
    ),
    line(
      "Not active: ",
      mappings.filter((one) => !one.active),
    ),
  );
}

/**
 * The trace of one row.
 * @param {{trace: {transformations?: Record<string, Array<{step: string, value: any}>>, mappings?: any[]}}} props
 */
export function Trace({ trace }) {
  const attributes = Object.entries(trace.transformations ?? {});
  return h(
    C.Box,
    { fontSize: "sm", ps: 4 },
    attributes.map(([attribute, steps]) => h(Steps, { key: attribute, attribute, steps })),
    trace.mappings?.length ? h(Mappings, { mappings: trace.mappings }) : null,
  );
}
