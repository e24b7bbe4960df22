import { tableText } from "../../../scripts/tools/reference/markdown.ts";
import { PHASES } from "./break.ts";
import type { Cell } from "./cells.ts";
import { COLUMNS, TYPES } from "./columns.ts";

/** Returns the page `docs/reference/faults.md` of the cells that a run has shown. */
export function faultsPage(cells: readonly Cell[]): string {
  const sections = PHASES.map((phase) =>
    sectionText(phase, cells.filter(({ broken }) => broken.phase === phase))
  );
  return `${HEAD}

${sections.join("\n\n")}

${END}
`;
}

const HEAD = `# Fault matrix

What a client sees if an upstream breaks. Each cell was run through the gateway: a kind of break, in a phase of the
upstream's answer, for a client API over a provider type. \`native\` is a provider of type \`compat\` whose Responses API is
used. The route has a target with two attempts (\`retry.max_attempts: 2\`) and a fallback of the same type; every attempt
breaks in the same way. If only the first one breaks and the call is sent again, the client gets the complete answer.

- Client: status and \`code\` of the error, or its \`type\` if it has no code, as in the Messages API; or what comes in a
  response that has begun. The upstream's error has the type \`api_error\` and no code.
- Sent again: \`retry\` is a second attempt at the same target, \`fallback\` an attempt at the next one.
- \`tries\` and \`end\`: what the [access line](log-fields.md) says. \`tries\` has the outcome behind the provider of each attempt.
- Calls: those to which the row applies. "all" means each client API and provider type, "streams" includes WebSockets.

Nothing is sent again once content has been delivered. A call for which the provider stores something, such as a native
response, is sent again only if the provider certainly did not begin it.

Shown by \`tests/e2e/fault_matrix_test.ts\`, which runs each cell again and compares this page, and by
\`tests/e2e/fault_sockets_test.ts\`, in which the breaks happen on real sockets.

<!-- fault matrix: \`./scripts/deno run -A tests/e2e/faults/write_page.ts\` writes it -->`;

const END = "<!-- end of fault matrix -->";

/** A row of the page: breaks and calls with the same outcome. */
interface Row {
  readonly breaks: readonly string[];
  readonly cells: readonly Cell[];
}

function sectionText(phase: string, cells: readonly Cell[]): string {
  const rows = rowsOf(cells).map(({ breaks, cells }) => {
    const [first] = cells;
    if (first === undefined) return [];
    const again = [first.isRetried ? "retry" : "", first.fallsBack ? "fallback" : ""];
    return [
      breaksText(breaks),
      callsText(cells),
      first.seen,
      again.filter((one) => one !== "").join(", ") || "no",
      `\`${first.tried}\``,
      `\`${first.end}\``,
    ];
  });
  const title = phase[0]?.toUpperCase() + phase.slice(1);
  const header = ["break", "calls", "client", "sent again", "`tries`", "`end`"];
  return `## ${title}\n\n${tableText(header, rows)}`;
}

/** Names the breaks of a row; statuses share their word. */
function breaksText(breaks: readonly string[]): string {
  const statuses = breaks.filter((name) => name.startsWith("status "));
  const others = breaks.filter((name) => !statuses.includes(name));
  const numbers = statuses.map((name) => name.slice("status ".length)).join(", ");
  return [...numbers === "" ? [] : [`status ${numbers}`], ...others].join("; ");
}

/** Joins the cells of a break with the same outcome, then the breaks with the same rows. */
function rowsOf(cells: readonly Cell[]): readonly Row[] {
  const names = [...new Set(cells.map(({ broken }) => broken.name))];
  const single = names.flatMap((name) => {
    const groups = Map.groupBy(cells.filter(({ broken }) => broken.name === name), outcomeKey);
    return [...groups.values()].map((group): Row => ({ breaks: [name], cells: group }));
  });
  const joined = Map.groupBy(single, ({ cells }) => {
    const [first] = cells;
    return JSON.stringify([
      first === undefined ? "" : outcomeKey(first),
      cells.map(({ column }) => [column.call, column.type]),
    ]);
  });
  return [...joined.values()].flatMap((rows) => {
    const [first] = rows;
    return first === undefined
      ? []
      : [{ breaks: rows.flatMap(({ breaks }) => breaks), cells: first.cells }];
  });
}

function outcomeKey({ seen, isRetried, fallsBack, end, tried }: Cell): string {
  return JSON.stringify([seen, isRetried, fallsBack, end, tried]);
}

const DELIVERIES = [["streams", ["stream", "WebSocket"]], ["JSON", ["JSON"]]] as const;

/** Names the calls of a row as briefly as it is exact. */
function callsText(cells: readonly Cell[]): string {
  const named: string[] = [];
  let rest = cells.map(({ column }) => column);
  if (rest.length === COLUMNS.length) return "all";
  for (const [name, deliveries] of DELIVERIES) {
    const isOne = ({ delivery }: { readonly delivery: string }) =>
      deliveries.some((one) => one === delivery);
    if (rest.filter(isOne).length !== COLUMNS.filter(isOne).length) continue;
    named.push(name);
    rest = rest.filter((column) => !isOne(column));
  }
  const byTypes = Map.groupBy(
    Map.groupBy(rest, ({ call }) => call),
    ([call, columns]) => {
      const types = TYPES.filter((type) => columns.some((column) => column.type === type));
      const all = COLUMNS.filter((column) => column.call === call).length;
      return types.length === all ? "" : ` over ${types.join(", ")}`;
    },
  );
  const others = [...byTypes].map(([types, calls]) =>
    `${calls.map(([call]) => call).join(", ")}${types}`
  );
  return [...named, ...others].join("; ");
}
