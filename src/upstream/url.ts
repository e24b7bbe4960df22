import type { Provider } from "../wires/wire.ts";

/**
 * Returns the URL of an upstream request: the path below the provider's base, with the query of its base
 * URL. A query parameter of the path that the base URL has too is dropped: clients choose some path
 * parameters, and the configuration wins, as with headers.
 */
export function upstreamUrl(
  { base, query }: Pick<Provider, "base" | "query">,
  path: string,
): string {
  if (query === "") return base + path;
  const mark = path.indexOf("?");
  if (mark < 0) return `${base}${path}?${query}`;
  const configured = new Set(new URLSearchParams(query).keys());
  const rest = path.slice(mark + 1).split("&")
    .filter((pair) => pair !== "" && !namesOf(pair).some((name) => configured.has(name)));
  return `${base}${path.slice(0, mark)}?${[query, ...rest].join("&")}`;
}

function namesOf(pair: string): string[] {
  return [...new URLSearchParams(pair).keys()];
}
