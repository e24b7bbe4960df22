import type { JsonObject } from "../../../src/core/json/json.ts";
import { at, list } from "../answers/json_at.ts";
import { demand, type Received, type SoakClient, textIn } from "../client.ts";
import { question } from "./inference.ts";
import { pageOf, remove, sameJson } from "./stored.ts";
import type { Use } from "./use.ts";

const RERANKED = ({ mark }: SoakClient) => ({ query: mark, documents: ["one", "two", mark] });

const RELAYED: Readonly<Record<string, (client: SoakClient) => JsonObject>> = {
  "/v1/completions": (client) => ({ prompt: question(client) }),
  "/v1/moderations": (client) => ({ input: question(client) }),
  "/v1/rerank": RERANKED,
  "/v2/rerank": RERANKED,
  "/rerank": RERANKED,
  "/v1/images/generations": ({ mark }) => ({ prompt: mark }),
  "/v1/audio/speech": ({ mark }) => ({ voice: "alloy", input: mark }),
};

/** Paths whose answer may be a stream, and the fields that request one. */
const STREAMED: Readonly<Record<string, JsonObject>> = {
  "/v1/completions": { stream: true },
  "/v1/images/generations": { stream: true, partial_images: 1 },
  "/v1/audio/speech": { stream_format: "sse" },
};

/** Requests whose answer is the simulator's, byte for byte but for the labels of the gateway. */
const RELAY_USES: readonly Use[] = Object.entries(RELAYED).flatMap(([path, bodyOf]) =>
  [{}, ...(path in STREAMED ? [STREAMED[path] ?? {}] : [])].map((more, at) => ({
    name: `${path} over native, ${at === 1 ? "stream" : "whole"}`,
    async run(client: SoakClient) {
      const body = { model: "native/sim-echo", ...bodyOf(client), ...more };
      sameBody(client, (await client.ok("POST", path, body)).text, path);
    },
  }))
);

function sameBody(client: SoakClient, text: string, what: string): void {
  const simulated = client.simulated().at(-1);
  demand(simulated !== undefined, "the simulator was not called");
  const [received, expected] = [text, simulated.text()].map(normalized);
  demand(
    received === expected,
    `${what} is ${received?.slice(0, 300)}, the simulator said ${expected?.slice(0, 300)}`,
  );
}

/** The gateway names the model as the client did, with its provider. */
function normalized(text: string): string {
  return text.replaceAll('"native/sim-echo"', '"sim-echo"').replaceAll(/\s+/g, " ").trim();
}

const MEDIA_USES: readonly Use[] = ["transcriptions", "translations"].map((kind) => ({
  name: `audio ${kind} over native`,
  async run(client) {
    const spoken = `The word is ${client.mark}.`;
    const speech = await client.send("POST", "/v1/audio/speech", {
      model: "native/sim-echo",
      voice: "alloy",
      input: spoken,
    });
    const form = new FormData();
    form.set("model", "native/sim-echo");
    form.set("file", new File([await speech.bytes()], "speech.wav", { type: "audio/wav" }));
    const received = await client.ok("POST", `/v1/audio/${kind}`, form);
    demand(received.json.text === spoken, `the text is ${received.text}`);
  },
}));

const IMAGE_USES: readonly Use[] = ["edits", "variations"].map((kind) => ({
  name: `image ${kind} over native`,
  async run(client) {
    const form = new FormData();
    form.set("model", "native/sim-echo");
    if (kind === "edits") form.set("prompt", client.mark);
    form.set("image", new File([`PNG ${client.mark}`], "dot.png", { type: "image/png" }));
    const received = await client.ok("POST", `/v1/images/${kind}`, form);
    sameBody(client, received.text, kind);
  },
}));

const FILES: Use = {
  name: "files, uploads and batches over native",
  async run(client) {
    const content = `${question(client)}\n`.repeat(1 + client.number % 200);
    const form = new FormData();
    form.set("purpose", "batch");
    form.set("file", new File([content], "input.jsonl"));
    const created = await client.ok("POST", "/v1/files", form);
    const id = textIn(created, "id");
    const isSame = async (file: string) => {
      const { text } = await client.ok("GET", `/v1/files/${file}/content`);
      demand(text === content, `the file has ${text.length} characters, not ${content.length}`);
    };
    await isSame(id);
    const facts = await client.ok("GET", `/v1/files/${id}`);
    sameJson(facts.json, created.json, "the file");
    const batch = await client.ok("POST", "/v1/batches", {
      input_file_id: id,
      endpoint: "/v1/chat/completions",
      completion_window: "24h",
    });
    await isSame(textIn(batch, "output_file_id"));
    const batchPath = `/v1/batches/${textIn(batch, "id")}`;
    sameJson((await client.ok("GET", batchPath)).json, batch.json, "the batch");
    await isListed(client, "/v1/batches", batch);
    const cancelled = await client.ok("POST", `${batchPath}/cancel`);
    sameJson(cancelled.json, { ...batch.json, status: "cancelled" }, "the cancelled batch");
    await isListed(client, "/v1/files", created);
    await remove(client, "/v1/files", { id, object: "file" });
    await remove(client, "/v1/files", { id: textIn(batch, "output_file_id"), object: "file" });
    await uploadInParts(client, content);
  },
};

