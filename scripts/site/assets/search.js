/** Number of results that are shown. */
const MAX_RESULTS_ITEMS = 12;

const root = new URL(document.documentElement.dataset.root, location.href);
const field = document.getElementById("search");
const list = document.getElementById("results");
let loading = null;

/**
 * Loads the library and the index when they are needed for the first time, so that the field takes
 * keys before. The site adds the library to this folder; the repository does not have it.
 */
function load() {
  loading ??= loadIndex();
  return loading;
}

async function loadIndex() {
  const [{ default: MiniSearch }, response] = await Promise.all([
    import(new URL("minisearch.js", import.meta.url).href),
    fetch(new URL("assets/search.json", root)),
  ]);
  return MiniSearch.loadJSON(await response.text(), {
    fields: ["title", "heading", "text"],
    storeFields: ["title", "heading"],
    searchOptions: {
      boost: { title: 3, heading: 4 },
      prefix: true,
      combineWith: "AND",
      fuzzy: (term) => term.length > 5 ? 0.2 : false,
    },
  });
}

async function show() {
  const words = field.value.trim();
  const index = await load();
  if (words !== field.value.trim()) return;
  const found = words === "" ? [] : index.search(words).slice(0, MAX_RESULTS_ITEMS);
  list.replaceChildren(...found.map(({ id, title, heading }) => {
    const link = document.createElement("a");
    link.href = new URL(id, root).href;
    link.textContent = heading === "" ? title : `${title}: ${heading}`;
    return link;
  }));
  if (words !== "" && found.length === 0) list.textContent = "Nothing found.";
  list.hidden = words === "";
}

function move(event, step) {
  const stops = [field, ...list.querySelectorAll("a")];
  const next = stops[stops.indexOf(document.activeElement) + step];
  if (next === undefined) return;
  next.focus();
  event.preventDefault();
}

field.addEventListener("focus", load);
field.addEventListener("input", show);
// A result on this page changes nothing but the anchor.
list.addEventListener("click", () => void (list.hidden = true));
addEventListener("keydown", (event) => {
  const isSearching = field.parentElement.contains(document.activeElement);
  if (event.key === "/" && !isSearching) {
    field.focus();
    event.preventDefault();
  } else if (isSearching && event.key === "Escape") {
    field.value = "";
    list.hidden = true;
    field.focus();
  } else if (isSearching && event.key === "ArrowDown") move(event, 1);
  else if (isSearching && event.key === "ArrowUp") move(event, -1);
  else if (event.key === "Enter" && document.activeElement === field) {
    list.querySelector("a")?.click();
  }
});
