import { compatAccount } from "../openai/account.ts";
import type { Wire } from "../wire.ts";
import { decode, decoder } from "./decode.ts";
import { decodeEmbeddings, encodeEmbeddings } from "./embeddings.ts";
import { encode } from "./encode.ts";

/** The Chat Completions API, as the clients themselves speak it. */
export const compat: Wire = {
  name: "compat",
  ...compatAccount,
  encode,
  decode,
  decoder,
  embeddings: { encode: encodeEmbeddings, decode: decodeEmbeddings },
};
