import { assert, assertEquals } from "../support/assert.ts";

const MIB = 1024 * 1024;
const UPLOAD_BYTES = 50 * MIB;

/**
 * A gateway in a process apart, whose memory is measured: the client and the upstream hold the upload
 * too.
 */
const GATEWAY = `
import { serveGateway } from ${
  JSON.stringify(new URL("../support/gateway.ts", import.meta.url).href)
};
const [upstream] = Deno.args;
const gateway = serveGateway(\`
providers:
  up:
    type: compat
    base_url: \${upstream}
    capabilities: {relay: [audio, files]}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
\`);
console.log(gateway.url);
`;

/** Returns the largest memory of a process so far in bytes. */
async function peakOf(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** Sends a multipart body of audio in pieces, and returns the status of the response. */
async function upload(url: string, bytes: number): Promise<number> {
  const boundary = "b0";
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\nup/m\r\n` +
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="x.wav"\r\n\r\n`;
  const encoder = new TextEncoder();
  const block = new Uint8Array(64 * 1024).map((_, at) => at % 251);
  let left = bytes;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(head)),
    pull(controller) {
      if (left > 0) {
        const size = Math.min(left, block.length);
        left -= size;
        return controller.enqueue(block.slice(0, size));
      }
      controller.enqueue(encoder.encode(`\r\n--${boundary}--\r\n`));
      controller.close();
    },
  });
  const response = await fetch(`${url}/v1/audio/transcriptions`, {
    method: "POST",
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
    body,
  });
  await response.body?.cancel();
  return response.status;
}

/** Starts a gateway, uploads to it, and returns by how many bytes its largest memory has grown. */
async function growthOf(upstream: string, received: () => number): Promise<number> {
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(file, GATEWAY);
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const gateway = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--config", config, file, upstream],
    stdout: "piped",
  }).spawn();
  const output = gateway.stdout.getReader();
  const url = new TextDecoder().decode((await output.read()).value).trim();
  // The first uploads load the code and fill the pools of the runtime.
  for (const size of [MIB, MIB, MIB]) assertEquals(await upload(url, size), 200);
  const before = await peakOf(gateway.pid);
  assertEquals(await upload(url, UPLOAD_BYTES), 200);
  const growth = await peakOf(gateway.pid) - before;
  assert(received() > UPLOAD_BYTES);
  await output.cancel();
  gateway.kill();
  await gateway.status;
  await Deno.remove(file);
  return growth;
}

/** Gateways that are measured: what the engine has not collected yet counts too, in some of them. */
const MAX_GATEWAYS = 5;

Deno.test("an upload of 50 MiB takes its size in memory and at most a tenth more", async () => {
  let received = 0;
  const upstream = Deno.serve({ port: 0, onListen() {} }, async (request) => {
    received = 0;
    for await (const piece of request.body ?? []) received += piece.length;
    return Response.json({ text: "heard" });
  });
  const url = `http://127.0.0.1:${upstream.addr.port}`;
  let lowest = Infinity;
  for (let count = 0; count < MAX_GATEWAYS && lowest > UPLOAD_BYTES * 1.1; count++) {
    lowest = Math.min(lowest, await growthOf(url, () => received));
  }
  assert(lowest <= UPLOAD_BYTES * 1.1, `${Math.round(lowest / MIB)} MiB`);
  await upstream.shutdown();
});
