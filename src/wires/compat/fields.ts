import type { ChatField } from "../../prompt/chat_fields.ts";
import type { EmbeddingsField } from "../embeddings_fields.ts";
import { exact, exactBut, gated, newFieldTable } from "../../prompt/field_table.ts";

/**
 * Treatment of every Chat field by the Chat Completions protocol: the client's own text is sent.
 */
export const FIELDS = newFieldTable<ChatField>({
  "messages[developer]": exactBut("`system` with `normalize_developer_role`"),
  "stream_options.include_usage": exactBut("the gateway always requests usage in streams"),
}, exact);

/** Treatment of every field of an embeddings request by a compat provider. */
export const EMBEDDINGS = newFieldTable<EmbeddingsField>({
  "model": exact,
  "input": exact,
  "input=tokens": exact,
  "encoding_format": exact,
  "encoding_format=base64": gated("embeddings_base64"),
  "dimensions": exact,
  "user": exact,
});
