import { isObject } from "../core/json/json.ts";
import { newKnownKeys } from "./json_schema.ts";
import type { Path } from "./problems.ts";
import { completeProvider } from "./provider_rules.ts";
import { PROVIDER_ID, providerSchema } from "./provider_schema.ts";

/** How the places of one file are named. A key that may be a secret is `(key)`. */
export interface Names {
  /** A path as people write it: `routing.routes[0].name`; `config` for the whole file. */
  pathText(path: Path): string;
  /** The ID of a provider. */
  providerText(id: string): string;
}

const HIDDEN = "(key)";

/** The characters of a name that messages show. */
const MAX_SHOWN_CHARACTERS = 128;

// Known keys look like this. Other text in the place of a key may be a secret that slipped there.
const PLAIN_WORD = /^[A-Za-z][A-Za-z_-]{0,37}\d{0,2}$/;

/**
 * The names in a file with this plain value. A slip in YAML (`? secret`, `{secret}`, `secret:`) makes
 * a key of a value, and then nothing stands below it. So a key is shown when it looks like a word
 * and has a value or is known in its place. The ID of a provider may look like a secret: it is shown
 * when a route names it, when it needs nothing below it, or when it is a word above a mapping.
 */
export function namesOf(root: unknown): Names {
  const providers = isObject(root) && isObject(root.providers) ? root.providers : {};
  const referenced = referencedProviders(root);
  const knownKeys = newKnownKeys();
  const empty = providerSchema.parse({});

  function isProviderName(id: string): boolean {
    return referenced.has(id) || completeProvider(id, empty) !== null ||
      PLAIN_WORD.test(id) && isObject(providers[id]);
  }

  function isName(key: string, place: Path, value: unknown): boolean {
    if (place.length === 1 && place[0] === "providers") {
      return PROVIDER_ID.test(key) && isProviderName(key);
    }
    return PLAIN_WORD.test(key) && (value !== null || knownKeys(place).includes(key));
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

/** Log lines are cut, and what is wrong with a provider follows its ID. */
function shortened(name: string): string {
  return name.length > MAX_SHOWN_CHARACTERS ? `${name.slice(0, MAX_SHOWN_CHARACTERS)}…` : name;
}

/** Undefined for a key that is missing: such a name is not from the file. */
function inside(value: unknown, step: string | number): unknown {
  if (typeof step === "number") return Array.isArray(value) ? value[step] : undefined;
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

function referencedProviders(root: unknown): ReadonlySet<string> {
  const routing = inside(root, "routing");
  const targets = list(inside(routing, "routes")).flatMap((route) => [
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
