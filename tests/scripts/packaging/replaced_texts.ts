// Prints the most memory of the heap, in MiB, while it holds 128 MiB of texts and replaces each of
// them eight times.
const TEXT_COUNT = 512, ROUND_COUNT = 8, TEXT_BYTES = 256 * 1024;

const bytes = new Uint8Array(TEXT_BYTES).fill(120);
const texts: string[] = [];
let most = 0;
for (let at = 0; at < ROUND_COUNT * TEXT_COUNT; at++) {
  texts[at % TEXT_COUNT] = new TextDecoder().decode(bytes);
  if (at % 16 > 0) continue;
  most = Math.max(most, Deno.memoryUsage().heapUsed);
  await new Promise((resolve) => setTimeout(resolve, 0));
}
console.log(Math.round(most / 1024 / 1024));
