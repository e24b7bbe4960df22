import { createHash } from "node:crypto";
import { authorized } from "../../src/upstream/authorize.ts";
import { signatureHeaders } from "../../src/upstream/sign.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, COMPLETION } from "../support/chat_call.ts";
import { credentialConfig, credentialGateway, ENTRA, type Sent } from "./credential_gateway.ts";

const AWS =
  "type: aws, region: us-east-1, service: bedrock-mantle, access_key_id: AKIA1, secret_access_key: secret-1";

const KEYS = {
  kind: "aws",
  accessKeyId: "AKIA1",
  secretAccessKey: "secret-1",
  sessionToken: null,
} as const;

const STARTED_MS = 1_700_000_000_000;

/** Returns the headers that a request must be signed with, by what has arrived. */
function expected({ headers, body, at }: Sent, path = "/v1/chat/completions", aheadMs = 0) {
  return signatureHeaders(KEYS, { region: "us-east-1", service: "bedrock-mantle" }, {
    method: body === "" ? "GET" : "POST",
    url: `https://up${path}`,
    contentType: headers.get("content-type"),
    bodyDigest: createHash("sha256").update(body).digest("hex"),
    wallMs: STARTED_MS + at + aheadMs,
  });
}

function signature({ headers }: Sent): Record<string, string> {
  return Object.fromEntries(
    ["x-amz-date", "authorization"].map((name) => [name, headers.get(name) ?? ""]),
  );
}

Deno.test("a request is signed over what is sent, and each retry again", async () => {
  let count = 0;
  const { ask, world, sent } = await credentialGateway(
    credentialConfig(AWS, { more: "retry: {initial_delay: 2s, jitter_factor: 0}" }),
    { provider: () => answers(++count < 3 ? 503 : 200, COMPLETION) },
  );
  const asked = ask({
    headers: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
    body: {
      model: "openai.gpt-oss-120b",
      temperature: 0.5,
      messages: [{ role: "user", content: "äß" }],
    },
  });
  await world.advance(60_000);
  assertEquals((await asked).status, 200);
  assertEquals(sent.length, 3);
  for (const one of sent) assertEquals(signature(one), expected(one));
  assertEquals(new Set(sent.map(({ headers }) => headers.get("x-amz-date"))).size, 3);
  assert(sent.every(({ headers }) => !/traceparent/.test(headers.get("authorization") ?? "")));
});

Deno.test("a signature that is refused because the clock is wrong is made again by the clock of the provider, once, with one warning", async () => {
  const aheadMs = 3_600_000;
  let isClosed = false;
  const { ask, sent, reports, log } = await credentialGateway(credentialConfig(AWS), {
    provider(one) {
      const signedAt = STARTED_MS + one.at + aheadMs;
      const isRight = signature(one).authorization ===
        expected(one, undefined, aheadMs).authorization;
      const headers = { date: new Date(signedAt).toUTCString() };
      return isRight && !isClosed
        ? answers(200, COMPLETION)
        : answers(403, { message: "Signature expired" }, headers);
    },
  });
  const statuses = [(await ask()).status, (await ask()).status];
  isClosed = true;
  statuses.push((await ask()).status);
  assertEquals([statuses, sent.length], [[200, 200, 403], 4]);
  assertEquals(reports.map(({ clockAheadMs }) => clockAheadMs), [aheadMs, null, null]);
  assertEquals(log.filter((line) => line.includes("the clock of the machine is wrong")).length, 1);
});

Deno.test("a refusal with the right time, or of a token, is not repeated", async () => {
  const far = { date: new Date(STARTED_MS + 3_600_000).toUTCString() };
  const near = { date: new Date(STARTED_MS + 5 * 60_000 - 1_000).toUTCString() };
  for (const [credential, headers] of [[AWS, near], [AWS, { date: "x" }], [ENTRA, far]] as const) {
    const { ask, sent } = await credentialGateway(credentialConfig(credential), {
      provider: () => answers(403, { message: "no" }, headers),
    });
    assertEquals([(await ask()).status, sent.length], [403, 1]);
  }
});

Deno.test("a date that no signature can have is not taken over, and the next request is sent", async () => {
  const { ask, sent, world } = await credentialGateway(credentialConfig(AWS), {
    provider: () => answers(403, { message: "no" }, { date: "Sat, 13 Sep 275760 00:00:00 GMT" }),
  });
  const statuses = [(await ask()).status];
  await world.advance(1_000);
  statuses.push((await ask()).status);
  assertEquals([statuses, sent.length], [[403, 403], 2]);
});

