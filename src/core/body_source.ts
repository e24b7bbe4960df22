import type { BodySource, Incoming } from "./world.ts";

/** Returns the body of a response as a `BodySource`; null without a body. */
export function bodySource({ body }: Pick<Incoming, "body">): BodySource | null {
  if (!(body instanceof ReadableStream)) return body;
  const reader = body.getReader();
  return {
    read: async () => (await reader.read()).value ?? null,
    cancel: () => reader.cancel(),
  };
}
