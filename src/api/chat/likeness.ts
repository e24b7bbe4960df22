import { endOfString } from "../../formats/scan.ts";

const CONTENT = '"content":';
/** What may stand between the quotes of a JSON string. */
const STRING_BODY = /^(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;

/** Tells records that differ from a checked one only in a piece of content. */
export interface Likeness {
  /** Learns from a record that passed every check unchanged. */
  learn(data: string): void;
  /** True when the record is the learned one with another valid JSON string as its content. */
  fits(data: string): boolean;
}

/**
 * Nearly all chunks of a stream differ in one string only. What stands around it has been checked
 * once, so the rest need no parsing: exact, because a valid string in the place of a valid string
 * changes neither the validity nor the shape of a JSON text.
 */
export function likeness(): Likeness {
  let before: string | null = null;
  let behind = "";

  return {
    learn(data) {
      // A quote inside a JSON string is escaped, so this can only be a key.
      const key = data.indexOf(CONTENT + '"');
      if (key < 0) return;
      const start = key + CONTENT.length;
      before = data.slice(0, start + 1);
      behind = data.slice(endOfString(data, start) - 1);
    },
    fits(data) {
      if (before === null || data.length < before.length + behind.length) return false;
      return data.startsWith(before) && data.endsWith(behind) &&
        STRING_BODY.test(data.slice(before.length, data.length - behind.length));
    },
  };
}
