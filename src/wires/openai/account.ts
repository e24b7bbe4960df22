import { decodeModels, MODELS_PATH } from "./catalog.ts";
import { errorFields } from "./errors.ts";
import { OPENAI_MODELS } from "../../data/known_models.ts";
import type { Provider, Sender, Wire } from "../wire.ts";
import type { RequestHeaders } from "../../core/header_fields.ts";

/** Address, credentials, errors and models: the properties shared by the protocols of a compat provider. */
export const compatAccount = {
  framing: "sse",
  base: (url) => url.replace(/\/+$/, ""),
  headers,
  error: errorFields,
  catalog: { path: MODELS_PATH, decode: decodeModels, known },
} as const satisfies Pick<Wire, "framing" | "base" | "headers" | "error" | "catalog">;

/**
 * Returns the models known without a request. Only the vendor's own address is certain to serve the
 * vendor's models.
 */
function known({ base }: Pick<Provider, "base">): readonly string[] {
  return base === "https://api.openai.com/v1" ? OPENAI_MODELS : [];
}

function headers(
  { provider: { settings }, account: { key } }: Sender,
  client: RequestHeaders,
): Record<string, string> {
  const beta = client.get("compat-beta");
  const idempotencyKey = client.get("idempotency-key");
  return {
    ...settings.headers,
    "content-type": "application/json",
    // Sent under the gateway's neutral header name and under the name that hosted upstreams know.
    ...(beta ? { "compat-beta": beta, "openai-beta": beta } : {}),
    ...(idempotencyKey ? { "idempotency-key": idempotencyKey } : {}),
    ...(settings.organization ? { "openai-organization": settings.organization } : {}),
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
  };
}
