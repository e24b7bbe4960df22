import { tableText } from "../../../scripts/tools/reference/markdown.ts";
import { PHASES } from "./break.ts";
import type { Cell } from "./cells.ts";
import { type Column, COLUMNS, type Mode, STREAM_COLUMNS, TYPES } from "./columns.ts";
import type { Leave } from "./leaving.ts";

/** Returns the page `docs/reference/faults.md` of what a run has shown. */
export function faultsPage(
  cells: readonly Cell[],
  leaves: readonly Leave[],
  modes: Readonly<Record<Mode, readonly Cell[]>>,
): string {
  const sections = PHASES.map((phase) =>
    sectionText(phase, cells.filter(({ broken }) => broken.phase === phase))
  );
  return `${HEAD}

${sections.join("\n\n")}

${EARLY_HEAD}

${modeTable(modes.early.filter(isBeforeContent))}

${HELD_HEAD}

${modeTable(modes.held.filter(isWithinContent))}

${leavesText(leaves)}

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
- \`tries\`, \`end\` and \`upstream_cause\`: what the [access line](log-fields.md) says. \`tries\` has the outcome behind the provider of
  each attempt; \`upstream_cause\` is absent unless a connection failed.
- Break: "the body ends" is an orderly end, with the last chunk or all bytes of \`Content-Length\`; without them it is "the
  connection is closed", unless the response has neither chunks nor a length, where the connection is the end. Each attempt has
  a new connection; what happens on a reused one is in [Connections](../guide/providers.md#connections). The gateway asks for bodies
  without compression. Of a compressed one, content that arrives in one piece with the break may be lost, and the outcome is then
  that of an earlier phase.
- Calls: those to which the row applies. "all" means each kind of call on this page, "streams" includes WebSockets. A call of
  \`count_tokens\` has one attempt at each target.

Nothing is sent again once content has been delivered. A call for which the provider stores something, such as a native
response, is sent again only if the provider certainly did not begin it.

The last section is about clients that disconnect, or close their WebSocket, while the upstream is at work or the call waits in the
gateway. Each provider has one slot there (\`max_concurrent: 1\`). The call ends at once: its connection to the upstream is cancelled,
the slot is free, and nothing is sent again. Status 499 is only in the log; with 200 the response had begun.

<!-- shown by: tests/e2e/fault_matrix_test.ts, tests/e2e/fault_sockets_test.ts, tests/e2e/client_leaves_test.ts,
tests/e2e/client_leaves_stream_test.ts -->

<!-- fault matrix: \`./scripts/deno run -A tests/e2e/faults/write_page.ts\` writes it -->`;

const EARLY_HEAD = `## The head was sent early

With [\`early_head\`](../guide/streaming.md#a-sign-of-life-while-the-model-thinks) the breaks before the content of generated streams, behind a silence after which the head has
gone out: status 200 and signs of life, then what the client gets here; \`tries\` and \`end\` are as above. A turn over a WebSocket to a native target says nothing
before its response, and is as above too.`;

const HELD_HEAD = `## The stream is held

With [\`hold\`](../guide/reliability.md#a-whole-answer-after-a-cut-stream) a break within the content of a generated stream is like one before it. All others are as above.`;

function isWithinContent({ broken: { phase } }: Cell): boolean {
  return phase === "within the content";
}

/** True for a break to which an early head makes a difference. */
function isBeforeContent({ broken: { phase }, column: { delivery, type } }: Cell): boolean {
  const isSilent = delivery === "WebSocket" && type === "native";
  return !isSilent && PHASES.indexOf(phase) < PHASES.indexOf("within the content");
}

function modeTable(cells: readonly Cell[]): string {
  const shown = cells.map((cell) => {
    const { texts: [seen = "", again = ""], ...rest } = shownCell(cell);
    return { ...rest, texts: [seen.replace("a stream without content, then t", "t"), again] };
  });
  return tableText(["break", "calls", "client", "sent again"], rowsOf(shown, STREAM_COLUMNS));
}

const END = "<!-- end of fault matrix -->";

/** Row of one kind of call: its first cell, and those behind the calls. */
interface Shown {
  readonly column: Column;
  readonly name: string;
  readonly texts: readonly string[];
}

function sectionText(phase: string, cells: readonly Cell[]): string {
  const title = phase[0]?.toUpperCase() + phase.slice(1);
  const header = ["break", "calls", "client", "sent again", "`tries`", "`end`, `upstream_cause`"];
  return `## ${title}\n\n${tableText(header, rowsOf(cells.map(shownCell)))}`;
}

function shownCell({ column, broken, seen, isRetried, fallsBack, tried, end, cause }: Cell): Shown {
  const again = [isRetried ? "retry" : "", fallsBack ? "fallback" : ""].filter((one) => one !== "");
  const ended = cause === null ? `\`${end}\`` : `\`${end}\`, \`${cause}\``;
  return {
    column,
    name: broken.name,
    texts: [seen, again.join(", ") || "no", `\`${tried}\``, ended],
  };
}

function leavesText(leaves: readonly Leave[]): string {
  const header = ["moment", "calls", "upstream", "sent again", "`status`", "`tries`", "`end`"];
  const rows = rowsOf(leaves.map(({ column, moment, upstream, status, tried, end }) => ({
    column,
    name: moment,
    // The run has checked that nothing is sent again.
    texts: [
      upstream,
      "no",
      `\`${status}\``,
      tried === "" ? "absent" : `\`${tried}\``,
      `\`${end}\``,
    ],
  })));
  return `## The client leaves\n\n${tableText(header, rows)}`;
}

/** Names the breaks of a row; statuses share their word. */
function breaksText(breaks: readonly string[]): string {
  const statuses = breaks.filter((name) => name.startsWith("status "));
  const others = breaks.filter((name) => !statuses.includes(name));
  const numbers = statuses.map((name) => name.slice("status ".length)).join(", ");
  return [...numbers === "" ? [] : [`status ${numbers}`], ...others].join("; ");
}

/** Joins the kinds of call with the same outcome of a break, then the breaks with the same rows. */
function rowsOf(
  all: readonly Shown[],
  columns: readonly Column[] = COLUMNS,
): readonly (readonly string[])[] {
  const single = [...Map.groupBy(all, ({ name }) => name)].flatMap(([name, shown]) =>
    [...Map.groupBy(shown, ({ texts }) => JSON.stringify(texts)).values()].map((group) => ({
      name,
      texts: group[0]?.texts ?? [],
      calls: callsText(group.map(({ column }) => column), columns),
    }))
  );
  const joined = Map.groupBy(single, ({ texts, calls }) => JSON.stringify([texts, calls]));
  return [...joined.values()].map((rows) => [
    breaksText(rows.map(({ name }) => name)),
    rows[0]?.calls ?? "",
    ...rows[0]?.texts ?? [],
  ]);
}

const DELIVERIES = [["streams", ["stream", "WebSocket"]], ["JSON", ["JSON"]]] as const;

/** Names the calls of a row as briefly as it is exact. */
function callsText(columns: readonly Column[], every: readonly Column[]): string {
  const named: string[] = [];
  let rest = columns;
  if (rest.length === every.length) return "all";
  for (const [name, deliveries] of DELIVERIES) {
    const isOne = ({ delivery }: { readonly delivery: string }) =>
      deliveries.some((one) => one === delivery);
    if (!every.some(isOne) || rest.filter(isOne).length !== every.filter(isOne).length) continue;
    named.push(name);
    rest = rest.filter((column) => !isOne(column));
  }
  const byTypes = Map.groupBy(
    Map.groupBy(rest, ({ call }) => call),
    ([call, columns]) => {
      const types = TYPES.filter((type) => columns.some((column) => column.type === type));
      const all = every.filter((column) => column.call === call).length;
      return types.length === all ? "" : ` over ${types.join(", ")}`;
    },
  );
  const others = [...byTypes].map(([types, calls]) =>
    `${calls.map(([call]) => call).join(", ")}${types}`
  );
  return [...named, ...others].join("; ");
}
