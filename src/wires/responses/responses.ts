import { compatAccount } from "../openai/account.ts";
import type { Wire } from "../wire.ts";
import { decode } from "./decode.ts";
import { encodeByPrompt } from "../prompt_encoder.ts";
import { encodePrompt } from "./encode.ts";
import { FIELDS } from "./fields.ts";
import { newDecoder } from "./stream.ts";

/**
 * The Responses API of a provider of type compat. It serves requests that Chat Completions can
 * express.
 */
export const responses: Wire = {
  name: "responses",
  ...compatAccount,
  encode: encodeByPrompt,
  encodePrompt,
  verified: ({ verify }) => verify ? ["stop"] : [],
  takesCustomTools: () => true,
  decode,
  newDecoder,
  fields: FIELDS,
  // The protocol of the provider's type serves embeddings.
  embeddings: null,
};
