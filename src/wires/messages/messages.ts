import { ANTHROPIC_MODELS } from "../../data/known_models.ts";
import type { Provider, Wire } from "../wire.ts";
import { decodeModels, MODELS_PATH } from "./catalog.ts";
import { decode } from "./decode.ts";
import { encodeByPrompt } from "../prompt_encoder.ts";
import { encodePrompt } from "./encode.ts";
import { errorFields } from "./errors.ts";
import { FIELDS } from "./fields.ts";
import { newDecoder } from "./stream.ts";
import { providerVersion } from "./version.ts";

/** Response headers about the account of the gateway, or about the network before the provider. */
const HIDDEN_HEADERS: readonly string[] = [
  "anthropic-organization-id",
  "anthropic-workspace-id",
  "cf-ray",
];

/** Limits of the gateway's own subscription, which clients would show to users as their own. */
const HIDDEN_PREFIX = "anthropic-ratelimit-unified-";

/** The Messages protocol: server-sent events, paths under /v1. */
export const messages: Wire = {
  name: "messages",
  framing: "sse",
  base: (url) => url.replace(/\/+$/, "").replace(/\/+v1$/, ""),
  encode: encodeByPrompt,
  encodePrompt,
  verified: ({ verify, capabilities }) => [
    ...verify ? ["json_object", "stop"] as const : [],
    ...verify && capabilities.structured_outputs ? ["json_schema"] as const : [],
  ],
  takesCustomTools: () => false,
  decode,
  newDecoder,
  headers({ provider: { settings }, account: { key } }, client) {
    const { authorization, ...others } = settings.headers;
    const beta = client.get("messages-beta") ?? "";
    // Upstreams accept either an API key or an Authorization header, never both.
    return {
      ...others,
      ...authorization !== undefined && key === null && { authorization },
      "content-type": "application/json",
      "anthropic-version": providerVersion(settings),
      ...beta !== "" && { "anthropic-beta": beta },
      ...key !== null && { "x-api-key": key },
    };
  },
  hidesHeader: (name) => HIDDEN_HEADERS.includes(name) || name.startsWith(HIDDEN_PREFIX),
  error: errorFields,
  fields: FIELDS,
  embeddings: null,
  catalog: { path: MODELS_PATH, decode: decodeModels, known },
};

/**
 * Returns the models known without a request. Only the vendor's own address is certain to serve the
 * vendor's models.
 */
function known({ base }: Pick<Provider, "base">): readonly string[] {
  return base === "https://api.anthropic.com" ? ANTHROPIC_MODELS : [];
}
