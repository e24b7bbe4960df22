import { openaiErrors } from "../../core/failure/openai_error.ts";
import { type Failed, failed, refuse, type Result, success } from "../../core/failure/result.ts";
import { listModels } from "../../exchange.ts";
import type { Call } from "../../call/call.ts";
import type { ListedNamedModel } from "../../call/generation.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { refuseModel, refuseProvider } from "../../access/permissions.ts";
import type { Provider } from "../../wires/wire.ts";
import type { ClientApi } from "../client_api.ts";
import { jsonReply } from "../stored/json_reply.ts";
import { wantsMessagesShape } from "../spoken_api.ts";
import { type ListedModel, modelObject, modelPage } from "./messages_shape.ts";

/** One model of one provider. */
interface Model {
  readonly provider: string;
  /** True if the provider is a local runtime. */
  readonly isLocal: boolean;
  readonly name: string;
  readonly created: number;
}

/**
 * `GET /v1/models` and `GET /v1/models/{model}` (OpenAI API, Models; Messages API, models). Clients
 * of the Messages API receive its shape.
 */
export const models: ClientApi = {
  name: "models",
  errors: openaiErrors,
  endpoints: [
    {
      method: "GET",
      path: "/v1/models",
      about: "Lists the models of all providers that the client key may use.",
      body: false,
      sharesAnswer: true,
      async handle(call, { query }) {
        const found = await discovered(call);
        if (!found.ok) return found;
        if (wantsMessagesShape(call.headers)) {
          const own = namedModels(call).map((named) => listedName(call, named));
          const page = modelPage([...own, ...found.value.map(listed).toSorted(byId)], query);
          return page.ok ? jsonReply(page.value) : page;
        }
        const own = namedModels(call).map((named) => namedResource(call, named));
        const data = [...own, ...found.value.map(resource).toSorted(byId)];
        return jsonReply({ object: "list", data });
      },
    },
    {
      method: "GET",
      path: "/v1/models/:model{.+}",
      about: "Returns one model.",
      body: false,
      async handle(call, { params }) {
        const hasMessagesShape = wantsMessagesShape(call.headers);
        const named = namedModels(call).find(({ name }) => name === params.model);
        if (named !== undefined) {
          return jsonReply(
            hasMessagesShape ? modelObject(listedName(call, named)) : namedResource(call, named),
          );
        }
        const found = await discovered(call);
        if (!found.ok) return found;
        const model = findModel(found.value, params.model ?? "");
        if (model === null) {
          return refuse(
            "unknown_model",
            "There is no such model; GET /v1/models lists them.",
            "model",
          );
        }
        return jsonReply(hasMessagesShape ? modelObject(listed(model)) : resource(model));
      },
    },
  ],
};

/**
 * Returns the models of all providers. Cancellation ends the wait, but not the fetches: later calls
 * use them.
 */
async function discovered(call: Call): Promise<Result<readonly Model[]>> {
  const ended = Promise.withResolvers<Failed>();
  const unsubscribe = call.cancellation.onCancel((reason) => {
    if (reason !== null) ended.resolve(failed(reason));
  });
  const found = await Promise.race([ended.promise, allModels(call)]);
  unsubscribe();
  return found;
}

function permittedProviders({ generation, client }: Call): readonly Provider[] {
  return [...generation.providers.values()]
    .filter(({ id }) => refuseProvider(client.key, id) === null);
}

/** Returns the named models of which the client key may use a target. */
function namedModels({ generation, client: { key } }: Call): readonly ListedNamedModel[] {
  return generation.listedModels.filter(({ name, route: { targets, fallback } }) =>
    [...targets, ...fallback].some(({ provider, model }) =>
      refuseModel(key, provider.id, model, name) === null
    )
  );
}

/**
 * Returns the models of all providers that the client key may use. Their lists are fetched
 * concurrently.
 */
async function allModels(call: Call): Promise<Result<readonly Model[]>> {
  const lists = await Promise.all(
    permittedProviders(call).map(async (provider) => {
      const { models, created } = await listModels(call, provider);
      const isLocal = provider.wire.name === "local";
      return models.filter((name) => refuseModel(call.client.key, provider.id, name) === null)
        .map((name) => ({ provider: provider.id, isLocal, name, created }));
    }),
  );
  return success(lists.flat());
}

/**
 * Returns the model with a canonical id, else with a bare name that exactly one provider has; null
 * without a match. An exact name wins over a name that a local runtime treats as equal.
 */
function findModel(models: readonly Model[], id: string): Model | null {
  return withCanonicalId(models, id, isExactly) ?? withCanonicalId(models, id, isSameModel) ??
    (models.some(({ name }) => name === id)
      ? withPlainName(models, id, isExactly)
      : withPlainName(models, id, isSameModel));
}

/** Returns true if a name refers to a model. */
type IsNamed = (model: Model, name: string) => boolean;

function withCanonicalId(models: readonly Model[], id: string, isNamed: IsNamed): Model | null {
  const isMeant = (model: Model) =>
    id.startsWith(`${model.provider}/`) && isNamed(model, id.slice(model.provider.length + 1));
  return models.find(isMeant) ?? null;
}

function withPlainName(models: readonly Model[], id: string, isNamed: IsNamed): Model | null {
  const [only, ...others] = models.filter((model) => isNamed(model, id));
  return only !== undefined && others.length === 0 ? only : null;
}

function isExactly({ name }: Model, other: string): boolean {
  return name === other;
}

/** True if a local runtime treats both names as the same model: a missing tag means `latest`. */
function isSameModel({ isLocal, name }: Model, other: string): boolean {
  return isLocal && withTag(name) === withTag(other);
}

/**
 * Returns a model name with its tag. A colon before the last slash belongs to a registry's port.
 */
function withTag(name: string): string {
  return name.lastIndexOf(":") > name.lastIndexOf("/") ? name : `${name}:latest`;
}

function resource({ provider, name, created }: Model) {
  return { id: `${provider}/${name}`, object: "model", created, owned_by: provider };
}

function listedName({ generation }: Call, named: ListedNamedModel): ListedModel {
  return { id: named.name, created: generation.loaded, named };
}

/**
 * Returns a named model as the OpenAI API shows models, with what the configuration knows of it.
 */
function namedResource({ generation }: Call, named: ListedNamedModel): JsonObject {
  const { name, displayName, contextSize, maxOutput } = named;
  return {
    id: name,
    object: "model",
    created: generation.loaded,
    owned_by: "switchyard",
    display_name: displayName,
    ...contextSize !== null && { context_window: contextSize },
    ...maxOutput !== null && { max_output_tokens: maxOutput },
  };
}

function listed({ provider, name, created }: Model): ListedModel {
  return { id: `${provider}/${name}`, created };
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
