import { accessFields } from "../../src/observe/access_log.ts";
import { endOf } from "../../src/observe/report.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { type SocketGateway, socketGateway } from "../support/socket_gateway.ts";
import { startUpstream, type UpstreamExchange } from "../support/upstream.ts";
import { scriptedWorld } from "../support/world.ts";
import { errorText, hasRecords, piecesOf, placeOf } from "./faults/bodies.ts";
import { BREAKS } from "./faults/breaks.ts";
import { type Column, COLUMNS, CONFIG, type ProviderType } from "./faults/columns.ts";
import { type BreakingGateway, newBreakingGateway, runHttp, runTurn } from "./faults/matrix.ts";

// The matrix plays the network. Here the same breaks happen on real sockets, byte by byte.

/** Provider type of each call that generates text; each type has whole and streamed answers. */
const TYPE_OF: Readonly<Record<string, ProviderType>> = {
  "chat JSON": "messages",
  "chat stream": "compat",
  "responses JSON": "native",
  "responses stream": "local",
  "messages JSON": "local",
  "messages stream": "messages",
  "WebSocket": "native",
};

/** Every call once: the matrix runs each over every type, and bytes break in the same way there. */
const CALLS = COLUMNS.filter(({ call, type }) => (TYPE_OF[call] ?? "compat") === type);

/** A break on a socket, with the row of the matrix that must have the same outcome. */
interface SocketBreak {
  readonly name: string;
  /** Name and phase of a break of the matrix. */
  readonly row: readonly [name: string, phase: string];
  readonly fits?: (column: Column) => boolean;
  play(exchange: UpstreamExchange, answer: HealthyAnswer): Promise<unknown>;
}

/**
 * Bytes may break before their head is sent; then the HTTP client of the test sends the request
 * again.
 */
const isText = ({ delivery }: Column) => delivery !== "bytes";

/** Response of a healthy upstream. */
interface HealthyAnswer {
  readonly column: Column;
  readonly type: string;
  readonly text: string;
}

const NO_ANSWER: readonly [string, string] = ["connection closed", "before the headers"];

/** The first half of an answer, up to within its content. */
function begun({ column, text }: HealthyAnswer): string {
  const pieces = piecesOf(column, text);
  return pieces.slice(0, placeOf("within the content", pieces, column)).join("");
}

const SOCKET_BREAKS: readonly SocketBreak[] = [
  {
    name: "the connection is closed without a byte",
    row: NO_ANSWER,
    play: () => Promise.resolve(),
  },
  {
    name: "the connection is reset without a byte",
    row: ["connection reset", "before the headers"],
    play: (exchange) => Promise.resolve(exchange.reset()),
  },
  {
    name: "the connection is closed within the head",
    row: NO_ANSWER,
    play: ({ write }) => write("HTTP/1.1 200 OK\r\nContent-Ty"),
  },
  {
    name: "the answer is no HTTP",
    row: ["no valid HTTP", "before the headers"],
    play: ({ write }) => write("SSH-2.0-OpenSSH_9.6\r\n\r\n"),
  },
  ...[302, 429, 500].map((code): SocketBreak => ({
    name: `status ${code}`,
    row: [`status ${code}`, "the headers"],
    play: ({ answer }, { column }) =>
      answer(code, { "content-type": "application/json" }, errorText(column.type)),
  })),
  {
    name: "the connection is closed after the head",
    row: ["the connection is closed", "after the headers"],
    play: ({ head }, { type }) => head(200, { "content-type": type, "content-length": "100000" }),
  },
  {
    name: "the body is shorter than its length",
    row: ["the connection is closed", "within the content"],
    fits: isText,
    async play({ head, write }, answer) {
      await head(200, { "content-type": answer.type, "content-length": "100000" });
      await write(begun(answer));
    },
  },
  {
    name: "the last chunk is missing",
    row: ["the connection is closed", "within the content"],
    fits: isText,
    async play({ head, chunk }, answer) {
      await head(200, { "content-type": answer.type });
      await chunk(begun(answer));
    },
  },
  {
    name: "a broken chunk arrives together with the content before it",
    row: ["a broken chunk or compression", "within the content"],
    fits: isText,
    play({ write }, answer) {
      const text = begun(answer);
      const size = new TextEncoder().encode(text).length.toString(16);
      const head =
        `HTTP/1.1 200 OK\r\nContent-Type: ${answer.type}\r\nTransfer-Encoding: chunked\r\n`;
      return write(`${head}\r\n${size}\r\n${text}\r\nno size\r\n`);
    },
  },
  {
    name: "the body ends orderly within the answer",
    row: ["the body ends", "within the content"],
    async play({ head, chunk, finish }, answer) {
      await head(200, { "content-type": answer.type });
      await chunk(begun(answer));
      await finish();
    },
  },
  {
    name: "the JSON is broken",
    row: ["invalid JSON", "within the content"],
    fits: ({ delivery }) => delivery === "JSON",
    play: ({ answer }, { text, type }) =>
      answer(200, { "content-type": type }, `${text.slice(0, -1)},}`),
  },
  {
    name: "the stream has half a record",
    row: ["half a record", "within the content"],
    fits: hasRecords,
    async play({ head, chunk, finish }, answer) {
      await head(200, { "content-type": answer.type });
      await chunk(begun(answer));
      await chunk(answer.text.slice(begun(answer).length).slice(0, 30));
      await finish();
    },
  },
];

