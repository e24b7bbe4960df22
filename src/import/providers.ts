import { RELAY_FAMILIES } from "../core/endpoint.ts";
import { type Host, hostAt, hostNamed, HOSTS } from "../data/hosts.ts";
import type { Part, Written } from "./written_file.ts";

/** Settings of a provider of the written file. */
export type Settings = { readonly [key: string]: Written | undefined };

/** The providers of the written file. */
export interface Providers {
  /**
   * Returns the ID of the provider with these settings: `wanted`, or a name like it if that is
   * taken. `from` is the path in the source.
   */
  add(wanted: string, settings: Settings, from: string): string;
  parts(): readonly Part[];
}

/**
 * Returns an empty list of providers. No provider has an ID in `reserved`: a name of a model whose
 * first part is the ID of a provider would be read as a model of that provider.
 */
export function newProviders(reserved: ReadonlySet<string>): Providers {
  const ids = new Map<string, string>();
  const found = new Map<string, { readonly settings: Settings; readonly from: string[] }>();

  /** The last number of a name like each base, where the next search begins. */
  const numbers = new Map<string, number>();

  function freeId(wanted: string): string {
    const base = reserved.has(wanted) ? `${wanted}-api` : wanted;
    let number = numbers.get(base) ?? 1;
    let id = number === 1 ? base : `${base}-${++number}`;
    while (found.has(id) || reserved.has(id)) id = `${base}-${++number}`;
    numbers.set(base, number);
    return id;
  }

  return {
    add(wanted, settings, from) {
      const identity = JSON.stringify([wanted, settings]);
      const id = ids.get(identity) ?? freeId(wanted);
      ids.set(identity, id);
      const one = found.get(id) ?? { settings: completed(id, settings), from: [] };
      if (!one.from.includes(from)) one.from.push(from);
      found.set(id, one);
      return id;
    },
    parts: () =>
      [...found].map(([key, { settings, from }]) => ({ key, from, value: ordered(settings) })),
  };
}

/** The first keys of a provider in the file; the capabilities are the last one. */
const FIRST = ["type", "base_url", "api_key", "api_keys", "credential"];

function ordered(settings: Settings): Settings {
  const { capabilities, ...others } = settings;
  const first = FIRST.flatMap((key) =>
    others[key] === undefined ? [] : [[key, others[key]] as const]
  );
  const rest = Object.entries(others).filter(([key]) => !FIRST.includes(key));
  const last = capabilities === undefined ? {} : { capabilities };
  return { ...Object.fromEntries([...first, ...rest]), ...last };
}

/** Only the ID `openai` has the relayed endpoints of its host without a setting. */
function completed(id: string, settings: Settings): Settings {
  const { capabilities } = settings;
  const isElsewhere = settings.base_url === HOSTS.openai.baseUrl && id !== "openai";
  if (!isElsewhere || typeof capabilities !== "object" || Array.isArray(capabilities)) {
    return settings;
  }
  return { ...settings, capabilities: { ...capabilities, relay: [...RELAY_FAMILIES] } };
}

/**
 * Returns what is known of a host: its profile and its capabilities, as `init` writes them. `name`
 * is the name of the host if the source states it.
 */
export function hostSettings(type: Host["type"], baseUrl: string, name: string | null): Settings {
  const named = name === null ? null : hostNamed(name);
  const known = named?.type === type && name !== null
    ? { name, host: named }
    : hostAt(type, baseUrl);
  if (known === null) return {};
  const { profile, capabilities } = known.host;
  return {
    ...profile !== undefined && { compatibility_profile: known.name },
    ...capabilities !== undefined && { capabilities },
  };
}
