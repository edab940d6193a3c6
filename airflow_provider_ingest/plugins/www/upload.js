// Sending a file: what is in it and how it fits the importer is shown before anything is sent.
import { C, Fragment, h, LinkButton, PAGES, Router, useState } from "./shell.js";
import { upload, useResource } from "./api.js";
import { percent, size } from "./format.js";
import { Choice, Cut, ErrorNote, Loading, Note } from "./pieces.js";
import { Preview } from "./preview.js";

const FORMATS = "CSV, XLSX, JSON, NDJSON, Parquet or Arrow, also in gzip, zip or zstd";

/** A field for a file that also takes one by drop. */
function Drop({ file, onFile }) {
  const [isOver, setOver] = useState(false);
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    if (event.dataTransfer.files[0]) onFile(event.dataTransfer.files[0]);
  };
  return h(
    C.Box,
    {
      as: "label",
      display: "block",
      position: "relative",
      borderWidth: 2,
      borderStyle: "dashed",
      borderRadius: "md",
      p: 8,
      textAlign: "center",
      cursor: "pointer",
      borderColor: isOver ? "border.info" : "border.emphasized",
      bg: isOver ? "bg.info" : undefined,
      _focusWithin: { outline: "2px solid", outlineColor: "border.info" },
      onDragOver: (event) => {
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop: drop,
    },
    h("input", {
      type: "file",
      "aria-label": "File",
      onChange: (event) => event.target.files[0] && onFile(event.target.files[0]),
      style: { position: "absolute", opacity: 0, width: "1px", height: "1px" },
    }),
    file
      ? h(C.Box, null, h(Cut, { width: "min(30rem, 60vw)" }, file.name), ` · ${size(file.size)}`)
      : h(C.Text, null, "Drop a file here, or press to choose one"),
    h(C.Text, { fontSize: "sm", color: "fg.muted" }, FORMATS),
  );
}

/** A labelled checkbox. */
function Check({ label, checked, onChange }) {
  return h(
    C.HStack,
    { as: "label", gap: 2 },
    h("input", { type: "checkbox", checked, onChange: (event) => onChange(event.target.checked) }),
    h("span", null, label),
  );
}

/** How much of the file is sent; a full bar means that the server is at work on it. */
function Sending({ share }) {
  const text = share < 1 ? `${percent(share, 1)} sent` : "Sent; the run is being started…";
  return h(
    C.Box,
    null,
    h(
      C.Progress.Root,
      { value: 100 * share, size: "sm", colorPalette: "brand" },
      h(C.Progress.Track, { "aria-label": "Upload" }, h(C.Progress.Range)),
    ),
    h(C.Text, { fontSize: "sm", color: "fg.muted", role: "status" }, text),
  );
}

/** The form over the importers that the caller may upload to. */
function Form({ importers, named }) {
  const navigate = Router.useNavigate();
  const [slug, setSlug] = useState(named || (importers.length === 1 ? importers[0].slug : ""));
  const [file, setFile] = useState(null);
  const [isDry, setDry] = useState(false);
  const [isAgain, setAgain] = useState(false);
  const [sent, setSent] = useState(null);
  const [refusal, setRefusal] = useState(null);
  const importer = importers.find((one) => one.slug === slug);
  const send = async () => {
    const form = new FormData();
    form.append("dry_run", isDry ? "1" : "0");
    form.append("force", isAgain ? "1" : "0");
    form.append("file", file);
    setRefusal(null);
    setSent(0);
    try {
      const answer = await upload(`/upload/${encodeURIComponent(slug)}`, form, setSent);
      navigate(`${PAGES}/runs/${answer.data.id}`);
    } catch (error) {
      setRefusal(error);
      setSent(null);
    }
  };
  const take = (next) => {
    setFile(next);
    setRefusal(null);
  };
  const again = "Import it even if the same file was imported before";
  return h(
    Fragment,
    null,
    h(
      C.VStack,
      { align: "stretch", gap: 4, mb: 4 },
      h(Choice, {
        label: "Importer",
        value: importer ? slug : "",
        onChange: setSlug,
        options: [["", "choose…"], ...importers.map((one) => [one.slug, one.slug])],
      }),
      h(Drop, { file, onFile: take }),
      h(Check, { label: "Dry run: check everything, keep nothing", checked: isDry, onChange: setDry }),
      importer?.refuses_duplicates ? h(Check, { label: again, checked: isAgain, onChange: setAgain }) : null,
      refusal ? h(ErrorNote, { error: refusal }) : null,
      sent === null ? null : h(Sending, { share: sent }),
      h(
        C.Box,
        null,
        h(
          C.Button,
          { colorPalette: "brand", disabled: !importer || !file || sent !== null, onClick: send },
          isDry ? "Upload as dry run" : "Upload",
        ),
      ),
    ),
    importer && file ? h(Preview, { slug, file }) : null,
  );
}

/** What an importer reads that takes no uploads, by the type of its source. */
const READS = {
  filesystem: ({ path, disk }) => `${path ? `the file ${path}` : "a file that each run names"}${on("disk", disk)}`,
  json: ({ path, disk }) => `${path ? `the JSON file ${path}` : "a JSON file that each run names"}${on("disk", disk)}`,
  url: ({ url }) => `the file at ${url}`,
  ftp: ({ path, disk }) => `the file ${path}${on("FTP server", disk)}`,
  sftp: ({ path, disk }) => `the file ${path}${on("SFTP server", disk)}`,
};
const on = (what, name) => (name ? ` on the ${what} ${name}` : "");

/** Why there is nothing to upload to this importer, and what can be done instead. */
function NoUpload({ slug, importer, others }) {
  const page = `${PAGES}/importers/${encodeURIComponent(slug)}`;
  const { type = "", options = {} } = importer?.source ?? {};
  const title = !importer
    ? `There is no importer ${slug} that you may see.`
    : type === "upload"
      ? `You may not start runs of the importer ${slug}.`
      : `The importer ${slug} takes no uploads: it reads ${READS[type]?.(options) ?? "from a source of its own"}.`;
  const action = h(
    C.HStack,
    { gap: 2, wrap: "wrap", justify: "center" },
    importer?.can?.start
      ? h(LinkButton, { to: page, colorPalette: "brand", variant: "solid" }, "Start a run on its page")
      : h(LinkButton, { to: importer ? page : `${PAGES}/importers` }, importer ? "To its page" : "All importers"),
    others ? h(LinkButton, { to: `${PAGES}/upload` }, "Upload to another importer") : null,
  );
  return h(Note, { title, action });
}

/** What the page shows of the importers: the form, or why there is none. */
function Choosing({ importers, slug }) {
  const uploads = importers.filter((one) => one.source.type === "upload" && one.can?.start);
  if (slug && !uploads.some((one) => one.slug === slug)) {
    const importer = importers.find((one) => one.slug === slug);
    return h(NoUpload, { slug, importer, others: uploads.length > 0 });
  }
  if (!uploads.length) return h(Note, { title: "There is no importer that you may upload to." });
  return h(Form, { key: slug, importers: uploads, named: slug });
}

/** The page. */
export function Upload() {
  const { slug = "" } = Router.useParams();
  const { data, error, reload } = useResource("/importers");
  return h(
    C.Box,
    null,
    h(C.Heading, { as: "h1", size: "xl", mb: 4 }, "Upload a file"),
    error ? h(ErrorNote, { error, retry: reload }) : null,
    !data && !error ? h(Loading) : null,
    data ? h(Choosing, { importers: data.data, slug }) : null,
  );
}
