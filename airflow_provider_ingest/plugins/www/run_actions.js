// What the caller may do with a run in its state, as buttons; the server decides, `can` only spares a refusal.
import { C, h, LinkButton, PAGES, Router, useState } from "./shell.js";
import { post, prefix, upload } from "./api.js";

/** Most failed rows that the grid takes. */
const FIXABLE = 1000;

/** A button that opens the choice of a file. */
function FileButton({ label, disabled, onFile }) {
  const choose = (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    if (file) onFile(file);
  };
  return h(
    C.Button,
    {
      as: "label",
      size: "sm",
      variant: "outline",
      cursor: "pointer",
      position: "relative",
      _focusWithin: { outline: "2px solid", outlineColor: "border.info", outlineOffset: "2px" },
    },
    label,
    h("input", {
      type: "file",
      accept: ".csv,.xlsx",
      disabled,
      onChange: choose,
      "aria-label": label,
      style: { position: "absolute", opacity: 0, width: "1px", height: "1px" },
    }),
  );
}

/** Cancel, which asks before it does: a mistaken click shall not end hours of work. */
function Cancel({ run, disabled, onCancel }) {
  const [isAsking, setAsking] = useState(false);
  const button = (label, onClick, extra) =>
    h(C.Button, { size: "sm", variant: "outline", disabled, onClick, ...extra }, label);
  if (run.status === "cancelling") return button("Cancelling…", null, { colorPalette: "danger", disabled: true });
  if (!isAsking) return button("Cancel", () => setAsking(true), { colorPalette: "danger" });
  return h(
    C.HStack,
    { gap: 2, wrap: "wrap" },
    h(C.Text, { fontSize: "sm" }, "Chunks at work finish, and what is written stays."),
    button("Cancel this run", onCancel, { colorPalette: "danger", variant: "solid", autoFocus: true }),
    button("Let it run", () => setAsking(false)),
  );
}

/**
 * The buttons of a run.
 * @param {{run: any, onChange: () => void, onError: (error: Error|null) => void}} props
 */
export function Actions({ run, onChange, onError }) {
  const navigate = Router.useNavigate();
  const [busy, setBusy] = useState(false);
  const can = run.can ?? {};
  const act = async (work) => {
    setBusy(true);
    onError(null);
    try {
      await work();
    } catch (error) {
      onError(error);
    } finally {
      setBusy(false);
    }
  };
  const goTo = (answer) => navigate(`${PAGES}/runs/${answer.data.id}`);
  const cancel = () => act(() => post(`/${run.id}/cancel`).then(onChange));
  const retry = (dryRun) => act(() => post(`/${run.id}/retry`, { dry_run: dryRun }).then(goTo));
  const correct = (file) => {
    const form = new FormData();
    form.append("dry_run", run.is_dry_run ? "1" : "0");
    form.append("file", file);
    return act(() => upload(`/${run.id}/retry`, form, () => {}).then(goTo));
  };
  const button = (label, onClick, extra = {}) =>
    h(C.Button, { key: label, size: "sm", variant: "outline", disabled: busy, onClick, ...extra }, label);
  const buttons = [];
  if (can.cancel) {
    buttons.push(h(Cancel, { key: "cancel", run, disabled: busy, onCancel: cancel }));
  }
  if (can.retry) {
    if (!run.is_dry_run) {
      buttons.push(button("Retry failed rows", () => retry(false), { colorPalette: "brand", variant: "solid" }));
    }
    buttons.push(button("Retry as dry run", () => retry(true)));
    if (run.progress.failed <= FIXABLE) {
      buttons.push(h(LinkButton, { key: "fix", to: `${PAGES}/runs/${run.id}/fix` }, "Fix in place"));
    }
  }
  if (can.correct) {
    buttons.push(h(FileButton, { key: "file", label: "Upload corrected rows", disabled: busy, onFile: correct }));
  }
  if (can.download) {
    const download = h(
      "a",
      { href: `${prefix}/${run.id}/failed-rows/download`, download: true },
      "Download failed rows",
    );
    buttons.push(h(C.Button, { key: "download", asChild: true, size: "sm", variant: "outline" }, download));
  }
  if (!buttons.length) return null;
  return h(C.HStack, { gap: 2, wrap: "wrap", role: "group", "aria-label": "Actions" }, buttons);
}
