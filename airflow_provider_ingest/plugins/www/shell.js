// What Airflow's shell lends us: React, Chakra UI and the router, under short names; nothing is bundled.
/** Creates an element. */
export const h = globalThis.React.createElement;
export const { Fragment, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } = globalThis.React;
/** Chakra UI's components. */
export const C = globalThis.ChakraUI;
/** The router of the shell. */
export const Router = globalThis.ReactRouterDOM;

/** The path below which Airflow is served: empty, or /airflow where `[api] base_url` has a path. */
export const base = new URL(document.baseURI).pathname.replace(/\/$/, "");

/** The path of our own pages inside the shell. */
export const PAGES = "/plugin/ingest";

/**
 * A link inside Airflow's UI.
 * @param {{to: string, current?: boolean, children?: any}} props
 */
export function Link({ to, current = false, children, ...rest }) {
  return h(
    C.Link,
    {
      asChild: true,
      maxW: "100%",
      color: current ? "fg" : "fg.info",
      fontWeight: current ? "semibold" : "normal",
      ...rest,
    },
    h(Router.Link, { to, "aria-current": current ? "page" : undefined }, children),
  );
}

/** A button that goes somewhere. */
export function LinkButton({ to, children, ...rest }) {
  return h(C.Button, { asChild: true, size: "sm", variant: "outline", ...rest }, h(Router.Link, { to }, children));
}