/** Number of objects on a page, the newest first: other uses create objects meanwhile. */
const PAGE_COUNT = 50;

/** Throws unless the list has a new object once, as it was created. */
async function isListed(client: SoakClient, path: string, created: Received): Promise<void> {
  const all = pageOf(await client.ok("GET", `${path}?limit=${PAGE_COUNT}`));
  const found = all.filter((each) => at(each, "id") === created.json.id);
  sameJson(found, [created.json], `the object in the list of ${path}`);
}

async function uploadInParts(client: SoakClient, content: string): Promise<void> {
  const about = { filename: "parts.txt", purpose: "batch", bytes: content.length };
  const begin = () => client.ok("POST", "/v1/uploads", { ...about, mime_type: "text/plain" });
  const begun = await begin();
  const cancelled = await client.ok("POST", `/v1/uploads/${textIn(begun, "id")}/cancel`);
  sameJson(cancelled.json, { ...begun.json, status: "cancelled" }, "the cancelled upload");
  const upload = await begin();
  const path = `/v1/uploads/${textIn(upload, "id")}`;
  // Bytes, because a text could be divided within a character.
  const bytes = new TextEncoder().encode(content);
  const middle = Math.floor(bytes.length / 2);
  const parts: string[] = [];
  for (const piece of [bytes.subarray(0, middle), bytes.subarray(middle)]) {
    const form = new FormData();
    form.set("data", new File([piece], "part"));
    parts.push(textIn(await client.ok("POST", `${path}/parts`, form), "id"));
  }
  const done = await client.ok("POST", `${path}/complete`, { part_ids: parts });
  const id = textIn(done, "file", "id");
  const { text } = await client.ok("GET", `/v1/files/${id}/content`);
  demand(text === content, "the uploaded file is altered");
  await remove(client, "/v1/files", { id, object: "file" });
}

const EMBEDDINGS: readonly Use[] = ["compat", "local"].map((provider) => ({
  name: `embeddings over ${provider}`,
  async run(client) {
    const input = [question(client), `Second ${client.mark}.`];
    const body = { model: `${provider}/sim-embed`, input };
    const received = await client.ok("POST", "/v1/embeddings", body);
    const simulated: JsonObject = JSON.parse(client.simulated().at(-1)?.text() ?? "{}");
    const expected = provider === "local"
      ? list(simulated.embeddings)
      : list(simulated.data).map((each) => at(each, "embedding") ?? null);
    const vectors = list(received.json.data).map((each) => at(each, "embedding") ?? null);
    demand(vectors.length === 2, "there are not two embeddings");
    sameJson(vectors, expected, "the embeddings");
  },
}));

const COUNT: Use = {
  name: "count_tokens over messages",
  async run(client) {
    const messages = [{ role: "user", content: question(client) }];
    const body = { model: "messages/sim-echo", messages };
    const received = await client.ok("POST", "/v1/messages/count_tokens", body);
    sameJson(received.json, JSON.parse(client.simulated().at(-1)?.text() ?? "null"), "the count");
  },
};

const MODELS: Use = {
  name: "models, health, readiness and metrics",
  async run(client) {
    const listed = await client.ok("GET", "/v1/models");
    const ids = list(listed.json.data).map((each) => at(each, "id"));
    demand(ids.includes("compat/sim-echo"), `the models are ${ids.slice(0, 5)}`);
    const one = await client.ok("GET", "/v1/models/compat/sim-echo");
    demand(one.json.id === "compat/sim-echo", `the model is ${one.text}`);
    await client.ok("GET", "/health");
    await client.ok("GET", "/ready");
    const metrics = await client.ok("GET", "/metrics");
    demand(metrics.text.includes("gateway_requests_total"), "the metrics are not complete");
  },
};

/** Requests without generated text, or that are relayed. */
export const OTHER_USES: readonly Use[] = [
  ...RELAY_USES,
  ...MEDIA_USES,
  ...IMAGE_USES,
  FILES,
  ...EMBEDDINGS,
  COUNT,
  MODELS,
];
