import { freePort } from "../bench/processes.ts";
import {
  type Attack,
  keyHeaders,
  many,
  oneProvider,
  outcomeOf,
  security,
  send,
  sendOk,
} from "./support.ts";

const KEY = "gk-attacks-drawn-0123456789abcdef";

const MODEL_COUNT = 12_000, CLIENT_COUNT = 50, READ_COUNT = 16;

/**
 * Calls of very many models, whose names a client draws, and then the report of all of them, for
 * the operator and several programs at once.
 */
export const drawnModels: Attack = {
  row: "A9 models",
  size: (times) => `${MODEL_COUNT * times} models, ${READ_COUNT * times} reports at once`,
  config: (upstream) => ({
    ...oneProvider(`${upstream}/v1`),
    security: security({ drawn: { value: KEY, requests_per_minute: 600_000 } }),
    admin: { enabled: true, port: freePort() },
  }),
  upstream: () =>
    Response.json({
      id: "chatcmpl-drawn",
      object: "chat.completion",
      created: 1,
      model: "drawn",
      choices: [{
        index: 0,
        message: { role: "assistant", content: "Hi." },
        finish_reason: "stop",
      }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  async load({ url, configPath }, times) {
    const headers = { ...keyHeaders(KEY), "content-type": "application/json" };
    const count = MODEL_COUNT * times / CLIENT_COUNT;
    await many(CLIENT_COUNT, async (client) => {
      for (let at = 0; at < count; at++) {
        const messages = [{ role: "user", content: "Hi" }];
        const body = JSON.stringify({ model: `drawn-${client}-${at}`, messages });
        await sendOk(`${url}/v1/chat/completions`, body, headers);
      }
    });
    const { admin } = JSON.parse(await Deno.readTextFile(configPath));
    const report = `http://127.0.0.1:${admin.port}/usage`;
    const reports = await many(READ_COUNT * times, () => send(report));
    const lines = reports[0]?.text.match(/"drawn-/g)?.length ?? 0;
    if (lines !== MODEL_COUNT * times) throw new Error(`The report has ${lines} models.`);
    return outcomeOf(reports);
  },
};
