import type { TranslatedWire } from "../wire.ts";
import { decode, decoder } from "./decode.ts";
import { encode } from "./encode.ts";
import { errorFields } from "./errors.ts";

/** The protocol of local model runtimes: JSON objects a line, paths under /api. */
export const local: TranslatedWire = {
  name: "local",
  framing: "ndjson",
  base: (url) => url.replace(/\/+$/, "").replace(/\/api$/, ""),
  encode,
  decode,
  decoder,
  headers({ settings }) {
    const fixed = Object.entries(settings.headers).map(([name, value]) =>
      [name.toLowerCase(), value] as const
    );
    return {
      ...Object.fromEntries(fixed),
      "content-type": "application/json",
      ...(settings.api_key === undefined ? {} : { authorization: `Bearer ${settings.api_key}` }),
    };
  },
  error: errorFields,
};

/**
 * True for a base URL that leads to the runtime's other API, which speaks Chat Completions: it ends
 * in /v1. A provider with such an address is of type compat.
 */
export function isWrongLocalBase(url: string): boolean {
  return /\/v1\/*$/.test(url);
}
