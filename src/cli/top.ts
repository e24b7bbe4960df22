import { newRealWorld } from "./real_world.ts";
import { findPlace, PLACE_OPTIONS } from "./admin_place.ts";
import { type Command, CONFIG_OPTION, printProblems } from "./command.ts";
import { showAlways, showOnce } from "./top_screen.ts";

/** Command `switchyard top`: shows the snapshots of the admin page in a terminal. */
export const top: Command = {
  name: "top",
  about:
    "Shows what the gateway does, once a second, as its admin page does; once if stdout is no terminal.",
  options: {
    config: CONFIG_OPTION,
    ...PLACE_OPTIONS,
  },
  async run(options, terminal) {
    const place = await findPlace(options, terminal);
    if (!place.ok) return printProblems(terminal, place.problems);
    const world = newRealWorld();
    try {
      const size = terminal.size();
      return size === null
        ? await showOnce(place, world, terminal)
        : await showAlways(place, world, terminal);
    } finally {
      world.close();
    }
  },
};
