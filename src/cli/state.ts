import type { Config } from "../config/schema.ts";
import { success } from "../core/failure/result.ts";
import type { Stored } from "../store/object_store.ts";
import { openStateStore } from "../store/open_store.ts";
import type { StateStore } from "../store/state_store.ts";
import { optionValue } from "./arguments.ts";
import {
  type Command,
  CONFIG_OPTION,
  FAILED_STATUS,
  loadConfig,
  OK_STATUS,
  printProblems,
  wrongUsage,
} from "./command.ts";
import { onStore } from "./on_store.ts";
import { infoText, placeText } from "./state_text.ts";
import type { Terminal } from "./terminal.ts";

const ACTIONS = ["info", "purge"];
const ACTION = ACTIONS.join("|");

type Settings = Config["state"];

/** Returns the output of the command on a store; a failure if the store does not answer. */
type Action = (store: StateStore, settings: Settings) => Stored<string>;

/** Command `switchyard state`: shows what a state store contains, or deletes all of it. */
export const state: Command = newStateCommand(openStateStore);

/** Returns the command `state`; `openStore` opens the store of a configuration. */
export function newStateCommand(openStore: typeof openStateStore): Command {
  return {
    name: "state",
    writesFiles: true,
    about:
      "Shows what the state store of a configuration contains (info), or deletes all of it (purge).",
    word: ACTION,
    choices: () => Promise.resolve(ACTIONS),
    options: {
      config: CONFIG_OPTION,
      yes: { value: null, about: "Confirms that purge deletes all state." },
    },
    async run(options, terminal) {
      const action = optionValue(options, ACTION);
      if (action !== "info" && action !== "purge") {
        return wrongUsage(terminal, "state", "Write state info or state purge.");
      }
      const isConfirmed = options.has("yes");
      if (action === "info" && isConfirmed) {
        return wrongUsage(terminal, "state", "--yes has no meaning with state info.");
      }
      const loaded = await loadConfig(options, terminal);
      if (!loaded.ok) return printProblems(terminal, loaded.problems);
      const settings = loaded.config.state;
      if (settings.store === "none") {
        terminal.out("state.store is none: nothing is stored.\n");
        return OK_STATUS;
      }
      if (settings.store === "memory") return inMemory(terminal, action);
      if (action === "purge" && !isConfirmed) {
        const place = placeText(settings);
        const trouble = `This deletes all state in ${place}; repeat it with --yes.`;
        return wrongUsage(terminal, "state", trouble);
      }
      const run = action === "info" ? readInfo : purge;
      return await runOn(openStore, settings, terminal, run);
    },
  };
}

function inMemory(terminal: Terminal, action: "info" | "purge"): number {
  const place = "state.store is memory: the state is in the process of the gateway";
  if (action === "info") {
    terminal.out(`${place}, and there is nothing to show; see /metrics for its size.\n`);
    return OK_STATUS;
  }
  terminal.err(`${place}, and a restart deletes it.\n`);
  return FAILED_STATUS;
}

async function runOn(
  openStore: typeof openStateStore,
  settings: Settings,
  terminal: Terminal,
  action: Action,
): Promise<number> {
  const outcome = await onStore(openStore, settings, (store) => action(store, settings));
  switch (outcome.kind) {
    case "absent":
      terminal.out(`${settings.sqlite.path} does not exist, so there is no state.\n`);
      return OK_STATUS;
    case "refused":
      return printProblems(terminal, [outcome.problem]);
    case "silent": {
      const silent = `The state store (${placeText(settings)}) does not answer.`;
      return printProblems(terminal, [outcome.problem ?? silent]);
    }
    case "done":
      terminal.out(outcome.value);
      return OK_STATUS;
  }
}

async function readInfo(store: StateStore, settings: Settings): Stored<string> {
  const info = await store.stats();
  return info.ok ? success(infoText(settings, info.value)) : info;
}

async function purge(store: StateStore, settings: Settings): Stored<string> {
  const removed = await store.purge();
  if (!removed.ok) return removed;
  return success(`Deleted ${removed.value} records in ${placeText(settings)}.\n`);
}
