import { type Failed, failed, refuse, type Result, success } from "../../core/result.ts";
import { modelsOf } from "../../exchange.ts";
import type { Call } from "../../gateway/call.ts";
import type { ClientApi } from "../client_api.ts";
import { jsonReply } from "../json_reply.ts";

/** One model of one provider. */
interface Model {
  readonly provider: string;
  readonly name: string;
  readonly created: number;
}

/** `GET /v1/models` and `GET /v1/models/{model}` (OpenAI API, Models). */
export const models: ClientApi = {
  name: "models",
  endpoints: [
    {
      method: "GET",
      path: "/v1/models",
      body: false,
      sharesAnswer: true,
      async handle(call) {
        const found = await discovered(call);
        if (!found.ok) return found;
        return jsonReply({ object: "list", data: found.value.map(resource).toSorted(byId) });
      },
    },
    {
      method: "GET",
      path: "/v1/models/:model{.+}",
      body: false,
      async handle(call, { params }) {
        const found = await discovered(call);
        if (!found.ok) return found;
        const model = named(found.value, params.model ?? "");
        return model === null
          ? refuse("unknown_model", "There is no such model; GET /v1/models lists them.", "model")
          : jsonReply(resource(model));
      },
    },
  ],
};

/** What all providers have. Whoever leaves waits no longer; the flights go on for those who come next. */
async function discovered(call: Call): Promise<Result<readonly Model[]>> {
  const ended = Promise.withResolvers<Failed>();
  const stay = call.departure.onEnd((reason) => ended.resolve(failed(reason)));
  const found = await Promise.race([ended.promise, allModels(call)]);
  stay();
  return found;
}

/** The lists of all providers are fetched side by side. */
async function allModels(call: Call): Promise<Result<readonly Model[]>> {
  const lists = await Promise.all(
    [...call.generation.providers.values()].map(async (provider) => {
      const { models, created } = await modelsOf(call, provider);
      return models.map((name) => ({ provider: provider.id, name, created }));
    }),
  );
  return success(lists.flat());
}

/** A canonical id, else a plain name that exactly one provider has. */
function named(models: readonly Model[], id: string): Model | null {
  const canonical = models.find(({ provider, name }) => `${provider}/${name}` === id);
  if (canonical !== undefined) return canonical;
  const [only, ...others] = models.filter(({ name }) => name === id);
  return only !== undefined && others.length === 0 ? only : null;
}

function resource({ provider, name, created }: Model) {
  return { id: `${provider}/${name}`, object: "model", created, owned_by: provider };
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
