import nodeAssert from "node:assert/strict";
import "./held_sockets.ts";

/** Fails unless the condition holds. */
export function assert(condition: unknown, message?: string): asserts condition {
  if (message === undefined) nodeAssert.ok(condition);
  else nodeAssert.ok(condition, message);
}

/** Fails unless both are deeply and strictly equal. */
export function assertEquals<T>(actual: T, expected: T, message?: string): void {
  if (message === undefined) nodeAssert.deepStrictEqual(actual, expected);
  else nodeAssert.deepStrictEqual(actual, expected, message);
}

/** Fails unless the text matches. */
export function assertMatch(actual: string, pattern: RegExp, message?: string): void {
  if (message === undefined) nodeAssert.match(actual, pattern);
  else nodeAssert.match(actual, pattern, message);
}

/** Fails unless the text holds the part. */
export function assertStringIncludes(actual: string, part: string, message?: string): void {
  nodeAssert.ok(actual.includes(part), message ?? `${JSON.stringify(part)} is not in ${actual}`);
}

/** Fails unless the function throws. */
export function assertThrows(run: () => unknown, message?: string): void {
  nodeAssert.throws(run, message);
}
