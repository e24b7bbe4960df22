import type { CredentialConfig } from "../config/schema.ts";
import { readSmallFile } from "../config/files.ts";
import { isObject, parseJson } from "../core/json/json.ts";
import {
  type CredentialSource,
  endAfter,
  type Fetched,
  isToken,
  noCredential,
  parseDate,
  type SourceDeps,
} from "./source.ts";

/** Time between two looks at a file. */
const LOOK_INTERVAL_MS = 10_000;

/** Returns the source of a token that another program writes into a file. */
export function newFileSource(
  { path = "", field, expires_field }: CredentialConfig,
  { world }: Pick<SourceDeps, "world">,
): CredentialSource {
  return {
    everyMs: LOOK_INTERVAL_MS,
    async fetch() {
      const read = await readSmallFile(path);
      if (!read.ok) return read;
      if (field === undefined) return fileToken(read.text.trim(), null);
      const value = parseJson(read.text);
      if (!isObject(value)) return noCredential("the file is no JSON object");
      if (expires_field === undefined) return fileToken(value[field], null);
      const ends = value[expires_field];
      const endsMs = typeof ends === "string" && !/^\d+$/.test(ends)
        ? parseDate(ends)
        : endAfter(ends, 0);
      // Also a number that no date can have, such as the nanoseconds of some programs.
      if (Number.isNaN(new Date(endsMs).getTime())) {
        return noCredential("expires_field of the file is not a time");
      }
      return endsMs <= world.wall()
        ? noCredential("the token of the file has ended")
        : fileToken(value[field], endsMs);
    },
  };
}

function fileToken(token: unknown, expiresMs: number | null): Fetched {
  return isToken(token)
    ? { ok: true, issued: { secret: { kind: "token", token }, expiresMs } }
    : noCredential("the file has no token: one line of ASCII text without blanks");
}
