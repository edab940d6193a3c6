// The REST API as the pages use it. Its prefix is the folder above this module's versioned static path.
import { base, useCallback, useEffect, useRef, useState } from "./shell.js";

/** The API's prefix, e.g. /api/v1/ingest, whatever it is configured to. */
export const prefix = new URL(import.meta.url).pathname.replace(/\/static\/.*$/, "");

/** An answer that is not the one asked for; carries the problem document. */
export class Problem extends Error {
  /** @param {number} status @param {any} body */
  constructor(status, body) {
    super(body?.detail || body?.title || (status ? `The server answered ${status}.` : "The server cannot be reached."));
    this.status = status;
    this.code = body?.code;
    this.errors = body?.errors;
  }
}

async function answer(response) {
  if (response.status === 401) {
    location.replace(`${base}/api/v2/auth/login?next=${encodeURIComponent(location.href)}`);
  }
  const text = await response.text();
  let body = null;
  try {
    body = text ? JSON.parse(text) : null;
  } catch {
    body = null; // a proxy's own page; the status says enough
  }
  if (!response.ok) throw new Problem(response.status, body);
  return body;
}

/**
 * Calls the API and gives its JSON.
 * @param {string} path below the prefix @param {RequestInit} [options]
 */
export async function call(path, options = {}) {
  let response;
  try {
    response = await fetch(`${prefix}${path}`, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, null);
  }
  return answer(response);
}

/** POSTs a JSON body. */
export const post = (path, body = undefined, headers = {}) =>
  call(path, {
    method: "POST",
    headers: body === undefined ? headers : { "Content-Type": "application/json", ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });

/**
 * Uploads a form and tells how far it is; fetch cannot, so this is an XMLHttpRequest.
 * @param {string} path @param {FormData} form @param {(share: number) => void} onProgress
 */
export function upload(path, form, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `${prefix}${path}`);
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    request.onerror = () => reject(new Problem(0, null));
    request.onload = () =>
      answer(new Response(request.responseText || null, { status: request.status })).then(resolve, reject);
    request.send(form);
  });
}

/**
 * Loads a resource and loads it again while `lively` says that it still moves and the page is looked at.
 * @param {string|null} path nothing is loaded while it is null
 * @param {(data: any) => number|null} [lively] milliseconds until the next look, or null to rest
 * @param {{keeps?: boolean}} [options] whether what another path gave stays in sight until this one answers
 * @returns {{data: any, error: Problem|null, loading: boolean, reload: () => void}}
 */
export function useResource(path, lively = () => null, { keeps = false } = {}) {
  const [state, set] = useState({ path, of: null, data: null, error: null, loading: path !== null });
  const [turn, setTurn] = useState(0);
  const pace = useRef(lively);
  pace.current = lively;
  useEffect(() => {
    if (path === null) return undefined;
    const control = new AbortController();
    let timer = 0;
    const look = async () => {
      if (document.hidden) {
        timer = setTimeout(look, 1000);
        return;
      }
      try {
        const data = await call(path, { signal: control.signal });
        set({ path, of: path, data, error: null, loading: false });
        const next = pace.current(data);
        if (next !== null) timer = setTimeout(look, next);
      } catch (error) {
        if (error.name === "AbortError") return;
        set((last) => ({ path, of: path, data: last.of === path ? last.data : null, error, loading: false }));
        if (!error.status || error.status >= 500) timer = setTimeout(look, 5000);
      }
    };
    set((last) =>
      last.path === path
        ? { ...last, loading: last.data === null }
        : { path, of: last.of, data: keeps ? last.data : null, error: null, loading: true },
    );
    look();
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [path, turn]);
  return { ...state, reload: useCallback(() => setTurn((last) => last + 1), []) };
}

/** Query string of the values that are set. */
export function query(values) {
  const set = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return set.length ? `?${new URLSearchParams(set.map(([name, value]) => [name, String(value)]))}` : "";
}
