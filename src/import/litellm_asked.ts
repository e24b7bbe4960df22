import { type Address, readAddress } from "./address.ts";
import type { Prefix } from "./litellm_prefixes.ts";
import type { Settings } from "./providers.ts";
import { memberOf, textOf, type Tree } from "./source.ts";
import type { Variables } from "./variables.ts";

/** The provider of an entry and its model there. */
export interface ServedPlace {
  readonly ok: true;
  /** Wanted ID of the provider. */
  readonly id: string;
  /** Settings without keys, timeouts and headers. */
  readonly settings: Settings;
  readonly model: string;
  /** Host name; null if a variable holds it. */
  readonly host: string | null;
  /** Variable that LiteLLM reads without an `api_key`; null if it reads none. */
  readonly variable: string | null;
  /** Members of the entry that are a part of a credential or of the address, with their place. */
  readonly used: readonly Used[];
  readonly modelNote: string;
  /** How the address of the entry works differently; null if it is not used. */
  readonly addressNote: string | null;
}

/** The provider of an entry, or why there is none. */
export type Place = ServedPlace | { readonly ok: false; readonly note: string };

/** A member of an entry and where it went; a note if it works differently. */
export interface Used {
  readonly key: string;
  readonly to: string;
  readonly note: string;
}

/** An entry whose provider is known, for its place. */
export interface Asked {
  readonly params: Tree;
  readonly variables: Variables;
  readonly name: string;
  readonly prefix: Prefix;
  readonly model: string;
  /** Kind of the model as `model_info.mode` states it; null if it does not. */
  readonly mode: string | null;
}

/** Members of an entry with its address; the first one that it has counts. */
export const ADDRESS_KEYS = ["base_url", "api_base"] as const;

/** Returns the member with the address of an entry; undefined without one. */
export function addressKey(params: Tree): (typeof ADDRESS_KEYS)[number] | undefined {
  return ADDRESS_KEYS.find((key) => textOf(memberOf(params, key)) !== null);
}

/** Returns the address that an entry states; null if it states none. */
export function addressIn({ params, variables }: Asked, endings: RegExp): Address | null {
  const key = addressKey(params);
  const written = key === undefined ? null : textOf(memberOf(params, key));
  return written === null ? null : readAddress(written, endings, variables);
}