/** The configuration of the matrix over a real provider, with shorter delays before a retry. */
function configAt(url: string): string {
  return CONFIG.replaceAll("http://upstream.test", url).replace('"10ms"', '"1ms"');
}

/** Returns the cell of the page for a call. */
async function outcomeOf(served: SocketGateway, column: Column, sentCount: () => number) {
  const call = column.delivery === "WebSocket" ? runTurn : runHttp;
  const before = sentCount();
  const { seen, report } = await call(served, (promise) => promise, column);
  return {
    seen: seen.text,
    sentCount: sentCount() - before,
    retried: report.attempts.some(({ number }) => number > 1),
    fallbacks: report.fallbacks,
    end: endOf(report),
    cause: accessFields(report).upstream_cause,
    tried: report.attempts.map(({ outcome }) => outcome),
  };
}

async function expectedOutcome(
  gateway: BreakingGateway,
  column: Column,
  [name, phase]: SocketBreak["row"],
) {
  const broken = BREAKS.find((one) => one.name === name && one.phase === phase);
  assert(broken !== undefined && broken.fits(column), `${name}, ${phase}`);
  const { seen, report, sentCount, end } = await gateway.run(broken, 4);
  return {
    seen: seen.text,
    sentCount,
    retried: report.attempts.some(({ number }) => number > 1),
    fallbacks: report.fallbacks,
    end,
    cause: accessFields(report).upstream_cause,
    tried: report.attempts.map(({ outcome }) => outcome),
  };
}

Deno.test("a real connection that breaks has the outcome of the fault matrix, in every kind of call", async () => {
  const simulate = newSimulator(scriptedWorld());
  let play: SocketBreak["play"] = () => Promise.resolve();
  let called: Column | undefined;
  await using upstream = startUpstream(async (exchange) => {
    assert(called !== undefined);
    const { method, path, headers, body } = exchange.request;
    const request = new Request(`http://upstream.test${path}`, { method, headers, body });
    const healthy = await simulate(request);
    const type = healthy.headers.get("content-type") ?? "";
    await play(exchange, { column: called, type, text: await healthy.text() });
  });
  await using served = socketGateway(configAt(upstream.url));
  for (const column of CALLS) {
    called = column;
    await using gateway = newBreakingGateway(column);
    for (const one of SOCKET_BREAKS.filter(({ fits }) => fits?.(column) ?? true)) {
      play = one.play;
      const actual = await outcomeOf(served, column, () => upstream.requests.length);
      const expected = await expectedOutcome(gateway, column, one.row);
      const what = { name: one.name, call: column.call, type: column.type };
      assertEquals({ ...what, ...actual }, { ...what, ...expected });
    }
  }
});

/** A server without TLS: it answers whatever comes first, and ends. */
function plainServer(): { readonly address: string } & AsyncDisposable {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) {
      await connection.read(new Uint8Array(4096));
      await connection.write(new TextEncoder().encode("220 no TLS\r\n"));
      connection.close();
    }
  })();
  return {
    address: `127.0.0.1:${listener.addr.port}`,
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving;
    },
  };
}

/** Returns an address at which nothing listens. */
async function closedAddress(): Promise<string> {
  await using server = plainServer();
  return server.address;
}

Deno.test("a real provider that refuses connections or has no TLS has the outcome of the fault matrix", async () => {
  await using plain = plainServer();
  const urls = {
    "connection refused": `http://${await closedAddress()}`,
    "no TLS": `https://${plain.address}`,
  };
  for (const [name, url] of Object.entries(urls)) {
    await using served = socketGateway(configAt(url));
    for (const column of CALLS) {
      await using gateway = newBreakingGateway(column);
      const expected = await expectedOutcome(gateway, column, [name, "before sending"]);
      const actual = await outcomeOf(served, column, () => 0);
      // Requests that reach no server cannot be counted there; `tried` has the attempts.
      assertEquals({ name, ...actual, sentCount: expected.sentCount }, { name, ...expected });
    }
  }
});
