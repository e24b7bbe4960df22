// @ts-check
import { counted, dollars, percent, short } from "./format.js";
import { Badge, Bar, EmptyRow, kept, Name, Section, Table, view } from "./ui.js";
/** @import { BudgetView, KeyView, TokenBudgetView } from "../snapshot.ts" */

const COLUMNS = ["Key", "Requests per minute", "Tokens per minute", "Running", "Budgets", "Today"];
/** Share of a limit from which on its bar warns. */
const NEAR_LIMIT_RATIO = 0.8;

/** Row of a client key, drawn again when its data changed. */
const KeyRow = kept(rowOf);

/** Returns the client keys by name with what they use and may use. */
export const Keys = kept(
  /** @param {{ keys: readonly KeyView[], requiresKey: boolean }} props */
  ({ keys, requiresKey }) =>
    view`<${Section} id="keys" title="Client keys" note="Rates of the last minute.">
    <${Table} caption="Client keys and their limits" columns=${COLUMNS}>
      ${keys.map((key) => view`<${KeyRow} key=${key.name} entry=${key} />`)}
      ${
      keys.length === 0 && view`<${EmptyRow} columns=${COLUMNS.length}>${
        requiresKey
          ? "The gateway requires a client key, but the configuration names none."
          : "The gateway requires no client key: every program that reaches it may call it. Keys are added under security.api_key.keys."
      }<//>`
    }
    <//>
  <//>`,
);

/** @param {{ entry: KeyView }} props */
function rowOf({ entry }) {
  const { today } = entry;
  return view`<tr>
    <th scope="row"><${Name} text=${entry.name} />${
    entry.group !== null && view` <span class="note">${entry.group}</span>`
  }${entry.isDisabled && view` <${Badge} tone="quiet">disabled or expired<//>`}</th>
    <td><${Use} used=${entry.requestsPerMinute} limit=${entry.maxRequestsPerMinute} /></td>
    <td><${Use} used=${entry.tokensPerMinute} limit=${entry.maxTokensPerMinute} isLimited=${
    entry.groupRates.length > 0
  } />${
    entry.groupRates.map((rate) =>
      view`<${Use} key=${rate.scope} used=${rate.tokensPerMinute} limit=${rate.maxTokensPerMinute} label=${rate.scope} />`
    )
  }</td>
    <td><${Use} used=${entry.running} limit=${entry.maxConcurrent} /></td>
    <td class="roomy">${
    entry.budgets.length + entry.tokenBudgets.length === 0
      ? view`<span class="none">no budget</span>`
      : view`<ul class="plain">${
        entry.budgets.map((budget) =>
          view`<li key="${budget.scope} ${budget.period}"><${Budget} budget=${budget} /></li>`
        )
      }${
        entry.tokenBudgets.map((budget) =>
          view`<li key="${budget.scope} ${budget.period} tokens"><${TokenBudget} budget=${budget} /></li>`
        )
      }</ul>`
  }</td>
    <td class="note roomy">${counted(today.calls, "call")}, ${short(today.input)} in, ${
    short(today.output)
  } out, ${costText(today)}</td>
  </tr>`;
}

/**
 * Returns the cost of calls; `–` if none of them has a known price.
 * @param {KeyView["today"]} usage
 */
function costText({ calls, nanoUsd }) {
  return calls > 0 && nanoUsd === 0 ? "cost –" : dollars(nanoUsd / 1e9);
}

/**
 * Returns a use and its limit. `isLimited` if another limit holds too, which is shown behind it.
 * @param {{ used: number, limit: number | null, isLimited?: boolean, label?: string }} props
 */
function Use({ used, limit, isLimited = false, label }) {
  if (limit === null) {
    return view`${short(used)} ${!isLimited && view`<span class="none">no limit</span>`}`;
  }
  return view`<span class="outcomes"><${Bar} share=${shareOf(used, limit)} tone=${
    toneOf(used, limit)
  } /><span>${short(used)} of ${short(limit)}${
    label && view` <span class="note">${label}</span>`
  }</span></span>`;
}

/** @param {{ budget: BudgetView }} props */
function Budget({ budget: { scope, period, spentUsd, limitUsd } }) {
  return view`<${Spent} spent=${spentUsd} limit=${limitUsd} label="${period}, ${scope}" text="${
    dollars(spentUsd)
  } of ${dollars(limitUsd)}" />`;
}

/** @param {{ budget: TokenBudgetView }} props */
function TokenBudget({ budget: { scope, period, spent, limit } }) {
  return view`<${Spent} spent=${spent} limit=${limit} label="${period}, ${scope}" text="${
    short(spent)
  } of ${short(limit)} tokens" />`;
}

/** @param {{ spent: number, limit: number, label: string, text: string }} props */
function Spent({ spent, limit, label, text }) {
  return view`<span class="outcomes"><${Bar} share=${shareOf(spent, limit)} tone=${
    toneOf(spent, limit)
  } /><span>${text}, ${
    percent(shareOf(spent, limit))
  } <span class="note">${label}</span></span></span>`;
}

/**
 * @param {number} used
 * @param {number} limit
 */
function shareOf(used, limit) {
  return limit > 0 ? used / limit : 1;
}

/**
 * @param {number} used
 * @param {number} limit
 */
function toneOf(used, limit) {
  const share = shareOf(used, limit);
  return share >= 1 ? "bad" : share >= NEAR_LIMIT_RATIO ? "warn" : "";
}
