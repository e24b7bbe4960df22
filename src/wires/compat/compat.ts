import { compatAccount } from "../openai/account.ts";
import { EMBEDDINGS, FIELDS } from "./fields.ts";
import type { Wire } from "../wire.ts";
import { decode, newDecoder } from "./decode.ts";
import { checkVectors, decodeEmbeddings, encodeEmbeddings } from "./embeddings.ts";
import { encode } from "./encode.ts";
import { encodePrompt } from "./write_chat.ts";

/** The Chat Completions protocol, which the gateway's clients use too. */
export const compat: Wire = {
  name: "compat",
  ...compatAccount,
  encode,
  encodePrompt,
  // The provider receives every field and enforces it itself.
  verified: () => [],
  // The own text of a Chat client is sent as it is, unless the host of a profile has none.
  takesCustomTools: ({ capabilities }) => capabilities.custom_tools,
  decode,
  newDecoder,
  fields: FIELDS,
  embeddings: {
    fields: EMBEDDINGS,
    encode: encodeEmbeddings,
    decode: decodeEmbeddings,
    checkVectors,
  },
};
