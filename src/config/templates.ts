import type { WrittenConfig } from "./schema.ts";

type Security = WrittenConfig["security"];

/** Returns the settings with each client key completed from its template. */
export function completeKeys(security: Security): Security {
  const templates = new Map(security.templates.map((template) => [template.name, template]));
  const keys = security.api_key.keys.map((key) => {
    const template = templates.get(key.template ?? "");
    if (template === undefined) return key;
    return {
      ...template,
      ...key,
      budgets: key.budgets.length > 0 ? key.budgets : template.budgets,
      labels: { ...template.labels, ...key.labels },
    };
  });
  return { ...security, api_key: { ...security.api_key, keys } };
}

/** A group, with the clients that are in it. */
interface Members {
  readonly keys: readonly string[];
  readonly templates: readonly string[];
}

/** True if a client key is in a group: by its name or by its template. */
export function isInGroup(
  { keys, templates }: Members,
  { name, template }: { readonly name: string; readonly template?: string | undefined },
): boolean {
  return keys.includes(name) || template !== undefined && templates.includes(template);
}
