import type { Match, Rule } from "./types.ts";

/**
 * Returns the matches of rules in a text, in order and without overlaps: the leftmost one, of
 * several the longest, of equal ones that of the first rule of the file.
 */
export function findMatches(text: string, rules: readonly Rule[]): readonly Match[] {
  const all: Match[] = [];
  for (const rule of rules) {
    for (const finder of rule.finders) {
      finder.find(text, 0, text.length, (start, end) => {
        if (rule.except.size > 0 && rule.except.has(text.slice(start, end))) return;
        all.push({ start, end, rule, label: finder.label });
      });
    }
  }
  if (all.length < 2) return all;
  all.sort((a, b) => a.start - b.start || b.end - a.end || a.rule.order - b.rule.order);
  let at = 0;
  return all.filter(({ start, end }) => {
    if (start < at) return false;
    at = end;
    return true;
  });
}

/**
 * Returns where the end of an unfinished text begins that more text could make a match; the length
 * of the text if there is none.
 */
export function heldFrom(text: string, rules: readonly Rule[]): number {
  let from = text.length;
  for (const { finders } of rules) {
    for (const finder of finders) from = Math.min(from, finder.heldFrom(text));
  }
  return from;
}
