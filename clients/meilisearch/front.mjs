// What an InstantSearch page does, by its helper and @meilisearch/instant-meilisearch, unchanged:
// front.mjs URL KEY prints what the page is told, as JSON.
import helperOf from "algoliasearch-helper";
import { instantMeiliSearch } from "@meilisearch/instant-meilisearch";

console.error = () => {}; // the client logs what it throws

const [url, key] = process.argv.slice(2);

function client(by = key, more = {}) {
  return instantMeiliSearch(url, by, { primaryKey: "id", ...more }).searchClient;
}

/** Searches once, as the page does with its state set by prepare. */
function asked(prepare, { by = client(), index = "shop", ...parameters } = {}) {
  const helper = helperOf(by, index, { hitsPerPage: 2, ...parameters });
  prepare(helper);
  return new Promise((resolve) => {
    helper.on("result", ({ results }) => resolve(results));
    helper.on("error", ({ error }) =>
      resolve({ error: error.message, code: error.cause?.cause?.code, status: error.cause?.response?.status }),
    );
    helper.search();
  });
}

/** The part of a result that tests look at. */
function told(results) {
  if (results.error) return results;
  const facets = Object.fromEntries(
    [...results.disjunctiveFacets, ...results.facets].map((facet) => [facet.name, facet.data]),
  );
  const { hits, nbHits, nbPages, page } = results;
  return { hits, nbHits, nbPages, page, facets, stats: results._rawResults[0].facets_stats };
}

const refined = { disjunctiveFacets: ["language", "year"] };
const answers = {
  start: told(await asked((h) => h, refined)),
  second: told(await asked((h) => h.setPage(1), refined)),
  english: told(await asked((h) => h.setQuery("How are refunds paid back?"))),
  chinese: told(await asked((h) => h.setQuery("如何申请退款"))),
  cropped: told(
    await asked((h) => h.setQuery("refunds"), { hitsPerPage: 3, attributesToSnippet: ["content:10"], attributesToHighlight: ["*"] }),
  ),
  refinement: told(
    await asked((h) => h.setQuery("refund workshop 退款").addDisjunctiveFacetRefinement("language", "zh"), refined),
  ),
  year: told(await asked((h) => h.addDisjunctiveFacetRefinement("year", "2024"), refined)),
  either: told(
    await asked(
      (h) => h.addDisjunctiveFacetRefinement("year", "2023").addDisjunctiveFacetRefinement("year", "2025"),
      refined,
    ),
  ),
  numeric: told(await asked((h) => h.setQuery("refund workshop 退款").addNumericRefinement("year", ">=", 2024))),
  pages: told(await asked((h) => h.setPage(1), { by: client(key, { finitePagination: true }) })),
  unknown: told(
    await asked((h) => h.setQuery("Who won the chess olympiad?"), {
      by: client(key, { meiliSearchParams: { rankingScoreThreshold: 0.25 } }),
    }),
  ),
  known: told(
    await asked((h) => h.setQuery("How are refunds paid back?"), {
      by: client(key, { meiliSearchParams: { rankingScoreThreshold: 0.25 } }),
    }),
  ),
  nothing: told(await asked((h) => h.setQuery("refund"), { filters: 'language = "fr"' })),
  wrongKey: told(await asked((h) => h.setQuery("refund"), { by: client("nobody") })),
  foreign: told(await asked((h) => h.setQuery("refund"), { by: client(process.argv[4]) })),
  missing: told(await asked((h) => h.setQuery("refund"), { index: "nothing" })),
  badFilter: told(await asked((h) => h.setQuery("refund"), { filters: "language LIKE x" })),
  tooMany: told(await asked((h) => h.setQuery("refund"), { hitsPerPage: 10001 })),
  none: told(await asked((h) => h.setQuery("refund"), { by: client(key, { finitePagination: true }), hitsPerPage: 0 })),
  tooLong: told(await asked((h) => h.setQuery("a".repeat(1_000_000)))),
  facet: await client().searchForFacetValues([
    { indexName: "shop", params: { facetName: "language", facetQuery: "z", query: "" } },
  ]),
};
console.log(JSON.stringify(answers));
