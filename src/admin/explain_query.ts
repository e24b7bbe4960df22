import { newCallClient, parseControls } from "../call/call.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { explainRouting, type RequestForms } from "../routing/explain.ts";
import { parseExplainedHeaders, USUAL_PATH } from "../routing/explained_request.ts";
import type { ExplainView } from "./snapshot.ts";

/** Maximum number of headers of an explained request. */
const MAX_HEADERS = 50;

/** Returns the routing of the request that a query describes, or the problem with the query as a sentence. */
export function explainQuery(
  query: URLSearchParams,
  { generation, world }: Pick<Gateway, "generation" | "world">,
  forms: RequestForms,
): ExplainView | string {
  const model = query.get("model") || "auto";
  const path = query.get("path") || USUAL_PATH;
  if (!path.startsWith("/")) return "path must begin with /.";
  const written = query.getAll("header").filter(Boolean);
  if (written.length > MAX_HEADERS) return `At most ${MAX_HEADERS} headers may be explained.`;
  const headers = parseExplainedHeaders(written, query.get("provider") ?? "");
  if (typeof headers === "string") return headers;
  const name = query.get("key") ?? "";
  const key = generation.clientKeys.find((one) => one.name === name) ?? null;
  if (name !== "" && key === null) return "There is no client key of this name.";
  const client = { ...newCallClient(), key };
  const call = { path, headers, controls: parseControls(headers), generation, client };
  return explainRouting(call, model, forms, world.wall());
}
