import { type Attack, many, oneProvider, outcomeOf, pause, send } from "./support.ts";

const READ_COUNT = 60, KEPT_COUNT = 7, WRITE_COUNT = 24, ANSWER_CHARS = 8 * 1024 * 1024;

/** Requests of 3 MB, and members of each with a key of 40 characters: as many as it accepts. */
const REQUEST_COUNT = 4, MEMBER_COUNT = 64_000, KEY_CHARS = 28;

/** Time after which a response is stored, in milliseconds. */
const STORED_MS = 1_500;

function completion(content: string): Response {
  return Response.json({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
}

function chat(url: string, more: string) {
  const body = `{"model":"m","messages":[{"role":"user","content":"Hi"}],${more}}`;
  return send(`${url}/v1/chat/completions`, body, { "content-type": "application/json" });
}

/** One large answer in the cache of the state store, requested by many small calls. */
const answers: Attack = {
  row: "A2 cached",
  size: (times) => `${READ_COUNT * times} requests for one cached answer of 8 MB`,
  config: (upstream, folder) => ({
    ...oneProvider(upstream),
    caching: { enabled: true, shared: true },
    state: { store: "sqlite", sqlite: { path: `${folder}/attack.db` } },
  }),
  upstream: () => completion("x".repeat(ANSWER_CHARS)),
  async load({ url }, times) {
    const request = () => chat(url, '"seed":1');
    await request();
    await pause(STORED_MS);
    return outcomeOf(await many(READ_COUNT * times, request));
  },
};

/** Several cached answers, requested at the same time. */
const severalAnswers: Attack = {
  ...answers,
  row: "A2 cached answers",
  size: (times) => `${READ_COUNT * times} requests for ${KEPT_COUNT} cached answers of 8 MB`,
  async load({ url }, times) {
    const request = (at: number) => chat(url, `"seed":${at % KEPT_COUNT}`);
    for (let at = 0; at < KEPT_COUNT; at++) await request(at);
    await pause(STORED_MS);
    return outcomeOf(await many(READ_COUNT * times, request));
  },
};

/** Large answers that are to be stored at the same time. */
const writes: Attack = {
  ...answers,
  row: "A2 cache writes",
  size: (times) => `${WRITE_COUNT * times} answers of 8 MB that are cached`,
  load: async ({ url }, times) =>
    outcomeOf(await many(WRITE_COUNT * times, (at) => chat(url, `"seed":${at}`))),
};

/** Requests whose members would have to be sorted for their cache key. */
const members: Attack = {
  row: "A1 cache keys",
  size: (times) => `${REQUEST_COUNT * times} cacheable requests of 64,000 members`,
  config: (upstream) => ({ ...oneProvider(upstream), caching: { enabled: true } }),
  upstream: async (request) => {
    await request.body?.pipeTo(new WritableStream());
    return completion("Hi.");
  },
  async load({ url }, times) {
    const names = Array.from(
      { length: MEMBER_COUNT },
      () => "k".repeat(KEY_CHARS) + crypto.randomUUID().slice(0, 12),
    );
    const extra = `"extra":{${names.map((name) => `"${name}":1`).join(",")}}`;
    return outcomeOf(
      await many(REQUEST_COUNT * times, (at) => chat(url, `"seed":${at},${extra}`)),
    );
  },
};

/** Answers and requests that the cache keeps, or would keep. */
export const cachedAnswers: readonly Attack[] = [answers, severalAnswers, writes, members];
