import type { Provider, Wire } from "../wire.ts";
import { OPENAI_MODELS } from "../known_models.ts";
import { decodeModels, MODELS_PATH } from "./catalog.ts";
import { decode, decoder } from "./decode.ts";
import { decodeEmbeddings, encodeEmbeddings } from "./embeddings.ts";
import { encode } from "./encode.ts";
import { errorFields } from "./errors.ts";

/** The Chat Completions API, as the clients themselves speak it. */
export const compat: Wire = {
  name: "compat",
  framing: "sse",
  base: (url) => url.replace(/\/+$/, ""),
  encode,
  decode,
  decoder,
  headers,
  error: errorFields,
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
