import {
  CAPABILITY_SETS,
  type Cell,
  type ClientResult,
  PROVIDER_TYPES,
  type ProviderType,
  type Results,
  type ShotName,
  SHOTS,
  type Verdict,
  verdictIn,
} from "../../clients/matrix.ts";
import { type Part, PARTS, readResults } from "../../clients/results.ts";
import { generatedNote, tableText } from "./markdown.ts";

const PART_TITLES: Readonly<Record<Part, string>> = {
  node: "npm packages",
  python: "Python packages",
  cli: "Command-line clients",
};

const HEADER = ["", ...PROVIDER_TYPES];

/** Returns the page `docs/reference/clients.md`. */
export async function clientsPage(): Promise<string> {
  const parts = await Promise.all(
    PARTS.map(async (part) => ({ part, results: await readResults(part) })),
  );
  const reasons = reasonsIn(parts.map(({ results }) => results));
  const sections = parts.filter(({ results }) => Object.keys(results.clients).length > 0)
    .map(({ part, results }) => partText(part, results, reasons));
  return `# What clients can do on each provider type

${generatedNote("`scripts/clients/results/`")}

Real clients, unmodified, were run through the gateway over the [simulator](../develop/simulator.md), with
one provider of each type; \`native\` is an upstream with the Responses API of its own. Each use checks what
the client received and what arrived upstream. The npm packages are run by every test run.

- \`runs\`: the client received everything that it asked for.
- \`runs verified\`: the same, and the gateway checked a promise that the provider cannot make itself
  (\`X-Gateway-Verified\`).
- \`refused\`: the gateway refused a request of the client.

A number leads to the [reason](#reasons-and-losses) of a refusal, or to the fields that reached the provider
only in part (\`X-Gateway-Lossy\`).

Providers declare every [capability](../guide/providers.md) here. Where the providers in the file that
\`switchyard init laptop\` writes do something else, it follows after \`init:\`.

${sections.join("\n\n")}

## Reasons and losses

${reasons.map((reason, at) => `${at + 1}. ${sentence(reason)}`).join("\n")}
`;
}

function partText(part: Part, { date, clients }: Results, reasons: readonly string[]): string {
  const entries = Object.entries(clients);
  const summary = tableText(
    ["client", ...PROVIDER_TYPES],
    entries.map((
      [title, result],
    ) => [title, ...PROVIDER_TYPES.map((type) => countOf(result, type))]),
  );
  return [
    `## ${PART_TITLES[part]}`,
    `Run on ${date}. Uses that run, of those tried:`,
    summary,
    ...entries.map(([title, result]) => clientText(title, result, reasons)),
  ].join("\n\n");
}

function countOf({ rows }: ClientResult, type: ProviderType): string {
  const cells = Object.values(rows).flatMap((row) => row[type] ?? []);
  const running = cells.filter((cell) => verdictIn(cell, "declared").startsWith("runs"));
  return cells.length === 0 ? "–" : `${running.length} of ${cells.length}`;
}

function clientText(
  title: string,
  { packages, rows }: ClientResult,
  reasons: readonly string[],
): string {
  const table = tableText(
    HEADER,
    (Object.keys(SHOTS) as ShotName[]).flatMap((shot) => {
      const row = rows[shot];
      if (row === undefined) return [];
      return [[SHOTS[shot], ...PROVIDER_TYPES.map((type) => cellText(row[type], reasons))]];
    }),
  );
  const versions = packages.map((name) => `\`${name}\``).join(", ");
  return [`### ${title}`, versions, table].join("\n\n");
}

function cellText(cell: Cell | undefined, reasons: readonly string[]): string {
  if (cell === undefined) return "–";
  if (typeof cell === "string") return verdictText(cell, reasons);
  const [declared, starter] = CAPABILITY_SETS.map((set) => verdictText(cell[set], reasons));
  return `${declared}; init: ${starter}`;
}

function verdictText(verdict: Verdict, reasons: readonly string[]): string {
  const { word, reason } = partsOf(verdict);
  return reason === null ? word : `${word} (${reasons.indexOf(reason) + 1})`;
}

/** Returns the result in one word or two, and the reason or the lossy fields. */
function partsOf(verdict: Verdict): { readonly word: string; readonly reason: string | null } {
  const [, word = verdict, loss, reason] =
    /^(\w+(?: verified)?)(?:, (lossy: .*)|: (.*))$/s.exec(verdict) ?? [];
  return { word, reason: reason === undefined ? loss ?? null : oneLine(reason) };
}

/** Returns the different reasons and losses, in the order in which the page first has them. */
function reasonsIn(all: readonly Results[]): readonly string[] {
  const verdicts = all.flatMap(({ clients }) =>
    Object.values(clients).flatMap(({ rows }) =>
      Object.values(rows).flatMap((row) => Object.values(row).flatMap(verdictsIn))
    )
  );
  return [...new Set(verdicts.flatMap((verdict) => partsOf(verdict).reason ?? []))];
}

function verdictsIn(cell: Cell): readonly Verdict[] {
  return typeof cell === "string" ? [cell] : CAPABILITY_SETS.map((set) => cell[set]);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Returns a reason as it is, and lossy fields as code. */
function sentence(reason: string): string {
  const [, fields] = /^lossy: (.*)$/.exec(reason) ?? [];
  return fields === undefined
    ? reason
    : `In part: ${fields.split(", ").map((field) => `\`${field}\``).join(", ")}.`;
}
