import { yamlText } from "../config/yaml_text.ts";

/** A value of the written file. Texts are in the form of our loader: `${NAME}` is a variable. */
export type Written =
  | string
  | number
  | boolean
  | readonly Written[]
  | { readonly [key: string]: Written | undefined };

/** A part of the written file: a key with a value, and where it came from. */
export interface Part {
  readonly key: string;
  /** Paths in the source, and other remarks; each is a line of a comment above the part. */
  readonly from: readonly string[];
  readonly value: Written;
  /** Name by which later parts of the section have the same value. */
  readonly anchor?: string;
}

/** A part with the value of an earlier one. */
interface Repeated extends Pick<Part, "key" | "from"> {
  readonly alias: string;
}

/** A section of the written file whose members have comments. */
export interface Section {
  readonly key: string;
  readonly from: readonly string[];
  readonly parts: readonly (Part | Repeated)[];
}

/** Pattern of addresses, durations and variables that need no quotes outside of lists. */
const BLOCK_TEXT =
  /^(?:https?:\/\/[A-Za-z0-9.:_/-]*[A-Za-z0-9/]|\$\{[A-Za-z_]\w*\}|\d+(?:h|m|s|ms))$/;

/** Maximum number of paths in the comment of a part. */
const MAX_PATHS = 4;

/** Returns the text of a file of these parts; `head` are the lines of the comment at its top. */
export function writeFile(head: readonly string[], parts: readonly (Part | Section)[]): string {
  const lines = [
    ...head.map((line) => `# ${line}`),
    ...parts.flatMap((part) => ["", ...commentLines(part.from, ""), ...topLines(part)]),
    "",
  ];
  return lines.join("\n");
}

function topLines(part: Part | Section): string[] {
  if ("value" in part) return memberLines(part.key, part.value, "");
  const inner = part.parts.flatMap((one) => [
    ...commentLines(one.from, "  "),
    ..."alias" in one ? [`  ${yamlText(one.key)}: *${one.alias}`] : anchoredLines(one),
  ]);
  return [`${part.key}:`, ...inner];
}

/** Returns the lines of a part whose value is a mapping if it has an anchor. */
function anchoredLines({ key, value, anchor }: Part): string[] {
  const [first = "", ...others] = memberLines(key, value, "  ");
  return [anchor === undefined ? first : `${first} &${anchor}`, ...others];
}

function commentLines(from: readonly string[], indent: string): readonly string[] {
  if (from.length === 0) return [];
  const rest = from.length - MAX_PATHS;
  const shown = from.slice(0, MAX_PATHS).join(", ");
  return [`${indent}# ${rest > 0 ? `${shown} and ${rest} more` : shown}`];
}

function memberLines(key: string, value: Written, indent: string): string[] {
  const name = `${indent}${yamlText(key)}:`;
  if (typeof value === "string" && BLOCK_TEXT.test(value)) return [`${name} ${value}`];
  if (isFlat(value)) return [`${name} ${flow(value)}`];
  const inner = `${indent}  `;
  if (isList(value)) return [name, ...value.flatMap((item) => itemLines(item, inner))];
  return [
    name,
    ...Object.entries(value).flatMap(([one, item]) =>
      item === undefined ? [] : memberLines(one, item, inner)
    ),
  ];
}

/** Returns an item on one line, or a mapping with lists or mappings inside as a block. */
function itemLines(item: Written, indent: string): string[] {
  if (typeof item !== "object" || isList(item) || Object.values(item).every(isSmall)) {
    return [`${indent}- ${flow(item)}`];
  }
  const lines = Object.entries(item).flatMap(([key, value]) =>
    value === undefined ? [] : memberLines(key, value, `${indent}  `)
  );
  return lines.map((line, index) =>
    index === 0 ? line.replace(`${indent}  `, `${indent}- `) : line
  );
}

function isSmall(value: Written | undefined): boolean {
  return value === undefined || isFlat(value);
}

function isList(value: Written): value is readonly Written[] {
  return Array.isArray(value);
}

/** True for what fits on a line: a scalar, and a list of scalars. */
function isFlat(value: Written): boolean {
  return typeof value !== "object" ||
    isList(value) && value.every((item) => typeof item !== "object");
}

function flow(value: Written): string {
  if (typeof value === "string") return yamlText(value);
  if (typeof value !== "object") return String(value);
  if (isList(value)) return `[${value.map(flow).join(", ")}]`;
  const members = Object.entries(value).flatMap(([key, item]) =>
    item === undefined ? [] : [`${yamlText(key)}: ${flow(item)}`]
  );
  return `{${members.join(", ")}}`;
}
