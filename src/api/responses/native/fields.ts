import { exact, gated, type Treatment } from "../../../prompt/field_table.ts";

/** Tool types that the client runs; every other type runs upstream (OpenAI API, Responses). */
export const CLIENT_RUN: readonly string[] = [
  "function",
  "custom",
  "namespace",
  "local_shell",
  "shell",
  "apply_patch",
];

/**
 * Returns the treatment of a request field by a target with the Responses API, which gets the
 * client's own text.
 */
export function nativeTreatment(path: string): Treatment {
  if (path === "background") return gated("background_responses");
  const [, tool = null] = /^tools\[(\w+)\]/.exec(path) ?? [];
  if (tool === null || CLIENT_RUN.includes(tool)) return exact;
  return gated("hosted_tools", `with \`${tool}\` in the list`);
}
