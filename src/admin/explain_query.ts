import { newCallClient, parseControls } from "../call/call.ts";
import type { Generation } from "../call/generation.ts";
import { explainRouting, type RequestForms } from "../routing/explain.ts";
import type { ExplainView } from "./snapshot.ts";

/** Path of a request that names none. */
const CHAT_PATH = "/v1/chat/completions";

/** Pattern of a header field as `NAME=VALUE` (RFC 9110, fields). */
const HEADER = /^([\w!#$%&'*+.^`|~-]+)=([\t\x20-\x7e\x80-\xff]*)$/;

/** Maximum number of headers of an explained request. */
const MAX_HEADERS = 50;

/** Returns the routing of the request that a query describes, or the problem with the query as a sentence. */
export function explainQuery(
  query: URLSearchParams,
  generation: Generation,
  forms: RequestForms,
): ExplainView | string {
  const model = query.get("model") || "auto";
  const path = query.get("path") || CHAT_PATH;
  if (!path.startsWith("/")) return "path must begin with /.";
  const headers = new Headers();
  const written = query.getAll("header").filter(Boolean);
  if (written.length > MAX_HEADERS) return `At most ${MAX_HEADERS} headers may be explained.`;
  for (const one of written) {
    const [, name, value = ""] = HEADER.exec(one) ?? [];
    if (name === undefined) return "header must be written NAME=VALUE.";
    headers.append(name, value);
  }
  const provider = query.get("provider") ?? "";
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(provider)) return "provider must be the ID of a provider.";
  if (provider !== "") headers.set("x-gateway-provider", provider);
  const name = query.get("key") ?? "";
  const key = generation.clientKeys.find((one) => one.name === name) ?? null;
  if (name !== "" && key === null) return "There is no client key of this name.";
  const client = { ...newCallClient(), key };
  const call = { path, headers, controls: parseControls(headers), generation, client };
  return explainRouting(call, model, forms);
}
