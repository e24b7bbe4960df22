import { ADDRESS_PREFIX } from "./buckets.ts";

/** Something that is held for a client: its key, or its network without one. */
interface Held {
  readonly client: string;
}

/**
 * Returns what is held for the client that has most, counted with `newcomer`: one of it ends to
 * make room. Of all together at most `max` is held. Client keys are passed over while networks hold
 * something, because strangers may have many networks, but not a key with more than half of `max`.
 */
export function heldByBusiest<One extends Held>(
  held: readonly One[],
  newcomer: One,
  max: number,
  sizeOf: (one: One) => number,
): readonly One[] {
  const sums = new Map([[newcomer.client, sizeOf(newcomer)]]);
  for (const one of held) sums.set(one.client, (sums.get(one.client) ?? 0) + sizeOf(one));
  const sumOf = ({ client }: One) => sums.get(client) ?? 0;
  const first = held.filter((one) => one.client.startsWith(ADDRESS_PREFIX) || sumOf(one) > max / 2);
  const among = first.length > 0 ? first : held;
  const most = among.reduce((most, one) => Math.max(most, sumOf(one)), 0);
  return among.filter((one) => sumOf(one) === most);
}
