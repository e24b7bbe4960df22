import {
  type Answer,
  type Attack,
  connectRaw,
  keyHeaders,
  many,
  oneProvider,
  outcomeOf,
  pause,
  requestHead,
  security,
  send,
  sendOk,
  type Target,
} from "./support.ts";

const MANY = "gk-attacks-many-0123456789abcdef", OTHER = "gk-attacks-other-0123456789abcdef";

const CONNECTION_COUNT = 60, LEAVING_COUNT = 150;

/** Bytes of a body just below 256 KiB, and of one above, whose steps all have turns. */
const SMALL_BYTES = 261_000, LARGE_BYTES = 270_000;

/** Time for which bodies are sent, between two that are left, and after which these are. */
const SENDING_MS = 10_000, BETWEEN_MS = 10, LEAVING_MS = 2_000;

/** Connections that send tiny chunks, and the time after which none of them has a place. */
const TINY_COUNT = 100, BODY_TIMEOUT = "5s", TINY_MS = 10_000;

/** Bound of a call of `LARGE_BYTES` of another client, which has every second turn. */
const MAX_LARGE_CALL_MS = 2_000;

const URL_PATH = "/v1/chat/completions";

/** Returns a request of this many bytes whose parse is slow: very many nested empty arrays. */
function nestedBody(bytes: number): string {
  const head = '{"model":"m","messages":[{"role":"user","content":"Hi"}],"metadata":[';
  const one = "[[[[]]]],";
  return `${head}${one.repeat(Math.floor((bytes - head.length - 3) / one.length))}0]}`;
}

const attack = {
  config: (upstream: string) => ({
    ...oneProvider(`${upstream}/compat/v1`),
    security: security({
      many: { value: MANY, requests_per_minute: 600_000 },
      other: { value: OTHER, requests_per_minute: 600_000 },
    }),
  }),
};

/** Sends large calls of another client until the attack is over, and once after it. */
async function largeCalls({ url }: Target, over: Promise<unknown>): Promise<string> {
  const content = "word ".repeat(LARGE_BYTES / 5);
  const body = JSON.stringify({ model: "sim-length", messages: [{ role: "user", content }] });
  let isOver = false;
  const ended = over.then(() => isOver = true);
  const answers: Answer[] = [];
  for (let isLast = false; !isLast;) {
    isLast = isOver;
    answers.push(await sendOk(`${url}${URL_PATH}`, body, keyHeaders(OTHER)));
    await pause(30);
  }
  await ended;
  const longest = Math.max(...answers.map(({ ms }) => ms));
  if (longest <= MAX_LARGE_CALL_MS) return `${answers.length} large calls of another client`;
  throw new Error(`A large call of another client took ${longest.toFixed(0)} ms`);
}

/** Bodies just below the size from which every step has a turn. */
const bodies: Attack = {
  ...attack,
  row: "A2 bodies",
  size: (times) => `${CONNECTION_COUNT * times} connections, bodies of ${SMALL_BYTES / 1000} kB`,
  async load(target, times) {
    const body = nestedBody(SMALL_BYTES);
    const end = performance.now() + SENDING_MS;
    const all = many(CONNECTION_COUNT * times, async () => {
      const answers: Answer[] = [];
      while (performance.now() < end) {
        answers.push(await send(`${target.url}${URL_PATH}`, body, keyHeaders(MANY)));
      }
      return answers;
    });
    const others = await largeCalls(target, all);
    return `${outcomeOf((await all).flat())}; ${others}`;
  },
};

/** Bodies whose clients leave while they wait for their turn. */
const leftBodies: Attack = {
  ...attack,
  row: "A2 left bodies",
  size: (times) => `${LEAVING_COUNT * times} bodies of ${LARGE_BYTES / 1000} kB that are left`,
  async load(target, times) {
    const body = nestedBody(LARGE_BYTES);
    const headers = { ...keyHeaders(MANY), "content-length": String(body.length) };
    const request = requestHead(`POST ${URL_PATH}`, headers) + body;
    const left = many(LEAVING_COUNT * times, async (at) => {
      await pause(BETWEEN_MS * at);
      using connection = await connectRaw(target);
      const isSent = await connection.write(request);
      await pause(LEAVING_MS);
      return isSent;
    });
    const others = await largeCalls(target, left);
    return `${(await left).filter((isSent) => isSent).length} sent and left; ${others}`;
  },
};

/** Bodies in chunks of one byte, whose clients leave when they have sent as much as they can. */
const tinyChunks: Attack = {
  ...attack,
  row: "A2 tiny chunks",
  config: (upstream) => ({ ...attack.config(upstream), server: { body_timeout: BODY_TIMEOUT } }),
  size: (times) => `${TINY_COUNT * times} bodies in chunks of 1 byte that are left`,
  async load(target, times) {
    const headers = { ...keyHeaders(MANY), "transfer-encoding": "chunked" };
    const head = requestHead(`POST ${URL_PATH}`, headers);
    const chunks = "1\r\nx\r\n".repeat(10_000);
    const sent = await many(TINY_COUNT * times, async () => {
      using connection = await connectRaw(target);
      await connection.write(head);
      const end = pause(LEAVING_MS).then(() => false);
      let sent = 0;
      while (await Promise.race([connection.write(chunks), end])) sent += chunks.length;
      return sent;
    });
    await pause(TINY_MS);
    const sum = sent.reduce((bytes, more) => bytes + more, 0);
    return `${(sum / 1e6).toFixed(0)} MB sent and left`;
  },
};

/** Bodies of one client that are read or parsed while another one sends its own. */
export const enteringBodies: readonly Attack[] = [bodies, leftBodies, tinyChunks];
