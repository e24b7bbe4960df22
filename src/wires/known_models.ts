/**
 * What is known of the vendors' models without asking them. Facts only, as the vendors publish
 * them; as of August 2026. A model that is not in here works all the same.
 */

/** Listed for the OpenAI API where the models are not fetched. */
export const OPENAI_MODELS: readonly string[] = [
  "gpt-4.1",
  "gpt-4.1-mini",
  "gpt-4.1-nano",
  "gpt-4o",
  "gpt-4o-mini",
  "gpt-5",
  "gpt-5-mini",
  "gpt-5-nano",
  "o3",
  "o4-mini",
  "text-embedding-3-large",
  "text-embedding-3-small",
];
