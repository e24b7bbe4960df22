import { findPrograms, type Programs } from "./programs.ts";

/** The growth of the gateway's memory by uploads, in bytes. */
export interface UploadsResult {
  readonly name: string;
  readonly grownBytes: number;
  readonly maxBytes: number;
}

const MIB = 1024 * 1024;
const UPLOAD_BYTES = 64 * MIB;

/** Uploads one after the other, each of this many bytes. */
const SMALL_UPLOAD_BYTES = 12.5 * MIB, SMALL_UPLOADS_COUNT = 12;

/**
 * Small uploads before the measured ones: they compile the code and fill the pools of the runtime.
 */
const WARM_UPLOADS_COUNT = 40;

/** Gateways that are measured, of which the lowest counts: what is not collected yet counts too. */
const GATEWAYS_COUNT = 3;

const MEASURED = [
  { name: "one of 64 MiB", model: "able", sizes: [UPLOAD_BYTES], maxBytes: UPLOAD_BYTES * 1.1 },
  {
    name: "one of 64 MiB with a retry and a fallback",
    model: "failing",
    sizes: [UPLOAD_BYTES],
    maxBytes: UPLOAD_BYTES * 1.1,
  },
  {
    name: "twelve of 12.5 MiB in a row",
    model: "able",
    sizes: Array.from({ length: SMALL_UPLOADS_COUNT }, () => SMALL_UPLOAD_BYTES),
    maxBytes: SMALL_UPLOAD_BYTES * 2,
  },
];

/** Uploads audio to new gateways and measures by how much their largest memory grows (Linux). */
export async function measureUploads(
  programs: Programs,
  { canPin, core }: { readonly canPin: boolean; readonly core: number },
): Promise<UploadsResult[]> {
  if (Deno.build.os !== "linux") return [];
  await using able = upstream(() => Response.json({ text: "heard" }));
  await using failing = upstream(() => Response.json({}, { status: 500 }));
  const config = configOf(able.addr.port, failing.addr.port);
  const [program] = await findPrograms(canPin, core);
  if (program === undefined) return [];
  const results: UploadsResult[] = [];
  for (const { name, model, sizes, maxBytes } of MEASURED) {
    let grownBytes = Infinity;
    for (let count = 0; count < GATEWAYS_COUNT && grownBytes > maxBytes; count++) {
      await using gateway = await programs.start(program, config);
      for (let warm = 0; warm < WARM_UPLOADS_COUNT; warm++) await upload(gateway.url, "able", MIB);
      const before = await peakBytes(gateway.pid);
      for (const bytes of sizes) await upload(gateway.url, model, bytes);
      grownBytes = Math.min(grownBytes, await peakBytes(gateway.pid) - before);
    }
    results.push({ name, grownBytes, maxBytes });
  }
  return results;
}

/** Returns a report line with the memory that uploads take. */
export function uploadsLine({ name, grownBytes, maxBytes }: UploadsResult): string {
  const [grown, max] = [grownBytes, maxBytes].map((bytes) => `${(bytes / MIB).toFixed(0)} MiB`);
  return `uploads ${name.padEnd(42)} +${grown}  <= ${max}${
    grownBytes <= maxBytes ? "" : " missed"
  }`;
}

function configOf(ablePort: number, failingPort: number): string {
  const provider = (port: number) => ({
    type: "compat",
    base_url: `http://127.0.0.1:${port}`,
    capabilities: { relay: ["audio"] },
  });
  return JSON.stringify({
    server: { port: 0 },
    providers: { up: provider(ablePort), bad: provider(failingPort) },
    routing: {
      routes: [
        { name: "able", match: { models: ["able"] }, targets: [{ provider: "up" }] },
        { name: "main", targets: [{ provider: "bad" }], fallback: [{ provider: "up" }] },
      ],
    },
    retry: { max_attempts: 2, initial_delay: "1ms" },
    circuit_breaker: { enabled: false },
  });
}

/** A provider that reads uploads to their end. */
function upstream(respond: () => Response) {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    await request.body?.pipeTo(new WritableStream());
    return respond();
  });
}

/** Returns the largest resident memory of a process so far. */
async function peakBytes(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** Sends a multipart body with an audio file in pieces. */
async function upload(url: string, model: string, bytes: number): Promise<void> {
  const boundary = "b0";
  const part = (fields: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${fields}\r\n\r\n`;
  const encoder = new TextEncoder();
  const block = new Uint8Array(64 * 1024).map((_, at) => at % 251);
  let left = bytes;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) =>
      controller.enqueue(
        encoder.encode(
          `${part('name="model"')}${model}\r\n${part('name="file"; filename="x.wav"')}`,
        ),
      ),
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
  if (response.status !== 200) throw new Error(`An upload was refused with ${response.status}.`);
}
