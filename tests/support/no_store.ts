import { assertEquals } from "./assert.ts";
import type { NativeGateway } from "./native_gateway.ts";

/** The first line of a configuration whose gateway stores nothing. */
export const NO_STORE = "state: {store: none}\n";

/** Fails if a gateway has stored anything. */
export function assertNothingStored({ state }: Pick<NativeGateway, "state">): void {
  for (const [type, { entries }] of Object.entries(state.objects.stats())) {
    assertEquals([type, entries], [type, 0]);
  }
}
