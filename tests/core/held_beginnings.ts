// Prints the characters of the beginnings of ten texts of 10 MB, and the bytes that they hold.
import { textBeginning } from "../../src/core/text_beginning.ts";

function usedBytes(): number {
  (globalThis as unknown as { gc(): void }).gc();
  return Deno.memoryUsage().heapUsed;
}

const before = usedBytes();
const beginnings = Array.from(
  { length: 10 },
  (_, at) => textBeginning(String.fromCharCode(97 + at).repeat(10_000_000), 1_000),
);
const heldBytes = usedBytes() - before;
const chars = beginnings.reduce((sum, { length }) => sum + length, 0);
console.log(JSON.stringify([chars, heldBytes]));
