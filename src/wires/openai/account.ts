import { decodeModels, MODELS_PATH } from "./catalog.ts";
import { errorFields } from "./errors.ts";
import { OPENAI_MODELS } from "../../data/known_models.ts";
import type { Provider, Wire } from "../wire.ts";

/** What the protocols of a provider of type compat share: address, credentials, errors, models. */
export const compatAccount = {
  framing: "sse",
  base: (url) => url.replace(/\/+$/, ""),
  headers,
  error: errorFields,
  catalog: { path: MODELS_PATH, decode: decodeModels, known },
} as const satisfies Pick<Wire, "framing" | "base" | "headers" | "error" | "catalog">;

/** Only the vendor itself is sure to have the vendor's models. */
function known({ base }: Pick<Provider, "base">): readonly string[] {
  return base === "https://api.openai.com/v1" ? OPENAI_MODELS : [];
}

function headers({ settings }: Provider, client: Headers): Record<string, string> {
  const beta = client.get("compat-beta");
  const idempotencyKey = client.get("idempotency-key");
  return {
    ...settings.headers,
    "content-type": "application/json",
    // Under the gateway's neutral name and the one that hosted upstreams know.
    ...(beta ? { "compat-beta": beta, "openai-beta": beta } : {}),
    ...(idempotencyKey ? { "idempotency-key": idempotencyKey } : {}),
    ...(settings.organization ? { "openai-organization": settings.organization } : {}),
    ...(settings.api_key ? { authorization: `Bearer ${settings.api_key}` } : {}),
  };
}
