import { isObject, parseJson } from "../../src/core/json/json.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { type TestAdmin, testAdmin } from "../support/admin.ts";
import { scriptedWorld } from "../support/world.ts";
import { streamOf } from "../support/pieces.ts";
import { type SocketGateway, socketGateway } from "../support/socket_gateway.ts";
import { configIn, variable } from "./pages.ts";

/** The address at which the documented gateway listens. */
export const ADDRESS = "127.0.0.1:8080";

/** The address of its admin page. */
export const ADMIN_ADDRESS = "127.0.0.1:8081";

/** Where the simulator plays the server of each address in the documentation. */
const PLAYED: Readonly<Record<string, string>> = {
  "api.openai.com": "",
  "models.example.com": "",
  "api.anthropic.com": "/messages",
  "127.0.0.1:11434": "/local",
  "127.0.0.1:8081": "",
};

/** Sections whose streams break off, as they say. */
const BROKEN: readonly string[] = ["docs/guide/streaming.md#Broken streams"];

/** Whether the streams of a section break off. */
export function isBroken(section: string): boolean {
  return BROKEN.includes(section);
}

/**
 * The gateway that a section of the documentation is about, on a socket. Its providers are played
 * by the simulator; a real model is played by one that repeats its input, calls tools or embeds.
 */
export function gatewayOf(section: string): SocketGateway {
  const world = newRealWorld();
  const answer = newSimulator(world);
  const config = configIn(section).replace(/\$\{(\w+)\}/g, (_all, name) => variable(name));
  const served = socketGateway(config, {
    async fetch(url, init) {
      const { method = "POST", body = null } = init;
      const headers = new Headers(init.headers);
      if (headers.get("content-type")?.startsWith("multipart/")) {
        const response = await answer(new Request(addressOf(url), { method, headers, body }));
        return new Response(streamOf([await response.bytes()]), response);
      }
      const text = await new Response(body).text();
      const asked = { method, headers, body: method === "GET" ? null : played(text, url, section) };
      const response = await answer(new Request(addressOf(url), asked));
      return new Response(streamOf([await response.bytes()]), response);
    },
  });
  return {
    ...served,
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]();
      world.close();
    },
  };
}

/** The admin page that a section of the documentation is about, without calls. */
export function adminOf(section: string): TestAdmin {
  const admin = testAdmin(configIn(section), scriptedWorld());
  admin.feed.close();
  return admin;
}

function addressOf(written: string): string {
  const url = new URL(written);
  const prefix = PLAYED[url.host];
  if (prefix === undefined) throw new Error(`nobody plays ${url.host}`);
  return `http://simulator.test${prefix}${url.pathname}${url.search}`;
}

function played(text: string, url: string, section: string): string {
  const body = parseJson(text);
  if (!isObject(body) || typeof body.model !== "string" || body.model.startsWith("sim-")) {
    return text;
  }
  const isEmbedding = /\/embed/.test(url);
  const isFit = isEmbedding === body.model.includes("embed");
  if (!isFit) throw new Error(`${body.model} is asked at ${url}`);
  const hasTools = Array.isArray(body.tools) && body.tools.length > 0;
  if (isBroken(section)) return JSON.stringify({ ...body, model: "sim-broken-stream" });
  const model = isEmbedding ? "sim-embed" : hasTools ? "sim-tools" : "sim-echo";
  return JSON.stringify({ ...body, model });
}
