// Sending a file: what is in it and how it fits the importer is shown before anything is sent.
import { C, Fragment, h, PAGES, Router, useEffect, useState } from "./shell.js";
import { call, upload, useResource } from "./api.js";
import { count, size } from "./format.js";
import { Choice, Cut, ErrorNote, Loading, Note, Section } from "./pieces.js";

const HEAD_BYTES = 256 * 1024;

/** The server looks at the first 256 kB of the file. */
function usePreview(slug, file) {
  const [state, set] = useState({ data: null, error: null, loading: false });
  useEffect(() => {
    if (!slug || !file) {
      set({ data: null, error: null, loading: false });
      return undefined;
    }
    const control = new AbortController();
    set({ data: null, error: null, loading: true });
    call(`/importers/${encodeURIComponent(slug)}/preview`, {
      method: "POST", signal: control.signal, body: file.slice(0, HEAD_BYTES),
      headers: { "Content-Type": "application/octet-stream", "X-File-Name": encodeURIComponent(file.name), "X-File-Size": String(file.size) },
    }).then((answer) => set({ data: answer.data, error: null, loading: false }),
      (error) => error.name === "AbortError" || set({ data: null, error, loading: false }));
    return () => control.abort();
  }, [slug, file]);
  return state;
}

/** Columns of the file against those of the importer. */
function Columns({ preview }) {
  const badge = (color, text, title) => h(C.Badge, { key: text, colorPalette: color, variant: color === "gray" ? "outline" : "subtle", title }, h("bdi", null, text.slice(0, 60)));
  return h(C.VStack, { align: "stretch", gap: 2 },
    preview.missing.length ? h(C.Box, { role: "alert" }, h(C.Text, { fontWeight: "semibold", color: "fg.error" }, `Missing: ${count(preview.missing.length)}`),
      h(C.Flex, { gap: 2, wrap: "wrap" }, preview.missing.map((one) => h(C.HStack, { key: one.field, gap: 1 }, badge("red", one.field),
        one.did_you_mean ? h(C.Text, { fontSize: "sm" }, `did you mean “${one.did_you_mean}”?`) : null)))) : null,
    h(C.Flex, { gap: 2, wrap: "wrap" }, preview.columns.map((column) => (column.attributes.length
      ? badge("green", `${column.name} → ${column.attributes.join(", ")}`, "mapped") : badge("gray", column.name, "not used by the importer")))));
}

function FirstRows({ preview }) {
  const names = preview.columns.map((column) => column.name).slice(0, 30);
  return h(C.Table.ScrollArea, { tabIndex: 0, role: "region", "aria-label": "First rows" }, h(C.Table.Root, { size: "sm" },
    h(C.Table.Header, null, h(C.Table.Row, null, names.map((name) => h(C.Table.ColumnHeader, { key: name }, h(Cut, { width: "10rem" }, name))))),
    h(C.Table.Body, null, preview.rows.map((row, index) => h(C.Table.Row, { key: index },
      names.map((name) => h(C.Table.Cell, { key: name }, h(Cut, { width: "10rem" }, row[name] ?? "")))))))) ;
}

/** A field for a file that also takes one by drop. */
function Drop({ file, onFile }) {
  const [over, setOver] = useState(false);
  return h(C.Box, { as: "label", display: "block", borderWidth: 2, borderStyle: "dashed", borderRadius: "md", p: 8, textAlign: "center", cursor: "pointer",
    borderColor: over ? "border.info" : "border", _focusWithin: { outline: "2px solid", outlineColor: "border.info" },
    onDragOver: (event) => { event.preventDefault(); setOver(true); }, onDragLeave: () => setOver(false),
    onDrop: (event) => { event.preventDefault(); setOver(false); if (event.dataTransfer.files[0]) onFile(event.dataTransfer.files[0]); } },
  h("input", { type: "file", "aria-label": "File", onChange: (event) => event.target.files[0] && onFile(event.target.files[0]),
    style: { position: "absolute", opacity: 0, width: "1px", height: "1px" } }),
  file ? h(C.Text, null, h(Cut, { width: "30rem" }, file.name), ` · ${size(file.size)}`) : h(C.Text, { color: "fg.muted" }, "Drop a file here, or press to choose one: CSV, XLSX, JSON, Parquet, also zipped"));
}

/** The page. */
export function Upload() {
  const navigate = Router.useNavigate();
  const named = Router.useParams().slug ?? "";
  const importers = useResource("/importers");
  const [slug, setSlug] = useState(named);
  const [file, setFile] = useState(null);
  const [dry, setDry] = useState(false);
  const [sent, setSent] = useState(null);
  const [refusal, setRefusal] = useState(null);
  const choices = (importers.data?.data ?? []).filter((one) => one.source.type === "upload" && one.can?.start);
  const chosen = slug || (choices.length === 1 ? choices[0].slug : "");
  const preview = usePreview(chosen, file);
  const send = async () => {
    const form = new FormData();
    form.append("dry_run", dry ? "1" : "0");
    form.append("file", file);
    setRefusal(null);
    setSent(0);
    try {
      const answer = await upload(`/upload/${encodeURIComponent(chosen)}`, form, setSent);
      navigate(`${PAGES}/runs/${answer.data.id}`);
    } catch (error) {
      setRefusal(error);
      setSent(null);
    }
  };
  if (importers.loading) return h(Loading);
  return h(C.Box, { maxW: "1000px" },
    h(C.Heading, { as: "h1", size: "xl", mb: 3 }, "Upload a file"),
    importers.error ? h(ErrorNote, { error: importers.error, retry: importers.reload }) : null,
    importers.data && !choices.length ? h(Note, { title: "There is no importer that you may upload to." }) : h(Fragment, null,
      h(C.VStack, { align: "stretch", gap: 4 },
        h(Choice, { label: "Importer", value: chosen, onChange: setSlug, options: [["", "choose…"], ...choices.map((one) => [one.slug, one.slug])] }),
        h(Drop, { file, onFile: (next) => { setFile(next); setRefusal(null); } }),
        h(C.HStack, { as: "label", gap: 2 }, h("input", { type: "checkbox", checked: dry, onChange: (event) => setDry(event.target.checked) }),
          h("span", null, "Dry run: check everything, keep nothing")),
        refusal ? h(ErrorNote, { error: refusal }) : null,
        sent === null ? null : h(C.Progress.Root, { value: 100 * sent, "aria-label": "Upload" }, h(C.Progress.Track, null, h(C.Progress.Range))),
        h(C.Box, null, h(C.Button, { colorPalette: "blue", disabled: !chosen || !file || sent !== null, onClick: send }, dry ? "Upload as dry run" : "Upload"))),
      preview.loading ? h(Loading) : null,
      preview.error ? h(ErrorNote, { error: preview.error }) : null,
      preview.data ? h(Section, { title: `Read as ${preview.data.format_label ?? preview.data.format}` }, h(Columns, { preview: preview.data }), h(C.Box, { mt: 3 }, h(FirstRows, { preview: preview.data }))) : null));
}
