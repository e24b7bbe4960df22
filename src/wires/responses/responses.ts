import { compatAccount } from "../openai/account.ts";
import type { Wire } from "../wire.ts";
import { decode } from "./decode.ts";
import { encode } from "./encode.ts";
import { decoder } from "./stream.ts";

/** The Responses API of a provider of type compat, which is asked there what Chat Completions can say. */
export const responses: Wire = {
  name: "responses",
  ...compatAccount,
  encode,
  decode,
  decoder,
  // Those of the provider are made by the protocol of its type.
  embeddings: null,
};
