import { TYPES } from "../config.ts";
import { readAnswer } from "../answers/read.ts";
import { checkBeginning, demand, type SoakClient } from "../client.ts";
import { API_PATHS, question, TEXT_APIS, type TextApi, textRequest } from "./inference.ts";
import type { Use } from "./use.ts";

/** Time in milliseconds after which a client leaves that waits for its answer. */
const CLIENT_TIMEOUT_MS = 30;

/** Clients that leave: before the answer, within it, and within their own request. */
export const LEAVING_USES: readonly Use[] = [
  ...TEXT_APIS.flatMap((api) =>
    [...TYPES, "native" as const].flatMap((provider) => [
      {
        name: `${api} over ${provider}, the client leaves before the answer`,
        run: (client: SoakClient) => leaveEarly(client, api, `${provider}/sim-slow-500`),
      },
      {
        name: `${api} over ${provider}, the client leaves within the stream`,
        run: (client: SoakClient) => leaveWithin(client, api, `${provider}/sim-slow-10`),
      },
    ])
  ),
  {
    name: "chat, the client leaves within its request",
    async run({ url, headers, mark }) {
      const { hostname, port } = new URL(url);
      using connection = await Deno.connect({ hostname, port: Number(port) });
      const head = [
        "POST /v1/chat/completions HTTP/1.1",
        `Host: ${hostname}:${port}`,
        `Authorization: ${headers.authorization}`,
        "Content-Type: application/json",
        "Content-Length: 100000",
        "",
        `{"model":"compat/sim-echo","messages":[{"role":"user","content":"${mark}`,
      ].join("\r\n");
      await connection.write(new TextEncoder().encode(head));
    },
  },
];

async function leaveEarly(client: SoakClient, api: TextApi, model: string): Promise<void> {
  const leaving = new AbortController();
  const timer = setTimeout(() => leaving.abort(), CLIENT_TIMEOUT_MS);
  const body = textRequest(api, model, question(client), client.number % 2 === 0);
  try {
    const response = await client.send("POST", API_PATHS[api], body, leaving.signal);
    const { status } = response;
    await response.body?.cancel();
    demand(status === 200, `the client that leaves received status ${status}`);
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    client.simulated();
  }
}

async function leaveWithin(client: SoakClient, api: TextApi, model: string): Promise<void> {
  const body = textRequest(api, model, question(client), true);
  const leaving = new AbortController();
  const response = await client.send("POST", API_PATHS[api], body, leaving.signal);
  demand(response.status === 200, `the stream has status ${response.status}`);
  const type = response.headers.get("content-type") ?? "";
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (readAnswer(api, type, text).text === "") {
    const piece = await reader?.read();
    demand(piece?.value !== undefined, `the stream ends before its text: ${text.slice(-300)}`);
    text += piece.value;
  }
  leaving.abort();
  await reader?.cancel().catch(() => {});
  checkBeginning(client, readAnswer(api, type, text));
}
