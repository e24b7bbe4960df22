import type { ErrorFields } from "../../core/envelope.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { Provider, RelayedWire } from "../wire.ts";
import { OPENAI_MODELS } from "../known_models.ts";
import { decodeModels, MODELS_PATH } from "./catalog.ts";
import { decodeEmbeddings, encodeEmbeddings } from "./embeddings.ts";
import { encode } from "./encode.ts";

/** The Chat Completions API, as the clients themselves speak it. */
export const compat: RelayedWire = {
  name: "compat",
  framing: "sse",
  base: (url) => url.replace(/\/+$/, ""),
  encode,
  headers,
  error,
  embeddings: { encode: encodeEmbeddings, decode: decodeEmbeddings },
  catalog: { path: MODELS_PATH, decode: decodeModels, known },
};

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

function error(body: JsonObject): Partial<ErrorFields> | null {
  if (typeof body.error === "string") return { message: body.error };
  const fields = isObject(body.error) ? body.error : body;
  const { message, type, param, code } = fields;
  if (typeof message !== "string") return null;
  return {
    message,
    ...(typeof type === "string" ? { type } : {}),
    ...(typeof param === "string" ? { param } : {}),
    ...(typeof code === "string" ? { code } : {}),
  };
}
