// Prints the bytes that the numbers of twenty texts of 5 MB hold, of which nothing else is kept.
import { isObject, type JsonValue, parseExact } from "../../../src/core/json/json.ts";

function usedBytes(): number {
  (globalThis as unknown as { gc(): void }).gc();
  return Deno.memoryUsage().heapUsed;
}

function numberIn(text: string): JsonValue | undefined {
  const value = parseExact(text);
  return isObject(value) ? value.n : undefined;
}

const before = usedBytes();
const numbers = Array.from({ length: 20 }, (_, at) => {
  const number = at % 2 === 0 ? "1.000000000000000" : `${at}2345678901234567890`;
  const escaped = at % 4 < 2 ? "" : '"\\u0061":1,';
  return numberIn(`{${escaped}"n":${number}${" ".repeat(5_000_000)}}`);
});
const heldBytes = usedBytes() - before;
console.log(JSON.stringify([numbers.length, heldBytes]));
