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
  readonly addressNote: string;
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
}

/** Returns the address that an entry states; null if it states none. */
export function addressIn({ params, variables }: Asked, endings: RegExp): Address | null {
  const written = textOf(memberOf(params, "api_base")) ?? textOf(memberOf(params, "base_url"));
  return written === null ? null : readAddress(written, endings, variables);
}
