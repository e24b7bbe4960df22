import type { ProviderConfig } from "../../config/schema.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import type { ResponsePromise } from "../../prompt/response_promise.ts";
import type { StrictSchemas } from "./strict_schemas.ts";

/** True if the model may call tools, which it can only if the request has tools. */
export function permitsCalls({ tools, choice }: Pick<Prompt, "tools" | "choice">): boolean {
  return choice.kind !== "none" && tools.length > 0;
}

/**
 * Returns the promise of a response format. An upstream that enforces JSON does so only in a
 * response that may not be a call. A strict schema (OpenAI API, structured outputs) is checked
 * although the upstream enforces it. One that cannot be checked has no promise: then only the
 * upstream enforces it.
 */
export function formatPromises(
  prompt: Pick<Prompt, "format" | "tools" | "choice">,
  { verify, capabilities }: ProviderConfig,
  schemas: StrictSchemas,
  enforcesJson: boolean,
): readonly ResponsePromise[] {
  const { format } = prompt;
  if (!verify || format === null) return [];
  const mayCall = permitsCalls(prompt);
  switch (format.kind) {
    case "text":
      return [];
    case "json_object":
      return enforcesJson && !mayCall
        ? []
        : [{ kind: "json_object", path: format.at.path, permitsCalls: mayCall }];
    case "json_schema": {
      const { strict } = format;
      if (strict?.value !== true || !capabilities.structured_outputs) return [];
      const { path } = strict.at;
      const schema = schemas.parse(format.schema.value, path);
      return schema.ok
        ? [{ kind: "json_schema", path, schema: schema.value, permitsCalls: mayCall }]
        : [];
    }
  }
}
