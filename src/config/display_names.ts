import { isObject } from "../core/json/json.ts";
import { newKnownKeys } from "./json_schema.ts";
import { MODEL_NAME } from "./models_schema.ts";
import type { Path } from "./problems.ts";
import { completeProvider } from "./provider_rules.ts";
import { PROVIDER_ID, providerSchema } from "./provider_schema.ts";

/**
 * Formats paths and provider IDs of one file for messages. A key that may be a secret is shown as
 * `(key)`.
 */
export interface Names {
  /**
   * Returns a path in dotted form, such as `routing.routes[0].name`; `config` for the whole file.
   */
  pathText(path: Path): string;
  /** Returns the ID of a provider, or `(key)` if it may be a secret. */
  providerText(id: string): string;
}

const HIDDEN = "(key)";

/** Maximum length of a name in messages. */
const MAX_SHOWN_CHARS = 128;

// A key that is not known and does not match this pattern may be a secret in the wrong place.
const PLAIN_WORD = /^[A-Za-z][A-Za-z_-]{0,37}\d{0,2}$/;

/**
 * Returns the names for a file with this plain value. A YAML mistake (`? secret`, `{secret}`,
 * `secret:`) turns a value into a key without a value. A key is therefore shown only if it looks
 * like a word and has a value or is a known key at its path. A provider ID may look like a secret.
 * It is shown if a route names it, if it is valid without settings, or if it is a word above a
 * mapping.
 */
export function newNames(root: unknown): Names {
  const providers = isObject(root) && isObject(root.providers) ? root.providers : {};
  const knownKeys = newKnownKeys();
  // Most files have no problem, and so no name to show: the checks are prepared for the first name.
  let isValidId: ((id: string) => boolean) | null = null;

  function isProviderName(id: string): boolean {
    isValidId ??= newIdCheck(root);
    return isValidId(id) || PLAIN_WORD.test(id) && isObject(providers[id]);
  }

  function isName(key: string, place: Path, value: unknown): boolean {
    if (place.length === 1 && place[0] === "providers") {
      return PROVIDER_ID.test(key) && isProviderName(key);
    }
    if (place.length === 1 && place[0] === "models") {
      return MODEL_NAME.test(key) && isObject(value) && Array.isArray(value.targets);
    }
    // In this order: the schema, which takes a quarter of a second to build, is rarely needed.
    return (PLAIN_WORD.test(key) && value !== null) || knownKeys(place).includes(key);
  }

  return {
    pathText(path) {
      let written = "";
      let value = root;
      for (const [depth, step] of path.entries()) {
        value = inside(value, step);
        if (typeof step === "number") {
          written += `[${step}]`;
          continue;
        }
        const shown = isName(step, path.slice(0, depth), value) ? shortened(step) : HIDDEN;
        written += `${depth > 0 ? "." : ""}${shown}`;
      }
      return written === "" ? "config" : written;
    },
    providerText: (id) => isProviderName(id) ? shortened(id) : HIDDEN,
  };
}

/**
 * Returns a name cut to its maximum length: log lines are cut too, and the problem follows the ID.
 */
function shortened(name: string): string {
  return name.length > MAX_SHOWN_CHARS ? `${name.slice(0, MAX_SHOWN_CHARS)}…` : name;
}

/** Returns the member or item of a value; undefined if the key is missing from the file. */
function inside(value: unknown, step: string | number): unknown {
  if (typeof step === "number") return Array.isArray(value) ? value[step] : undefined;
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

/**
 * Returns a check that is true for the ID of a provider that a route names, or that needs no
 * settings.
 */
function newIdCheck(root: unknown): (id: string) => boolean {
  const referenced = referencedProviders(root);
  const empty = providerSchema.parse({});
  return (id) => referenced.has(id) || completeProvider(id, empty) !== null;
}

function referencedProviders(root: unknown): ReadonlySet<string> {
  const models = inside(root, "models");
  const bodies = [
    ...isObject(models) ? Object.values(models) : [],
    ...list(inside(inside(root, "routing"), "routes")),
  ];
  const targets = bodies.flatMap((route) => [
    ...list(inside(route, "targets")),
    ...list(inside(route, "fallback")),
  ]);
  return new Set(targets.flatMap((target) => {
    const id = inside(target, "provider");
    return typeof id === "string" ? [id] : [];
  }));
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
