// The pages' entry: Airflow's shell imports this module and renders globalThis.Ingest with the ids of its view.
import { C, h, Link, PAGES, Router, useEffect } from "./shell.js";
import { ErrorNote, Note } from "./pieces.js";
import { DagRunTab, DagTab } from "./tabs.js";
import { DashboardCard } from "./dashboard.js";
import { Fix } from "./fix.js";
import { Importer, Importers } from "./importers.js";
import { Run } from "./run.js";
import { Runs } from "./runs.js";
import { Upload } from "./upload.js";

const { Route, Routes, useLocation, useNavigate } = Router;

/** Keeps an error of ours inside our page. */
class Boundary extends globalThis.React.Component {
  /** @param {object} props */
  constructor(props) {
    super(props);
    this.state = { error: null };
  }

  static getDerivedStateFromError(error) {
    return { error };
  }

  render() {
    return this.state.error ? h(C.Box, { p: 4 }, h(ErrorNote, { error: this.state.error })) : this.props.children;
  }
}

const SECTIONS = [
  ["", "Runs"],
  ["importers", "Importers"],
  ["upload", "Upload"],
];

/** A section's link, in the manner of Airflow's own tabs. */
function Tab({ current, ...rest }) {
  const line = current ? "border.info" : "transparent";
  const look = { px: { base: 2, md: 4 }, py: 2, mb: "-1px", borderBottomWidth: 3, borderColor: line, borderRadius: 0 };
  return h(Link, { ...look, current, color: current ? "fg" : "fg.muted", fontWeight: "bold", ...rest });
}

/** The sections, and which of them the address is in. */
function Navigation() {
  const [section = ""] = useLocation().pathname.slice(PAGES.length).split("/").filter(Boolean);
  const current = section === "runs" ? "" : section;
  return h(
    C.HStack,
    { as: "nav", "aria-label": "Ingest", mb: 4, borderBottomWidth: 1 },
    SECTIONS.map(([to, label]) =>
      h(Tab, { key: to, to: to ? `${PAGES}/${to}` : PAGES, current: current === to }, label),
    ),
  );
}

/** What a page is called in the tabs and the history of the browser. */
function titleOf([section = "", name = "", part = ""]) {
  if (section === "runs" && name) return `${part === "fix" ? "Fix run" : "Run"} #${name}`;
  if (section === "importers" && name) return decodeURIComponent(name);
  return SECTIONS.find(([to]) => to === section)?.[1] ?? "Ingest";
}

/** Names the page before what the shell puts there, the name of the installation; whenever it puts it there. */
function useTitle() {
  const title = titleOf(useLocation().pathname.slice(PAGES.length).split("/").filter(Boolean));
  useEffect(() => {
    const installation = () => document.title.split(" - ").at(-1);
    const put = () => {
      const whole = `${title} - ${installation()}`;
      if (document.title !== whole) document.title = whole;
    };
    const observer = new MutationObserver(put);
    observer.observe(document.head, { childList: true, subtree: true, characterData: true });
    put();
    return () => {
      observer.disconnect();
      document.title = installation();
    };
  }, [title]);
}

let isSettled = false;

/**
 * The shell mounts what it has just loaded once more at its next rendering, as with the first filter that is typed: the
 * text behind it and the focus would be lost. So let it render at once.
 */
function useSettled() {
  const navigate = useNavigate();
  const { pathname, search, hash, state } = useLocation();
  useEffect(() => {
    if (isSettled) return;
    isSettled = true;
    navigate({ pathname, search, hash }, { replace: true, state });
  }, []);
}

/** The pages under the navigation's own entry; what breaks on one of them is forgotten on the next. */
function Pages() {
  useSettled();
  useTitle();
  return h(
    C.Box,
    { p: 4, maxW: "1400px", mx: "auto", w: "100%", "data-testid": "ingest" },
    h(Navigation),
    h(
      Boundary,
      { key: useLocation().pathname },
      h(
        Routes,
        null,
        h(Route, { index: true, element: h(Runs) }),
        h(Route, { path: "runs/:runId", element: h(RunPage) }),
        h(Route, { path: "runs/:runId/fix", element: h(Fix) }),
        h(Route, { path: "importers", element: h(Importers) }),
        h(Route, { path: "importers/:slug", element: h(Importer) }),
        h(Route, { path: "upload", element: h(Upload) }),
        h(Route, { path: "upload/:slug", element: h(Upload) }),
        h(Route, { path: "*", element: h(Note, { title: "There is no such page." }) }),
      ),
    ),
  );
}

/** A run named by the address; another id is another page, with a state of its own. */
function RunPage() {
  const { runId } = Router.useParams();
  return h(Run, { key: runId, id: runId });
}

/** Which view the shell shows us in: it gives a DAG id on DAG pages, and a run id on DAG-run pages. */
function Ingest({ dagId, runId }) {
  const { pathname } = useLocation();
  if (dagId && runId) return h(Boundary, null, h(DagRunTab, { dagId, dagRunId: runId }));
  if (dagId) return h(Boundary, null, h(DagTab, { dagId }));
  return h(Boundary, null, pathname.includes(PAGES) ? h(Pages) : h(DashboardCard));
}

globalThis.Ingest = Ingest;