Deno.test("a query of the base URL is signed, and so is a request without a body", async () => {
  const config = credentialConfig(AWS, { settings: ", models: {mode: fetch}" });
  const { app, sent } = await credentialGateway(
    config.replace("https://up/v1", "https://up/v1?b=2&a=%20"),
    {
      provider: () => answers(200, { object: "list", data: [] }),
    },
  );
  await app(new Request("http://localhost/v1/models", { headers: { host: "localhost" } }));
  const [one] = sent;
  assert(one !== undefined && one.body === "");
  assertEquals(signature(one), expected(one, "/v1/models?b=2&a=%20"));
});

Deno.test("an upload is signed like any other body", async () => {
  const { app, sent } = await credentialGateway(
    credentialConfig(AWS, { settings: ", capabilities: {relay: [audio]}" }),
    { provider: () => answers(200, { text: "hello" }) },
  );
  const form = new FormData();
  form.set("model", "whisper");
  form.set("file", new File(["x".repeat(100_000)], "a.wav"));
  const response = await app(
    new Request("http://localhost/v1/audio/transcriptions", {
      method: "POST",
      headers: { host: "localhost" },
      body: form,
    }),
  );
  await response.body?.cancel();
  const [one] = sent;
  assert(one !== undefined);
  assertEquals(response.status, 200);
  assertEquals(signature(one), expected(one, "/v1/audio/transcriptions"));
});

Deno.test("a body of 10 MiB is hashed in ten turns of the event loop, in one piece or in many", async () => {
  const { gateway, world } = await credentialGateway(credentialConfig(AWS));
  const provider = gateway.generation.providers.get("up");
  assert(provider !== undefined);
  const bytes = new Uint8Array(10 * 1024 * 1024).fill(97);
  const pieces = Array.from({ length: 160 }, (_, at) => bytes.subarray(at << 16, (at + 1) << 16));
  const signing = async (body: typeof bytes | typeof pieces) => {
    let turns = 0;
    const request = { method: "POST", payload: { text: () => "", bytes: () => body } } as const;
    const signed = await authorized(
      { provider, account: provider.accounts[0] },
      { request, url: "https://up/v1/x", headers: {} },
      { world, turns: { next: () => Promise.resolve(void turns++) } },
    );
    assert(signed.ok);
    assertEquals(turns, 9);
    return signed.value.authorization;
  };
  const digest = createHash("sha256").update(bytes).digest("hex");
  const { authorization } = signatureHeaders(
    KEYS,
    { region: "us-east-1", service: "bedrock-mantle" },
    {
      method: "POST",
      url: "https://up/v1/x",
      contentType: null,
      bodyDigest: digest,
      wallMs: STARTED_MS,
    },
  );
  assertEquals([await signing(bytes), await signing(pieces)], [authorization, authorization]);
});

Deno.test("the error of a provider that repeats a session token or the secret is cleaned", async () => {
  const { ask } = await credentialGateway(credentialConfig(`${AWS}, session_token: session-1`), {
    provider: ({ headers }) =>
      answers(403, {
        error: { message: `canonical: ${headers.get("x-amz-security-token")} secret-1` },
      }),
  });
  const { status, text } = await ask();
  assertEquals(status, 403);
  assert(!/session-1|secret-1/.test(text), text);
});

Deno.test("an error that repeats the request does not show its signature, also behind escapes", async () => {
  for (const write of [String, (text: string) => text.replace("S", "\\u0053")]) {
    const { ask, sent } = await credentialGateway(credentialConfig(AWS), {
      provider: ({ headers }) => {
        const authorization = headers.get("authorization") ?? "";
        const [start = "", end = ""] = authorization.split("Signature=");
        const message = `${start}${write("Signature=")}${end}`;
        return answers(400, `{"error":{"message":"refused: ${message}"}}`);
      },
    });
    const { text } = await ask();
    const signature = /[0-9a-f]{64}/.exec(sent[0]?.headers.get("authorization") ?? "")?.[0] ?? "";
    assertEquals([text.includes("refused"), signature.length], [true, 64]);
    assert(!text.includes(signature), text);
    assert(text.includes("Signature=[redacted]"), text);
  }
});
