/**
 * Request fields of Embeddings, in the order of the reference page; `input=tokens` is a form of it.
 */
export const EMBEDDINGS_FIELDS = [
  "model",
  "input",
  "input=tokens",
  "encoding_format",
  "encoding_format=base64",
  "dimensions",
  "user",
] as const;

/** Path of a request field of Embeddings. */
export type EmbeddingsField = (typeof EMBEDDINGS_FIELDS)[number];
