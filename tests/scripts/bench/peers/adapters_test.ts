import { commandPeer } from "../../../../scripts/bench/peers/command.ts";
import { litellmPeer } from "../../../../scripts/bench/peers/litellm.ts";
import { nginxPeer } from "../../../../scripts/bench/peers/nginx.ts";
import type { Peer, PeerPlace, PeerUpstreamKind } from "../../../../scripts/bench/peers/peer.ts";
import { portkeyPeer } from "../../../../scripts/bench/peers/portkey.ts";
import { assert, assertEquals, assertMatch } from "../../../support/assert.ts";

const UPSTREAM = "http://127.0.0.1:4100";

function place(upstreamKind: PeerUpstreamKind): PeerPlace {
  return { port: 4200, upstream: UPSTREAM, upstreamKind, folder: "/tmp/peer" };
}

/** The path and headers of requests that a peer can serve, and its reasons for all others. */
function supportOf(peer: Peer) {
  return (["chat", "translate", "responses"] as const).map((task) => {
    const support = peer.support(task, UPSTREAM);
    return support.kind === "supported"
      ? [support.upstream, support.request.path, support.request.headers]
      : support.reason;
  });
}

Deno.test("LiteLLM passes every model on to the upstream, with one worker and without retries", () => {
  const peer = litellmPeer("litellm", "/opt/litellm");
  assertEquals(supportOf(peer), [
    ["chat", "/v1/chat/completions", {}],
    ["messages", "/v1/chat/completions", {}],
    ["messages", "/v1/responses", {}],
  ]);
  const { program, args, files } = peer.launch(place("chat"));
  assertEquals(
    [program, ...args].join(" "),
    [
      "/opt/litellm --config /tmp/peer/litellm.yaml --host 127.0.0.1 --port 4200",
      "--num_workers 1 --telemetry False",
    ].join(" "),
  );
  assertEquals(JSON.parse(files["/tmp/peer/litellm.yaml"] ?? ""), {
    model_list: [{
      model_name: "*",
      litellm_params: {
        model: "openai/*",
        api_base: "http://127.0.0.1:4100/v1",
        api_key: "sk-bench",
      },
    }],
    litellm_settings: { num_retries: 0 },
  });
});

Deno.test("LiteLLM translates for an upstream of the Messages API", () => {
  const { files } = litellmPeer("litellm", "/opt/litellm").launch(place("messages"));
  const { model_list } = JSON.parse(files["/tmp/peer/litellm.yaml"] ?? "");
  assertEquals(model_list[0].litellm_params, {
    model: "anthropic/bench",
    api_base: "http://127.0.0.1:4100",
    api_key: "sk-bench",
  });
});

Deno.test("Portkey gets the provider and the upstream in headers, and serves no Responses over messages", () => {
  const peer = portkeyPeer("portkey", "/opt/gateway");
  assertEquals(supportOf(peer), [
    ["chat", "/v1/chat/completions", {
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": "http://127.0.0.1:4100/v1",
    }],
    ["messages", "/v1/chat/completions", {
      "x-portkey-provider": "anthropic",
      "x-portkey-custom-host": "http://127.0.0.1:4100/v1",
    }],
    "it serves Responses only over providers that have them",
  ]);
  const { program, args, files } = peer.launch(place("chat"));
  assertEquals([program, args, files], ["/opt/gateway", ["--port=4200", "--headless"], {}]);
});

Deno.test("nginx passes requests on to the upstream, and does not translate", () => {
  const peer = nginxPeer("nginx", "/usr/sbin/nginx");
  assertEquals(supportOf(peer), [
    ["chat", "/v1/chat/completions", {}],
    "a reverse proxy does not translate",
    "a reverse proxy does not translate",
  ]);
  const { program, args, files } = peer.launch(place("chat"));
  assertEquals(
    [program, ...args].join(" "),
    "/usr/sbin/nginx -c /tmp/peer/nginx.conf -p /tmp/peer",
  );
  const config = files["/tmp/peer/nginx.conf"] ?? "";
  for (const line of ["listen 127.0.0.1:4200;", "server 127.0.0.1:4100;", "worker_processes 1;"]) {
    assert(config.includes(line), config);
  }
});

Deno.test("the placeholders of a command, its configuration and its headers are replaced, other braces are not", () => {
  const peer = commandPeer({
    name: "rival",
    command: "rival --config {config} --port {port} --data {folder} '{other}' {toString}",
    config: '{"listen": "127.0.0.1:{port}", "to": "{upstream}/v1"}',
    path: "/openai/v1/chat/completions",
    headers: { "x-upstream": "{upstream}" },
    modelPrefix: "openai/",
  });
  assertEquals(supportOf(peer), [
    ["chat", "/openai/v1/chat/completions", { "x-upstream": UPSTREAM }],
    "its command was not given an upstream of the Messages API",
    "its command was not given an upstream of the Messages API",
  ]);
  const { program, args, files } = peer.launch(place("chat"));
  assertEquals([program, ...args], [
    "sh",
    "-c",
    "rival --config /tmp/peer/config --port 4200 --data /tmp/peer '{other}' {toString}",
  ]);
  assertEquals(files, {
    "/tmp/peer/config": '{"listen": "127.0.0.1:4200", "to": "http://127.0.0.1:4100/v1"}',
  });
});

Deno.test("a command without further settings gets chat requests at the usual path", () => {
  const peer = commandPeer({
    name: "rival",
    command: "rival {port}",
    config: null,
    path: null,
    headers: {},
    modelPrefix: "",
  });
  assertEquals(supportOf(peer)[0], ["chat", "/v1/chat/completions", {}]);
  assertEquals(peer.launch(place("chat")).files, {});
});

Deno.test("the version of a program that cannot be run is not known", async () => {
  for (const newPeer of [litellmPeer, portkeyPeer, nginxPeer]) {
    assertEquals(await newPeer("peer", "/nonexistent/bin/program").version(), null);
  }
});

Deno.test("the version of Portkey is that of the package around its script", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${folder}/build`);
    await Deno.writeTextFile(`${folder}/package.json`, '{"version": "1.2.3"}');
    await Deno.writeTextFile(`${folder}/build/start-server.js`, "");
    await Deno.symlink(`${folder}/build/start-server.js`, `${folder}/gateway`);
    assertMatch(await portkeyPeer("portkey", `${folder}/gateway`).version() ?? "", /^1\.2\.3$/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
