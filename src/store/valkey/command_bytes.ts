import { Buffer } from "node:buffer";
import type { Argument } from "./connection.ts";

const encoder = new TextEncoder();

/**
 * Returns the bytes of a command (RESP2). All texts between two bodies are encoded as one: the
 * library would measure and write each argument by itself.
 */
export function commandBytes(name: string, args: readonly Argument[]): Buffer {
  const pieces: Uint8Array[] = [];
  let text = `*${args.length + 1}\r\n`;
  for (const argument of [name, ...args]) {
    if (argument instanceof Uint8Array) {
      pieces.push(encoder.encode(`${text}$${argument.length}\r\n`), argument);
      text = "\r\n";
    } else {
      text += `$${Buffer.byteLength(`${argument}`)}\r\n${argument}\r\n`;
    }
  }
  pieces.push(encoder.encode(text));
  return Buffer.concat(pieces);
}
