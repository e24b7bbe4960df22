import { generateKeyPairSync } from "node:crypto";
import { dirname } from "node:path";
import { load } from "../../src/config/load.ts";
import type { CredentialHolder } from "../../src/core/credential.ts";
import { newCredentials } from "../../src/credentials/credentials.ts";
import { compile } from "../../src/gateway/compile.ts";
import { newGateway } from "../../src/gateway/gateway.ts";
import { newLog } from "../../src/observe/log.ts";
import { createApp } from "../../src/server/app.ts";
import { TRIAL_IDENTITIES } from "../../src/simulator/clouds/clouds.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { blocksIn } from "../docs/pages.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, got } from "../support/chat_call.ts";
import { storeUnderTest } from "../support/store_under_test.ts";
import { scriptedWorld } from "../support/world.ts";

const { publicKey, privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

const SERVICE_ACCOUNT = JSON.stringify({
  type: "service_account",
  client_email: "sa@my-project.iam.gserviceaccount.com",
  private_key: privateKey,
});

const VARIABLES = {
  AZURE_CLIENT_SECRET: "simulated-secret",
  AWS_ACCESS_KEY_ID: "AKIASIMULATED",
  AWS_SECRET_ACCESS_KEY: "simulated-secret",
  AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/gateway",
  GEMINI_API_KEY: "simulated-key",
};

/** The files of the page with a provider at a cloud. */
const FILES = blocksIn("yaml").filter(({ section, text }) =>
  section.startsWith("docs/guide/clouds.md") && !text.includes("models.internal.example")
);

/** Returns a file with a route to each of its providers, also those of its fallback. */
function toEach(text: string): string {
  const ids = [...text.matchAll(/^ {2}([a-z-]+):$/gm)].flatMap(([, id]) => id ?? [])
    .filter((id) => id !== "routes");
  const targets = ids.map((provider) => ({ provider }));
  const routing = JSON.stringify({ routes: [{ name: "all", targets }] });
  return `${text.slice(0, text.indexOf("\nrouting:"))}\nrouting: ${routing}\n`;
}

/** A gateway of a file, over a world with the simulated clouds alone. */
async function overClouds(
  text: string,
  use: (cloud: {
    /** Lets time pass until each credential that ends has been replaced. */
    replaced(): Promise<void>;
    readonly providers: readonly string[];
    /** Sends a chat request to a provider, and returns its status with the text of the response. */
    ask(provider: string): Promise<string>;
    /** Hosts to which the gateway has sent requests, each once. */
    hosts(): readonly string[];
  }) => Promise<void>,
  variables: Readonly<Record<string, string>> = VARIABLES,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/sa.json`, SERVICE_ACCOUNT);
    const tokens = text.matchAll(/token_file: \/(\S+)/g);
    for (const [, path] of tokens) {
      await Deno.mkdir(dirname(`${folder}/${path}`), { recursive: true });
      await Deno.writeTextFile(`${folder}/${path}`, "simulated-token\n");
    }
    const config = `${folder}/config.yaml`;
    await Deno.writeTextFile(
      config,
      toEach(text).replaceAll("token_file: /", "token_file: "),
    );
    const loaded = await load(config, variables);
    assert(loaded.ok, JSON.stringify(loaded));
    const hosts: string[] = [];
    const world = scriptedWorld({
      fetch: async (url, init) => {
        hosts.push(new URL(url).host);
        const response = await simulator(new Request(url, init));
        const headers = Object.fromEntries(response.headers);
        return await answers(response.status, await response.text(), headers);
      },
    });
    const simulator = newSimulator(world, new Map(), {
      ...TRIAL_IDENTITIES,
      serviceAccounts: new Map([["sa@my-project.iam.gserviceaccount.com", publicKey]]),
    });
    const gateway = newGateway(compile(loaded.config, 1), world, [], storeUnderTest(world));
    let refreshed = Promise.withResolvers<void>();
    const credentials = newCredentials({
      world,
      log: newLog({ level: "error", format: "json" }, () => {}),
      variable: () => undefined,
      counted() {
        refreshed.resolve();
        refreshed = Promise.withResolvers();
      },
    });
    credentials.configure(gateway.generation.credentials);
    const holders = [...gateway.generation.credentials.values()].map(({ holder }) => holder);
    await Promise.all(holders.map((holder) => holder.first()));
    const endOf = (holder: CredentialHolder) => holder.issued()?.expiresMs ?? null;
    const app = createApp(gateway);
    await use({
      async replaced() {
        const ending = holders.map((holder) => ({ holder, end: endOf(holder) }))
          .filter(({ end }) => end !== null);
        // A credential of five minutes is used for half of them.
        await world.advance(151_000);
        // Key files are read from the disk, which takes no time of this world.
        while (ending.some(({ holder, end }) => endOf(holder) === end)) await refreshed.promise;
      },
      providers: Object.keys(loaded.config.providers),
      async ask(provider) {
        const headers = { "x-gateway-no-retry": "true" };
        const body = { model: `${provider}/sim-echo` };
        const { status, text } = await got(await app(chatRequest({ headers, body })));
        return `${status} ${text}`;
      },
      hosts: () => [...new Set(hosts)].toSorted(),
    });
    credentials.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("each file of the page of clouds is accepted by clouds that check who asks, at each of its providers", async () => {
  const hosts = new Set<string>();
  for (const { text, place } of FILES) {
    await overClouds(text, async (cloud) => {
      for (const provider of cloud.providers) {
        const answer = await cloud.ask(provider);
        assert(
          answer.startsWith("200 ") && answer.includes("Hi"),
          `${place} ${provider} ${answer}`,
        );
      }
      for (const host of cloud.hosts()) hosts.add(host);
    });
  }
  assertEquals([...hosts].toSorted(), [
    "169.254.169.254",
    "aiplatform.googleapis.com",
    "bedrock-mantle.us-east-1.api.aws",
    "bedrock-runtime.us-east-1.amazonaws.com",
    "generativelanguage.googleapis.com",
    "login.microsoftonline.com",
    "my-resource.openai.azure.com",
    "my-resource.services.ai.azure.com",
    "oauth2.googleapis.com",
    "sts.us-east-1.amazonaws.com",
    "us-central1-aiplatform.googleapis.com",
  ]);
});

Deno.test("clouds refuse a wrong secret, and tokens and keys that have ended, which the gateway replaces before", async () => {
  const wrong = { ...VARIABLES, AZURE_CLIENT_SECRET: "wrong", AWS_SECRET_ACCESS_KEY: "wrong" };
  for (const { text } of FILES) {
    await overClouds(text, async ({ replaced, providers, ask }) => {
      for (const provider of providers) {
        const isWrong = provider === "foundry" || provider === "bedrock-runtime";
        const expected = provider === "foundry" ? "503" : isWrong ? "403" : "200";
        assertEquals((await ask(provider)).slice(0, 3), expected, provider);
      }
      for (let times = 0; times < 6; times++) await replaced();
      for (const provider of providers) {
        if (provider === "foundry" || provider === "bedrock-runtime") continue;
        assertEquals((await ask(provider)).slice(0, 3), "200", provider);
      }
    }, wrong);
  }
});
