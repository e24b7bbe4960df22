import { type Attack, many, oneProvider, outcomeOf, send } from "./support.ts";

const IMAGE_CHARS = 33_000_000;

let image: Uint8Array<ArrayBuffer> | null = null;

function respond(): Response {
  image ??= new TextEncoder().encode(JSON.stringify({
    created: 1,
    data: [{ b64_json: "iVBORw0K".repeat(IMAGE_CHARS / 8) }],
    usage: { input_tokens: 5, output_tokens: 6, total_tokens: 11 },
  }));
  return new Response(image, { headers: { "content-type": "application/json" } });
}

/** Image responses of 33 MB that arrive together. */
export const images: Attack = {
  row: "A8",
  size: (times) => `${4 * times} images of 33 MB at once`,
  config: (upstream) => oneProvider(upstream, { capabilities: { relay: ["images"] } }),
  upstream: respond,
  async load({ url }, times) {
    const body = JSON.stringify({ model: "up/image", prompt: "x" });
    const headers = { "content-type": "application/json" };
    const answers = await many(
      4 * times,
      () => send(`${url}/v1/images/generations`, body, headers),
    );
    if (answers.some(({ status, text }) => status === 200 && text.length < IMAGE_CHARS)) {
      throw new Error("An image is not whole.");
    }
    return outcomeOf(answers);
  },
};
