// @ts-check
import { counted, duration, timeLeft, whole } from "./format.js";
import { Badge, Bar, EmptyRow, kept, Name, Section, Table, view } from "./ui.js";
/** @import { ProviderView } from "../snapshot.ts" */

const COLUMNS = [
  "Provider",
  "Circuit breaker",
  "#Attempts",
  "Outcomes",
  "#p50",
  "#p95",
  "Running",
  "Keys",
];

/** Row of a provider, drawn again when its data changed. */
const ProviderRow = kept(
  /** @param {{ one: ProviderView }} props */
  ({ one }) =>
    view`<tr>
        <th scope="row"><${Name} text=${one.id} /> <span class="note">${one.type}</span></th>
        <td><${Breaker} provider=${one} /></td>
        <td class="number">${whole(one.attempts)}</td>
        <td class="roomy"><${Outcomes} outcomes=${one.outcomes} notSent=${one.notSent} attempts=${one.attempts} /></td>
        <td class="number">${duration(one.p50Ms)}</td>
        <td class="number">${duration(one.p95Ms)}</td>
        <td><${Running} provider=${one} /></td>
        <td><${Keys} provider=${one} /></td>
      </tr>`,
);

/** Returns the providers with what became of their attempts. */
export const Providers = kept(
  /** @param {{ providers: readonly ProviderView[] }} props */
  ({ providers }) =>
    view`<${Section} id="providers" title="Providers" note="Attempts of the last 15 minutes.">
    <${Table} caption="Providers and their attempts" columns=${COLUMNS}>
      ${providers.map((one) => view`<${ProviderRow} key=${one.id} one=${one} />`)}
      ${
      providers.length === 0 &&
      view`<${EmptyRow} columns=${COLUMNS.length}>No provider is configured. Add one under providers in the configuration.<//>`
    }
    <//>
  <//>`,
);

/** @param {{ provider: ProviderView }} props */
function Breaker({ provider: { breaker, opensInMs } }) {
  if (breaker === "closed") return view`<${Badge} tone="good">closed<//>`;
  if (breaker === "half-open") return view`<${Badge} tone="warn">half-open<//>`;
  return view`<${Badge} tone="bad">open<//> <span class="note">${
    opensInMs === null ? "" : `next attempt in ${timeLeft(opensInMs)}`
  }</span>`;
}

/**
 * Returns what became of the attempts, and apart those that were not sent; an older gateway has
 * these in one.
 * @param {{ outcomes: ProviderView["outcomes"], notSent?: ProviderView["notSent"], attempts: number }} props
 */
function Outcomes({ outcomes, notSent = {}, attempts }) {
  const sent = countsText(outcomes), unsent = countsText(notSent);
  if (sent === "" && unsent === "") return view`<span class="none">–</span>`;
  const good = (outcomes["success"] ?? 0) / Math.max(attempts, 1);
  return view`<span class="outcomes">${
    sent !== "" &&
    view`<${Bar} share=${good} tone=${good < 1 ? "split" : "good"} /><span>${sent}</span>`
  }${unsent !== "" && view`<span class="note">not sent: ${unsent}</span>`}</span>`;
}

/** @param {Readonly<Record<string, number>>} counts */
function countsText(counts) {
  return Object.entries(counts).sort(([, one], [, other]) => other - one)
    .map(([outcome, count]) => `${outcome} ${whole(count)}`).join(", ");
}

/** @param {{ provider: ProviderView }} props */
function Running({ provider: { running, queued, maxConcurrent } }) {
  if (running === null || maxConcurrent === null) return view`<span class="none">no limit</span>`;
  return view`<span class="outcomes"><${Bar} share=${running / maxConcurrent} /><span>${
    whole(running)
  } of ${whole(maxConcurrent)}${
    queued ? `, ${counted(queued, "call")} waiting` : ""
  }</span></span>`;
}

/** @param {{ provider: ProviderView }} props */
function Keys({ provider: { keys, credential } }) {
  if (credential === "fresh") return view`<${Badge} tone="good">credential valid<//>`;
  if (credential === "late") return view`<${Badge} tone="warn">credential not refreshed<//>`;
  if (credential === "gone") return view`<${Badge} tone="bad">no credential<//>`;
  if (keys.length === 0) return view`<span class="none">no pool</span>`;
  return view`<ul class="plain">${
    keys.map((key) =>
      view`<li key=${key.name}><${Name} text=${key.name} /> <${PoolKey} entry=${key} /></li>`
    )
  }</ul>`;
}

/** @param {{ entry: ProviderView["keys"][number] }} props */
function PoolKey({ entry: { isUsed, restsForMs, opensInMs } }) {
  if (restsForMs !== null) {
    return view`<${Badge} tone="warn">rests for ${timeLeft(restsForMs)}<//>`;
  }
  if (opensInMs !== null) {
    return view`<${Badge} tone="bad">breaker open for ${timeLeft(opensInMs)}<//>`;
  }
  return view`<span class="note">${isUsed ? "in use" : "not used: weight 0"}</span>`;
}
