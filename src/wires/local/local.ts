import { EMBEDDINGS, FIELDS } from "./fields.ts";
import type { Wire } from "../wire.ts";
import { decodeTags, TAGS_PATH } from "./catalog.ts";
import { decode, newDecoder } from "./decode.ts";
import { decodeEmbeddings, encodeEmbeddings } from "./embeddings.ts";
import { encodeByPrompt } from "../prompt_encoder.ts";
import { encodePrompt } from "./encode.ts";
import { errorFields } from "./errors.ts";

/** The protocol of local model runtimes: one JSON object per line, paths under /api. */
export const local: Wire = {
  name: "local",
  framing: "ndjson",
  textMember: "message",
  base: (url) => url.replace(/\/+$/, "").replace(/\/api$/, ""),
  encode: encodeByPrompt,
  encodePrompt,
  verified: ({ verify, capabilities }) => [
    ...verify ? ["strict", "tool_choice", "parallel_tool_calls", "json_object"] as const : [],
    ...verify && capabilities.structured_outputs ? ["json_schema"] as const : [],
  ],
  takesCustomTools: () => false,
  decode,
  newDecoder,
  headers({ provider: { settings }, account: { key } }) {
    return {
      ...settings.headers,
      "content-type": "application/json",
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    };
  },
  error: errorFields,
  fields: FIELDS,
  embeddings: { fields: EMBEDDINGS, encode: encodeEmbeddings, decode: decodeEmbeddings },
  catalog: { path: TAGS_PATH, decode: decodeTags, known: () => [] },
};
